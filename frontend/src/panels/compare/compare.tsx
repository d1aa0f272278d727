/** Compare: what changed from a baseline A to this profile B, by how much, where, and whether it is more than noise. */
import { useContext } from "preact/hooks";

import { baselineLinks, fetchBaselines, fetchCompare, type Baseline } from "../../api/client";
import type { BaselinesResponse, CompareResponse, ProfileEntry } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { ErrorBox, Loading, Message } from "../../components/message";
import { Hint } from "../../components/hint";
import { Panel } from "../../components/panel";
import { OneStop } from "../../components/one_stop";
import { ViewLink } from "../../components/view_link";
import { DataTable } from "../../components/table/data_table";
import { formatBytes } from "../../format/bytes";
import { formatCount, formatCounted } from "../../format/number";
import { formatShare } from "../../format/share";
import { ImportPage } from "../../frame/import_page";
import { ProfilesContext, useUnready } from "../../frame/profiles";
import { scopeKey, useScope } from "../../frame/scope";
import { currentUrl, navigate, useUrl } from "../../frame/url";
import { useOnlyRow } from "../../frame/use_only_row";
import { useQuery } from "../../frame/use_query";
import { arrowOf, directionOf } from "../../model/change";
import { Head } from "./head";
import { IterationDots } from "./iteration_dots";
import { ModuleIcicle } from "./module_icicle";
import { OrderChart } from "./order_chart";
import { RowDetail } from "./row_detail";
import { Series } from "./series";
import { Waterfall } from "./waterfall";

