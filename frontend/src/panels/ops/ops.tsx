/** Ops: where GPU time goes, grouped as the user likes; below a group its ops, below an op its kernels. */
import type { DashboardResponse } from "../../api/types";
import { Choice, chosenOf } from "../../components/choice";
import { Hint } from "../../components/hint";
import { Loading } from "../../components/message";
import { DataTable } from "../../components/table/data_table";
import { useUrl } from "../../frame/url";
import { useOnlyRow } from "../../frame/use_only_row";
import { hasGpuWork } from "../../model/headline";
import { Largest } from "./largest";
import { OpDetail } from "./op_detail";

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
  /** The server's table of the ops that a row sums. */
  members?: string;
  links?: Readonly<Record<string, string>>;
}

const TABLES: Readonly<Record<Grouping, Grouped>> = {
  path: { table: "op_paths", name: "paths", title: "Ops by Path", noun: "groups", members: "ops_of_path" },
  op: { table: "op_names", name: "names", title: "Ops by Name", noun: "groups", members: "ops_of_name" },
  type: { table: "op_types", name: "types", title: "Op Type Summary", noun: "op types", members: "ops_of_type" },
  kernel: {
    table: "kernels_of_group",
    name: "allkernels",
    title: "Kernels",
    noun: "kernels",
    // Of any path: kernels without an op have none that begins with a slash.
    links: { group: "" },
  },
  none: { table: "ops", name: "ops", title: "Ops", noun: "ops" },
};

/** The slash before a name without a path. */
const LONE_ROOT = /^\/(?=[^/]*$)/;

const NO_LINKS: Readonly<Record<string, string>> = {};
const NO_OPS = "This profile has no ops. Record with NVTX markers or with the PyTorch profiler's CPU activities.";
const NO_KERNELS = "This recording holds no kernels.";

export function Ops({ data }: { data: DashboardResponse }) {
  const url = useUrl();
  const onGpu = hasGpuWork(data);
  const groupings = onGpu ? GROUPINGS : GROUPINGS.filter(([id]) => id !== "kernel");
  const by = chosenOf(groupings, url["ops.by"]);
  const { table, name, title, noun, members, links } = TABLES[by];
  return (
    <div class="stacked">
      <Largest
        table={table}
        links={links ?? NO_LINKS}
        named={by === "type" ? "op_type" : "name"}
        noun={noun}
        selects={by === "kernel" ? "" : `${name}.row`}
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
      <DataTable
        key={by}
        table={table}
        name={name}
        title={title}
        noun={noun}
        summed
        empty={by === "kernel" ? NO_KERNELS : NO_OPS}
        selectable={by !== "kernel"}
        below={members === undefined ? ["kernels"] : ["members", "kernels"]}
        {...(links === undefined ? {} : { links })}
        {...(by === "none" ? { causes: true } : {})}
        {...(onGpu ? {} : { sort: "-cpu_time_ns" })}
      />
      {members !== undefined && <Members table={members} row={url[`${name}.row`] ?? ""} noun={noun} />}
      {by === "none" && <Selected op={url["ops.row"] ?? ""} />}
    </div>
  );
}

/** The ops that the selected row sums, and the kernels of the one that is selected among them. */
function Members({ table, row, noun }: { table: string; row: string; noun: string }) {
  const op = useUrl()["members.row"] ?? "";
  const only = useOnlyRow(table, { row });
  if (row === "")
    return <Hint title="Ops of the Selected Row" text={`Select one of the ${noun} above to see its ops.`} />;
  if (only === null) return <Loading what="the ops of the row" />;
  if (only !== "") return <OpDetail op={only} />;
  return (
    <>
      <DataTable
        key={row}
        table={table}
        name="members"
        title={`Ops of ${row.replace(LONE_ROOT, "")}`}
        noun="ops"
        summed
        links={{ row }}
        pageSize={10}
        empty="There is no such op."
        selectable
        below={["kernels"]}
      />
      {op !== "" && <OpDetail op={op} />}
    </>
  );
}

function Selected({ op }: { op: string }) {
  if (op === "")
    return <Hint title="Kernels in Selected Op" text="Select an op above to see the kernels that it launched." />;
  return <OpDetail op={op} />;
}
