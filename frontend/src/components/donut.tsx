import { useState } from "preact/hooks";

import { useUrlSet } from "../frame/url";
import { ringSegment, segments } from "../model/chart";
import { Legend, type LegendEntry } from "./legend";

export interface DonutPart extends LegendEntry {
  /** Size of the slice; null and 0 have none, their entry stays in the legend. */
  size: number | null;
}

interface DonutProps {
  /** Under which key of the URL hidden entries are kept. */
  name: string;
  /** The chart in one sentence, for those who do not see it. */
  label: string;
  parts: readonly DonutPart[];
  /** What shares are of, where the middle does not tell. */
  whole?: string;
  /** The number in the middle and what it is. */
  centre: string;
  centreLabel: string;
}

export function Donut({ name, label, parts, whole, centre, centreLabel }: DonutProps) {
  const [hidden, toggle] = useUrlSet(`${name}.hidden`);
  const [active, activate] = useState<string | null>(null);
  const drawn = segments(
    parts.filter(({ key }) => !hidden.has(key)).map(({ key, size }) => ({ key, value: size ?? 0 })),
  );
  const shown = parts.find(({ key }) => key === active);
  return (
    <div class="donut">
      <div class="donut-chart">
        <svg viewBox="-50 -50 100 100" role="img" aria-label={label}>
          <circle class="donut-track" r="44" cx="0" cy="0" />
          {drawn.map(({ key, from, to }) => {
            const part = parts.find((candidate) => candidate.key === key);
            return (
              <path
                key={key}
                class={active === null || active === key ? "slice" : "slice faded"}
                d={ringSegment(from, to, 39, 49)}
                fill={part?.colour}
                data-tip={part?.tip}
                onPointerEnter={() => activate(key)}
                onPointerLeave={() => activate(null)}
              />
            );
          })}
        </svg>
        <div class="donut-centre" aria-hidden="true">
          <span class={/\d/.test(centre) ? "donut-value" : "donut-value donut-word"}>
            {shown === undefined ? centre : shown.share || shown.value}
          </span>
          {shown === undefined && <span class="donut-label">{centreLabel}</span>}
        </div>
      </div>
      <Legend whole={whole} entries={parts} hidden={hidden} toggle={toggle} active={active} activate={activate} />
    </div>
  );
}
