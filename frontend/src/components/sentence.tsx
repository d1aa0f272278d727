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
          // A short name is not broken after its hyphens.
          <code key={i} style={/^\S{1,40}$/.test(piece.text) ? { whiteSpace: "nowrap" } : {}}>
            <Breakable text={piece.text} after={/(?<=\w\()/} />
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

/** A long path may be broken after its slashes, a long call before its arguments, so that it need not begin a line of its own. */
export function Breakable({ text, after = /(?<=\S{12}\/)/ }: { text: string; after?: RegExp }) {
  const [first, ...rest] = text.split(after);
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
