/** Draws a value over time as an area, and texts that stay legible above what is drawn. */
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

/** Above a curve, for what is said of its highest place. */
const PEAK_ROOM = 13;

/** A value in each bin as an area, with a dot on the highest in sight and words beside it, where there are any. */
export function drawCurve(
  context: CanvasRenderingContext2D,
  values: readonly number[],
  { begin, end, y, high, colour, palette, width }: Curve,
  inWords: (value: number) => string,
): void {
  const wide = (end - begin) / Math.max(values.length, 1);
  const first = Math.max(Math.floor(-begin / wide), 0);
  const seen = values.slice(first, Math.max(Math.ceil((width - begin) / wide), 0));
  const most = seen.reduce((a, b) => Math.max(a, b), 0);
  const top = Math.max(most, 1);
  const tall = high - PEAK_ROOM;
  context.save();
  context.beginPath();
  context.rect(0, y, width, high);
  context.clip();
  context.beginPath();
  context.moveTo(begin, y + high);
  values.forEach((value, at) => {
    const height = y + high - (value / top) * tall;
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
  const text = most > 0 ? inWords(most) : "";
  const peak = begin + (first + seen.indexOf(most) + 0.5) * wide;
  if (text !== "") drawPeak(context, text, peak, { y: y + PEAK_ROOM, colour, palette, width });
  context.restore();
}

/** A dot on the highest place of a curve, with a text on the side that has room for it. */
function drawPeak(
  context: CanvasRenderingContext2D,
  text: string,
  at: number,
  { y, colour, palette, width }: Pick<Curve, "y" | "colour" | "palette" | "width">,
): void {
  const x = Math.min(Math.max(at, 3), width - 3);
  context.beginPath();
  context.arc(x, y, 2.5, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  const room = context.measureText(text).width + 8;
  drawOverOthers(context, text, x + room < width ? x + 6 : x - room + 2, y - 7, palette.muted, palette);
}
