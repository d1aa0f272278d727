import { useLayoutEffect, useState } from "preact/hooks";

/** The width of an element in CSS pixels, kept up to date; a frame that is not shown (width 0) keeps the last one. */
export function useWidth(initial: number): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(initial);
  // Before the first picture, so that a chart never overflows its panel for a moment.
  useLayoutEffect(() => {
    if (element === null) return undefined;
    if (element.clientWidth > 0) setWidth(element.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      const now = Math.floor(entry?.contentRect.width ?? 0);
      if (now > 0) setWidth(now);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width];
}
