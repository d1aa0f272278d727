/** Where the most could be gained: groups of ops that are alike, or op by op. */
import { Choice } from "../../components/choice";
import { DataTable } from "../../components/table/data_table";
import { useUrl } from "../../frame/url";

/** What of the table of ops stands at first: in what order to work, on what, and why. */
const RATED = [
  "name",
  "gain_ns",
  "kernel_ns",
  "op_id",
  "direction",
  "precision",
  "bound",
  "tensor_core_fraction",
  "cause",
  "dimension",
  "size",
  "flops_per_second",
  "peak_fraction",
  "memory_fraction",
  "intensity",
  "occupancy_fraction",
  "achieved_fraction",
  "calls",
  "input_shapes",
];

/** Where it is not known what the GPU could do, these are not known of any op. */
const OF_PEAKS: ReadonlySet<string> = new Set(["gain_ns", "bound", "peak_fraction", "memory_fraction"]);

/** What is counted from shapes. */
const OF_SHAPES: ReadonlySet<string> = new Set(["flops_per_second", "peak_fraction", "memory_fraction"]);

/** Without shapes the columns of what is counted from them would be empty. */
const UNRATED = [
  "name",
  "kernel_ns",
  "op_id",
  "direction",
  "family",
  "precision",
  "eligibility",
  "tensor_core_fraction",
  "cause",
  "occupancy_fraction",
  "achieved_fraction",
  "waves",
  "tail_fraction",
  "calls",
  "kernel_calls",
];

/** The same of groups. */
const GROUPED = [
  "name",
  "gpu_time_ns",
  "gain_ns",
  "kernel_time_ns",
  "ops",
  "direction",
  "flops_per_second",
  "peak_fraction",
  "memory_fraction",
  "bound",
  "tensor_core_fraction",
  "cause",
];

const GROUPINGS = [
  [
    "path",
    "Path",
    "By modules or name scopes, as far as they were recorded; those that are alike, such as layers, are one row",
  ],
  ["none", "None", "Op by op"],
] as const;

/** What is about single ops: one that is selected, and what was asked of them. */
const OF_OPS = /^eff\.(?:row|search|where\..*)$/;

interface RankedOpsProps {
  /** Whether work is known of any op. */
  rated: boolean;
  /** Whether it is known what the GPU could do with it. */
  gains: boolean;
  /** By what groups are ranked: by what they could gain only where that is known for most of the time. */
  by: keyof typeof RANKED;
}

/** Kernel time does not hold CUDA graphs recorded as a whole, of which the kernels are not known; GPU time does. */
const RANKED = { gain_ns: "Possible Gain", kernel_time_ns: "Kernel Time", gpu_time_ns: "GPU Time" } as const;

export function RankedOps({ rated, gains, by: rank }: RankedOpsProps) {
  const url = useUrl();
  const narrowed = Object.keys(url).filter((key) => OF_OPS.test(key));
  const by = url["eff.by"] === "none" || narrowed.length > 0 ? "none" : "path";
  const grouping = (
    <Choice
      label="Group by"
      shown
      options={GROUPINGS}
      value={by}
      to={(id) =>
        id === "none"
          ? { "eff.by": "none", "gains.row": null }
          : { "eff.by": null, ...Object.fromEntries(narrowed.map((key) => [key, null])) }
      }
    />
  );
  return by === "path" ? (
    <DataTable
      key="path"
      table="op_paths"
      name="gains"
      title={`Groups by ${RANKED[rank]}`}
      noun="groups"
      summed
      tools={grouping}
      timed={rank === "gpu_time_ns" ? rank : "kernel_time_ns"}
      first={GROUPED.filter(
        (key) =>
          (gains || !OF_PEAKS.has(key)) &&
          (rated || !OF_SHAPES.has(key)) &&
          (rank === "gpu_time_ns" || key !== "gpu_time_ns"),
      )}
      sort={`-${rank}`}
      pageSize={10}
      selectable
      empty="No op of this aggregation did any work."
    />
  ) : (
    <DataTable
      key="none"
      table="efficiency"
      name="eff"
      title={`Ops by ${rank === "gain_ns" ? RANKED.gain_ns : RANKED.kernel_time_ns}`}
      noun="ops"
      summed
      tools={grouping}
      first={gains ? RATED : rated ? RATED.filter((key) => !OF_PEAKS.has(key)) : UNRATED}
      // Where little of the gain is known, the longest ops come first.
      {...(rank === "gain_ns" ? {} : { sort: "-kernel_ns" })}
      pageSize={10}
      selectable
      empty="No op of this aggregation launched a kernel."
    />
  );
}
