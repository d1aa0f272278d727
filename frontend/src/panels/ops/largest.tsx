/** What takes most of the time, in a sentence and as one bar: the largest rows of the table below, and all others. */
import type { ComponentChildren } from "preact";

import { fetchEfficiency, fetchTable } from "../../api/client";
import type { Diagnosis, Row, TableResponse } from "../../api/types";
import { StackedBar } from "../../components/charts/stacked_bar";
import { FindingClause } from "../../components/finding_clause";
import { LimitLegend } from "../../components/limit_legend";
import { MissingWork } from "../../components/missing_work";
import { Panel } from "../../components/panel";
import { useWidth } from "../../components/use_width";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { scopeKey, useScope } from "../../frame/scope";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { numberOf, textOf } from "../../frame/use_row";
import { useQuery, type Query } from "../../frame/use_query";
import { PASS, barName, type NamedPiece } from "../../model/bar_names";
import { beginningsApart, labelOf, NO_OP, shortKernelName, UNASSOCIATED } from "../../model/kernel_name";
import { endsApart } from "../../model/short_place";
import { colourOf } from "../../model/resources";
import { colourOfLimit, LEAST_PIECE, limitOf, limitsOfRow, partsOf, type RowLimit } from "../../model/row_limits";
import type { BarSegment } from "../../model/step";
import { findingOf, gainsOfKernels, type OpsFinding } from "../../model/waste";

interface LargestProps {
  /** The server's table, its links, and the column that names its rows. */
  table: string;
  links: Readonly<Record<string, string>>;
  named: string;
  noun: string;
  /** What of the URL selects a row of the table; empty where none can be. */
  selects: string;
  /** The server's table of the ops that a row sums; none where a row is an op. */
  members: string | undefined;
  /** How the rows are grouped. */
  tools: ComponentChildren;
}

/** Pieces of one row each. */
const MOST = 10;
/** Rows that are read; of longer tables of ops, Efficiency's sums tell the colours of the others. */
const READ = 500;
/** So many rows the sentence names, and of each so many of its longest ops are looked for among what findings show. */
const NAMED = 3;
const OPS_OF_ROW = 100;
/** Narrower pieces can hardly be pointed at, and are shown with all others, px. */
const LEAST_WIDE = 20;

const piecesOfRow = (row: Row, onGpu: boolean): (readonly [RowLimit, number])[] =>
  limitsOfRow(row, onGpu).filter(([, share]) => share >= LEAST_PIECE);

/** What one of the findings would change of the largest rows; undefined while that is not known. */
function useFinding(
  { data: diagnosis, loading }: Query<Diagnosis>,
  page: TableResponse | null,
  members: string | undefined,
): OpsFinding | null | undefined {
  const scope = useScope();
  const gains = diagnosis === null || !scope.onGpu ? [] : gainsOfKernels(diagnosis.findings);
  const keys = (page?.rows ?? []).slice(0, NAMED).map((row) => textOf(row, page?.key ?? ""));
  const isAsked = gains.length > 0 && keys.length > 0 && members !== undefined;
  const asked = { ...scope, offset: 0, limit: OPS_OF_ROW, sort: "", search: "", where: {} };
  const ops = useQuery<string[]>(isAsked ? scopeKey(scope, members, keys) : null, async (signal) => {
    const pages = await Promise.all(
      keys.map((row) => fetchTable({ ...asked, table: members ?? "", links: { row } }, signal)),
    );
    return pages.flatMap(({ rows }) => rows.map((row) => textOf(row, "op_id")));
  });
  if (loading || ops.loading) return undefined;
  return findingOf(new Set(members === undefined ? keys : ops.data), gains);
}

const isOfNoOp = (row: Row, named: string): boolean =>
  row.no_op === true || textOf(row, named).startsWith(UNASSOCIATED);

