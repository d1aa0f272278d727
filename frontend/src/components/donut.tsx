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
      <svg class="donut-chart" viewBox="-50 -50 100 100" role="img" aria-label={label}>
        <circle class="donut-track" r="42" cx="0" cy="0" />
        {drawn.map(({ key, from, to }) => {
          const part = parts.find((candidate) => candidate.key === key);
          return (
            <path
              key={key}
              class={active === null || active === key ? "slice" : "slice faded"}
              d={ringSegment(from, to, 34, 49)}
              fill={part?.colour}
              data-tip={part?.tip}
              onPointerEnter={() => activate(key)}
              onPointerLeave={() => activate(null)}
            />
          );
        })}
        <text class={/\d/.test(centre) ? "donut-value" : "donut-value donut-word"} y="2" aria-hidden="true">
          {shown === undefined ? centre : shown.share || shown.value}
        </text>
        <text class="donut-label" y="14" aria-hidden="true">
          {shown === undefined ? centreLabel : ""}
        </text>
      </svg>
      <Legend whole={whole} entries={parts} hidden={hidden} toggle={toggle} active={active} activate={activate} />
    </div>
  );
}
