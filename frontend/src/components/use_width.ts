import { useLayoutEffect, useState } from "preact/hooks";

import { inTurn } from "./turns";

/**
 * The width of an element in CSS pixels, kept up to date; a frame that is not shown (width 0) keeps the last one. What is drawn anew
 * in a window of another width has a frame each: a chart and a table in one would hold the browser for twice as long.
 */
export function useWidth(initial: number): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(initial);
  // Before the first picture, so that a chart never overflows its panel for a moment.
  useLayoutEffect(() => {
    if (element === null) return undefined;
    let last = element.clientWidth;
    if (last > 0) setWidth(last);
    let takeBack = (): void => undefined;
    const observer = new ResizeObserver(([entry]) => {
      const now = Math.floor(entry?.contentRect.width ?? 0);
      if (now <= 0 || now === last) return;
      last = now;
      takeBack();
      takeBack = inTurn(() => setWidth(now), 0);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      takeBack();
    };
  }, [element]);
  return [setElement, width];
}
