/** The ten groups of ops that take the most GPU time; of a recording without GPU work the most CPU time. DLProf's Top 10 GPU Ops. */
import { fetchTable } from "../../api/client";
import type { DashboardResponse, Diagnosis, Row, TableResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { Icon } from "../../components/icon";
import { IterationGain } from "../../components/iteration_gain";
import { LimitLegend } from "../../components/limit_legend";
import { Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { Calls, OpPath } from "../../components/value";
import { textWidth } from "../../components/text_width";
import { useWidth } from "../../components/use_width";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { formatCount } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { columnUnit, readableAndExact } from "../../format/time";
import { inUnit } from "../../format/unit";
import { scopeKey, useScope } from "../../frame/scope";
import { numberOf, textOf } from "../../frame/use_row";
import { navigate, useUrl } from "../../frame/url";
import { useQuery, type Query } from "../../frame/use_query";
import { hasGpuWork } from "../../model/headline";
import { UNASSOCIATED, shortKernelName } from "../../model/kernel_name";
import { runningOf, type Running } from "../../model/parts";
import { knownForTip, PART, PART_NOTE, partlyRated } from "../../model/rated";
import { shortUnit } from "../../model/resources";
import { colourOfLimit, LEAST_PIECE, limitsOfRow } from "../../model/row_limits";
import { placesApart } from "../../model/short_place";
import { showingOp, type Changes } from "../../model/url_state";

const BY = [
  ["path", "Path", "By modules or name scopes, as far as they were recorded; those that are alike are one row"],
  ["op", "Op", "Ops of one name are one row"],
  ["type", "Type", "Op types"],
  ["kernel", "Kernel", "Kernels of one name are one row"],
  ["none", "Single ops", "Top 10 GPU Ops, one by one"],
] as const;

type By = (typeof BY)[number][0];

interface Source {
  table: string;
  /** The column that names a row. */
  name: string;
  links?: Record<string, string>;
  opens: (row: Row) => Changes;
}

const keyed =
  (by: string | null, table: string, key: string) =>
  (row: Row): Changes => ({
    view: "ops",
    "ops.by": by,
    [`${table}.row`]: textOf(row, key),
  });

const SOURCES: Readonly<Record<By, Source>> = {
  path: { table: "op_paths", name: "name", opens: keyed(null, "paths", "key") },
  op: { table: "op_names", name: "name", opens: keyed("op", "names", "key") },
  type: { table: "op_types", name: "op_type", opens: keyed("type", "types", "op_type") },
  kernel: {
    table: "kernels_of_group",
    name: "name",
    links: { group: "" },
    opens: (row) => ({ view: "ops", "ops.by": "kernel", "allkernels.search": textOf(row, "name") }),
  },
  none: { table: "ops", name: "name", opens: (row) => showingOp("ops", textOf(row, "op_id")) },
};

export function WhereTimeGoes({ data, diagnosis }: { data: DashboardResponse; diagnosis: Diagnosis | null }) {
  const onGpu = hasGpuWork(data);
  const groupings = onGpu ? BY : BY.filter(([id]) => id !== "kernel");
  const chosen = useUrl()["top.by"];
  const time = onGpu ? "gpu_time_ns" : "cpu_time_ns";
  const graphShare = chosen === undefined ? data.graph_launch_fraction : null;
  const by = graphShare === null ? chosenOf(groupings, chosen) : "kernel";
  const query = useTop(by, time);
  const page = query.data?.table === SOURCES[by].table ? query.data : null;
  return (
    <Panel
      title={onGpu ? "Where GPU Time Goes" : "Where CPU Time Goes"}
      about={`The ten largest of these groups, over all GPUs and calls; times and calls are means of an iteration. A row opens the group with its ops and kernels. ${onGpu ? "DLProf: Top 10 GPU Ops." : "No GPU work was recorded. Times of threads that work at the same time are added up."}`}
      class="span-all"
      tools={
        page?.filtered !== 0 && (
          <>
            <Choice label="Group by" options={groupings} value={by} to={(id) => ({ "top.by": id })} />
            <ViewLink class="more-button" to={{ view: "ops", "ops.by": by === "path" ? null : by }}>
              {page === null ? "All" : `All ${formatCount(page.filtered)}`} <Icon name="right" />
            </ViewLink>
          </>
        )
      }
    >
      {data.ran_late !== "" && <p class="muted">{data.ran_late}</p>}
      {graphShare !== null && (
        <p class="muted">By kernel, because a graph launch holds {formatShare(graphShare)} of the GPU time.</p>
      )}
      {page === null ? (
        query.error === null ? (
          <Loading what="ops" />
        ) : (
          <p class="nothing">{query.error.message}</p>
        )
      ) : (
        <TopTable
          page={page}
          source={SOURCES[by]}
          time={time}
          matrixUnit={data.has_matrix_units ? data.matrix_unit : ""}
          kernels={by === "kernel"}
          running={diagnosis === null ? null : runningOf(diagnosis)}
        />
      )}
    </Panel>
  );
}

/** The ten largest groups of a grouping. */
function useTop(by: By, time: TopTableProps["time"]): Query<TableResponse> {
  const scope = useScope();
  const { table, links = {} } = SOURCES[by];
  // Groups without any are not among those that the count leads to: a call of the host may be one.
  const where = { [time]: ">0" };
  const asked = {
    ...{ ...scope, per: "iteration" as const },
    ...{ table, links, offset: 0, limit: 10, sort: `-${time}`, search: "", where },
  };
  return useQuery<TableResponse>(scopeKey(scope, "top", table, time), (signal) => fetchTable(asked, signal));
}

interface TopTableProps {
  page: TableResponse;
  source: Source;
  time: "gpu_time_ns" | "cpu_time_ns";
  /** Empty where the GPU has none. */
  matrixUnit: string;
  kernels: boolean;
  running: Running | null;
}

function TopTable({ page, source, time, matrixUnit, kernels, running }: TopTableProps) {
  const walked = useOneStop<HTMLTableSectionElement>();
  const { iterations } = useScope();
  const [measure, width] = useWidth(NAMES_AT_FIRST);
  const rows = page.rows.filter((row) => (numberOf(row, time) ?? 0) > 0);
  if (rows.length === 0)
    return <p class="nothing">Nothing here has any {time === "gpu_time_ns" ? "GPU" : "CPU"} time.</p>;
  const has = (key: string): boolean =>
    page.columns.some((column) => column.key === key) && rows.some((row) => row[key] !== null && row[key] !== "");
  // That collectives are bound by communication, their name and their colour say.
  const isBoundTold = page.rows.some((row) => !["", "communication"].includes(textOf(row, "bound")));
  // One op in each row says nothing, as on Ops.
  const isMany = rows.some((row) => (numberOf(row, "ops") ?? 1) !== 1);
  const isShareTold = matrixUnit !== "" && has("tensor_core_fraction");
  const isUseTold = matrixUnit !== "" && !isShareTold && has("using_tensor_cores");
  const total = page.totals[time] ?? null;
  const shareOfRow = (row: Row): number | null => shareOf(numberOf(row, time), total);
  const most = Math.max(...rows.map((row) => shareOfRow(row) ?? 0), 1e-9);
  const splitOf = (row: Row) => limitsOfRow(row, time === "gpu_time_ns", matrixUnit !== "");
  const seen = rows.flatMap(splitOf).filter(([, share]) => share >= LEAST_PIECE);
  const unit = columnUnit(Math.max(...rows.map((row) => numberOf(row, time) ?? 0)));
  const core = shortUnit(matrixUnit);
  const perIteration = iterations > 1 ? <small class="muted per-iteration">per iteration</small> : null;
  // Threads work at the same time: the sum may be more than an iteration takes.
  const allThreads = (
    <small class="muted per-iteration">{iterations > 1 ? "per iteration, all threads" : "all threads"}</small>
  );
  const besides = Math.max(...rows.map((row) => textWidth(textOf(row, "direction"))));
  const room = width - (besides === 0 ? 0 : besides + GAP);
  const needed = Math.max(
    ...rows.map((row) => textWidth(textOf(row, source.name)) + textWidth(textOf(row, "direction")) + GAP),
  );
  const places = placesApart(
    rows.map((row) => textOf(row, source.name)),
    room,
    textWidth,
  );
  return (
    <div class="top-scroll" role="region" aria-label="The ten largest groups">
      <table class={`plain-table top-groups${needed <= SHORT ? " short-names" : ""}`}>
        <thead>
          <tr>
            <th scope="col">
              <div ref={measure}>{kernels ? "Kernel" : "Group"}</div>
            </th>
            {isMany && (
              <th scope="col" class="right narrow ops lesser">
                Ops
              </th>
            )}
            <th scope="col" class="right narrow lesser">
              Calls {perIteration}
            </th>
            <th scope="col" class={time === "gpu_time_ns" ? "right time" : "right time summed"}>
              {time === "gpu_time_ns" ? "GPU" : "CPU"} Time ({unit.name}){" "}
              {time === "gpu_time_ns" ? perIteration : allThreads}
            </th>
            <th scope="col" class="share" data-tip="The bar is of the largest row.">
              Share
            </th>
            {isShareTold && (
              <th
                scope="col"
                class="right narrow"
                data-tip={`Share of the kernel time on ${matrixUnit}s; – where no op could use them, or it is not known`}
              >
                On {core}
              </th>
            )}
            {isUseTold && (
              <th scope="col" class="right narrow" data-tip={`Whether ${matrixUnit}s are used`}>
                On {core}
              </th>
            )}
            {isBoundTold && (
              <th scope="col" class="bound lesser">
                Bound by
              </th>
            )}
            {has("gain_ns") && (
              <th
                scope="col"
                class="right time gain"
                data-tip="Kernel time of an iteration less the time that it would take at the GPU's published rates, which no kernel quite reaches; for FP32 and TF32 matrix multiplications, at the 16-bit rates."
              >
                Could Gain ({unit.name}) <small class="muted per-iteration">kernel time</small>
              </th>
            )}
          </tr>
        </thead>
        <tbody {...walked}>
          {rows.map((row) => {
            const ns = numberOf(row, time) ?? 0;
            const share = shareOfRow(row);
            const gain = numberOf(row, "gain_ns");
            const rated = gain !== null && gain > 0 ? partlyRated(row) : null;
            const using = row.using_tensor_cores;
            const to = source.opens(row);
            const name = textOf(row, source.name);
            const direction = textOf(row, "direction");
            return (
              <tr
                key={textOf(row, page.key)}
                onClick={(event) => {
                  // The link in it has opened the row already, here or elsewhere.
                  if (event.target instanceof Element && event.target.closest("a") !== null) return;
                  navigate(to, true);
                }}
              >
                <td>
                  <span class="group-name">
                    <ViewLink class="row-link" to={to}>
                      {kernels ? (
                        <span class="clip kernel-name" data-tip={name}>
                          {shortKernelName(name)}
                        </span>
                      ) : (
                        <OpPath path={name} room={room} shown={places.get(name)} />
                      )}
                    </ViewLink>
                    {direction !== "" && <span class="muted direction">{direction}</span>}
                  </span>
                </td>
                {isMany && (
                  <td class="right number lesser">
                    {name.startsWith(UNASSOCIATED) ? "–" : `×${formatCount(numberOf(row, "ops"))}`}
                  </td>
                )}
                <td class="right number lesser">
                  <Calls value={numberOf(row, "calls")} />
                </td>
                <td class="right number" data-tip={readableAndExact(ns)}>
                  {inUnit(ns, unit)}
                </td>
                <td class="share" data-tip={`${readableAndExact(ns)} of ${readableAndExact(total)}`}>
                  <span class="share-bar" aria-hidden="true">
                    <span style={{ width: `${((share ?? 0) / most) * 100}%` }}>
                      {splitOf(row).map(([limit, part]) => (
                        <span key={limit} style={{ width: `${part * 100}%`, background: colourOfLimit(limit) }} />
                      ))}
                    </span>
                  </span>
                  <span class="number">{formatShare(share)}</span>
                </td>
                {isShareTold && <td class="right number">{percentOrDash(numberOf(row, "tensor_core_fraction"))}</td>}
                {isUseTold && <td class="right">{using === true ? "yes" : using === false ? "–" : "unknown"}</td>}
                {isBoundTold && <td class="bound lesser">{textOf(row, "bound") || "–"}</td>}
                {has("gain_ns") && (
                  <td
                    class="right number"
                    data-tip={
                      gain === null
                        ? undefined
                        : `${readableAndExact(gain)}${rated === null ? "" : `\n${knownForTip(rated)}`}`
                    }
                  >
                    {rated !== null && <span class="muted">{PART} </span>}
                    {gain === null || gain <= 0 ? "–" : inUnit(gain, unit)}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {time === "gpu_time_ns" && (
        <LimitLegend limits={new Set(seen.map(([limit]) => limit))} label="Colours of the shares" />
      )}
      {has("gain_ns") && (
        <p class="muted note-below">
          {rows.some((row) => partlyRated(row) !== null) && `${PART_NOTE} `}
          <IterationGain running={running} />
        </p>
      )}
    </div>
  );
}

/** What the column of names holds until it is measured, and the gap before the direction. */
const NAMES_AT_FIRST = 400;
const GAP = 10;
/** Beside names that need no more there is room for longer bars. */
const SHORT = 250;

const percentOrDash = (share: number | null): string => (share === null ? "–" : formatShare(share));
