"""Reads the calls of ops, the GPU work and the CUDA calls of a database back into the tables of a profile."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.database.extension_rows import MEMCPY, MEMSET
from tensorboard_plugin_dlprof.database.lookups import Ids, OpRows, Texts, integers
from tensorboard_plugin_dlprof.events.tables import Int8s, Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, GraphLaunches, Instances, Kernels, Syncs

_Column = TypeVar("_Column", bound=npt.NDArray[Any])


class WorkReader:
    """Reads the tables whose rows belong to ops.

    Args:
        con: the database.
        texts: its dictionary.
    """

    def __init__(self, con: UntrustedConnection, texts: Texts) -> None:
        self._con = con
        self._texts = texts
        self._op_ids = Ids(integers(con, "SELECT id FROM read_only_ops ORDER BY id", 1)[0])
        self.instances = self._read_instances()
        self._op_rows = OpRows(con.shown_name, self._op_ids, self.instances.op)

    def kernels(self) -> Kernels:
        """Kernels, in the order of their ids."""
        launch, instance, api_start, api_stop, gpu_start, gpu_stop = self._kernel_columns()
        columns, row = self._launches(launch)
        op, name, long_name, uses, grid, block, device, process, thread, stream, *more = columns
        registers, static, dynamic, launched, occupancy = more
        grid_ids, x, y, z = integers(self._con, "SELECT id, x, y, z FROM read_only_grid_block ORDER BY id", 4)
        triples, triple = np.stack([x, y, z], axis=1).astype(np.int32), Ids(grid_ids)
        shown = self._con.shown_name

        def each(column: _Column) -> _Column:
            return _of_rows(column, row)

        of_kernel = each(self._op_rows.ops(op))
        return Kernels(
            op=of_kernel,
            instance=self._op_rows.checked(of_kernel, instance),
            name=each(self._texts.of(name)),
            long_name=each(self._texts.of(long_name)),
            matrix_unit=each(self._matrix_unit(uses, long_name)),
            api_start=api_start,
            api_stop=api_stop,
            gpu_start=gpu_start,
            gpu_stop=gpu_stop,
            grid=each(triples[triple.rows(grid, shown, "grid")].reshape(-1, 3)),
            block=each(triples[triple.rows(block, shown, "block")].reshape(-1, 3)),
            device=each(device.astype(np.int32)),
            process_id=each(process),
            thread_id=each(thread),
            stream=each(stream),
            registers=each(registers.astype(np.int32)),
            static_shared_bytes=each(static),
            dynamic_shared_bytes=each(dynamic),
            launched=each(np.where(launched == 0, 0, 1).astype(np.int8)),
            occupancy_percent=each(occupancy.astype(np.int32)),
        )

    def memcpys(self) -> Copies:
        """Copies, in the order of their ids."""
        return self._copies("read_only_memcpys", "copy_kind", MEMCPY)

    def memsets(self) -> Copies:
        """Sets, in the order of their ids."""
        return self._copies("read_only_memsets", "-1", MEMSET)

    def syncs(self) -> Syncs:
        """Synchronising calls, in the order of their ids."""
        op, instance, name, start, stop, sync_type, event, device, process, thread = integers(
            self._con,
            "SELECT read_only_ops_id, op_instance, name_id, api_start, api_stop, sync_type, event_id, device_id, "
            "process_id, thread_id FROM read_only_cuda_syncs ORDER BY id",
            10,
        )
        return Syncs(
            op=self._op_rows.ops(op),
            instance=self._op_rows.instances(op, instance),
            name=self._texts.of(name),
            api_start=start,
            api_stop=stop,
            sync_type=sync_type.astype(np.int32),
            event_id=event,
            device=device.astype(np.int32),
            process_id=process,
            thread_id=thread,
        )

    def calls(self) -> Calls:
        """Calls without device work, in the order of their ids."""
        op, instance, name, start, stop, process, thread = integers(
            self._con,
            "SELECT read_only_ops_id, op_instance, name_id, api_start, api_stop, process_id, thread_id "
            "FROM read_only_cuda_calls ORDER BY id",
            7,
        )
        return Calls(
            op=self._op_rows.ops(op),
            instance=self._op_rows.instances(op, instance),
            name=self._texts.of(name),
            api_start=start,
            api_stop=stop,
            process_id=process,
            thread_id=thread,
        )

    def graphs(self) -> GraphLaunches:
        """Graphs recorded as a whole, in the order of their ids."""
        columns = "read_only_ops_id, op_instance, gpu_start, gpu_stop, device_id, stream"
        op, instance, start, stop, device, stream = integers(
            self._con, f"SELECT {columns} FROM ext_graph_launches ORDER BY id", 6
        )
        return GraphLaunches(
            op=self._op_rows.ops(op),
            instance=self._op_rows.instances(op, instance),
            gpu_start=start,
            gpu_stop=stop,
            device=device.astype(np.int32),
            stream=stream,
        )

    def _read_instances(self) -> Instances:
        common = (
            "read_only_ops_id, process_id, thread_id, input_names_id, input_shapes_id, output_names_id, "
            "output_shapes_id, parameters_id"
        )
        ids, *columns = integers(self._con, f"SELECT id, {common} FROM op_call_kinds ORDER BY id", 9)
        kind, start, duration = integers(
            self._con, "SELECT kind_id, start_ns, duration_ns FROM op_calls ORDER BY id", 3
        )
        row, stop = Ids(ids).rows(kind, self._con.shown_name, "kind of call"), spilled(start + duration)
        if len(row) and (np.diff(columns[0][row]) < 0).any():  # a foreign database may have another order
            order = np.argsort(columns[0][row], kind="stable")
            row, start, stop = row[order], start[order], stop[order]
        op, process, thread, *texts = columns
        of_op = self._op_ids.rows(op, self._con.shown_name, "op").astype(np.int32)
        return Instances(
            _of_rows(of_op, row),
            start,
            stop,
            _of_rows(process, row),
            _of_rows(thread, row),
            *(_of_rows(self._texts.of(ids), row) for ids in texts),
        )

    def _kernel_columns(self) -> list[Int64s]:
        """Launch, number of the call, and the four times."""
        names = ("launch_id", "op_instance", "api_start_ns", "api_duration_ns", "start_ns", "duration_ns")
        launch, instance, api_start, api_duration, start, duration = integers(
            self._con, f"SELECT {', '.join(names)} FROM kernels ORDER BY id", len(names)
        )
        return [launch, instance, api_start, spilled(api_start + api_duration), start, spilled(start + duration)]

    def _copies(self, table: str, copy_kind: str, kind: int) -> Copies:
        (
            op, instance, name, api_start, api_stop, gpu_start, gpu_stop, num_bytes, copied, device, process, thread,
            ident,
        ) = integers(
            self._con,
            "SELECT read_only_ops_id, op_instance, name_id, api_start, api_stop, gpu_start, gpu_stop, num_bytes, "
            f"{copy_kind}, device_id, process_id, thread_id, id FROM {table} ORDER BY id",
            13,
        )  # fmt: skip
        more = self._beside(
            ident,
            f"SELECT row_id, stream, launched, pageable FROM ext_memory_ops WHERE kind = {kind} ORDER BY row_id",
            4,
        )
        return Copies(
            op=self._op_rows.ops(op),
            instance=self._op_rows.instances(op, instance),
            name=self._texts.of(name),
            api_start=api_start,
            api_stop=api_stop,
            gpu_start=gpu_start,
            gpu_stop=gpu_stop,
            num_bytes=num_bytes,
            copy_kind=copied.astype(np.int32),
            device=device.astype(np.int32),
            process_id=process,
            thread_id=thread,
            stream=more[0],
            launched=np.where(more[1] == 0, 0, 1).astype(np.int8),
            pageable=more[2].astype(np.int8),
        )

    def _matrix_unit(self, uses: Int64s, long_name: Int64s) -> Int8s:
        unit = np.where(uses != 0, MatrixUnit.YES, MatrixUnit.NO).astype(np.int8)
        (unknown,) = integers(
            self._con, f"SELECT name_id FROM ext_kernel_names WHERE matrix_unit = {int(MatrixUnit.UNKNOWN)}", 1
        )
        unit[(uses == 0) & are_among(long_name, unknown)] = MatrixUnit.UNKNOWN
        return unit

    def _launches(self, launch: Int64s) -> tuple[list[Int64s], Int64s]:
        """The columns of the launches, and the row in them of each kernel, given what ``_kernel_columns`` says."""
        ids, *columns = integers(
            self._con,
            "SELECT id, read_only_ops_id, name_id, long_name_id, uses_tc, grid_id, block_id, device_id, process_id, "
            "thread_id, stream, registers, static_shared_bytes, dynamic_shared_bytes, launched, "
            "occupancy_percent FROM launches ORDER BY id",
            16,
        )
        return columns, Ids(ids).rows(launch, self._con.shown_name, "launch")

    def _beside(self, ident: Int64s, query: str, columns: int) -> list[Int64s]:
        """Columns of one of our own tables for the rows ``ident``; -1 where it has no row.

        ``query`` selects the id first, ascending, and ``columns`` columns in all.
        """
        result = [np.full(len(ident), -1, np.int64) for _ in range(columns - 1)]
        if len(ident):
            key, *values = integers(self._con, query, columns)
            place = np.minimum(np.searchsorted(key, ident), max(len(key) - 1, 0))
            found = key[place] == ident if len(key) else np.zeros(len(ident), np.bool_)
            for column, value in zip(result, values, strict=True):
                column[found] = value[place[found]]
        return result


def _of_rows(column: _Column, row: Int64s) -> _Column:
    """The value of each of some rows; a view of one value if all are equal."""
    if len(column) and (column == column[0]).all():
        return cast(_Column, np.broadcast_to(column[0], (len(row), *column.shape[1:])))
    return cast(_Column, spilled(column[row]))
