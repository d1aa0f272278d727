/** Where names stand on the roofline: off lines, dots and each other. */

/** The height of a line of labels, and about what a letter takes. */
export const LABEL_GAP = 14;
export const LABEL_LETTER = 6.8;

export interface Place {
  x: number;
  y: number;
  r: number;
}

/** A text from one place to another on a base line. */
export interface Label {
  from: number;
  to: number;
  y: number;
}

/**
 * Names of level roofs, highest first, each above or below its line where no dot and no other name or roof is: near its end if it
 * can be, and shorter where the whole name fits nowhere. Where there is no such place, where the least is in its way.
 */
export function roofNames(
  levels: readonly { texts: readonly string[]; start: number; y: number }[],
  places: readonly Place[],
  roofHeights: (x: number) => readonly number[],
  width: number,
): (Label & { text: string })[] {
  const drawn: (Label & { text: string })[] = [];
  for (const level of levels) {
    const candidates = level.texts.flatMap((text) => {
      const long = text.length * LABEL_LETTER;
      const steps = Math.max(Math.floor((width - long - level.start - 4) / LABEL_LETTER) + 1, 1);
      return Array.from({ length: steps }, (_, step) => width - long - step * LABEL_LETTER).flatMap((from) =>
        [level.y - 5, level.y + 12].map((y) => ({ text, from, to: from + long, y })),
      );
    });
    const apart = candidates.filter((name) => name.from >= 0 && !drawn.some((other) => areClose(name, other)));
    const inTheWay = (name: Label): number =>
      crossings(name, roofHeights) + places.reduce((sum, dot) => sum + Math.max(dot.r + 2 - distance(dot, name), 0), 0);
    const name =
      apart.find((each) => inTheWay(each) === 0) ??
      leastOf(apart, inTheWay) ??
      candidates.find(({ from }) => from >= 0) ??
      candidates.at(-1);
    if (name !== undefined) drawn.push(name);
  }
  return drawn;
}

/** The first of those of which the least is counted. */
function leastOf<T>(of: readonly T[], count: (each: T) => number): T | undefined {
  const counts = of.map(count);
  return of[counts.indexOf(Math.min(...counts))];
}

/** Whether two texts overlap. */
const areClose = (one: Label, other: Label): boolean =>
  Math.abs(other.y - one.y) < LABEL_GAP && one.from < other.to && other.from < one.to;

/** Where along a slanted roof, 0 to 1, its name is off all dots; in the middle if it can be, or if it is nowhere. */
export function slantedName(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  long: number,
  places: readonly Place[],
): number {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [right, down] = [(x2 - x1) / length, (y2 - y1) / length];
  const isFree = (part: number): boolean =>
    places.every(({ x, y, r }) => {
      const along = (x - x1) * right + (y - y1) * down - part * length;
      const above = (x - x1) * down - (y - y1) * right;
      return Math.hypot(Math.max(Math.abs(along) - long / 2, 0), Math.max(4 - above, above - 18, 0)) > r + 2;
    });
  const fits = (part: number): boolean => Math.min(part, 1 - part) * length > long / 2;
  return [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].find((part) => fits(part) && isFree(part)) ?? 0.5;
}

/** A vertical line from a dot up to its roof. */
export interface Rise {
  x: number;
  top: number;
  bottom: number;
}

/** What a number covers weighs more than how far it stands from its dot, px; a thin rise little. */
const COVERED = 1000;
const COVERED_RISE = 40;

/** From the edge of a dot to numbers beside it, the nearest first, px. */
const BESIDE = [8, 20, 32] as const;

/** Where the number of a dot may stand: in the middle, then to the right, left, below, above and between, then farther off. */
const DIRECTIONS = [0, 4, 2, 6, 1, 7, 3, 5].map((eighth) => (eighth * Math.PI) / 4);

/**
 * The numbers 1, 2, ... of the first `many` dots, in or beside each, the nearest place where there is room: within the plot, and off
 * names (those `taken` and other numbers), dots, roofs and the rises to them as far as can be.
 */
export function dotNumbers(
  many: number,
  places: readonly Place[],
  taken: readonly Label[],
  roofHeights: (x: number) => readonly number[],
  plot: { width: number; height: number },
  rises: readonly Rise[] = [],
): (Label & { text: string })[] {
  const drawn: (Label & { text: string })[] = [];
  places.slice(0, many).forEach((place, i) => {
    const others = [...taken, ...drawn];
    const cost = (label: Label): number => {
      const covered =
        crossings(label, roofHeights) +
        places.filter((other, j) => j !== i && distance(other, label) < other.r + 1).length +
        others.filter((other) => areClose(label, other)).length +
        (label.from < 0 || label.to > plot.width || label.y < LABEL_GAP || label.y > plot.height - 3 ? 9 : 0);
      const risen = rises.filter((rise) => isRisen(label, rise)).length;
      return (
        COVERED * covered +
        COVERED_RISE * risen +
        Math.hypot((label.from + label.to) / 2 - place.x, label.y - 4 - place.y)
      );
    };
    const best = leastOf(placesOf(place, String(i + 1)), cost);
    if (best !== undefined) drawn.push(best);
  });
  return drawn;
}

function placesOf({ x, y, r }: Place, text: string): (Label & { text: string })[] {
  const half = (text.length * LABEL_LETTER) / 2;
  const around = BESIDE.flatMap((away) =>
    DIRECTIONS.map((angle): [number, number] => [(r + away) * Math.cos(angle), (r + away) * Math.sin(angle)]),
  );
  const inside: [number, number][] = r > BESIDE[0] ? [[0, 0]] : [];
  return [...inside, ...around].map(([right, down]) => ({
    text,
    from: x + right - half,
    to: x + right + half,
    y: y + down + 4,
  }));
}

const isRisen = ({ from, to, y: base }: Label, { x, top, bottom }: Rise): boolean =>
  x > from - 2 && x < to + 2 && top < base + 2 && bottom > base - 10;

/** From the middle of a dot to the box of a text. */
export const distance = ({ x, y }: Place, { from, to, y: base }: Label): number =>
  Math.hypot(Math.max(from - x, x - to, 0), Math.max(base - 10 - y, y - base - 2, 0));

/** In how many of its places a text is crossed by a roof. */
function crossings({ from, to, y: base }: Label, roofHeights: (x: number) => readonly number[]): number {
  let powers = 0;
  for (let x = from; x <= to; x += LABEL_LETTER)
    if (roofHeights(x).some((height) => height > base - 11 && height < base + 3)) powers += 1;
  return powers;
}
