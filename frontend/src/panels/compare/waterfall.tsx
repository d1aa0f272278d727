/** From A's time to B's: one bar for each part, which begins where the one before ended. */
import type { CompareResponse } from "../../api/types";
import { useWidth } from "../../components/use_width";
import { exactDuration } from "../../format/time";
import { arrowOf } from "../../model/change";
import { KERNELS, waterfall, waterfallAxis, type Step } from "../../model/waterfall";
import { useOneStop } from "../../components/walking";
import { navigate, useUrl } from "../../frame/url";
import { showTable } from "./show_table";

const ROW = 26;
const LEFT = 200;
const RIGHT = 96;

/** The table below, as a click narrows it. */
const SEARCH = "cgroups.search";
const KIND = "cgroups.where.kind";

/** px, of what stands beside it too. */
export const heightOf = (comparison: CompareResponse): number => waterfall(comparison).steps.length * ROW;

export function Waterfall({ comparison }: { comparison: CompareResponse }) {
  const url = useUrl();
  const [measure, width] = useWidth(800);
  const row = useOneStop<HTMLUListElement>();
  const { steps, inScale } = waterfall(comparison);
  const [low, high] = waterfallAxis(steps);
  const left = Math.min(LEFT, Math.max(width * 0.25, Math.min(192, width * 0.4)));
  const room = Math.max(width - left - RIGHT, 40);
  const x = (ns: number): number => left + ((ns - low) / Math.max(high - low, 1)) * room;
  return (
    <div ref={measure}>
      {low > 0 && <AxisNote low={inScale(low)} />}
      <ul {...row} class="waterfall" style={{ height: `${steps.length * ROW}px` }}>
        {steps.map((step, i) => {
          const [from, to] = step.kind === "total" ? [low, step.to] : [step.from, step.to];
          const begin = Math.min(x(from), x(to));
          const chosen =
            step.part !== null && (step.part === KERNELS ? url[KIND] === "=ops" : url[SEARCH] === step.label);
          return (
            <li key={i} class={chosen ? "chosen" : ""} style={{ top: `${i * ROW}px` }}>
              <StepLabel step={step} width={left - 10} chosen={chosen} />
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
              <span
                class={`waterfall-value number ${step.kind === "detail" ? "muted" : ""}`}
                style={{ left: `${Math.max(x(from), x(to)) + 6}px` }}
                data-tip={exactDuration(step.kind === "total" ? step.to : Math.round(step.to - step.from))}
              >
                {["total", "detail"].includes(step.kind) ? step.text : `${arrowOf(step.to - step.from)} ${step.text}`}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Beside an axis that does not begin at 0. */
export const AxisNote = ({ low }: { low: string }) => (
  <p class="muted">The axis begins at {low}, so that changes can be seen.</p>
);

interface StepLabelProps {
  step: Step;
  width: number;
  /** Whether the table shows what the step stands for. */
  chosen: boolean;
}

function StepLabel({ step, width, chosen }: StepLabelProps) {
  const style = { width: `${width}px` };
  const { label, part, kind } = step;
  const click = chosen ? "Show all rows below again" : `Show only ${label} below`;
  if (part === null)
    return (
      <span class={`waterfall-label clip ${kind === "total" ? "strong" : `muted ${kind}`}`} style={style}>
        {label}
      </span>
    );
  return (
    <button
      type="button"
      class="waterfall-label link-button clip"
      style={style}
      data-tip={click}
      aria-pressed={chosen}
      onClick={() => narrow(label, part, chosen)}
    >
      {label}
    </button>
  );
}

/** The table of groups, narrowed to a part of the waterfall: a row by its name, or all that run kernels. */
function narrow(label: string, part: string, chosen: boolean): void {
  const to = chosen || part !== KERNELS ? null : "=ops";
  const closed = { "compare.tab": null, "cgroups.page": null, "cgroups.row": null, "compare.row": null };
  navigate({ ...closed, [KIND]: to, [SEARCH]: chosen || part === KERNELS ? null : label }, true);
  if (!chosen) showTable();
}
