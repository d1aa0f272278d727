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

/** So many lines above or below its dot a name may stand. */
const FARTHEST_LINES = 14;

/** What a name covers weighs more than how far it stands from its dot, and what its line crosses somewhat more, px; a thin rise little. */
const COVERED = 1000;
const LED_ACROSS = 150;
const COVERED_RISE = 40;

/** From one point that is looked at on the line between a name and its dot to the next, px. */
const LEAD_STEP = 4;

type DotLabel = Label & { text: string; dot: number; lead: { x: number; y: number } | null };

/**
 * Names of the first dots beside, below or above them, the nearest place where there is room: within the plot, off other names
 * (also those `taken`), and if it can be off dots, roofs and the rises to them. One that would cover another name everywhere is
 * left out. `lead` is where a line to the dot ends, of a name that does not stand at it.
 */
export function dotLabels(
  texts: readonly { text: string; wide: number }[],
  places: readonly Place[],
  taken: readonly Label[],
  roofHeights: (x: number) => readonly number[],
  plot: { width: number; height: number },
  rises: readonly Rise[] = [],
): DotLabel[] {
  const drawn: DotLabel[] = [];
  texts.forEach(({ text, wide }, i) => {
    const place = places[i];
    if (place === undefined) return;
    const others = [...taken, ...drawn];
    const candidates = startsOf(place, wide)
      .map(([from, y]) => labelAt({ text, from, to: from + wide, y }, i, place))
      .filter(({ from, to, y }) => from >= 0 && to <= plot.width && y >= LABEL_GAP && y <= plot.height - 3)
      .filter((label) => !others.some((other) => areClose(label, other)));
    const leads = drawn.flatMap(({ dot, lead }) => pointsOf(places[dot], lead));
    const cost = (label: DotLabel): number => {
      const covered =
        crossings(label, roofHeights) +
        places.filter((other, j) => distance(other, label) < (j === i ? other.r : other.r + 2)).length +
        (leads.some((point) => isWithin(point, label)) ? 1 : 0);
      const risen = rises.filter((rise) => isRisen(label, rise)).length;
      const across = pointsOf(place, label.lead).some(
        (point) =>
          roofHeights(point.x).some((height) => Math.abs(height - point.y) < LEAD_STEP / 2) ||
          others.some((other) => isWithin(point, other)) ||
          places.some(({ x, y, r }, j) => j !== i && Math.hypot(point.x - x, point.y - y) < r),
      );
      return COVERED * covered + COVERED_RISE * risen + (across ? LED_ACROSS : 0) + distance(place, label) - place.r;
    };
    const best = leastOf(candidates, cost);
    if (best !== undefined) drawn.push(best);
  });
  return drawn;
}

/** Where a name may begin and stand, the best first: beside its dot, below, above, then farther off. */
function startsOf({ x, y, r }: Place, wide: number): [from: number, y: number][] {
  const beside = (down: number): [from: number, y: number][] => [
    [x + r + 4, y + 4 + down],
    [x - r - 4 - wide, y + 4 + down],
  ];
  const [below, above] = [y + r + LABEL_GAP, y - r - 6];
  return [
    ...beside(0),
    [x - wide / 2, below],
    [x - wide / 2, above],
    [x + 2, below],
    [x - wide, below],
    ...Array.from({ length: FARTHEST_LINES }, (_, line) => (line + 1) * LABEL_GAP).flatMap((down) => [
      ...beside(down),
      ...beside(-down),
      ...[-1, -0.75, -0.5, -0.25, 0].flatMap((part): [from: number, y: number][] => [
        [x + part * wide, below + down],
        [x + part * wide, above - down],
      ]),
    ]),
  ];
}

function labelAt(name: Label & { text: string }, dot: number, place: Place): DotLabel {
  const label = { ...name, dot };
  const { from, y } = name;
  const near = { x: Math.min(Math.max(place.x, from - 2), label.to), y: y - 4 > place.y ? y - 11 : y + 3 };
  const side = Math.abs(y - 4 - place.y) < LABEL_GAP / 2 ? { ...near, y: y - 4 } : near;
  return { ...label, lead: distance(place, label) > place.r + 8 ? side : null };
}

/** Where the line to a name leaves its dot. */
export function leadFrom(
  place: Place | undefined,
  to: { readonly x: number; readonly y: number },
): { x1: number; y1: number } | undefined {
  if (place === undefined) return undefined;
  const part = Math.min(place.r / Math.max(Math.hypot(to.x - place.x, to.y - place.y), 1), 1);
  return { x1: place.x + part * (to.x - place.x), y1: place.y + part * (to.y - place.y) };
}

/** Points on the line from a dot's edge to its name. */
function pointsOf(place: Place | undefined, lead: { x: number; y: number } | null): { x: number; y: number }[] {
  if (place === undefined || lead === null) return [];
  const long = Math.hypot(lead.x - place.x, lead.y - place.y);
  return Array.from({ length: Math.max(Math.floor((long - place.r) / LEAD_STEP), 0) }, (_, step) => {
    const part = (place.r + step * LEAD_STEP) / long;
    return { x: place.x + part * (lead.x - place.x), y: place.y + part * (lead.y - place.y) };
  });
}

const isWithin = ({ x, y }: { x: number; y: number }, { from, to, y: base }: Label): boolean =>
  x > from - 2 && x < to + 2 && y > base - 10 && y < base + 2;

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
