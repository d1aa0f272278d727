/** Lengths of a product as the server writes them, for exports too (`64 -> 128 channels, 3 x 3`), with signs of their own. */
export const formatSize = (size: string): string => size.replaceAll("->", "→").replaceAll(" x ", " × ");
