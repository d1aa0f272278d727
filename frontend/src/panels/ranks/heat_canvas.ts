/** Draws the cells of a heat map. */
import { besideLargest, largestOf, linesOf } from "../../model/ranks";
import { colourAt, isPale } from "./scale";

type Theme = "light" | "dark";

/** In pixels of CSS. */
interface Size {
  width: number;
  height: number;
  rowHeight: number;
}

interface Drawing {
  /** One for each cell, row by row; NaN where nothing was recorded. */
  values: Float64Array;
  /** Those that are drawn, in their order. */
  rows: readonly number[];
  columns: number;
  /** What each row belongs to: a line is drawn between those that differ. */
  facets: readonly string[];
  /** The values at the ends of the scale. */
  low: number;
  high: number;
  /** Whether there is room for numbers. */
  printed: boolean;
  /** Rows and columns around which all is shaded; -1 where all of them are meant. */
  shade: { top: number; bottom: number; left: number; right: number } | null;
  /** Cells with a frame; -1 for none. */
  framed: readonly (readonly [place: number, column: number])[];
}

export function draw(canvas: HTMLCanvasElement, size: Size, theme: Theme, drawing: Drawing): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  context.scale(ratio, ratio);
  hatch(context, size, theme);
  colour(context, size, theme, drawing);
  if (drawing.printed) print(context, size, theme, drawing);
  context.fillStyle = theme === "dark" ? "#fff" : "#000";
  drawing.facets.forEach((facet, place) => {
    if (place > 0 && facet !== drawing.facets[place - 1]) context.fillRect(0, place * size.rowHeight, size.width, 0.5);
  });
  shade(context, size, theme, drawing);
  frame(context, size, theme, drawing);
}

/** Stripes under what is not recorded. */
function hatch(context: CanvasRenderingContext2D, { width, height }: Size, theme: Theme): void {
  context.strokeStyle = theme === "dark" ? "#666" : "#c4c7cc";
  context.lineWidth = 1;
  context.beginPath();
  for (let x = -height; x < width; x += 8) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
}

const shareOf = (value: number, { low, high }: Drawing): number => (high > low ? (value - low) / (high - low) : 0);

function colour(context: CanvasRenderingContext2D, { width, height }: Size, theme: Theme, drawing: Drawing): void {
  const { values, rows, columns } = drawing;
  // Where there are more rows than pixels, a line has the largest value of its rows: the mean hides what is looked for.
  const lines = Math.min(rows.length, Math.max(height, 1));
  const picture = new OffscreenCanvas(columns, lines);
  const pixels = picture.getContext("2d");
  if (!pixels) return;
  const image = pixels.createImageData(columns, lines);
  for (let line = 0; line < lines; line += 1) {
    const some = linesOf(rows, line, lines);
    for (let column = 0; column < columns; column += 1) {
      const value = largestOf(values, some, column, columns);
      if (Number.isNaN(value)) continue;
      image.data.set([...colourAt(shareOf(value, drawing), theme), 255], (line * columns + column) * 4);
    }
  }
  pixels.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, 0, 0, width, height);
}

function print(context: CanvasRenderingContext2D, { width, rowHeight }: Size, theme: Theme, drawing: Drawing): void {
  const { values, rows, columns } = drawing;
  const { fontFamily } = getComputedStyle(context.canvas);
  context.font = `12px ${fontFamily}`;
  context.textAlign = "center";
  rows.forEach((row, place) => {
    for (let column = 0; column < columns; column += 1) {
      const value = values[row * columns + column] ?? NaN;
      if (Number.isNaN(value)) continue;
      const { text, isNoise } = besideLargest(value, drawing.high);
      if (isNoise) continue;
      context.fillStyle = isPale(colourAt(shareOf(value, drawing), theme)) ? "#000" : "#fff";
      context.fillText(text, ((column + 0.5) * width) / columns, (place + 0.5) * rowHeight + 4);
    }
  });
}

function shade(context: CanvasRenderingContext2D, size: Size, theme: Theme, { shade, rows, columns }: Drawing): void {
  if (shade === null) return;
  const { width, height, rowHeight } = size;
  const [left, right] = shade.left < 0 ? [0, columns] : [shade.left, shade.right + 1];
  const [above, below] = shade.top < 0 ? [0, rows.length] : [shade.top, shade.bottom + 1];
  const [x, y, end] = [(left * width) / columns, above * rowHeight, (right * width) / columns];
  context.fillStyle = theme === "dark" ? "rgb(0 0 0 / 65%)" : "rgb(255 255 255 / 65%)";
  context.fillRect(0, 0, x, height);
  context.fillRect(end, 0, width - end, height);
  context.fillRect(x, 0, end - x, y);
  context.fillRect(x, below * rowHeight, end - x, height - below * rowHeight);
}

function frame(context: CanvasRenderingContext2D, size: Size, theme: Theme, { framed, columns }: Drawing): void {
  const { width, rowHeight } = size;
  context.strokeStyle = theme === "dark" ? "#fff" : "#000";
  context.lineWidth = 2;
  for (const [place, column] of framed)
    if (place >= 0 && column >= 0)
      context.strokeRect(
        (column * width) / columns,
        place * rowHeight,
        Math.max(width / columns, 3),
        Math.max(rowHeight, 3),
      );
}
