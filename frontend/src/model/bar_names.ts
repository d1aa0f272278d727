/** What pieces of a bar are called that has no legend: there a cut name says more than none. */
import { NO_OP } from "./kernel_name";

export interface NamedPiece {
  /** `Attention/Linear/linear`: the end of its path that no other row has; of a kernel its name. */
  name: string;
  /** What is left of a kernel's name where others begin alike. */
  brief?: string;
  /** What direction it has, in a few letters; empty where that tells nothing. */
  pass: string;
  /** Whether the name is that of a kernel, whose beginning tells it from others; of an op it is the end. */
  isKernel: boolean;
}

/** What a direction is called where there is little room. */
export const PASS: Readonly<Record<string, string>> = { forward: "fwd", backward: "bwd" };

/** Fewer letters of a name tell nothing. */
const FEWEST = 5;
/** With so many the direction stands beside them. */
const ENOUGH = 8;

/** Where a word begins: `RMS|Norm`, `Async|Communication`, `dot|_product`. */
const WORD = /(?<=[a-z\d])[A-Z]|[A-Z](?=[a-z])|[_/]/;

const OF_PLACE = /[^/…]{4,}\//;

const lastOf = (name: string): string => name.split("/").at(-1) ?? name;

const withPass = (name: string, pass: string): string => [name, pass].filter(Boolean).join(" ");

/** As much of a kernel's name as fits, else nothing. */
function beginning(name: string, fits: (text: string) => boolean): string {
  for (let end = name.length - 1; end >= FEWEST; end -= 1)
    if (fits(`${name.slice(0, end)}…`)) return `${name.slice(0, end)}…`;
  return "";
}

/** As much of an op's end as fits, from where a word begins if that leaves enough of it. */
function ending(name: string, fits: (text: string) => boolean, pass = ""): string {
  const longest = Array.from(name).findIndex((_, at) => at > 0 && fits(`…${withPass(name.slice(at), pass)}`));
  if (pass !== "" && (longest < 0 || name.length - longest < ENOUGH)) return ending(name, fits);
  if (longest < 0) return "";
  const cut = name.slice(longest);
  const word = cut.slice(WORD.exec(cut)?.index ?? 0);
  const shown = word.length >= Math.max(FEWEST, cut.length / 2) ? word : cut;
  return shown.length < FEWEST ? "" : `…${withPass(shown, pass)}`;
}

/**
 * The names of pieces of a bar, by the room that each has: two pieces that end alike are told apart where that fits at all.
 */
export function barName(piece: NamedPiece, others: readonly NamedPiece[], fits: (text: string) => boolean): string {
  const { name, brief = name, pass, isKernel } = piece;
  if (isKernel) {
    const plain = name.startsWith(NO_OP) ? name.slice(NO_OP.length) : name;
    return [name, plain, brief].find(fits) ?? beginning(brief === name ? plain : brief, fits);
  }
  const last = lastOf(name);
  const isAlone = others.every((other) => lastOf(other.name) !== last || other.pass !== pass);
  const ofPlace = name.replace(/^([^/]+)\/.+\/([^/]+)$/, "$1/…/$2");
  const whole = [withPass(name, pass), withPass(ofPlace, pass)].find(fits);
  if (whole !== undefined) return whole;
  if (isAlone) return [withPass(last, pass), last].find(fits) ?? ending(last, fits, pass);
  if (fits(ofPlace)) return ofPlace;
  const end = ending(ofPlace, fits);
  // With too little of its place it would look like the others.
  return OF_PLACE.test(end) ? end : ([withPass(last, pass), last].find(fits) ?? "");
}
