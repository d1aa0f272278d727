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

/**
 * Code in a sentence of the server: source files with their line and function, calls, dotted names, keyword arguments, environment
 * variables, options. A path of an op is none, nor is what stands between backticks already.
 */
const CODE =
  /`[^`]*`|(?<![\w/])[\w.~/-]*\w\.py(?:\(\d+\)(?:: [\w.<>]+(?=[:;,.)]|$))?|:\d+)?|(?<![\w/#….-])(?:(?:[a-z_]\w* = )?\.?[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)*\((?:[^()]|\([^()]*\))*\)|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?![\w/])|[A-Za-z]\w*_\w+(?:=[\w.":]*[\w"])?(?![\w/(]|\.\w)|--?[a-z][\w-]+(?:[= ][\w.,:]*\w=\w+|=[\w.,:]*\w)?)/g;

/** The same with code between backticks. */
export const withCode = (text: string): string =>
  text.replace(CODE, (code) => (code.startsWith("`") ? code : `\`${code}\``));

/** Whether a text has code between backticks that can be pasted: a call, a setting or an option, not the name of a place. */
export const canPaste = (text: string): boolean =>
  splitText(text).some(
    ({ kind, text: code }) => kind === "code" && /^--?[a-z]|=|\)$/.test(code) && !/\.py\b/.test(code),
  );

/** Where a sentence ends, or a part of it that could stand alone. */
const ENDS = /[.;](?= [A-Za-z`])/g;
const ABBREVIATED = /(?:e\.g|i\.e)$/;

/** As many whole sentences of a text as have room in so many letters, at least the first, and never a part of code. */
export function wholeSentences(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const inCode = (at: number): boolean => (text.slice(0, at).match(/`/g)?.length ?? 0) % 2 === 1;
  const ends = [...text.matchAll(ENDS)]
    .map(({ index }) => index)
    .filter((at) => !inCode(at) && !ABBREVIATED.test(text.slice(0, at)));
  const end = ends.filter((at) => at <= letters).at(-1) ?? ends[0];
  return end === undefined ? text : `${text.slice(0, end)} …`;
}
