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
  const nameOf = (row: Row): string => [shortOf(row), textOf(row, "direction")].filter(Boolean).join(" ");
  const rows: BarSegment[] = (page?.rows ?? [])
    .filter((row) => (numberOf(row, time) ?? 0) > 0)
    .map((row) => {
      const key = textOf(row, page?.key ?? "");
      return {
        ...{
          key,
          label: nameOf(row),
          short: [shortOf(row), PASS[textOf(row, "direction")]].filter(Boolean).join(" "),
          ns: numberOf(row, time) ?? 0,
          colour: colourOf(colourOfRow(row, scope.onGpu)),
        },
        ...{ about: textOf(row, named), to: selects === "" ? null : { [selects]: key } },
      };
    });
  const sum = (some: readonly BarSegment[]): number => some.reduce((all, { ns }) => all + ns, 0);
  const rest = whole - sum(rows);
  const others = (page?.total ?? 0) - rows.length;
  const [first] = rows;
  return (
    <>
      {first !== undefined && whole > 0 && (
        <header class="headline">
          <h2>
            <code>{first.label}</code> takes <strong class="nowrap">{formatShare(shareOf(first.ns, whole))}</strong> of
            the {measured} time
            {rows.length > 3 && (
              <>
                , the three largest {noun}{" "}
                <strong class="nowrap">{formatShare(shareOf(sum(rows.slice(0, 3)), whole))}</strong>
              </>
            )}
            .
          </h2>
        </header>
      )}
      <Panel
        title={`Where ${noun === "kernels" ? "Kernel" : kind} Time Goes`}
        summed
        about={`The largest rows of the table below, over all GPUs and calls. The darkest or brightest run mostly on ${scope.matrixUnit}s; of those in olive or yellow, that is not known. A click selects one.`}
        picture
        tools={tools}
      >
        <div class="largest">
          {first !== undefined && whole > 0 && (
            <StackedBar
              segments={
                rest > 0
                  ? [
                      ...rows,
                      {
                        ...{ key: "others", label: formatCounted(others, "other"), ns: rest },
                        ...{ colour: colourOf("outside"), about: `${formatCount(others)} smaller ${noun}`, to: null },
                      },
                    ]
                  : rows
              }
              whole_ns={whole}
              label={`The largest ${noun} by ${measured} time`}
            />
          )}
        </div>
      </Panel>
    </>
  );
}
