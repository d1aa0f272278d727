/** The modules of both sides, as wide as their time, in the colour of their change; a click narrows the table of modules. */
import type { CompareResponse } from "../../api/types";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatDuration } from "../../format/time";
import { navigate } from "../../frame/url";
import { moduleBoxes } from "../../model/comparison";
import { arrowOf, directionOf, signedDuration } from "../../model/change";

const ROW = 24;
const LETTER = 7;

export function ModuleIcicle({ modules }: { modules: CompareResponse["modules"] }) {
  const [measure, width] = useWidth(800);
  const boxes = moduleBoxes(modules);
  if (boxes.length === 0) return null;
  const largest = Math.max(...boxes.map(({ a_ns: a, b_ns: b }) => Math.abs(b - a)), 1);
  const depth = Math.max(...boxes.map((box) => box.depth)) + 1;
  return (
    <Panel
      title="Modules, by Change"
      about="A box is as wide as the larger kernel time of both sides; blue took less time than in the baseline, orange more, and the stronger the colour the larger the change."
    >
      <div class="change-icicle" ref={measure} style={{ height: `${depth * ROW}px` }}>
        {boxes.map(({ path, name, x, width: share, depth: level, a_ns: a, b_ns: b }) => {
          const change = b - a;
          const letters = Math.floor((share * width - 22) / LETTER);
          return (
            <button
              key={path}
              type="button"
              class={`change-box ${directionOf(change)}`}
              style={{
                left: `${x * 100}%`,
                width: `${share * 100}%`,
                top: `${level * ROW}px`,
                "--strength": `${Math.round(12 + (58 * Math.abs(change)) / largest)}%`,
              }}
              aria-label={`${path}: ${formatDuration(a)} to ${formatDuration(b)}, ${signedDuration(change)}`}
              data-tip={`${path}\n${formatDuration(a)} → ${formatDuration(b)} (${signedDuration(change)})`}
              onClick={() => navigate({ "cmodules.search": path, "cmodules.page": null }, true)}
            >
              {letters >= 3 && (
                <span class="clip">
                  {arrowOf(change)} {name}
                </span>
              )}
            </button>
          );
        })}
      </div>
    </Panel>
  );
}
