/** Names of repeated siblings: `Layer[0]`, `Layer[1]`, ... -> `Layer[0..23]`. */

const NUMBER = /\d+/g;

/** The name without its numbers: alike for siblings that can be folded. */
export const numberless = (name: string): string => name.replace(NUMBER, "#");

/** The number at the end of a name (`Layer[12]`, `conv_3`, `layer1`), which distinguishes it from its siblings if names are cut. */
export function splitNumber(name: string): { head: string; number: string } {
  const at = name.search(/(?:\[[^[\]]+\]|[_.]?\d+)$/);
  return at < 0 ? { head: name, number: "" } : { head: name.slice(0, at), number: name.slice(at) };
}

/** `0..23` without a gap, `0,3` for few, `0…46` for more with gaps, the number itself where there is one. */
function span(numbers: readonly number[]): string {
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const first = distinct[0] ?? 0;
  const last = distinct.at(-1) ?? first;
  if (first === last) return String(first);
  if (last - first === distinct.length - 1) return `${first}..${last}`;
  return distinct.length <= 3 ? distinct.join(",") : `${first}…${last}`;
}

/** One name for several that differ in their numbers only. */
export function foldedName(names: readonly string[]): string {
  const [first = ""] = names;
  const places = names.map((name) => [...name.matchAll(NUMBER)].map(([digits]) => Number(digits)));
  let place = -1;
  return first.replace(NUMBER, (digits) => {
    place += 1;
    const here = places.map((numbers) => numbers[place] ?? 0);
    return here.every((number) => number === here[0]) ? digits : span(here);
  });
}

/** Fewer letters of a name tell nothing. */
const FEWEST = 4;

/**
 * A name in so many letters: of a path its last part as far as it fits, `T5Enc…/T5Stack`; the numbers at the end are kept whole,
 * `T5Blo…[1..23] ×23`. Else it is cut in the middle: siblings begin alike, and their ends tell them apart.
 */
export function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const last = name.slice(Math.max(name.lastIndexOf("/"), 0));
  if (last.length < name.length && last.length > letters - 1 - FEWEST) return shortened(last.slice(1), letters);
  const numbers = /(?:\[[^[\]]+\])?(?: ×\d+)?$/.exec(name)?.[0] ?? "";
  const kept =
    last.length < name.length
      ? last
      : numbers !== "" && numbers.length < letters - FEWEST
        ? numbers
        : name.slice(-Math.floor((letters - 1) / 2));
  // Half a range of numbers would be read as another one.
  return `${name.slice(0, Math.max(letters - 1 - kept.length, 1)).replace(/\[[^\]]*$/, "")}…${kept}`;
}
