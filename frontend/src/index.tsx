/** The entry that TensorBoard imports: it calls `render()` once, in an empty page of its own frame. */
import { render as renderTree } from "preact";

import { App } from "./frame/app";
import { styleSheets } from "./styles";

export function render(): void {
  for (const [name, text] of styleSheets()) {
    const style = document.createElement("style");
    style.dataset.sheet = name;
    style.textContent = text;
    document.head.append(style);
  }
  const root = document.createElement("div");
  root.id = "dlprof";
  document.body.append(root);
  renderTree(<App />, root);
}
