/** Places of ops that are cut where a part of them begins. */
import { UNASSOCIATED, labelOf, splitPath } from "./kernel_name";

/** A place such as `/model/encoder/attention/` without its first parts, as far as the room needs: `…/attention/`. */
export function shortPlace(place: string, room: number, widthOf: (text: string) => number): string {
  if (place.length <= 1 || widthOf(place) <= room) return place;
  for (let at = place.indexOf("/", 1); at >= 0 && at < place.length - 1; at = place.indexOf("/", at + 1)) {
    const short = `…${place.slice(at)}`;
    if (widthOf(short) <= room) return short;
  }
  return place.includes("/") ? "…/" : "…";
}

const MOST_LETTERS = 60;

/** The path of an op within a sentence, which a long one would push out of sight; of work without an op its name. */
export function shortPath(path: string): string {
  if (path.startsWith(UNASSOCIATED)) return labelOf(path);
  const { place, name } = splitPath(path);
  return shortPlace(place, MOST_LETTERS - name.length, (text) => text.length) + name;
}

/** What is left of a text where it has no room, without the sign that something is missing. */
function clipped(text: string, room: number, widthOf: (text: string) => number): string {
  let end = text.length;
  while (end > 0 && widthOf(text.slice(0, end)) > room) end -= 1;
  return text.slice(0, end);
}

const partsOf = (path: string): string[] => path.split("/").filter(Boolean);

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

/**
 * What stands before the name of each of these paths, which are shown below each other in as much room. Where cutting would leave
 * two alike, the first part in which they differ stays, in place of what they have in common: `…/attention/…/linear`.
 */
export function placesApart(
  paths: readonly string[],
  room: number,
  widthOf: (text: string) => number,
): ReadonlyMap<string, string> {
  const distinct = [...new Set(paths)];
  const places = new Map(
    distinct.map((path) => {
      const { place, name } = splitPath(path);
      return [path, shortPlace(place, room - widthOf(name), widthOf)];
    }),
  );
  const looks = (path: string): string => clipped((places.get(path) ?? "") + splitPath(path).name, room, widthOf);
  for (const group of alike(distinct, looks)) {
    const at = firstDifference(group);
    for (const path of group) {
      const parts = partsOf(path);
      const part = parts[at];
      // The name itself is cut by what draws it.
      if (part === undefined || at >= parts.length - 1) continue;
      places.set(path, `${at === 0 ? "" : "…"}/${part}/${at === parts.length - 2 ? "" : "…/"}`);
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
