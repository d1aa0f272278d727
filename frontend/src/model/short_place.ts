/** Places of ops that are cut to fit, and still tell whose the op is. */
import { UNASSOCIATED, cutLabel, labelOf, plainName, splitPath } from "./kernel_name";

/** Fewer letters of a part of a place tell nothing. */
const FEWEST_LETTERS = 6;

const partsOf = (path: string): string[] => plainName(path).split("/").filter(Boolean);

type WidthOf = (text: string) => number;

/** A part of a place that is cut in its middle to fit; empty where too little would be left of it. */
function cutPart(part: string, room: number, widthOf: WidthOf): string {
  let letters = part.length;
  while (letters >= FEWEST_LETTERS && widthOf(cutLabel(part, letters)) > room) letters -= 1;
  return letters < FEWEST_LETTERS ? "" : cutLabel(part, letters);
}

/**
 * A place such as `/model/encoder/attention/` in so much room: `…/attention/`. Its last part, which owns the op, stays whole as long as
 * it fits, then those before it; of the next one its beginning and its end.
 */
export function shortPlace(place: string, room: number, widthOf: WidthOf): string {
  // What stands before the kernel of no op is no place, and says what it is.
  if (place.length <= 1 || !place.includes("/") || widthOf(place) <= room) return place;
  const parts = partsOf(place);
  let [shown, at] = ["/", parts.length];
  while (at > 0 && widthOf(`…/${parts[at - 1] ?? ""}${shown}`) <= room) {
    at -= 1;
    shown = `/${parts[at] ?? ""}${shown}`;
  }
  const before = at > 1 ? "…/" : place.startsWith("/") ? "/" : "";
  const cut = cutPart(parts[at - 1] ?? "", room - widthOf(before + shown), widthOf);
  return cut === "" ? `…${shown}` : before + cut + shown;
}

const MOST_LETTERS = 60;

/** The path of an op within a sentence, which a long one would push out of sight; of work without an op its name. */
export function shortPath(path: string): string {
  if (path.startsWith(UNASSOCIATED)) return labelOf(path);
  const { place, name } = splitPath(path);
  const shown = name.length > MOST_LETTERS ? cutLabel(name, MOST_LETTERS) : name;
  return shortPlace(place, MOST_LETTERS - shown.length, (text) => text.length) + shown;
}

/** What is left of a text where it has no room, without the sign that something is missing. */
function clipped(text: string, room: number, widthOf: WidthOf): string {
  let [fits, end] = [0, text.length];
  // Halved, as kernels' names have thousands of letters.
  while (fits < end) {
    const middle = Math.ceil((fits + end) / 2);
    if (widthOf(text.slice(0, middle)) <= room) fits = middle;
    else end = middle - 1;
  }
  return text.slice(0, fits);
}

