/** Ops: where GPU time goes, grouped as the user likes; below a group its ops, below an op its kernels. */
import type { DashboardResponse, Row } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { Hint } from "../../components/hint";
import { Loading } from "../../components/message";
import { NoOps } from "../../components/no_ops";
import { DataTable } from "../../components/table/data_table";
import { ViewLink } from "../../components/view_link";
import { navigate, useUrl } from "../../frame/url";
import { useOnlyRow } from "../../frame/use_only_row";
import { NO_LINKS, numberOf, textOf, titleOf, useRow } from "../../frame/use_row";
import { hasGpuWork } from "../../model/headline";
import { NO_OP, shortKernelName } from "../../model/kernel_name";
import { forgotten } from "../../model/table_state";
import type { Changes } from "../../model/url_state";
import { Largest } from "./largest";
import { KernelsOfOp } from "./kernels_of_op";
import { KernelPane, OpPane, RowPane } from "./row_pane";

const GROUPINGS = [
  [
    "path",
    "Path",
    "By modules or name scopes, as far as they were recorded; those that are alike, such as layers, are one row",
  ],
  ["op", "Op", "Ops of one name are one row, wherever in the model they are"],
  ["type", "Type", "Op Type Summary: what the ops do"],
  ["kernel", "Kernel", "Kernels of one name are one row, whichever op launched them"],
  ["none", "None", "Ops and Kernels: op by op"],
] as const;

type Grouping = (typeof GROUPINGS)[number][0];

interface Grouped {
  /** The server's table, and under which name its state is kept in the URL. */
  table: string;
  name: string;
  title: string;
  noun: string;
  /** The server's table of the ops that a row sums, or that launched the kernel. */
  members?: string;
  /** The server's table of the kernels of a row of ops. */
  kernels?: string;
  /** The column that identifies a row. */
  key: string;
  links?: Readonly<Record<string, string>>;
}

const TABLES: Readonly<Record<Grouping, Grouped>> = {
  path: {
    table: "op_paths",
    name: "paths",
    title: "Ops by Path",
    noun: "groups",
    members: "ops_of_path",
    kernels: "kernels_of_path",
    key: "key",
  },
  op: {
    table: "op_names",
    name: "names",
    title: "Ops by Name",
    noun: "groups",
    members: "ops_of_name",
    kernels: "kernels_of_name",
    key: "key",
  },
  type: {
    table: "op_types",
    name: "types",
    title: "Op Type Summary",
    noun: "op types",
    members: "ops_of_type",
    kernels: "kernels_of_type",
    key: "op_type",
  },
  kernel: {
    table: "kernels_of_group",
    name: "allkernels",
    title: "Kernels",
    noun: "kernels",
    members: "ops_of_kernel",
    key: "name",
    // Of any path: kernels without an op have none that begins with a slash.
    links: { group: "" },
  },
  none: { table: "ops", name: "ops", title: "Ops", noun: "ops", key: "op_id" },
};

/** Most tables of Ops fill a page: so much room is kept while they are loaded. */
const PAGE_SIZE = 25;

const NO_OPS = "This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities.";
const NO_KERNELS = "This recording holds no kernels.";

export function Ops({ data }: { data: DashboardResponse }) {
  return data.model.ops === 0 && !hasGpuWork(data) ? <NoOps /> : <OpsOf data={data} />;
}

