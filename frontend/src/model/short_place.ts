/** Places of ops that are cut where a part of them begins. */
import { splitPath } from "./kernel_name";

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

/** The path of an op within a sentence, which a long one would push out of sight. */
export function shortPath(path: string): string {
  const { place, name } = splitPath(path);
  return shortPlace(place, MOST_LETTERS - name.length, (text) => text.length) + name;
}