const TABS = [
  [
    "groups",
    "Groups",
    "Ops of modules that are alike, such as the layers of a network, are one row; all rows add up to the change",
  ],
  ["ops", "Single ops", "Op by op, and the parts of the time without kernels; all rows add up to the change"],
  ["kernels", "Kernels replaced", "Kernels of A and those of B in their place"],
  ["modules", "Modules", "Sums over all ops below a module or range"],
  ["types", "Op types", "Sums over the ops of a type"],
  ["new", "New and gone", "Ops that launch kernels on one side only"],
] as const;

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
  modules: {
    table: "compare_modules",
    name: "cmodules",
    title: "Changes by Module",
    noun: "modules",
    empty: "No op is inside a module or range.",
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

export function Compare() {
  const url = useUrl();
  const scope = useScope();
  const base = url.base ?? "";
  const aggregation = url.base_aggregation ?? "";
  const baseline = { base, aggregation };
  const unready = useUnready(base);
  const { importMode, reload } = useContext(ProfilesContext);
  const query = useQuery<CompareResponse>(
    base === "" || unready !== null ? null : scopeKey(scope, "compare", base, aggregation),
    (signal) => fetchCompare(scope, baseline, signal),
  );
  if (base === "")
    return (
      <div class="stacked">
        <NoBaseline />
        <Series />
      </div>
    );
  if (unready !== null) return <ImportPage profile={unready} importMode={importMode} onChange={reload} />;
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

/** How to choose a baseline, and those that are worth it: most of their GPU time is in the same ops. */
function NoBaseline() {
  const { profile } = useScope();
  const { profiles } = useContext(ProfilesContext);
  const query = useQuery<BaselinesResponse>(
    profiles.length > 1 ? JSON.stringify(["baselines", profile, profiles.length]) : null,
    (signal) => fetchBaselines(profile, signal),
  );
  const related = (query.data?.baselines ?? []).flatMap(({ profile: id, shared_fraction: shared }) =>
    profiles.filter((each) => each.id === id).map((each) => ({ ...each, shared })),
  );
  const rank = profiles.find(({ id }) => id === profile)?.rank ?? null;
  const unopened = profiles
    .filter((each) => each.id !== profile && each.state === "not_imported" && each.rank === rank)
    .slice(0, MOST_UNOPENED);
  const others = profiles.length - 1;
  const compared = query.data?.compared ?? 0;
  return (
    <Message icon="pointer" title="Choose a baseline">
      <p>
        Compare tells what changed from a baseline A to this profile B. A should be another recording of the same
        program: before a change, with other options, or on another GPU.
      </p>
      {related.length > 0 && (
        <ul class="likely-baselines" aria-label="Likely baselines">
          {related.map(({ shared, ...each }) => (
            <BaselineLink
              key={each.id}
              {...each}
              why={`${formatShare(shared)} of this profile's GPU time is in ops that both have`}
            />
          ))}
        </ul>
      )}
      {query.loading && <p class="muted">Looking for recordings of the same program…</p>}
      {related.length === 0 && !query.loading && (compared > 0 || unopened.length === 0) && (
        <p>{noneRelated(others, compared)}</p>
      )}
      {unopened.length > 0 && (
        <ul class="likely-baselines" aria-label="Not imported yet">
          {unopened.map((each) => (
            <BaselineLink key={each.id} {...each} why="not imported yet, so its ops are not known" />
          ))}
        </ul>
      )}
      {others > 0 && (
        <button type="button" class={related.length > 0 ? "button" : "button button-primary"} onClick={chooseBaseline}>
          {related.length > 0 ? "Choose another" : "Choose a baseline"}
        </button>
      )}
      <p class="muted">
        With four or more marked iterations on both sides, it also tells whether a change is more than noise.
      </p>
    </Message>
  );
}

/** Most profiles that are offered though nothing is known of their ops. */
const MOST_UNOPENED = 4;

function BaselineLink({ id, run, name, headline, why }: ProfileEntry & { why: string }) {
  return (
    <li>
      <ViewLink class="link-button" to={{ base: id }}>
        {run === "" || run === "." ? name : run}
      </ViewLink>{" "}
      <span class="muted">
        {[name, ...new Set(headline?.gpu_names)].join(" · ")} · {why}
      </span>
    </li>
  );
}

const RECORD = "Record the program once more, and put the recording below the log directory";

/** Why no baseline is proposed, and what to do. */
function noneRelated(others: number, compared: number): string {
  if (others === 0) return `There is no other profile here yet. ${RECORD}.`;
  const choose = "choose one in the list behind “vs” above";
  if (compared === 0) return `No other profile here is of this rank: ${choose}.`;
  return `None of the ${formatCounted(compared, "other imported profile")} of this rank spends most of its GPU time in the same ops, so none seems to be of this program. ${RECORD}, or ${choose}.`;
}

function Shown({ comparison: comparison, baseline }: { comparison: CompareResponse; baseline: Baseline }) {
  const url = useUrl();
  const row = url["compare.row"] ?? "";
  // Links to a row are from when single ops stood first.
  const tab = chosenOf(TABS, url["compare.tab"] ?? (row === "" ? undefined : "ops"));
  const unit = { iteration: "iteration", call: "run of the program", capture: "capture" }[comparison.per];
  return (
    <div class="stacked">
      <OneStop>
        <Head comparison={comparison} baseline={baseline} swap={() => navigate(swapped(baseline), true)} />
        <div class="compare-pair wide">
          <Panel
            title={`From A to B, per ${unit}`}
            about="Each bar begins where the one before ended: blue is less time, orange more. A click narrows the table below."
          >
            <Waterfall comparison={comparison} onSelect={narrow} />
          </Panel>
          <Panel
            title="Accumulated Change in Program Order"
            about="Each bar is a row in the order in which the program calls it, as wide as its time and as high as its change; the line is the sum so far, which ends at the whole change. Layers that repeat are one where there are many. Drag over bars to show only these in the table."
          >
            <OrderChart comparison={comparison} />
          </Panel>
        </div>
        <div class="compare-pair narrow">
          <IterationDots comparison={comparison} />
          <Memory comparison={comparison} />
        </div>
      </OneStop>
      <Choice
        label="Show"
        shown
        options={TABS}
        value={tab}
        to={(id) => ({ "compare.tab": id === "groups" ? null : id, "compare.row": null })}
      />
      {tab === "modules" && <ModuleIcicle modules={comparison.modules} />}
      <DataTable
        key={tab}
        {...TABLES[tab]}
        links={baselineLinks(baseline)}
        selectable={tab === "ops" || tab === "groups"}
        below={["cmembers"]}
        pageSize={25}
      />
      {(tab === "groups" || tab === "ops") && (
        <p class="muted">
          Times of ops are those of their kernels, without copies and memsets.
          {comparison.ops_without_gpu_time > 0 &&
            ` ${formatCounted(comparison.ops_without_gpu_time, "op")} without kernels on either side ${
              comparison.ops_without_gpu_time === 1 ? "is" : "are"
            } not listed, nor counted among ops and calls.`}
        </p>
      )}
      {tab === "groups" && <Noise comparison={comparison} of="groups" />}
      {tab === "ops" && <Noise comparison={comparison} of="rows" />}
      {tab === "groups" && <Group baseline={baseline} group={url["cgroups.row"] ?? ""} />}
      {tab === "ops" && row !== "" && <RowDetail baseline={baseline} row={row} />}
      <Series />
    </div>
  );
}

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
              <th class="right">A</th>
              <th class="right">B</th>
              <th class="right">Change</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, a_bytes: a, b_bytes: b }) => (
              <MemoryRow key={name} name={name} a={a} b={b} most={most} whole={whole} />
            ))}
          </tbody>
          <tfoot>
            {sums.map(([name, measure]) =>
              measure?.a == null || measure.b === null ? null : (
                <MemoryRow key={name} name={name} a={measure.a} b={measure.b} most={0} whole={whole} />
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
}

/** Of the peak: less than that is how an allocator rounds, and neither better nor worse. */
const LEAST_SEEN = 1e-3;

function MemoryRow({ name, a, b, most, whole }: MemoryRowProps) {
  const change = b - a;
  const sign = change > 0 ? "+" : change < 0 ? "−" : "";
  const isSeen = Math.abs(change) >= LEAST_SEEN * whole;
  return (
    <tr>
      <td>{name}</td>
      {[a, b].map((bytes, i) => (
        <td key={i} class="right number bar-cell" style={most > 0 ? { "--bar": bytes / most } : undefined}>
          {formatBytes(bytes)}
        </td>
      ))}
      <td class={`right number ${isSeen ? `change-${directionOf(change)}` : "muted"}`}>
        {isSeen && `${arrowOf(change)} `}
        {sign}
        {formatBytes(Math.abs(change))}
      </td>
    </tr>
  );
}

/** Opens the list behind “vs”. */
const chooseBaseline = (): void => document.querySelector<HTMLElement>(".versus .base-button")?.click();

/** The rows that the selected group sums, and both sides of the one that is selected among them. */
function Group({ baseline, group }: { baseline: Baseline; group: string }) {
  const row = useUrl()["cmembers.row"] ?? "";
  const only = useOnlyRow("compare_of_group", { ...baselineLinks(baseline), row: group });
  if (group === "")
    return (
      <Hint title="Ops of the Selected Group" text="Select a group above to see its ops, their shapes and kernels." />
    );
  if (only === null) return <Loading what="the ops of the group" />;
  if (only !== "") return <RowDetail baseline={baseline} row={only} />;
  return (
    <>
      <DataTable
        key={group}
        table="compare_of_group"
        name="cmembers"
        title={`Ops of ${group}`}
        noun="rows"
        empty="There is no such group."
        links={{ ...baselineLinks(baseline), row: group }}
        selectable
        pageSize={10}
      />
      {row !== "" && <RowDetail baseline={baseline} row={row} />}
    </>
  );
}

interface NoiseProps {
  comparison: CompareResponse;
  /** What the table above lists. */
  of: "groups" | "rows";
}

/** How many rows or groups chance alone would mark. */
function Noise({ comparison, of }: NoiseProps) {
  const { verdict } = comparison;
  const [tested, changed] =
    of === "rows"
      ? [comparison.tested_rows, comparison.changed_rows]
      : [comparison.tested_groups, comparison.changed_groups];
  // The headline says why nothing can be told.
  if (tested === 0 && verdict === "cannot_tell") return null;
  if (tested === 0)
    return (
      <p class="muted">
        {of === "rows" ? "No row" : "No group"} could be tested for noise: that takes four iterations of each side that
        call the ops.
      </p>
    );
  const chance = Math.round(tested / 20);
  return (
    <p class="muted">
      {formatCount(changed)} of {formatCount(tested)} tested {of} changed by more than noise.
      {changed < chance && ` About ${formatCount(chance)} would be marked by chance alone.`}{" "}
    </p>
  );
}

/** The table of groups, narrowed to a part of the waterfall: a row by its name, or all ops for the parts with kernels. */
function narrow(label: string, part: string): void {
  const busy = /^(?:compute|communication|tensor_core|other_kernel|unknown_kernel)/.test(part);
  const before = currentUrl();
  const to = busy
    ? { "cgroups.where.kind": "=ops", "cgroups.search": null }
    : {
        "cgroups.where.kind": null,
        "cgroups.search": before["cgroups.search"] === label ? null : label,
      };
  navigate({ "compare.tab": null, "cgroups.page": null, "cgroups.row": null, "compare.row": null, ...to }, true);
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
