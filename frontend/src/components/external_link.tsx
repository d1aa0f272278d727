import type { ComponentChildren } from "preact";

/** A link that leaves TensorBoard, in a tab of its own. */
export function ExternalLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="external" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
