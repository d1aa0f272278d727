/**
 * Which columns of a table fit next to each other, and how wide each is then.
 *
 * Nobody should have to scroll sideways to learn that a column exists: what does not fit is left out, least important
 * first, and stands in the menu of columns.
 */

export interface ColumnSize {
  readonly key: string;
  /** In CSS pixels: below it the column is of no use, and above `ideal` more room only helps what grows. */
  readonly least: number;
  /** From it on none of its texts is cut, where they are short enough to be shown whole. */
  readonly whole: number;
  /** From it on its label takes one line. */
  readonly head?: number;
  readonly ideal: number;
  /** Like `whole`, but only columns of tier 2 and higher give way for it. */
  readonly wish?: number;
  /** Whether its texts can always use more room. */
  readonly grows: boolean;
  /** From it on more room is of no use to what grows: a name far from its numbers is hard to follow. */
  readonly most?: number;
  /** Whether it is shown however narrow the page is, because rows could not be distinguished without it. */
  readonly fixed: boolean;
  /** 0 for what the table is read for; the higher, the sooner it is left out. */
  readonly tier: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * The columns to show in `available` pixels: what is kept, then whatever still fits in the order of importance, which is
 * that of their tiers, and within one that of the table. One of a higher tier takes no room that the texts before it lack.
 */
export function fitting(columns: readonly ColumnSize[], available: number): ReadonlySet<string> {
  const fixed = columns.filter((column) => column.fixed);
  const others = columns.filter((column) => !column.fixed);
  let room = available - sum(fixed.map(({ least }) => least));
  const shown = new Set(fixed.map(({ key }) => key));
  for (const column of others.sort((a, b) => a.tier - b.tier)) {
    const before = columns.filter(({ key, tier }) => shown.has(key) && tier < column.tier);
    const wanted = before.map(({ least, whole, wish = whole }) => (column.tier > 1 ? wish : whole) - least);
    if (column.least + sum(wanted) > room) continue;
    room -= column.least;
    shown.add(column.key);
  }
  return shown;
}

const OTHER_SIDE: Readonly<Record<string, string>> = { a: "b", b: "a" };

/** Those of the columns that are shown, but of A and B beside each other both or none: one alone compares nothing. */
export const wholePairs = <Named extends { readonly key: string }>(
  columns: readonly Named[],
  shown: ReadonlySet<string>,
  needed: readonly string[],
): Named[] => {
  const keys = new Set(columns.map(({ key }) => key));
  return columns.filter(({ key }) => {
    const other = key.replace(/^[ab](?=_)/, (side) => OTHER_SIDE[side] ?? side);
    return shown.has(key) && (needed.includes(key) || !keys.has(other) || shown.has(other));
  });
};

/**
 * The width of each column in `available` pixels: first the least, then until its texts are whole, then until its label takes one line, then up to the ideal, each by
 * what it lacks; what is still left goes to those that grow, up to their most, and then to all. Where none grows, a column takes up to
 * twice its ideal: numbers far apart are hard to follow along a row. Wider together than `available` only where the least is.
 */
export function widthsIn(columns: readonly ColumnSize[], available: number): ReadonlyMap<string, number> {
  let rest = Math.max(available - sum(columns.map(({ least }) => least)), 0);
  const filledTo = (lacks: (column: ColumnSize) => number): number => {
    const lacking = sum(columns.map(lacks));
    const filled = lacking === 0 ? 0 : Math.min(rest / lacking, 1);
    rest -= filled * lacking;
    return filled;
  };
  const toWhole = filledTo(({ least, whole }) => whole - least);
  const oneLine = ({ whole, head = 0 }: ColumnSize): number => Math.max(whole, head);
  const toHead = filledTo((column) => oneLine(column) - column.whole);
  const toIdeal = filledTo((column) => Math.max(column.ideal - oneLine(column), 0));
  const growing = columns.filter(({ grows }) => grows);
  const takers = new Set(growing.length > 0 ? growing : columns);
  const shares = sum([...takers].map(({ ideal }) => ideal));
  const wanted = ({ ideal, most = Infinity }: ColumnSize): number =>
    Math.min((rest * ideal) / shares, Math.max(most - ideal, 0), growing.length > 0 ? Infinity : ideal);
  const left = growing.length > 0 ? rest - sum([...takers].map(wanted)) : 0;
  const ideals = sum(columns.map(({ ideal }) => ideal));
  const widths = columns.map((column) => {
    const { least, whole, ideal } = column;
    const head = oneLine(column);
    const grown = (takers.has(column) ? wanted(column) : 0) + (left * ideal) / ideals;
    return Math.floor(
      least + toWhole * (whole - least) + toHead * (head - whole) + toIdeal * Math.max(ideal - head, 0) + grown,
    );
  });
  // Fractions of pixels together are a gap at the end.
  const lost = available - sum(widths);
  return new Map(
    columns.map(({ key }, i) => [
      key,
      (widths[i] ?? 0) + (i === columns.length - 1 && lost > 0 && lost < columns.length ? lost : 0),
    ]),
  );
}
