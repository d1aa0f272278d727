/**
 * What is on screen, as `p.dlprof.*` parameters of TensorBoard's own hash: a link opens the same picture.
 *
 * The state is a flat map from names to texts, without empty values; `profile`, `run`, `view`, `aggregation` and `details` belong to
 * the frame, a table's own begin with its name and a dot (`ops.sort`). What other plugins and TensorBoard keep in the hash stays as it is.
 */

export type UrlState = Readonly<Record<string, string>>;

/** Values to set; an empty text or null removes one. */
export type Changes = Readonly<Record<string, string | null>>;

const PREFIX = "p.dlprof.";

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a hand-made link with a bare "%"
  }
}

/** Our parameters of a hash such as `#dlprof&p.dlprof.view=ops&p.dlprof.run=a%2Fb`. */
export function readHash(hash: string): UrlState {
  const state: Record<string, string> = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const equals = part.indexOf("=");
    if (equals < 0 || !part.startsWith(PREFIX)) continue;
    const value = decode(part.slice(equals + 1));
    if (value !== "") state[decode(part.slice(PREFIX.length, equals))] = value;
  }
  return state;
}

/** The same hash with our parameters replaced, in a fixed order. */
export function writeHash(hash: string, state: UrlState): string {
  const foreign = hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part !== "" && !part.startsWith(PREFIX));
  const ours = Object.keys(state)
    .filter((key) => state[key] !== "")
    .sort()
    .map((key) => `${PREFIX}${encodeURIComponent(key)}=${encodeURIComponent(state[key] ?? "")}`);
  const parts = [...foreign, ...ours];
  return parts.length === 0 ? "" : `#${parts.join("&")}`;
}

/** The state with some values set. */
export function withValues(state: UrlState, changes: Changes): UrlState {
  const next: Record<string, string> = { ...state };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") Reflect.deleteProperty(next, key);
    else next[key] = value;
  }
  return next;
}

/** What narrows a table or a tree, after its name. */
const NARROWS = /^(?:where\..*|search|page|filter|root)$/;

/** The changes of a jump to another view: what an earlier visit had narrowed there must not hide what is jumped to. */
export function arriving(state: UrlState, to: Changes): Changes {
  const tables = new Set(Object.keys(to).flatMap((key) => (key.includes(".") ? [key.split(".", 1)[0]] : [])));
  const stale = Object.keys(state).filter((key) => {
    const dot = key.indexOf(".");
    return dot > 0 && tables.has(key.slice(0, dot)) && NARROWS.test(key.slice(dot + 1));
  });
  return { ...Object.fromEntries(stale.map((key) => [key, null])), ...to };
}

/** The op in a view that lists ops: selected, and alone, as a search for `LINEAR_1` would find `LINEAR_10` too. */
export function showingOp(view: "ops" | "efficiency", op: string): Changes {
  const table = view === "ops" ? "ops" : "eff";
  return { view, "ops.by": "none", [`${table}.row`]: op, [`${table}.where.op_id`]: `=${op}` };
}

/** The ops of one path in their view, whatever their indices: those of both directions. */
export const showingPath = (path: string): Changes => ({
  view: "ops",
  "ops.by": "path",
  "paths.where.name": `=${path}`,
});

/** The iterations in their view, with neighbours to compare. */
export const amongNeighbours = (first: number, last: number): Changes => ({
  view: "iterations",
  "iterations.from": String(first - 2),
  "iterations.to": String(last + 3),
});

/** A whole number of the URL; null for none, and for what a hand-made link has in its place. */
export const wholeNumber = (text: string | undefined, mostDigits = 15): number | null =>
  text !== undefined && /^\d+$/.test(text) && text.length <= mostDigits ? Number(text) : null;

/** Keys that mean something within one profile only. */
const OF_ONE_PROFILE =
  /^(?:aggregation|domain|job|iterations\.(?:from|to|start|stop|key|by)|timeline\.(?:from|to|item|gap|range)|memory\.(?:at|from|to|gpu|block)|groups\.(?:root|toggled|member|place))$|\.(?:page|row)$/;

/** The state without what only means something within one profile: aggregation, zoom, pages and selected rows. */
export function forOtherProfile(state: UrlState): UrlState {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !OF_ONE_PROFILE.test(key)));
}
