import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface InSightProps {
  /** The selected row, which `children` tell more of; empty for none. */
  of: string;
  children: ComponentChildren;
}

const GOING_ON = ["wheel", "pointerdown", "keydown"] as const;

/** What a selection shows below a table comes into sight, as far as the selected row stays there, also what loads later. */
export function InSight({ of, children }: InSightProps) {
  const part = useRef<HTMLDivElement>(null);
  // Whoever follows a link begins at the top of the page.
  const ofLink = useRef(of);
  useEffect(() => {
    const element = part.current;
    const isSelected = of !== "" && of !== ofLink.current;
    ofLink.current = "";
    if (element === null || !isSelected) return;
    const observer = new ResizeObserver(() => {
      element.scrollIntoView({ block: "nearest" });
      // The last one before it: a click between two cells of the row focuses none.
      [...document.querySelectorAll('tr[aria-selected="true"]')]
        .filter((each) => each.compareDocumentPosition(element) === Node.DOCUMENT_POSITION_FOLLOWING)
        .at(-1)
        ?.scrollIntoView({ block: "nearest" });
    });
    observer.observe(element);
    // From then on the user says what is to be seen.
    const stop = (): void => observer.disconnect();
    GOING_ON.forEach((kind) => document.addEventListener(kind, stop, { once: true }));
    return () => {
      stop();
      GOING_ON.forEach((kind) => document.removeEventListener(kind, stop));
    };
  }, [of]);
  return (
    <div class="stacked compare-below" ref={part}>
      {children}
    </div>
  );
}
