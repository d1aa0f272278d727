/** How wide texts of the page are, by the widths of their letters, which are measured once: no layout is computed for it. */

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