export function Largest({ table, links, named, noun, selects, members, tools }: LargestProps) {
  const scope = useScope();
  const [kind, time] = scope.onGpu ? ["GPU", "gpu_time_ns"] : ["CPU", "cpu_time_ns"];
  // Copies are no kernels: the whole of a table of kernels is less than the GPU time of the ops.
  const measured = noun === "kernels" ? "kernel" : kind;
  const asked = {
    ...scope,
    table,
    links,
    offset: 0,
    limit: READ,
    sort: `-${time}`,
    search: "",
    where: { [time]: ">0" },
  };
  const [measure, width] = useWidth(1000);
  const query = useQuery<TableResponse>(scopeKey(scope, "largest", table, time), (signal) => fetchTable(asked, signal));
  const page = query.data?.table === table ? query.data : null;
  const whole = page?.totals[time] ?? 0;
  const ends = endsApart((page?.rows ?? []).map((row) => textOf(row, named)));
  const shortOf = (row: Row): string => {
    const name = textOf(row, named);
    if (noun === "kernels") return shortKernelName(name);
    return isOfNoOp(row, named) ? NO_OP + labelOf(name) : (ends.get(name) ?? name);
  };
  const nsOf = (row: Row): number => numberOf(row, time) ?? 0;
  const sumOf = (some: readonly Row[]): number => some.reduce((sum, row) => sum + nsOf(row), 0);
  const all = page?.rows ?? [];
  const longest = all.slice(0, MOST);
  const drawn = longest.filter((row) => nsOf(row) >= (LEAST_WIDE / width) * whole);
  // Where all have the same direction, it tells none apart.
  const [direction, ...otherDirections] = new Set(drawn.map((row) => textOf(row, "direction")));
  const directed = otherDirections.length > 0 || direction === undefined;
  const apart: ReadonlyMap<string, string> = noun === "kernels" ? beginningsApart(drawn.map(shortOf)) : new Map();
  const pieceOf = (row: Row): NamedPiece => ({
    name: shortOf(row),
    brief: apart.get(shortOf(row)) ?? shortOf(row),
    pass: directed ? (PASS[textOf(row, "direction")] ?? "") : "",
    isKernel: noun === "kernels" || isOfNoOp(row, named),
  });
  const segments: BarSegment[] = drawn.map((row) => {
    const key = textOf(row, page?.key ?? "");
    return {
      ...{
        key,
        label: [shortOf(row), directed ? textOf(row, "direction") : ""].filter(Boolean).join(" "),
        named: (fits: (text: string) => boolean) =>
          barName(pieceOf(row), drawn.filter((other) => other !== row).map(pieceOf), fits),
        ns: nsOf(row),
        colour: colourOfLimit(piecesOfRow(row, scope.onGpu)[0]?.[0] ?? "neither"),
        parts: piecesOfRow(row, scope.onGpu).map(([kind, share]) => [colourOfLimit(kind), share] as const),
      },
      ...{ about: textOf(row, named), to: selects === "" ? null : { [selects]: key } },
    };
  });
  const rest = whole - sumOf(drawn);
  const others = (page?.filtered ?? 0) - drawn.length;
  const timesOf = (rows: readonly Row[], sign = 1) =>
    rows.flatMap((row) =>
      limitsOfRow(row, scope.onGpu).map(([kind, share]) => [kind, sign * share * nsOf(row)] as const),
    );
  const isCut = scope.onGpu && noun !== "kernels" && (page?.filtered ?? 0) > all.length;
  const rates = useQuery(isCut ? scopeKey(scope) : null, (signal) => fetchEfficiency(scope, signal));
  const partsOfOthers = partsOf(
    isCut
      ? [
          ...(rates.data?.limits ?? []).map(({ limit, kernel_ns: ns }) => [limitOf(limit), ns] as const),
          ...timesOf(drawn, -1),
        ]
      : timesOf(all.slice(drawn.length)),
    rest,
  );
  const kinds = new Set([
    ...drawn.flatMap((row) => piecesOfRow(row, scope.onGpu).map(([kind]) => kind)),
    ...(rest >= LEAST_PIECE * whole ? partsOfOthers.map(([kind]) => kind) : []),
  ]);
  // All work of one kernel that no op launched is no op: the sentence about single ops is not of it.
  const told = noun === "ops" ? all.filter((row) => !isOfNoOp(row, named)) : all;
  const [first] = told;
  const diagnosis = useDiagnosis();
  const inLargest = useFinding(diagnosis, page, members);
  return (
    <>
      {query.data === null && query.error === null && (
        // Room for the sentence, so that nothing moves once it is known.
        <header class="headline" aria-hidden="true">
          <h2>&nbsp;</h2>
        </header>
      )}
      {first !== undefined && whole > 0 && (
        <header class="headline">
          <h2>
            <code>{shortOf(first)}</code> {textOf(first, "direction")} takes{" "}
            <strong class="nowrap">{formatShare(shareOf(nsOf(first), whole))}</strong> of the {measured} time
            {told.length > 3 && (
              <>
                , the three largest {noun}{" "}
                <strong class="nowrap">{formatShare(shareOf(sumOf(told.slice(0, 3)), whole))}</strong>
              </>
            )}
            .
          </h2>
          <p class="model-line">
            {inLargest === undefined ? (
              // Its room, so that nothing moves.
              <>&nbsp;</>
            ) : (
              <>
                {scope.onGpu && <MissingWork diagnosis={diagnosis.data} />}
                {inLargest !== null && (
                  <span>
                    <FindingClause finding={inLargest} marked={diagnosis.data?.marked ?? true} />
                  </span>
                )}
              </>
            )}
          </p>
        </header>
      )}
      <Panel
        title={`Where ${noun === "kernels" ? "Kernel" : kind} Time Goes`}
        summed
        about={`The largest rows of the table below, over all GPUs and calls, coloured by what limits their kernels, as on Efficiency.${selects === "" ? "" : " A click selects one."}`}
        picture
        tools={tools}
      >
        <div class="largest" ref={measure}>
          {first !== undefined && whole > 0 && (
            <StackedBar
              segments={
                rest > 0
                  ? [
                      ...segments,
                      {
                        ...{ key: "others", label: formatCounted(others, "other"), ns: rest },
                        ...{ colour: colourOf("other"), about: `${formatCount(others)} smaller ${noun}`, to: null },
                        parts: [
                          ...partsOfOthers.map(([kind, share]) => [colourOfLimit(kind), share] as const),
                          [colourOf("other"), 1 - partsOfOthers.reduce((sum, [, share]) => sum + share, 0)],
                        ],
                      },
                    ]
                  : segments
              }
              whole_ns={whole}
              height={44}
              label={`The largest ${noun} by ${measured} time`}
            />
          )}
          <LimitLegend limits={kinds} label="Colours of the bar" />
        </div>
      </Panel>
    </>
  );
}
