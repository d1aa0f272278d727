import { useLayoutEffect, useRef } from "preact/hooks";

interface HandleProps {
  name: string;
  value: number;
  lowest: number;
  highest: number;
  /** Where it stands on the plot, and how wide and high that is. */
  x: number;
  plotWidth: number;
  height: number;
  movable: boolean;
  valueAt: (clientX: number) => number;
  onChange: (value: number) => void;
}

/** A boundary of the aggregation: a black line with a grip to drag; also a slider for the keyboard and the mouse wheel. */
export function Handle(props: HandleProps) {
  const { name, value, lowest, highest, x, plotWidth, height, movable, valueAt, onChange } = props;
  const grip = useRef<SVGGElement>(null);
  const dragging = useRef(false);
  const set = (to: number): void => {
    const next = Math.min(Math.max(to, lowest), highest);
    if (next !== value) onChange(next);
  };
  const turn = useRef<(by: number) => void>(() => undefined);
  turn.current = (by) => set(value + by);
  useLayoutEffect(() => {
    const element = grip.current;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      event.stopPropagation();
      turn.current((event.deltaY < 0 ? 1 : -1) * (event.shiftKey ? 10 : 1));
    };
    if (!movable) return undefined;
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [movable]);

  // Beyond the visible part it waits at the edge, so that it can always be taken.
  const at = Math.min(Math.max(x, 0), plotWidth);
  const away = at !== x;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageDown: -10,
    PageUp: 10,
    Home: lowest - value,
    End: highest - value,
  };
  return (
    <g
      ref={grip}
      class={`handle${movable ? " movable" : ""}${away ? " away" : ""}`}
      transform={`translate(${at.toFixed(1)} 0)`}
      role="slider"
      aria-label={name}
      aria-valuemin={lowest}
      aria-valuemax={highest}
      aria-valuenow={value}
      aria-disabled={!movable}
      // Tab goes to the fields below instead, which do the same.
      tabindex={-1}
      data-tip={`${name} ${value}${movable ? ": drag, turn the wheel, or use the arrow keys" : ""}`}
      onKeyDown={(event) => {
        const step = steps[event.key];
        if (step === undefined || !movable) return;
        event.preventDefault();
        event.stopPropagation();
        set(value + step);
      }}
      onPointerDown={(event) => {
        event.stopPropagation();
        if (!movable) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragging.current = true;
      }}
      onPointerMove={(event) => {
        if (!dragging.current) return;
        event.stopPropagation();
        set(valueAt(event.clientX));
      }}
      onPointerUp={() => {
        dragging.current = false;
      }}
      onPointerCancel={() => {
        dragging.current = false;
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      <rect class="handle-room" x="-7" y="-20" width="14" height={height + 20} />
      <line y1="-4" y2={height} />
      <path d={name.endsWith("Start") ? "M0 -18h-10l-4 7l4 7h10z" : "M0 -18h10l4 7l-4 7h-10z"} />
    </g>
  );
}
