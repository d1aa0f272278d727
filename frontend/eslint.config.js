import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules"] },
  js.configs.recommended,
  { files: ["eslint.config.js"], languageOptions: { sourceType: "module" } },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "no-console": "error",
      // A number in a template is what most texts here are made of.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `() => void call()` is the idiom of event handlers.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Only `api/request.ts` talks to the server (see the override below), only `host/` touches the page around us.
      "no-restricted-globals": [
        "error",
        { name: "fetch", message: "Use api/request.ts." },
        { name: "parent", message: "Use host/tensorboard.ts." },
        { name: "top", message: "Use host/tensorboard.ts." },
      ],
      "no-restricted-properties": [
        "error",
        { object: "window", property: "parent", message: "Use host/tensorboard.ts." },
      ],
    },
  },
  {
    files: ["src/api/request.ts", "src/host/tensorboard.ts"],
    rules: { "no-restricted-globals": "off", "no-restricted-properties": "off" },
  },
);
