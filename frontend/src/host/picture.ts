/** A chart as a picture of its own: the SVG with all that style sheets say of it, and drawn as PNG. */

const INLINED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "visibility",
] as const;

/** The text of a file that shows the chart as it is on screen, on the background of its panel. */
export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const drawn = [svg, ...svg.querySelectorAll("*")];
  for (const [i, element] of [copy, ...copy.querySelectorAll("*")].entries()) {
    const from = drawn[i];
    if (from === undefined) continue;
    const style = getComputedStyle(from);
    for (const name of INLINED) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "data-tip", "href", "target", "tabindex"]) element.removeAttribute(name);
  }
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--panel").trim());
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/** Twice as many pixels as on screen. */
const SCALE = 2;

export async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(image.width * SCALE);
  canvas.height = Math.ceil(image.height * SCALE);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser does not draw pictures.");
  context.scale(SCALE, SCALE);
  context.drawImage(image, 0, 0);
  return await new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("This browser makes no PNG.")) : resolve(blob)),
      "image/png",
    ),
  );
}

/** Offers a picture as a file. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
