import { DataTable } from "./data_table";

/** The aggregated iterations with their GPU time as value, meter and percentage; `below` are the tables it fills. */
export function IterationTable({ name, below }: { name: string; below: readonly string[] }) {
  return (
    <DataTable
      table="iterations"
      name={name}
      title="Iteration Summary"
      noun="iterations"
      pageSize={10}
      empty="No iteration is part of the aggregation."
      selectable
      below={below}
      meters={{ gpu_time_ns: "gpu_time_fraction", tensor_core_time_ns: "tensor_core_time_fraction" }}
    />
  );
}
