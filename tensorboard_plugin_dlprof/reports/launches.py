"""DLProf's iteration report: one row per kernel launch.

There may be ten million rows, but few distinct texts, those of ops and names. So each row is read as numbers only, and
each text is looked up once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import unknown_names
from tensorboard_plugin_dlprof.reports.blocks import USUAL, Block, Column, Kind, Unknown, Value, fit
from tensorboard_plugin_dlprof.reports.cursors import OP_JOINS, count_of, raw, scope_values
from tensorboard_plugin_dlprof.reports.ops import OP_COLUMNS

_ITERATION = (
    Column("Iteration", Kind.INTEGER),
    *OP_COLUMNS,
    Column("Op Type", Kind.TEXT),
    Column("Kernel Name", Kind.TEXT),
    Column("Device ID", Kind.INTEGER),
    Column("GPU Start Time (ns)", Kind.INTEGER),
    Column("GPU Duration (ns)", Kind.INTEGER),
    Column("API Call Start (ns)", Kind.INTEGER),
    Column("API Call Time (ns)", Kind.INTEGER),
    Column("Uses TC", Kind.YES_NO),
    *(Column(f"{what} {axis}", Kind.INTEGER) for what in ("Grid", "Block") for axis in "XYZ"),
    Column("Data Types", Kind.WORD),
    Column("Input Shapes", Kind.TEXT),
    Column("Parameters", Kind.TEXT),
    Column("Output Shapes", Kind.TEXT),
    Column("Long Kernel Name", Kind.TEXT),
)

_NUMBERS_SQL = (
    "SELECT node.iteration, node.read_only_ops_id, launch.name_id, launch.device_id, node.gpu_start_ns, "
    "node.gpu_time_ns, kernel.api_start_ns, kernel.api_time_ns, launch.uses_tc, launch.grid_id, launch.block_id, "
    "instance.input_shapes_id, instance.parameters_id, instance.output_shapes_id, launch.long_name_id "
    "FROM (SELECT * FROM iteration_kernels WHERE aggr_id = :aggregation "
    "AND read_only_ops_id IN (SELECT id FROM read_only_ops WHERE domain_id = :domain) "
    "ORDER BY {order}kernel_id LIMIT -1) AS node "
    "CROSS JOIN kernels AS kernel ON kernel.id = node.kernel_id "
    "CROSS JOIN launches AS launch ON launch.id = node.launch_id "
    # The instances of an op lie side by side: the n-th has the id of the first plus n.
    "LEFT JOIN ext_op_ranges AS calls ON calls.read_only_ops_id = node.read_only_ops_id "
    # SQLite would make a view of two tables anew for each row.
    "LEFT JOIN op_calls AS call ON call.id = calls.first_instance_id + kernel.op_instance "
    "LEFT JOIN op_call_kinds AS instance ON instance.id = call.kind_id "
    "AND instance.read_only_ops_id = node.read_only_ops_id"
)

_COUNT_SQL = (
    "SELECT coalesce(sum(total_count), 0) FROM kernel_iteration_stats "
    "WHERE aggr_id = :aggregation AND domain_id = :domain"
)

_MOST_BY_KERNEL = 1 << 17
"""Kernels that are sorted as a whole, as DLProf does; more are sorted iteration by iteration."""

_OP_SQL = (
    "SELECT op.op_id, op.op_name, direction.string, op_type.string, data_type.string, input_format.string, "
    f"parameter_format.string, output_format.string FROM read_only_ops AS op {OP_JOINS} "
    "LEFT JOIN dictionary AS input_format ON input_format.id = op.data_format_id "
    "LEFT JOIN dictionary AS parameter_format ON parameter_format.id = op.parameters_format_id "
    "LEFT JOIN dictionary AS output_format ON output_format.id = op.output_format_id WHERE op.id = ?"
)

_MOST_ROWS = 65_536


def iteration_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per kernel launch, in the order of the database, without copies and sets."""
    values = scope_values(scope)
    yield Block(
        "Iteration Report",
        _ITERATION,
        _launches(connection, scope),
        lambda: count_of(
            connection,
            _COUNT_SQL,
            values,
        ),
        about="Every launch of a kernel, by iteration",
    )


