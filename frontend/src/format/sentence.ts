const UNIT = /(\d) (?=(?:%|ns|µs|ms|s|min|[kMGT]i?B)(?![A-Za-z]))/g;

const QUANTITY = /((?:at least )?[+−]?[<>]?\d[\d,.]*\u00a0(?:%|ns|µs|ms|s|min|[kMGT]i?B)(?![A-Za-z]))/;

/** A typeset sentence cut around its numbers with units, which have the odd places. */
export const aroundQuantities = (sentence: string): string[] => typeset(sentence).split(QUANTITY);

/** A hyphen that stands for a minus: before a number, and within no name. */
const MINUS = /(^|[\s(])-(?=\d)/g;

/** A sentence in which no line ends between a number and its unit, with arrows instead of `->` and signs that are a minus. */
export const typeset = (sentence: string): string =>
  sentence.replace(UNIT, "$1\u00a0").replaceAll(" -> ", " → ").replace(MINUS, "$1−");
