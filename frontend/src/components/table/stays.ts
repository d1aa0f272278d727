/** Whether the sums of a table stay in sight: not where they would cover its head, or its only rows above the fold. */
import { useEffect, useRef, useState, type MutableRef } from "preact/hooks";

/** So many rows are in sight, of which the sums cover the last. */
const FEW = 4;

/** For the element with the sums of a table that shows `rows`. Those of no more than a few rows stand near anyway. */
export function useStays(rows: unknown): [MutableRef<HTMLTableSectionElement | null>, boolean] {
  const foot = useRef<HTMLTableSectionElement | null>(null);
  const [stays, setStays] = useState(false);
  useEffect(() => {
    const table = foot.current?.closest("table");
    const next = table?.tBodies[0]?.rows[FEW];
    if (next === undefined) {
      setStays(false);
      return undefined;
    }
    const observer = new IntersectionObserver(([seen]) => {
      if (seen === undefined) return;
      const fold = Math.min(table?.parentElement?.getBoundingClientRect().bottom ?? Infinity, window.innerHeight);
      // What has been scrolled away has more rows below.
      setStays(seen.isIntersecting || seen.boundingClientRect.top < fold);
    });
    observer.observe(next);
    return () => observer.disconnect();
  }, [rows]);
  return [foot, stays];
}
