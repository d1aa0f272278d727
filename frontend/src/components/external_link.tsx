import type { ComponentChildren } from "preact";

import { splitLinks } from "../model/links";

/** A link that leaves TensorBoard, in a tab of its own. */
export function ExternalLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="external" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A text whose web addresses can be followed. */
export function Linked({ text }: { text: string }) {
  return (
    <>
      {splitLinks(text).map((piece, i) =>
        piece.link ? (
          <ExternalLink key={i} href={piece.text}>
            {piece.text.replace(/^https:\/\//, "")}
          </ExternalLink>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}