function OpsOf({ data }: { data: DashboardResponse }) {
  const url = useUrl();
  const onGpu = hasGpuWork(data);
  const groupings = onGpu ? GROUPINGS : GROUPINGS.filter(([id]) => id !== "kernel");
  const by = chosenOf(groupings, url["ops.by"]);
  const { table, name, title, noun, members, kernels = "", links = NO_LINKS, key } = TABLES[by];
  const selected = url[`${name}.row`] ?? "";
  const below = members === undefined ? ["kernels"] : ["members", "kernels"];
  const only = useOnlyRow(members ?? "", { row: members === undefined ? "" : selected });
  // An op alone, or the only one of its group, is shown at once; of a kernel, the kernel itself.
  const chosen = url["members.row"] ?? "";
  const op =
    selected === ""
      ? ""
      : members === undefined
        ? selected
        : by === "kernel" || only === null || only === ""
          ? chosen
          : only;
  const { row: opRow } = useRow("ops", "op_id", op);
  const { row } = useRow(table, key, members === undefined ? "" : selected, links);
  const close = (): void => navigate(Object.assign({ [`${name}.row`]: null }, ...below.map(forgotten)) as Changes);
  return (
    <div class="stacked">
      <Largest
        table={table}
        links={links}
        named={by === "type" ? "op_type" : "name"}
        noun={noun}
        selects={`${name}.row`}
        members={members}
        tools={
          <Choice
            label="Group by"
            shown
            options={groupings}
            value={by}
            to={(id) => ({ "ops.by": id === "path" ? null : id })}
          />
        }
      />
      <div class="ops-and-pane with-pane pane-in-sight">
        <div class="ops-tables">
          <DataTable
            key={by}
            table={table}
            name={name}
            title={title}
            noun={noun}
            summed
            rows={PAGE_SIZE}
            links={links}
            empty={by === "kernel" ? NO_KERNELS : NO_OPS}
            selectable
            below={below}
            tools={
              by === "kernel" &&
              (url.base ?? "") !== "" && (
                <span class="muted">
                  not compared here; see{" "}
                  <ViewLink class="more-button" to={{ view: "compare" }}>
                    Compare
                  </ViewLink>
                </span>
              )
            }
            // DLProf's own tables are whole, and the row of a link is among those shown.
            timed={
              (by === "path" || by === "op") && (row === undefined || numberOf(row, "gpu_time_ns") !== 0)
                ? "gpu_time_ns"
                : undefined
            }
            {...(by === "none" ? { causes: true } : {})}
            {...(onGpu ? {} : { sort: "-cpu_time_ns" })}
          />
          {selected === "" ? (
            <Hint
              title={members === undefined ? "Kernels in Selected Op" : "Ops of the Selected Row"}
              text={
                members === undefined
                  ? "Select an op above to see the kernels that it launched."
                  : `Select one of the ${noun} above to see its ops.`
              }
            />
          ) : (
            <>
              {members !== undefined && only === null && <Loading what="the ops of the row" />}
              {members !== undefined && (only === "" || (by === "kernel" && only !== null)) && (
                <DataTable
                  key={selected}
                  table={members}
                  name="members"
                  title={row === undefined ? "Ops of the Selected Row" : `Ops of ${headOf(by, row)}`}
                  noun="ops"
                  summed
                  links={{ row: selected }}
                  pageSize={10}
                  empty="There is no such op."
                  selectable
                  below={["kernels"]}
                />
              )}
              {op !== "" && <KernelsOfOp op={op} row={opRow} />}
            </>
          )}
        </div>
        {op !== "" && opRow !== undefined ? (
          <OpPane
            op={op}
            row={opRow}
            onClose={close}
            {...(members === undefined || row === undefined || (only === op && by !== "kernel")
              ? {}
              : { back: { text: headOf(by, row), to: { "members.row": null, "kernels.row": null } } })}
          />
        ) : (
          row !== undefined &&
          (by === "kernel" ? (
            <KernelPane row={row} op={only ?? ""} onClose={close} />
          ) : (
            only === "" && <RowPane title={headOf(by, row)} row={row} kernels={kernels} id={selected} onClose={close} />
          ))
        )}
      </div>
    </div>
  );
}

/** What a row is called where its path has no room. */
function headOf(by: Grouping, row: Row): string {
  if (by === "type") return (row.no_op === true ? NO_OP : "") + textOf(row, "op_type");
  return by === "kernel" ? shortKernelName(textOf(row, "name")) : titleOf(row);
}
