/** The gaps of the window as tables: what one works on, and one by one. A row leads to its gap. */
import { DataTable } from "../../components/table/data_table";

interface GapTablesProps {
  links: Readonly<Record<string, string>>;
  manyGpus: boolean;
}

const EMPTY = "No GPU is idle in this window.";

export function GapTables({ links, manyGpus }: GapTablesProps) {
  const device = manyGpus ? ["device"] : [];
  return (
    <>
      <DataTable
        table="gap_groups"
        name="gap_groups"
        title="Gaps by Cause and Op"
        noun="groups"
        selectable
        first={[...device, "cause", "op", "gaps", "total_ns", "window_fraction", "longest_ns", "host"]}
        links={links}
        pageSize={10}
        empty={EMPTY}
      />
      <DataTable
        table="gaps"
        name="gaps"
        title="Gaps"
        noun="gaps"
        selectable
        first={["start_ns", "duration_ns", ...device, "cause", "op", "host", "iteration"]}
        links={links}
        pageSize={10}
        empty={EMPTY}
      />
    </>
  );
}
