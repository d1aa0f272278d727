/** From A's time to B's: one bar for each part, which begins where the one before ended. */
import type { CompareResponse } from "../../api/types";
import { useWidth } from "../../components/use_width";
import { formatDuration } from "../../format/time";
import { waterfall, waterfallAxis, type Step } from "../../model/comparison";
import { arrowOf, signedDuration } from "../../model/change";
import { useOneStop } from "../../components/walking";

const ROW = 26;
const LEFT = 190;
const RIGHT = 96;

interface WaterfallProps {
  comparison: CompareResponse;
  onSelect: (label: string, part: string) => void;
}

export function Waterfall({ comparison: comparison, onSelect }: WaterfallProps) {
  const [measure, width] = useWidth(800);
  const row = useOneStop<HTMLUListElement>();
  const steps = waterfall(comparison);
  const [low, high] = waterfallAxis(steps);
  const left = Math.min(LEFT, Math.max(width * 0.25, Math.min(176, width * 0.4)));
  const room = Math.max(width - left - RIGHT, 40);
  const x = (ns: number): number => left + ((ns - low) / Math.max(high - low, 1)) * room;
  return (
    <div ref={measure}>
      {low > 0 && <p class="muted">The axis begins at {formatDuration(low)}, so that changes can be seen.</p>}
      <ul {...row} class="waterfall" style={{ height: `${steps.length * ROW}px` }}>
        {steps.map((step, i) => {
          const [from, to] = step.kind === "total" ? [low, step.to] : [step.from, step.to];
          const begin = Math.min(x(from), x(to));
          return (
            <li key={i} style={{ top: `${i * ROW}px` }}>
              <StepLabel step={step} width={left - 10} onSelect={onSelect} />
              <span
                class={`waterfall-bar ${step.kind}`}
                style={{ left: `${begin}px`, width: `${Math.max(Math.abs(x(to) - x(from)), 1.5)}px` }}
              >
                {low > 0 && step.kind === "total" && (
                  <svg width="20" height="20" aria-hidden="true">
                    <path class="axis-break" d="M4 22L14 -2" />
                  </svg>
                )}
              </span>
              <span class="waterfall-value number" style={{ left: `${Math.max(x(from), x(to)) + 6}px` }}>
                {step.kind === "total"
                  ? formatDuration(step.to)
                  : `${arrowOf(step.to - step.from)} ${signedDuration(step.to - step.from)}`}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function StepLabel({ step, width, onSelect }: { step: Step; width: number; onSelect: WaterfallProps["onSelect"] }) {
  const style = { width: `${width}px` };
  const { label, part } = step;
  if (part === null)
    return (
      <span class={`waterfall-label clip ${step.kind === "total" ? "strong" : "muted"}`} style={style}>
        {label}
      </span>
    );
  return (
    <button
      type="button"
      class="waterfall-label link-button clip"
      style={style}
      data-tip={label}
      onClick={() => onSelect(label, part)}
    >
      {label}
    </button>
  );
}
