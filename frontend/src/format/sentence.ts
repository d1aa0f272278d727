const UNIT = /(\d) (?=(?:%|ns|µs|ms|s|[kMGT]i?B)(?![A-Za-z]))/g;

/** A sentence of the server in which no line ends between a number and its unit. */
export const unbroken = (sentence: string): string => sentence.replace(UNIT, "$1\u00a0");
