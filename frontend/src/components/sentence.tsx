import { Fragment } from "preact";

import { aroundQuantities, typeset } from "../format/sentence";
import { splitText } from "../model/links";
import { ExternalLink } from "./external_link";

/** A sentence of the server: web addresses can be followed, names between backticks are set as code, and `->` is an arrow. */
export function Sentence({ text }: { text: string }) {
  return (
    <>
      {splitText(text).map((piece, i) =>
        piece.kind === "link" ? (
          <ExternalLink key={i} href={piece.text}>
            {piece.text.replace(/^https:\/\//, "")}
          </ExternalLink>
        ) : piece.kind === "code" ? (
          // A short name is not broken but before what separates its parts; a space after a colon is place enough.
          <code key={i} style={/^\S{1,40}$/.test(piece.text) ? { whiteSpace: "nowrap" } : {}}>
            <Breakable text={piece.text} at={/(?<=[^/.#:]{4})(?=[/#]|\.(?!py\b)|:(?! ))/} />
          </code>
        ) : (
          <Breakable key={i} text={typeset(piece.text)} />
        ),
      )}
    </>
  );
}

/** The sentence that a page begins with: its numbers stand out, but for digits in code. */
export function Headline({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/(`[^`]*`)/)
        .flatMap((part, i) =>
          (i % 2 === 1 ? [part] : aroundQuantities(part)).map((piece, at) => ({ piece, strong: at % 2 === 1 })),
        )
        .map(({ piece, strong }, i) => (strong ? <strong key={i}>{piece}</strong> : <Sentence key={i} text={piece} />))}
    </>
  );
}

/** A text that may be broken at some places, else after the slashes of a long path, so that it need not begin a line of its own. */
export function Breakable({ text, at = /(?<=\S{12}\/)/ }: { text: string; at?: RegExp }) {
  const [first, ...rest] = text.split(at);
  return (
    <>
      {first}
      {rest.map((part, i) => (
        <Fragment key={i}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
