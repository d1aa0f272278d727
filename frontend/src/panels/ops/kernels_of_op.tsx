import { DataTable } from "../../components/table/data_table";
import { textOf } from "../../frame/use_row";
import { NO_KERNELS } from "../../model/families";
import { splitPath } from "../../model/kernel_name";
import type { Row } from "../../api/types";

/** The kernels of the selected op; `row` is its row in the table of ops, undefined while that is loaded. */
export const KernelsOfOp = ({ op, row }: { op: string; row: Row | undefined }) => (
  <DataTable
    key={op}
    table="kernels_of_op"
    name="kernels"
    title={row === undefined ? "Kernels of" : `Kernels of ${splitPath(textOf(row, "name")).name}`}
    id={op}
    noun="kernels"
    summed
    links={{ op }}
    pageSize={10}
    empty={
      row?.family === NO_KERNELS
        ? "This op launched no kernel: its GPU time is that of copies and memsets."
        : "This op launched no kernel."
    }
    selectable
  />
);
