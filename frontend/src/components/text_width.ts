/** How wide texts of the page are, by the widths of their letters, which are measured once: no layout is computed for it. */

import { cutLabel, labelOf } from "../model/kernel_name";

/** About what a letter takes where nothing can be drawn, as in tests. */
const LETTER = 7.3;

const known = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

function measured(): CanvasRenderingContext2D | null {
  const result = document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  if (result !== null) result.font = `${fontSize} ${fontFamily}`;
  return result;
}

/** The width of a text in the font of the page, in CSS pixels. */
export function textWidth(text: string): number {
  context ??= measured();
  let sum = 0;
  for (const letter of text) {
    let width = known.get(letter);
    if (width === undefined) {
      width = context === null ? LETTER : context.measureText(letter).width;
      known.set(letter, width);
    }
    sum += width;
  }
  return sum;
}

/** Of the texts in the boxes of a tree: the size of the style sheet over that of the page. */
const IN_BOXES = 11 / 13;
const FEWEST_LETTERS = 3;

export const fitsBox = (text: string, room: number): boolean => textWidth(text) * IN_BOXES <= room;

/** What a box of the tree says in so much room; empty where that would tell nothing. */
export function boxLabel(name: string, room: number): string {
  const label = labelOf(name);
  if (fitsBox(label, room)) return label;
  let letters = label.length - 1;
  while (letters >= FEWEST_LETTERS && !fitsBox(cutLabel(name, letters), room)) letters -= 1;
  return letters < FEWEST_LETTERS ? "" : cutLabel(name, letters);
}
