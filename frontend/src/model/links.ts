/** Finds web addresses, and names between backticks, in plain text. */

export interface Piece {
  text: string;
  kind: "text" | "link" | "code";
}

/** Only `https:` becomes a link, and the full stop or bracket behind an address is not part of it. */
export function splitText(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`]+)`|https:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]]/g)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), kind: "text" });
    const name = match[1];
    pieces.push(name === undefined ? { text: match[0], kind: "link" } : { text: name, kind: "code" });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), kind: "text" });
  return pieces;
}
