/** What takes most of the time, in a sentence and as one bar: the largest rows of the table below, and all others. */
import type { ComponentChildren } from "preact";

import { fetchTable } from "../../api/client";
import type { Row, TableResponse } from "../../api/types";
import { StackedBar } from "../../components/charts/stacked_bar";
import { Panel } from "../../components/panel";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare, shareOf } from "../../format/share";
import { scopeKey, useScope } from "../../frame/scope";
import { numberOf, textOf } from "../../frame/use_op_rates";
import { useQuery } from "../../frame/use_query";
import { workOf } from "../../model/families";
import { shortKernelName } from "../../model/kernel_name";
import { endsApart } from "../../model/short_place";
import { colourOf, type ColourClass } from "../../model/resources";
import type { BarSegment } from "../../model/step";

interface LargestProps {
  /** The server's table, its links, and the column that names its rows. */
  table: string;
  links: Readonly<Record<string, string>>;
  named: string;
  noun: string;
  /** What of the URL selects a row of the table; empty where none can be. */
  selects: string;
  /** How the rows are grouped. */
  tools: ComponentChildren;
}

const MOST = 8;
/** Of the whole: smaller ones have no room for a name, and are shown with all others. */
const LEAST = 0.05;

/** What the colours of the bar say. */
const kindsOf = (unit: string): readonly (readonly [ColourClass, string])[] => [
  ["tensor_core", `On ${unit}s`],
  ["other_kernel", `Not on ${unit}s`],
  ["unknown_kernel", `Use of ${unit}s not known`],
  ["communication", "Communication"],
  ["memory", "Copies"],
  ["cpu", "On the CPU"],
];

/** What a direction is called where there is little room. */
const PASS: Readonly<Record<string, string>> = { forward: "fwd", backward: "bwd" };

function colourOfRow(row: Row, onGpu: boolean): ColourClass {
  const work = workOf(row, onGpu);
  if (work !== "other_kernel") return work;
  const share = numberOf(row, "tensor_core_fraction") ?? (row.using_tensor_cores === true ? 1 : 0);
  return share > 0.5 ? "tensor_core" : work;
}

export function Largest({ table, links, named, noun, selects, tools }: LargestProps) {
  const scope = useScope();
  const [kind, time] = scope.onGpu ? ["GPU", "gpu_time_ns"] : ["CPU", "cpu_time_ns"];
  // Copies are no kernels: the whole of a table of kernels is less than the GPU time of the ops.
  const measured = noun === "kernels" ? "kernel" : kind;
  const asked = { ...scope, table, links, offset: 0, limit: MOST, sort: `-${time}`, search: "", where: {} };
  const query = useQuery<TableResponse>(scopeKey(scope, "largest", table, time), (signal) => fetchTable(asked, signal));
  const page = query.data?.table === table ? query.data : null;
  const whole = page?.totals[time] ?? 0;
  const ends = endsApart((page?.rows ?? []).map((row) => textOf(row, named)));
  const shortOf = (row: Row): string => {
    const name = textOf(row, named);
    return noun === "kernels" ? shortKernelName(name) : (ends.get(name) ?? name);
  };
  const nsOf = (row: Row): number => numberOf(row, time) ?? 0;
  const sumOf = (some: readonly Row[]): number => some.reduce((sum, row) => sum + nsOf(row), 0);
  const longest = (page?.rows ?? []).filter((row) => nsOf(row) > 0);
  const wide = longest.filter((row) => nsOf(row) >= LEAST * whole);
  const drawn = wide.length > 0 ? wide : longest;
  const segments: BarSegment[] = drawn.map((row) => {
    const key = textOf(row, page?.key ?? "");
    return {
      ...{
        key,
        label: [shortOf(row), textOf(row, "direction")].filter(Boolean).join(" "),
        // Where a place ends says less than what the op is.
        short: [shortOf(row).split("/").at(-1), PASS[textOf(row, "direction")]].filter(Boolean).join(" "),
        ns: nsOf(row),
        colour: colourOf(colourOfRow(row, scope.onGpu)),
      },
      ...{ about: textOf(row, named), to: selects === "" ? null : { [selects]: key } },
    };
  });
  const kinds = new Set(drawn.map((row) => colourOfRow(row, scope.onGpu)));
  const rest = whole - sumOf(drawn);
  const others = (page?.total ?? 0) - drawn.length;
  const [first] = longest;
  return (
    <>
      {first !== undefined && whole > 0 && (
        <header class="headline">
          <h2>
            <code>{shortOf(first)}</code> {textOf(first, "direction")} takes{" "}
            <strong class="nowrap">{formatShare(shareOf(nsOf(first), whole))}</strong> of the {measured} time
            {longest.length > 3 && (
              <>
                , the three largest {noun}{" "}
                <strong class="nowrap">{formatShare(shareOf(sumOf(longest.slice(0, 3)), whole))}</strong>
              </>
            )}
            .
          </h2>
        </header>
      )}
      <Panel
        title={`Where ${noun === "kernels" ? "Kernel" : kind} Time Goes`}
        summed
        about={`The largest rows of the table below, over all GPUs and calls, in the colour of what takes most of their time.${selects === "" ? "" : " A click selects one."}`}
        picture
        tools={tools}
      >
        <div class="largest">
          {first !== undefined && whole > 0 && (
            <StackedBar
              segments={
                rest > 0
                  ? [
                      ...segments,
                      {
                        ...{ key: "others", label: formatCounted(others, "other"), ns: rest },
                        ...{ colour: colourOf("outside"), about: `${formatCount(others)} smaller ${noun}`, to: null },
                      },
                    ]
                  : segments
              }
              whole_ns={whole}
              height={44}
              label={`The largest ${noun} by ${measured} time`}
            />
          )}
          <ul class="bar-legend" aria-label="Colours of the bar">
            {kindsOf(scope.matrixUnit)
              .filter(([kind]) => kinds.has(kind))
              .map(([kind, words]) => (
                <li key={kind}>
                  <span class="swatch" style={{ background: colourOf(kind) }} /> {words}
                </li>
              ))}
          </ul>
        </div>
      </Panel>
    </>
  );
}
