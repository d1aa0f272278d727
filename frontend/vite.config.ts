import { defineConfig } from "vitest/config";

/**
 * One ES module with a fixed name that TensorBoard imports, and hashed chunks that may be cached for ever.
 * `preserveEntrySignatures: "strict"` keeps the exported `render()`; the URLs stay relative, so that any path prefix works.
 */
export default defineConfig({
  base: "./",
  build: {
    outDir: "../tensorboard_plugin_dlprof/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: true,
    rolldownOptions: {
      input: "src/index.tsx",
      preserveEntrySignatures: "strict",
      output: {
        format: "es",
        entryFileNames: "index.js",
        chunkFileNames: "assets/[name]-[hash].js",
        // What the Dashboard needs is one file: as shared chunks it is some fifty of 1 kB, in three turns of requests.
        codeSplitting: { groups: [{ name: "frame", tags: ["$initial"] }] },
        postBanner:
          "/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */",
      },
    },
  },
  test: { environment: "node", include: ["src/**/*.test.ts"], css: true },
});
