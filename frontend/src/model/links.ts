/** Finds web addresses in plain text. */

export interface Piece {
  text: string;
  link: boolean;
}

/** Only `https:` becomes a link, and the full stop or bracket behind an address is not part of it. */
export function splitLinks(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(/https:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/g)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), link: false });
    pieces.push({ text: match[0], link: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), link: false });
  return pieces;
}
