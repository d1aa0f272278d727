/** Draws a value over time as an area, and texts that stay legible above what is drawn. */
import { formatCount } from "../../format/number";
import type { Palette } from "./drawing";

/** A text with a rim, for what may lie below it. */
export function drawOverOthers(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  colour: string,
  palette: Palette,
): void {
  context.strokeStyle = palette.background;
  context.lineWidth = 3;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

interface Curve {
  begin: number;
  end: number;
  y: number;
  high: number;
  colour: string;
  palette: Palette;
  /** Of the window. */
  width: number;
}

/** Bins hold means, of which the highest may be less than the longest queue. */
export const queuePeak = (most: number): string =>
  `peak ${Number.isInteger(most) ? "" : "≥ "}${formatCount(Math.ceil(most))}`;

/** A value in each bin as an area, with the highest in sight in words where the curve is lower. */
export function drawCurve(
  context: CanvasRenderingContext2D,
  values: readonly number[],
  { begin, end, y, high, colour, palette, width }: Curve,
  inWords: (value: number) => string,
): void {
  const wide = (end - begin) / Math.max(values.length, 1);
  const highest = (left: number, right: number): number =>
    values
      .slice(Math.max(Math.floor((left - begin) / wide), 0), Math.max(Math.ceil((right - begin) / wide), 0))
      .reduce((a, b) => Math.max(a, b), 0);
  const most = highest(0, width);
  const top = Math.max(most, 1);
  context.save();
  context.beginPath();
  context.rect(0, y, width, high);
  context.clip();
  context.beginPath();
  context.moveTo(begin, y + high);
  values.forEach((value, at) => {
    const height = y + high - (value / top) * high;
    context.lineTo(begin + at * wide, height);
    context.lineTo(begin + (at + 1) * wide, height);
  });
  context.lineTo(end, y + high);
  context.closePath();
  context.fillStyle = colour;
  context.globalAlpha = 0.35;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  const text = inWords(most);
  const room = context.measureText(text).width + 6;
  const left = highest(0, room) <= highest(width - room, width) ? 3 : width - room + 3;
  if (most > 0) drawOverOthers(context, text, left, y + 7, palette.muted, palette);
  context.restore();
}