/** Groups of which more than one has the same value. */
function alike(paths: readonly string[], valueOf: (path: string) => string): string[][] {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const value = valueOf(path);
    groups.set(value, [...(groups.get(value) ?? []), path]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** The first of the parts in which these paths differ; -1 where none is. */
function firstDifference(paths: readonly string[]): number {
  const [first = [], ...others] = paths.map(partsOf);
  return first.findIndex((part, i) => others.some((other) => other[i] !== part));
}

const INDICES = /\[\d+\]/g;
const ROUNDS = 2;
const INDEX = /\[\d+\]$/;

const patternOf = (path: string): string => path.replace(INDICES, "");

/** The parts that stay of a path, with what is left out: the first `cut` of those with an index are no more than that, `…[1]/…[0]/Conv2d[1]/`. */
function keeping(path: string, kept: readonly number[], cut: number): string {
  const parts = partsOf(path);
  const [first = 0] = kept;
  let text = first === 0 && path.startsWith("/") ? "/" : "";
  kept.forEach((at, i) => {
    const part = parts[at] ?? "";
    const index = i < cut ? INDEX.exec(part)?.[0] : undefined;
    const gap = at > (kept[i - 1] ?? -1) + 1 ? "…/" : "";
    text += index === undefined ? `${gap}${part}/` : `…${index}/`;
  });
  return (kept.at(-1) ?? 0) < parts.length - 2 ? `${text}…/` : text;
}

/**
 * The places of paths that are alike but for indices, all cut in the same way: the parts in which they differ, or in which all of
 * them differ from the patterns of `others` that would look like them; with the owner of the op where it fits, without what has the index where that does
 * not. Undefined where they differ in more.
 */
function placesByIndex(
  paths: readonly string[],
  others: readonly string[],
  room: number,
  widthOf: WidthOf,
): ReadonlyMap<string, string> | undefined {
  const [first = "", ...rest] = paths;
  const parts = partsOf(first);
  const places = parts.slice(0, -1).map((_, at) => at);
  const differing = places.filter((at) => rest.some((path) => partsOf(path)[at] !== parts[at]));
  const areIndices = differing.every((at) => paths.every((path) => INDEX.test(partsOf(path)[at] ?? "")));
  if (differing.length === 0 || !areIndices) return undefined;
  const pattern = partsOf(patternOf(first));
  const patterns = others.map(partsOf).filter(({ length }) => length === pattern.length);
  const kept = places.filter((at) => differing.includes(at) || patterns.some((other) => other[at] !== pattern[at]));
  const owner = parts.length - 2;
  const ways: (readonly [kept: readonly number[], cut: number])[] = [
    [[...new Set([...kept, owner])], 0],
    ...[0, ...kept].map((_, cut) => [kept, cut] as const),
  ];
  const fits = ([some, cut]: (typeof ways)[number]): boolean =>
    paths.every((path) => widthOf(keeping(path, some, cut) + splitPath(path).name) <= room);
  const [some, cut] = ways.find(fits) ?? [kept, kept.length];
  return new Map(paths.map((path) => [path, keeping(path, some, cut)]));
}

/**
 * What stands before the name of each of these paths, which are shown below each other in as much room. Where cutting would leave
 * two alike, the first part in which they differ stays, in place of what they have in common: `…/attention/…/linear`, with the owner
 * of the op where it fits; of paths that differ in indices alone, all parts in which they do.
 */
export function placesApart(paths: readonly string[], room: number, widthOf: WidthOf): ReadonlyMap<string, string> {
  const distinct = [...new Set(paths)];
  const places = new Map(
    distinct.map((path) => {
      const { place, name } = splitPath(path);
      return [path, shortPlace(place, room - widthOf(name), widthOf)];
    }),
  );
  const looks = (path: string): string => clipped((places.get(path) ?? "") + splitPath(path).name, room, widthOf);
  const families = alike(distinct, patternOf);
  const others = new Map<string, Set<string>>();
  // What is cut in one way may look like others that are cut in the same way.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const group of alike(distinct, looks)) {
      const patterns = new Set(group.map(patternOf));
      for (const one of patterns) others.set(one, new Set([...(others.get(one) ?? []), ...patterns]));
    }
    for (const family of families) {
      const looked = others.get(patternOf(family[0] ?? ""));
      const apart = looked && placesByIndex(family, [...looked], room, widthOf);
      apart?.forEach((place, path) => places.set(path, place));
    }
  }
  for (const group of alike(distinct, looks)) {
    const at = firstDifference(group);
    for (const path of group) {
      const parts = partsOf(path);
      const part = parts[at];
      // The name itself is cut by what draws it.
      if (part === undefined || at >= parts.length - 1) continue;
      const left = room - widthOf(splitPath(path).name);
      const start = path.startsWith("/") ? "/" : "";
      const [before, behind] = [at === 0 ? start : "…/", at === parts.length - 2 ? "/" : "/…/"];
      const owned = `${before}${part}/${at === parts.length - 3 ? "" : "…/"}${parts[parts.length - 2] ?? ""}/`;
      const cut =
        widthOf(before + part + behind) <= left ? part : cutPart(part, left - widthOf(before + behind), widthOf);
      places.set(path, behind === "/…/" && widthOf(owned) <= left ? owned : before + (cut || part) + behind);
    }
  }
  return places;
}

/** The end of each of these paths that no other has: the name, and as many parts before it as it takes. */
export function endsApart(paths: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(paths)];
  const ends = new Map(distinct.map((path) => [path, splitPath(path).name]));
  const most = Math.max(...distinct.map((path) => partsOf(path).length), 0);
  for (let count = 2; count <= most; count += 1)
    for (const group of alike(distinct, (path) => ends.get(path) ?? ""))
      for (const path of group) ends.set(path, partsOf(path).slice(-count).join("/") || path);
  return ends;
}

/** Shorter ones are read at a glance. */
const LONG_START = 12;

/** Two names without the long start that they have in common, up to where a word ends: `…batch_size_008`, `…batch_size_128`. */
export function withoutStart(a: string, b: string): [string, string] {
  let alike = 0;
  while (alike < Math.min(a.length, b.length) && a[alike] === b[alike]) alike += 1;
  if (a === b) return [a, b];
  const start = /^.*[/.]/s.exec(a.slice(0, alike))?.[0].length ?? 0;
  const cut = (name: string): string => (start < LONG_START ? name : `…${name.slice(start)}`);
  return [cut(a), cut(b)];
}
