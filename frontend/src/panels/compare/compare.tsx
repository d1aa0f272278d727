/** Compare: what changed from a baseline A to this profile B, by how much, where, and whether it is more than noise. */
import { useContext } from "preact/hooks";

import { baselineLinks, fetchCompare, type Baseline } from "../../api/client";
import type { CompareResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { ErrorBox, Loading } from "../../components/message";
import { Hint } from "../../components/hint";
import { Panel } from "../../components/panel";
import { OneStop } from "../../components/one_stop";
import { DataTable } from "../../components/table/data_table";
import { Size } from "../../components/value";
import { sizeUnit } from "../../format/bytes";
import { capitalized, exactNumber, formatCount } from "../../format/number";
import { inUnit, type Unit } from "../../format/unit";
import { ImportPage } from "../../frame/import_page";
import { ProfilesContext, useUnready } from "../../frame/profiles";
import { scopeKey, useScope } from "../../frame/scope";
import { currentUrl, navigate, useUrl } from "../../frame/url";
import { useOnlyRow } from "../../frame/use_only_row";
import { useQuery } from "../../frame/use_query";
import { arrowOf, directionOf, signedAmount } from "../../model/change";
import { isNeutral } from "../../model/measures";
import { Head } from "./head";
import { InSight } from "./in_sight";
import { IterationDots } from "./iteration_dots";
import { KeyNumbers } from "./key_numbers";
import { ModuleTree } from "./module_tree";
import { NoBaseline } from "./no_baseline";
import { OrderChart } from "./order_chart";
import { RowDetail } from "./row_detail";
import { Series } from "./series";
import { TimeBySide, GroupsBySide } from "./side_by_side";
import { Waterfall } from "./waterfall";

const TABS = [
  [
    "groups",
    "Groups",
    "Ops of modules that are alike, such as the layers of a network, are one row; all rows add up to the change",
  ],
  [
    "ops",
    "Program order",
    "Op by op in the order in which the program calls them, and the parts of the time without kernels; all rows add up to the change",
  ],
  ["kernels", "Kernels replaced", "Kernels of A and those of B in their place"],
  ["modules", "Modules", "Sums over all ops below a module or range"],
  ["types", "Op types", "Sums over the ops of a type"],
  ["new", "New and gone", "Ops that launch kernels on one side only"],
] as const;

/** The largest changes; more are a click away. */
const ROWS = 10;

const HELD_BY = [
  ["category", "Category"],
  ["op", "Op or line"],
] as const;

const TABLES = {
  groups: {
    table: "compare_groups",
    name: "cgroups",
    title: "Changes by Group of Ops",
    noun: "groups",
    empty: "Nothing ran on a GPU.",
  },
  ops: { table: "compare", name: "compare", title: "Changes by Op", noun: "rows", empty: "Nothing ran on a GPU." },
  kernels: {
    table: "compare_kernels",
    name: "ckernels",
    title: "Kernels Replaced",
    noun: "replacements",
    empty: "All kernels of matched ops are the same on both sides.",
  },
  types: { table: "compare_types", name: "ctypes", title: "Changes by Op Type", noun: "op types", empty: "No ops." },
  new: {
    table: "compare_new",
    name: "cnew",
    title: "Groups of Ops with Kernels on One Side Only",
    noun: "groups",
    empty: "Every op with kernels on one side has some on the other.",
  },
} as const;

/** Where one side has no ops, kernels of one name are a row. */
const OF_KERNELS = { title: "Changes by Kernel", noun: "kernels" };

const comparesKernels = ({ order }: CompareResponse): boolean => order.kind.some((kind) => /^kernels?$/.test(kind));

export function Compare() {
  const url = useUrl();
  const scope = useScope();
  const base = url.base ?? "";
  const aggregation = url.base_aggregation ?? "";
  const baseline = { base, aggregation };
  const unready = useUnready(base);
  const { profiles, importMode, reload } = useContext(ProfilesContext);
  const query = useQuery<CompareResponse>(
    base === "" || unready !== null ? null : scopeKey(scope, "compare", base, aggregation),
    (signal) => fetchCompare(scope, baseline, signal),
  );
  if (base === "")
    return (
      <div class="stacked compare-page">
        <NoBaseline />
      </div>
    );
  if (unready !== null)
    return <ImportPage profile={unready} profiles={profiles} importMode={importMode} onChange={reload} />;
  if (query.data === null)
    return query.error === null ? (
      <Loading what="the comparison" />
    ) : (
      <ErrorBox error={query.error} retry={query.reload}>
        <button type="button" class="button" onClick={() => navigate({ base: null, base_aggregation: null }, true)}>
          Choose another baseline
        </button>
      </ErrorBox>
    );
  return <Shown comparison={query.data} baseline={baseline} />;
}

function Shown({ comparison: comparison, baseline }: { comparison: CompareResponse; baseline: Baseline }) {
  const url = useUrl();
  const row = url["compare.row"] ?? "";
  // Links to a row are from when single ops stood first.
  const tab = chosenOf(TABS, url["compare.tab"] ?? (row === "" ? undefined : "ops"));
  const of = { iteration: "per iteration", call: "per run of the program", capture: "whole recordings" }[
    comparison.per
  ];
  const matches = comparison.same_program || url["compare.match"] === "on";
  const swap = (): void => navigate(swapped(baseline), true);
  const recorded = hasTimes(comparison);
  const neutral = isNeutral(comparison);
  const head = <Head comparison={comparison} baseline={baseline} swap={swap} withNotes={matches} />;
  if (!matches)
    return (
      <div class="stacked compare-page">
        <OneStop>
          {head}
          <TimeBySide comparison={comparison} />
          <KeyNumbers comparison={comparison} />
        </OneStop>
        <GroupsBySide baseline={baseline} />
        <p class="series-offer">
          <button type="button" class="button" onClick={() => navigate({ "compare.match": "on" }, true)}>
            Compare them all the same
          </button>
          <span class="muted">Matches what ops they have in common, and shows the changes.</span>
        </p>
      </div>
    );
  return (
    <div class={`stacked compare-page ${neutral ? "neutral" : ""}`}>
      <OneStop>
        {head}
        {recorded && (
          <>
            <TimeBySide comparison={comparison} />
            <div class="compare-pair narrow">
              <Panel
                title={`From A to B, ${of}`}
                about={`Each bar begins where the one before ended${neutral ? "" : ": blue is less time, orange more; grey ones are parts of the bar above them"}. Kernels that run at once are one time here, and in full in their sum. A click on a name narrows the table below.`}
              >
                <Waterfall comparison={comparison} />
              </Panel>
              <IterationDots comparison={comparison} />
            </div>
            <KeyNumbers comparison={comparison} />
          </>
        )}
      </OneStop>
      {recorded && (
        <>
          <div class="compare-tabs">
            <Choice
              label="Show"
              shown
              options={TABS}
              value={tab}
              to={(id) => ({ "compare.tab": id === "groups" ? null : id, "compare.row": null })}
            />
          </div>
          {tab === "modules" && <ModuleTree comparison={comparison} baseline={baseline} />}
          {tab === "ops" && (
            <Panel
              title="Accumulated Change in Program Order"
              about="Each bar is a row in the order in which the program calls it, as wide as its time and as high as its change; the line is the sum so far, which ends at the whole change. Layers that repeat are one where there are many. Drag over bars to show only these in the table."
            >
              <OrderChart comparison={comparison} />
            </Panel>
          )}
          {tab !== "modules" && (
            <DataTable
              key={tab}
              {...TABLES[tab]}
              {...(tab === "groups" && comparesKernels(comparison) ? OF_KERNELS : {})}
              filterNames={{ "kind=ops": "Kernels" }}
              links={baselineLinks(baseline)}
              selectable={tab === "ops" || tab === "groups"}
              below={["cmembers"]}
              pageSize={ROWS}
            />
          )}
          {(tab === "groups" || tab === "ops") && (
            <Noise comparison={comparison} of={tab === "ops" ? "rows" : "groups"} />
          )}
          {tab === "groups" && (
            <InSight of={url["cgroups.row"] ?? ""}>
              <Group
                baseline={baseline}
                group={url["cgroups.row"] ?? ""}
                noun={comparesKernels(comparison) ? "kernels" : "ops"}
              />
            </InSight>
          )}
          {tab === "ops" && <InSight of={row}>{row !== "" && <RowDetail baseline={baseline} row={row} />}</InSight>}
        </>
      )}
      <OneStop>
        <Memory comparison={comparison} />
      </OneStop>
      {recorded && <Series />}
    </div>
  );
}

/** Whether either side recorded what a GPU or the program did: a snapshot of memory tells nothing of time. */
const hasTimes = ({ parts, order }: CompareResponse): boolean =>
  parts.some(({ part, a_ns: a, b_ns: b }) => !["other", "unrecorded"].includes(part) && (a > 0 || b > 0)) ||
  order.kind.some((kind) => kind !== "part" && kind !== "overlap");

/** What the peak of memory consists of on both sides, in rows that add up to its change. */
function Memory({ comparison }: { comparison: CompareResponse }) {
  const by = chosenOf(HELD_BY, useUrl()["compare.held"]);
  const { memory, memory_by_op: ops, memory_not_recorded: missing } = comparison;
  if (memory.length === 0 && missing === null) return null;
  const { memory_peak: peak, memory_reserved: reserved } = comparison.measures;
  const rows =
    by === "op"
      ? ops.map(({ op: name, ...rest }) => ({ name, ...rest }))
      : memory.map(({ category: name, ...rest }) => ({ name, ...rest }));
  const most = Math.max(...rows.flatMap(({ a_bytes: a, b_bytes: b }) => [a, b]), 0);
  const whole = Math.max(peak?.a ?? 0, peak?.b ?? 0);
  const sums = [
    ["All: the peak", peak],
    ["Reserved at most", reserved],
  ] as const;
  const told = [...rows, ...sums.map(([, measure]) => ({ a_bytes: measure?.a ?? 0, b_bytes: measure?.b ?? 0 }))];
  const unit = sizeUnit(...told.flatMap(({ a_bytes: a, b_bytes: b }) => [a, b]));
  const common = { whole, unit };
  return (
    <Panel
      title="Memory at the Peak"
      about="The categories of the memory page, or the ops or lines that allocated it, at the peak of the GPU that holds most. The rows add up to the peaks and to their change; less is blue, more orange."
      tools={
        memory.length > 0 && (
          <Choice
            label="Group by"
            options={HELD_BY}
            value={by}
            to={(id) => ({ "compare.held": id === "category" ? null : id })}
          />
        )
      }
    >
      {rows.length === 0 ? (
        <p class="muted">{missing}</p>
      ) : (
        <table class="plain-table compare-memory">
          <thead>
            <tr>
              <th>{by === "op" ? "Op or line" : "Category"}</th>
              <th class="right">A ({unit.name})</th>
              <th class="right">B ({unit.name})</th>
              <th class="right">Change ({unit.name})</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, a_bytes: a, b_bytes: b }) => (
              <MemoryRow key={name} name={name} a={a} b={b} most={most} {...common} />
            ))}
          </tbody>
          <tfoot>
            {sums.map(([name, measure]) =>
              measure?.a == null || measure.b === null ? null : (
                <MemoryRow key={name} name={name} a={measure.a} b={measure.b} most={0} {...common} />
              ),
            )}
          </tfoot>
        </table>
      )}
    </Panel>
  );
}