def _launches(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[Value, ...]]:
    ops = _RowsById(connection, _OP_SQL, 8)
    texts = _RowsById(connection, "SELECT string FROM dictionary WHERE id = ?", 1)
    triples = _RowsById(connection, "SELECT x, y, z FROM read_only_grid_block WHERE id = ?", 3)
    shapes = _Shapes(texts)
    unknown = unknown_names(connection)
    kinds = [column.kind for column in _ITERATION]
    values = scope_values(scope)
    numbers = _NUMBERS_SQL.format(
        order="iteration, " if count_of(connection, _COUNT_SQL, values) > _MOST_BY_KERNEL else "",
    )
    usual: list[type | None] = [USUAL.get(kind) for kind in kinds]
    for (
        iteration, op, name, device, gpu_start, gpu_time, api_start, api_time, uses, grid, block, inputs, parameters,
        outputs, long_name,
    ) in raw(connection, numbers, values):  # fmt: skip
        if long_name in unknown and not uses:
            uses = Unknown(0)
        op_id, op_name, direction, op_type, data_type, *letters = ops[op]
        row = (
            iteration, op_id, op_name, direction, op_type, texts[name][0], device, gpu_start, gpu_time, api_start,
            api_time, uses, *triples[grid], *triples[block], data_type,
            shapes[inputs, letters[0]], shapes[parameters, letters[1]], shapes[outputs, letters[2]],
            texts[long_name][0],
        )  # fmt: skip
        cells: list[Any] = [
            value if type(value) is known else fit(value, kind)
            for value, known, kind in zip(row, usual, kinds, strict=True)
        ]
        yield tuple(cells)


class _RowsById(dict[object, tuple[object, ...]]):
    """Rows by id, read on first access; a missing row has only unknown values."""

    def __init__(self, connection: sqlite3.Connection, sql: str, columns: int) -> None:
        super().__init__()
        self._connection, self._sql, self._columns = connection, sql, columns

    def __missing__(self, key: object) -> tuple[object, ...]:
        if len(self) >= _MOST_ROWS:
            self.clear()
        row = self._connection.execute(self._sql, (key,)).fetchone()
        result = self[key] = tuple(row) if row is not None else (None,) * self._columns
        return result


class _Shapes(dict[tuple[object, object], str]):
    """Printed shapes, by the id of their text and the letters of the op."""

    def __init__(self, texts: _RowsById) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, key: tuple[object, object]) -> str:
        if len(self) >= _MOST_ROWS:
            self.clear()
        text, letters = (str(fit(value, Kind.TEXT)) for value in (self._texts[key[0]][0], key[1]))
        result = self[key] = printed_shapes(text, letters)
        return result


_MOST_SHAPES = 4_096
"""Size of the cache: a profile has many kernels but few distinct shapes."""


@lru_cache(maxsize=_MOST_SHAPES)
def printed_shapes(stored: str, letters: str) -> str:
    """The printed shapes of some tensors; empty if there are none.

    Args:
        stored: JSON list with one list of sizes per tensor, or ``null``.
        letters: Names of the dimensions, with ``;`` between tensors and ``,`` between dimensions. They are omitted for
            tensors with another number of dimensions.
    """
    try:
        value = json.loads(stored)
    except (ValueError, RecursionError):
        return stored.strip()
    if not isinstance(value, list):
        return ""
    of_tensors = [part.split(",") for part in letters.split(";")] if letters else []
    printed = []
    for position, sizes in enumerate(_tensors(value)):
        names = of_tensors[position] if position < len(of_tensors) else []
        if len(names) == len(sizes):
            parts = [f"{name}:{size}" for name, size in zip(names, sizes, strict=True)]
        else:
            parts = [str(size) for size in sizes]
        printed.append(f"<{', '.join(parts)}>")
    return "; ".join(printed)


def _tensors(value: list[object]) -> Iterator[list[object]]:
    """The sizes of each tensor; lists of tensors are flattened."""
    for item in value:
        if isinstance(item, list) and any(isinstance(part, list) for part in item):
            yield from _tensors(item)
        else:
            yield item if isinstance(item, list) else [item]
