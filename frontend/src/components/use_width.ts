import { useLayoutEffect, useState } from "preact/hooks";

import { inTurn } from "./turns";

/** The height of an element that its surroundings give it, otherwise as `useWidth`. */
export const useHeight = (initial: number): Extent => useExtent(initial, "Height");

/**
 * The width of an element in CSS pixels, kept up to date; a frame that is not shown (width 0) keeps the last one. What is drawn anew
 * in a window of another width has a frame each: a chart and a table in one would hold the browser for twice as long.
 */
export const useWidth = (initial: number): Extent => useExtent(initial, "Width");

type Extent = [measure: (element: HTMLElement | null) => void, px: number];

function useExtent(initial: number, side: "Width" | "Height"): Extent {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [extent, setExtent] = useState(initial);
  // Before the first picture, so that a chart never overflows its panel for a moment.
  useLayoutEffect(() => {
    if (element === null) return undefined;
    let last = element[`client${side}`];
    if (last > 0) setExtent(last);
    let takeBack = (): void => undefined;
    const observer = new ResizeObserver(([entry]) => {
      const now = Math.floor(entry?.contentRect[side === "Width" ? "width" : "height"] ?? 0);
      if (now <= 0 || now === last) return;
      last = now;
      takeBack();
      takeBack = inTurn(() => setExtent(now), 0);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      takeBack();
    };
  }, [element, side]);
  return [setElement, extent];
}
