/** What the time of each side goes to: of one program on one scale, of two by their own wholes. */
import type { ComponentChildren } from "preact";

import { baselineLinks, fetchTable, type Baseline } from "../../api/client";
import type { CompareResponse, TableResponse } from "../../api/types";
import { KindLegend } from "../../components/charts/kind_legend";
import { BarLegend, StackedBar } from "../../components/charts/stacked_bar";
import { ErrorBox } from "../../components/message";
import { Panel } from "../../components/panel";
import { FittingPath } from "../../components/value";
import { capitalized, formatCount } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { formatDuration } from "../../format/time";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { partsNamed, segmentsOf } from "../../model/step";

const SIDES = ["a", "b"] as const;

/** Of each side. */
const MOST_GROUPS = 8;

export function TimeBySide({ comparison }: { comparison: CompareResponse }) {
  const { parts, matrix_unit: unit, same_program: same } = comparison;
  if (parts.length === 0) return null;
  const wholes = SIDES.map((side) => comparison[side].iteration_ns ?? comparison[side].value_ns);
  const bars = SIDES.map((side, i) => {
    const whole = wholes[i] ?? 0;
    const sum = Math.max(comparison[side].value_ns, 1);
    const times = parts.map((part) => [part.part, (part[`${side}_ns`] / sum) * whole] as const);
    return segmentsOf(partsNamed(times), whole, capitalized(unit)).map((each) => ({ ...each, to: null }));
  });
  return (
    <Panel
      title={same ? "A and B" : "Where the Time Goes"}
      about={
        same
          ? "What the time of each side consists of, on one scale."
          : "Both bars are as long: what the time of each side consists of can be set side by side, how long it is cannot."
      }
    >
      {SIDES.map((side, i) => {
        const { iteration_ns: iteration, iterations, devices_in_use: gpus } = comparison[side];
        const whole = wholes[i] ?? 0;
        const segments = bars[i] ?? [];
        const letter = side.toUpperCase();
        const what =
          iteration === null ? "the whole recording" : iterations === 1 ? "the iteration" : "the mean iteration";
        return (
          <div key={side} class="side-time">
            <h3 class="series-title">
              {letter}: {what}, {formatDuration(whole)}
              {gpus > 1 && `, mean of ${gpus} GPUs`}
            </h3>
            <div style={same ? { width: `${(whole / Math.max(...wholes, 1)) * 100}%` } : undefined}>
              <StackedBar segments={segments} whole_ns={whole} label={`Time of ${letter}`} height={24} />
            </div>
            {!same && <BarLegend segments={segments} whole_ns={whole} />}
          </div>
        );
      })}
      {same && <KindLegend bars={bars} unit={capitalized(unit)} />}
    </Panel>
  );
}

export function GroupsBySide({ baseline }: { baseline: Baseline }) {
  return (
    <div class="compare-pair narrow">
      {SIDES.map((side) => (
        <Groups key={side} side={side} baseline={baseline} />
      ))}
    </div>
  );
}

interface GroupsProps {
  side: (typeof SIDES)[number];
  baseline: Baseline;
}

/** The groups of ops with the most kernel time of a side. */
function Groups({ side, baseline }: GroupsProps) {
  const scope = useScope();
  const column = `${side}_ns`;
  const query = useQuery<TableResponse>(
    scopeKey(scope, "groups_by_side", baseline.base, baseline.aggregation, side),
    (signal) =>
      fetchTable(
        {
          profile: scope.profile,
          aggregation: scope.aggregation,
          domain: scope.domain,
          table: "compare_groups",
          offset: 0,
          limit: MOST_GROUPS,
          sort: `-${column}`,
          search: "",
          where: { [column]: ">0", kind: "=ops" },
          links: baselineLinks(baseline),
        },
        signal,
      ),
  );
  const { data } = query;
  const whole = data?.totals[column] ?? 0;
  const shown = (data?.rows ?? []).map((row) => ({ row, ns: Number(row[column] ?? 0) }));
  const rest = whole - shown.reduce((sum, { ns }) => sum + ns, 0);
  const more = (data?.filtered ?? 0) - shown.length;
  return (
    <Panel
      title={`Largest Groups of Ops of ${side.toUpperCase()}`}
      about="By kernel time. Shares are of the time of all kernels of this side that were recorded one by one."
    >
      {query.error !== null && <ErrorBox error={query.error} retry={query.reload} />}
      {data !== null && shown.length === 0 && <p class="muted">No kernels.</p>}
      <ul class="side-shares">
        {shown.map(({ row, ns }) => (
          <Share key={String(row.key)} ns={ns} whole={whole}>
            <FittingPath path={String(row.name ?? "")} />
            <span class="muted">{row.direction === "backward" ? "backward" : ""}</span>
          </Share>
        ))}
        {more > 0 && (
          <Share ns={rest} whole={whole}>
            <span class="muted">{formatCount(more)} more</span>
            <span />
          </Share>
        )}
      </ul>
    </Panel>
  );
}

function Share({ ns, whole, children }: { ns: number; whole: number; children: ComponentChildren }) {
  return (
    <li>
      {children}
      <span class="side-track">
        <span style={{ width: `${whole > 0 ? (ns / whole) * 100 : 0}%` }} />
      </span>
      <span class="number right">{formatShare(shareOf(ns, whole))}</span>
    </li>
  );
}
