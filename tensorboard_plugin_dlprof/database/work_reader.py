"""Reads the calls of ops, the GPU work and the CUDA calls of a database back into the tables of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import column_types
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.database.extension_rows import MEMCPY, MEMSET
from tensorboard_plugin_dlprof.database.lookups import OpRows, RowNumbers, Texts, columns_of, integers
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, GraphLaunches, Instances, Kernels, Syncs

_Column = TypeVar("_Column", bound=npt.NDArray[Any])
_Table = TypeVar("_Table", bound=msgspec.Struct)

_STORED_AS: Mapping[str, str] = {
    **{"op": "read_only_ops_id", "instance": "op_instance", "device": "device_id", "matrix_unit": "uses_tc"},
    **{name: f"{name}_id" for name in ("name", "long_name", "grid", "block")},
    **{"start_ns": "gpu_start", "end_ns": "gpu_stop", "api_start_ns": "api_start", "api_end_ns": "api_stop"},
}
"""The columns of fields of a profile's tables that have another name there."""

_LAUNCH: Mapping[str, str] = {name: _STORED_AS.get(name, name) for name in (
    *("op", "name", "long_name", "matrix_unit", "grid", "block", "device", "process_id", "thread_id", "stream"),
    *("registers", "static_shared_bytes", "dynamic_shared_bytes", "occupancy_percent"),
)} | {"launched": "launched <> 0"}  # fmt: skip
"""The columns of ``launches``, by field of a profile's table of kernels."""


class WorkReader:
    """Reads the tables whose rows belong to ops."""

    def __init__(self, con: UntrustedConnection, texts: Texts) -> None:
        self._con = con
        self._texts = texts
        self._op_ids = RowNumbers(integers(con, "SELECT id FROM read_only_ops ORDER BY id", 1)[0])
        self.instances = self._read_instances()
        self._op_rows = OpRows(con.shown_name, self._op_ids, self.instances.op)

    def kernels(self) -> Kernels:
        """Kernels, in the order of their ids."""
        times = ("launch_id", "api_start_ns", "api_time_ns", "gpu_start_ns", "gpu_time_ns", "op_instance")
        kernel = columns_of(self._con, "kernels", dict(zip(times, times, strict=True)))
        launch = columns_of(self._con, "launches", {"id": "id", **_LAUNCH})
        row = RowNumbers(launch["id"]).rows(kernel["launch_id"], self._con.shown_name, "launch")
        types = column_types(Kernels)

        def each(column: _Column) -> _Column:
            return _of_rows(column, row)

        op = each(self._op_rows.ops(launch["op"]))
        own: dict[str, npt.NDArray[Any]] = {
            "op": op,
            "instance": self._op_rows.checked(op, kernel["op_instance"]),
            "name": each(self._texts.of(launch["name"])),
            "long_name": each(self._texts.of(launch["long_name"])),
            "matrix_unit": each(self._matrix_unit(launch["matrix_unit"], launch["long_name"])),
            "api_start_ns": kernel["api_start_ns"],
            "api_end_ns": spilled(kernel["api_start_ns"] + kernel["api_time_ns"]),
            "start_ns": kernel["gpu_start_ns"],
            "end_ns": spilled(kernel["gpu_start_ns"] + kernel["gpu_time_ns"]),
            **{name: each(self._triples(launch[name])) for name in ("grid", "block")},
        }
        alike = {name: each(launch[name].astype(types[name], copy=False)) for name in _LAUNCH if name not in own}
        return Kernels(**own, **alike)

    def _triples(self, wanted: Int64s) -> Int32s:
        """The grids or blocks with some ids, of shape (n, 3)."""
        ids, *axes = integers(self._con, "SELECT id, x, y, z FROM read_only_grid_block ORDER BY id", 4)
        rows = RowNumbers(ids).rows(wanted, self._con.shown_name, "grid")
        return np.stack(axes, axis=1).astype(np.int32)[rows].reshape(-1, 3)

    def memcpys(self) -> Copies:
        """Copies, in the order of their ids."""
        return self._copies("read_only_memcpys", "copy_kind", MEMCPY)

    def memsets(self) -> Copies:
        """Sets, in the order of their ids."""
        return self._copies("read_only_memsets", "-1", MEMSET)

    def syncs(self) -> Syncs:
        """Synchronising calls, in the order of their ids."""
        return self._rows_of_calls(Syncs, "read_only_cuda_syncs")

    def calls(self) -> Calls:
        """Calls without device work, in the order of their ids."""
        return self._rows_of_calls(Calls, "read_only_cuda_calls")

    def graphs(self) -> GraphLaunches:
        """Graphs recorded as a whole, in the order of their ids."""
        return self._rows_of_calls(GraphLaunches, "ext_graph_launches")

    def _copies(self, table: str, copy_kind: str, kind: int) -> Copies:
        stored = {
            "copy_kind": copy_kind,
            "stream": "ifnull(stream, -1)",
            "launched": "ifnull(launched, 1) <> 0",
            "pageable": "ifnull(pageable, -1)",
        }
        return self._rows_of_calls(
            Copies, f"{table} LEFT JOIN ext_memory_ops ON kind = {kind} AND row_id = {table}.id", stored
        )

    def _rows_of_calls(self, kind: type[_Table], source: str, stored: Mapping[str, str] = {}) -> _Table:
        """A table of a profile whose rows belong to calls of ops.

        Args:
            source: FROM clause of the stored rows.
            stored: expressions of fields that are stored under other names than ``_STORED_AS`` says.
        """
        types = {**dict.fromkeys(stored, np.int8), **column_types(kind)}
        expressions = {**{name: _STORED_AS.get(name, name) for name in types}, **stored}
        columns: dict[str, npt.NDArray[Any]] = dict(columns_of(self._con, source, expressions))
        columns["instance"] = self._op_rows.instances(columns["op"], columns["instance"])
        columns["op"] = self._op_rows.ops(columns["op"])
        if "name" in columns:
            columns["name"] = self._texts.of(columns["name"])
        return kind(**{name: column.astype(types[name], copy=False) for name, column in columns.items()})

    def _read_instances(self) -> Instances:
        common = (
            "read_only_ops_id, process_id, thread_id, input_names_id, input_shapes_id, output_names_id, "
            "output_shapes_id, parameters_id"
        )
        ids, *columns = integers(self._con, f"SELECT id, {common} FROM op_call_kinds ORDER BY id", 9)
        kind, start, duration = integers(
            self._con, "SELECT kind_id, start_ns, duration_ns FROM op_calls ORDER BY id", 3
        )
        row, stop = RowNumbers(ids).rows(kind, self._con.shown_name, "kind of call"), spilled(start + duration)
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

    def _matrix_unit(self, uses: Int64s, long_name: Int64s) -> Int8s:
        unit = np.where(uses != 0, MatrixUnit.YES, MatrixUnit.NO).astype(np.int8)
        (unknown,) = integers(
            self._con, f"SELECT name_id FROM ext_kernel_names WHERE matrix_unit = {int(MatrixUnit.UNKNOWN)}", 1
        )
        unit[(uses == 0) & are_among(long_name, unknown)] = MatrixUnit.UNKNOWN
        return unit


def _of_rows(column: _Column, row: Int64s) -> _Column:
    """The value of each of some rows; a view of one value if all are equal."""
    if len(column) and (column == column[0]).all():
        return cast(_Column, np.broadcast_to(column[0], (len(row), *column.shape[1:])))
    return cast(_Column, spilled(column[row]))