interface MemoryRowProps {
  name: string;
  a: number;
  b: number;
  /** What a full bar stands for, in bytes; 0 for a row without bars. */
  most: number;
  /** The larger of both peaks. */
  whole: number;
  unit: Unit;
}

/** Of the peak: less than that is how an allocator rounds, and neither better nor worse. */
const LEAST_SEEN = 1e-3;

function MemoryRow({ name, a, b, most, whole, unit }: MemoryRowProps) {
  const change = b - a;
  const isSeen = Math.abs(change) >= LEAST_SEEN * whole;
  return (
    <tr>
      <td>{name}</td>
      {[a, b].map((bytes, i) => (
        <td key={i} class="right number bar-cell" style={most > 0 ? { "--bar": bytes / most } : undefined}>
          <Size bytes={bytes} unit={unit} />
        </td>
      ))}
      <td
        class={`right number ${isSeen ? `change-${directionOf(change)}` : "muted"}`}
        data-tip={`${exactNumber(change)} bytes`}
      >
        {isSeen && `${arrowOf(change)} `}
        {signedAmount(change, inUnit(change, unit))}
      </td>
    </tr>
  );
}

/** The rows that the selected group sums, and both sides of the one that is selected among them. */
function Group({ baseline, group, noun }: { baseline: Baseline; group: string; noun: string }) {
  const row = useUrl()["cmembers.row"] ?? "";
  const only = useOnlyRow("compare_of_group", { ...baselineLinks(baseline), row: group });
  if (group === "")
    return (
      noun === "ops" && (
        <Hint title="Ops of the Selected Group" text="Select a group above to see its ops, their shapes and kernels." />
      )
    );
  if (only === null) return <Loading what="the ops of the group" />;
  if (only !== "") return <RowDetail baseline={baseline} row={only} />;
  return (
    <>
      <DataTable
        key={group}
        table="compare_of_group"
        name="cmembers"
        title={`${capitalized(noun)} of ${group}`}
        noun="rows"
        empty="There is no such group."
        links={{ ...baselineLinks(baseline), row: group }}
        selectable
        pageSize={10}
      />
      <InSight of={row}>{row !== "" && <RowDetail baseline={baseline} row={row} />}</InSight>
    </>
  );
}

