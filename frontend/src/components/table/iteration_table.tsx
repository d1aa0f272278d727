import { CommunicationContext } from "./communication";
import { DataTable } from "./data_table";

interface IterationTableProps {
  name: string;
  /** The tables that it fills. */
  below: readonly string[];
  /** The iteration that they show. */
  selected: string;
  /** How many there are, where it is known. */
  rows?: number | undefined;
  /** How long only collectives ran, by iteration, where it is known. */
  communication: ReadonlyMap<number, number>;
}

/** The aggregated iterations with their GPU time as value, meter and percentage. */
export function IterationTable({ name, below, selected, rows, communication }: IterationTableProps) {
  return (
    <CommunicationContext.Provider value={communication}>
      <DataTable
        table="iterations"
        name={name}
        title="Iteration Summary"
        noun="iterations"
        pageSize={10}
        rows={rows}
        empty="No iteration is part of the aggregation."
        selectable
        selected={selected}
        below={below}
        meters={{ gpu_time_ns: "gpu_time_fraction", tensor_core_time_ns: "tensor_core_time_fraction" }}
      />
    </CommunicationContext.Provider>
  );
}
