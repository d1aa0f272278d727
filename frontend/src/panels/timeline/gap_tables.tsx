/** The gaps of the window as tables: what one works on, and one by one. A row leads to its gap. */
import { DataTable } from "../../components/table/data_table";

interface GapTablesProps {
  links: Readonly<Record<string, string>>;
  /** The GPU, where there are several. */
  device: number | null;
  /** Whether iterations are marked: without marks all gaps lie in the same. */
  isMarked: boolean;
  /** The row of the gap that is selected, and that of the group that led to it, as tables name them; empty for none. */
  gap: string;
  group: string;
}

const EMPTY = "No GPU is idle in this window.";

export function GapTables({ links, device, isMarked, gap, group }: GapTablesProps) {
  const of = device === null ? "" : ` of GPU ${device}`;
  return (
    <>
      <DataTable
        table="gap_groups"
        name="gap_groups"
        title={`Gaps${of} by Cause and Op`}
        noun="groups"
        selectable
        selected={group}
        first={["cause", "op", "gaps", "total_ns", "window_fraction", "longest_ns", "host"]}
        links={links}
        pageSize={10}
        empty={EMPTY}
      />
      <DataTable
        table="gaps"
        name="gaps"
        title={`Every Gap${of}`}
        noun="gaps"
        timed="duration_ns"
        selectable
        selected={gap}
        first={["start_ns", "duration_ns", "cause", "cause_ns", "op", "host", ...(isMarked ? ["iteration"] : [])]}
        links={links}
        pageSize={10}
        empty={EMPTY}
      />
    </>
  );
}