interface NoiseProps {
  comparison: CompareResponse;
  /** What the table above lists. */
  of: "groups" | "rows";
}

/** How many rows or groups changed, and how many chance alone would mark; nothing where the headline says why it is not told. */
function Noise({ comparison, of }: NoiseProps) {
  const { verdict } = comparison;
  const [tested, changed] =
    of === "rows"
      ? [comparison.tested_rows, comparison.changed_rows]
      : [comparison.tested_groups, comparison.changed_groups];
  if (tested === 0)
    return verdict === "cannot_tell" ? null : (
      <p class="muted">
        {of === "rows" ? "No row" : "No group"} could be tested for noise: that takes four iterations of each side that
        call the ops.
      </p>
    );
  const chance = Math.round(tested / 20);
  return (
    <p class="muted">
      {formatCount(changed)} of {formatCount(tested)} tested {of} changed by more than noise.
      {changed < chance && ` About ${formatCount(chance)} would be marked by chance alone.`}
    </p>
  );
}

/** B becomes the baseline of A. */
function swapped({ base, aggregation }: Baseline): Record<string, string | null> {
  const { profile = "", aggregation: own = "" } = currentUrl();
  return {
    profile: base,
    aggregation,
    base: profile,
    base_aggregation: own,
    run: null,
    capture: null,
    domain: null,
    "compare.row": null,
  };
}
