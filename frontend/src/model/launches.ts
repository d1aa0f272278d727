/** Bars of a histogram, from where each begins. */
export interface Bar {
  label: string;
  value: number;
}

/** From the first bar that holds something to the last; each is told as its range. */
export function histogramOf(bins: readonly (readonly [number, number])[], inWords: (edge: number) => string): Bar[] {
  const held = bins.flatMap(([, value], at) => (value > 0 ? [at] : []));
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined) return [];
  return bins.slice(first, last + 1).map(([from, value], at) => {
    const next = bins[first + at + 1]?.[0];
    const single = next === from + 1;
    const label =
      next === undefined
        ? `${inWords(from)} and more`
        : single
          ? inWords(from)
          : `${inWords(from)} to ${inWords(next)}`;
    return { label, value };
  });
}
