"""The tables of a comparison: what their columns mean, and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.comparing.as_json import group_json, interval, is_changed, replacement_json, row_json
from tensorboard_plugin_dlprof.comparing.attribution import Row
from tensorboard_plugin_dlprof.comparing.comparability import NO_OP, are_kernels_compared, is_in_no_op, nets_kernels
from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.groups import Group, groups_of
from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.table import Column, Table

Value = str | int | float | None

_Described = tuple[str, str, ColumnType, str]

_OF_OPS_AND_PARTS = (
    "by unit of comparison: kernel time of ops, without their copies; wall time of the other parts. The last row, "
    "overlap and boundaries, is the time while kernels run less the times of kernels."
)
_A: _Described = ("a_ns", "A", "duration_ns", f"Time of the baseline, {_OF_OPS_AND_PARTS}")
_B: _Described = ("b_ns", "B", "duration_ns", f"Time of the candidate, {_OF_OPS_AND_PARTS}")
_KERNELS_OF_A: _Described = (
    "a_ns",
    "Kernel Time A",
    "duration_ns",
    "Kernel time of the baseline, without copies, by unit of comparison.",
)
_KERNELS_OF_B: _Described = (
    "b_ns",
    "Kernel Time B",
    "duration_ns",
    "Kernel time of the candidate, without copies, by unit of comparison.",
)
_CHANGE: _Described = (
    "change_ns",
    "Change",
    "duration_ns",
    "B less A: above 0 is more time. All rows add up to the whole change.",
)
_PERCENT: _Described = ("change_fraction", "Change %", "fraction", "Change as a share of A; unknown where A is 0.")
_ROWS: _Described = ("rows", "Rows", "integer", "How many rows of single ops are summed here.")


def _column(described: _Described, searchable: bool = False, hidden: bool = False, tier: int = 0) -> Column:
    key, label, kind, description = described
    return Column(
        key, label, kind, description, f"change.{key}", nullable=True, searchable=searchable, hidden=hidden, tier=tier
    )


def _table(name: str, key: str, *columns: Column) -> Table:
    return Table(
        name=name,
        key=key,
        base=f"{name} AS change",
        row_id="change.rowid",
        where="1",
        default_sort="-size_ns",
        columns=(
            *columns,
            _column(
                (
                    "size_ns",
                    "Size of Change",
                    "duration_ns",
                    "The change without its sign; empty for overlap and boundaries, which no op causes.",
                ),
                hidden=True,
            ),
        ),
    )


_TOLD: _Described = (
    "told",
    "Certain",
    "text",
    "Whether the change is more than noise: yes, no, or not tested.",
)

_OF_CALLS = (
    _column(
        ("a_calls", "Calls A", "number", "Calls of A, by unit of comparison: the mean of the GPUs in use."), tier=2
    ),
    _column(
        ("b_calls", "Calls B", "number", "Calls of B, by unit of comparison: the mean of the GPUs in use."), tier=2
    ),
    _column(("work_ns", "From Calls", "duration_ns", "Part of the change from more or fewer calls."), tier=2),
    _column(
        (
            "speed_ns",
            "From Time per Call",
            "duration_ns",
            "Part of the change from longer or shorter calls; their inputs may differ.",
        ),
        tier=2,
    ),
)

_OF_KERNELS = (
    _column(("a_kernel", "Kernel A", "kernel_name", "The kernel of A with the most time."), True, tier=2),
    _column(
        (
            "b_kernel",
            "Kernel B",
            "kernel_name",
            "The kernel of B with the most time; of several with much, the one whose name is most like A's.",
        ),
        True,
        tier=2,
    ),
    _column(("a_tensor_core_fraction", "TC A", "fraction", "Share of A's kernel time on Tensor Cores."), tier=2),
    _column(("b_tensor_core_fraction", "TC B", "fraction", "Share of B's kernel time on Tensor Cores."), tier=2),
    _column(("a_precision", "Precision A", "text", "Of the kernel of A with the most time."), tier=3),
    _column(("b_precision", "Precision B", "text", "Of the kernel of B with the most time."), tier=3),
    _column(("low_ratio", "Low", "number", "Lower 95 % bound of the ratio of B to A."), hidden=True),
    _column(("high_ratio", "High", "number", "Upper 95 % bound of the ratio of B to A."), hidden=True),
)

COMPARE = _table(
    "compare",
    "row",
    _column(
        (
            "name",
            "What",
            "path",
            "Path of the op, or a part of the time without kernels. Ops without kernels on both sides are not listed.",
        ),
        searchable=True,
    ),
    _column(("direction", "Direction", "text", "The pass of the network: forward, backward or empty.")),
    _column(_CHANGE),
    _column(_PERCENT),
    _column(_A),
    _column(_B),
    _column(_TOLD),
    _column(("matched_by", "Matched by", "text", "What the ops of A and B have in common."), tier=2),
    *_OF_CALLS,
    *_OF_KERNELS,
    _column(("op_type", "Op Type", "text", "What the op does."), True, hidden=True),
    _column(
        ("kind", "Kind", "text", "op, ops (several), gone, new, kernel, kernels, graphs, overlap or part."), hidden=True
    ),
    _column(("position", "Position", "integer", "Number in the order of the program."), hidden=True),
    _column(("row", "Row", "integer", "Number of the row."), hidden=True),
    _column(("of_group", "Group", "text", "The row of compare_groups that it belongs to."), hidden=True),
)

GROUPS = _table(
    "compare_groups",
    "key",
    _column(
        (
            "name",
            "What",
            "path",
            "Path of the ops, with * for numbers that only count repetitions, and without indices; "
            "or a part of the time without kernels. Ops without kernels on both sides are not listed.",
        ),
        searchable=True,
    ),
    _column(("direction", "Direction", "text", "The pass of the network: forward or backward.")),
    _column(_CHANGE),
    _column(
        (
            "of_change_fraction",
            "Of Change",
            "fraction",
            "Change over the whole change; below 0 for what goes the other way. "
            "Empty where changes largely cancel out.",
        ),
        tier=1,
    ),
    _column(_PERCENT),
    _column(_A),
    _column(_B),
    _column(
        (
            "a_ops",
            "Ops A",
            "integer",
            "How many ops of A with kernels the row stands for; empty for a part of the time, where kernels are "
            "compared, and where calls show that A and B tell ops apart in other ways.",
        )
    ),
    _column(
        (
            "b_ops",
            "Ops B",
            "integer",
            "How many ops of B with kernels the row stands for; empty for a part of the time, where kernels are "
            "compared, and where calls show that A and B tell ops apart in other ways.",
        )
    ),
    _column(_TOLD, tier=1),
    *_OF_CALLS,
    *_OF_KERNELS,
    _column(("op_type", "Op Type", "text", "What the ops do."), True, hidden=True),
    _column(("kind", "Kind", "text", "ops, graphs, overlap or part."), hidden=True),
    _column(("key", "Row", "text", "Identifies the row."), hidden=True),
)

KERNELS = _table(
    "compare_kernels",
    "row",
    _column(("a", "Kernels of A", "kernel_name", "The one with the most time first."), searchable=True),
    _column(("b", "Kernels of B", "kernel_name", "Those in their place, the one with the most time first."), True),
    _column(_CHANGE),
    _column(_PERCENT),
    _column(_KERNELS_OF_A),
    _column(_KERNELS_OF_B),
    _column(_ROWS, hidden=True),
    _column(("a_launches", "Launches A", "number", "Launches of A, by unit of comparison."), hidden=True),
    _column(("b_launches", "Launches B", "number", "Launches of B, by unit of comparison."), hidden=True),
    _column(
        ("a_tensor_core_fraction", "TC A", "fraction", "Share of the time of A's kernels on Tensor Cores."), tier=1
    ),
    _column(
        ("b_tensor_core_fraction", "TC B", "fraction", "Share of the time of B's kernels on Tensor Cores."), tier=1
    ),
    _column(("a_precision", "Precision A", "text", "Of the kernel of A with the most time."), tier=2),
    _column(("b_precision", "Precision B", "text", "Of the kernel of B with the most time."), tier=2),
    _column(("row", "Row", "integer", "Number of the row."), hidden=True),
)

MODULES = _table(
    "compare_modules",
    "path",
    _column(("path", "Module", "path", "A module or range; its ops and those of all below it are summed."), True),
    _column(_CHANGE),
    _column(_PERCENT),
    _column(_KERNELS_OF_A),
    _column(_KERNELS_OF_B),
    _column(_ROWS),
    _column(("level", "Level", "integer", "Depth in the tree; 1 is the top."), tier=1),
)

TYPES = _table(
    "compare_types",
    "op_type",
    _column(("op_type", "Op Type", "text", "What the ops do."), True),
    _column(_CHANGE),
    _column(_PERCENT),
    _column(_KERNELS_OF_A),
    _column(_KERNELS_OF_B),
    _column(_ROWS),
)

ONE_SIDE = msgspec.structs.replace(
    GROUPS,
    name="compare_new",
    base="compare_new AS change",
    columns=tuple(
        _column({"a_ns": _KERNELS_OF_A, "b_ns": _KERNELS_OF_B}[column.key])
        if column.key in ("a_ns", "b_ns")
        else column
        for column in GROUPS.columns
        if column.key != "of_change_fraction"
    ),
)
"""Groups of the ops that launch kernels on one side only."""

OF_GROUP = msgspec.structs.replace(COMPARE, name="compare_of_group", where="change.of_group = :row", links=("row",))
"""The rows that a row of ``GROUPS`` sums, given by its key as the link ``row``."""

TABLES: Mapping[str, Table] = {
    table.name: table for table in (GROUPS, OF_GROUP, COMPARE, ONE_SIDE, KERNELS, MODULES, TYPES)
}
"""The tables of a comparison by name."""

_MOST_LEVELS = 64


def rows_of_tables(comparison: Comparison) -> dict[str, tuple[list[str], Iterator[Sequence[Value]]]]:
    """The columns and rows of each of ``TABLES``."""
    keys = {row.position: group.key for group in comparison.groups for row in group.rows}
    return {
        name: ([column.key for column in TABLES[name].columns], _values(TABLES[name], rows))
        for name, rows in (
            ("compare_groups", (_group(comparison, group) for group in comparison.groups)),
            ("compare", (_row(comparison, row, number, keys) for number, row in enumerate(comparison.rows))),
            ("compare_new", (_group(comparison, group) for group in _of_one_side(comparison))),
            ("compare_kernels", (_kernels(comparison, number) for number in range(len(comparison.replacements)))),
            ("compare_modules", modules(comparison.rows)),
            ("compare_types", types(comparison.rows, nets_kernels(comparison.a, comparison.b))),
        )
    }


def _of_one_side(comparison: Comparison) -> list[Group]:
    rows = (row for row in comparison.rows if row.kind in ("gone", "new"))
    sides = comparison.a, comparison.b
    return groups_of(rows, are_kernels_compared(*sides), nets_kernels(*sides))


def _values(table: Table, rows: Iterable[dict[str, Any]]) -> Iterator[Sequence[Value]]:
    keys = [column.key for column in table.columns]
    for row in rows:
        row["change_ns"] = row["b_ns"] - row["a_ns"]
        # What adds up to no more than the rest of the time is behind all that is a cause.
        row["size_ns"] = None if row.get("kind") == "overlap" else abs(row["change_ns"])
        row["change_fraction"] = row["change_ns"] / row["a_ns"] if row["a_ns"] > 0 else None
        yield [row[key] for key in keys]


def _row(comparison: Comparison, row: Row, number: int, groups: Mapping[int, str]) -> dict[str, Any]:
    return {**row_json(row), "row": number, "of_group": groups[row.position], **_noise(comparison, row)}


def _group(comparison: Comparison, group: Group) -> dict[str, Any]:
    return {**group_json(group), "key": group.key, **_noise(comparison, group)}


def _noise(comparison: Comparison, row: Row | Group) -> dict[str, Any]:
    """Whether a change is more than noise, and its bounds."""
    told = "not tested" if row.estimate is None else "yes" if is_changed(comparison, row) else "no"
    low, high = interval(row.estimate) or (None, None)
    return {"told": told, "low_ratio": low, "high_ratio": high}


def _kernels(comparison: Comparison, number: int) -> dict[str, Any]:
    one = replacement_json(comparison, comparison.replacements[number])
    return {
        **one,
        "row": number,
        "a": " + ".join(one["a"]),
        "b": " + ".join(one["b"]),
        "a_ns": one["a_time_ns"],
        "b_ns": one["b_time_ns"],
    }


def modules(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The sums of the rows of ops below each module or range, by path."""
    result: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not row.a and not row.b:
            continue
        words = (row.b or row.a)[0].path.split("/", _MOST_LEVELS)
        for level in range(1, len(words) - 1):
            path = "/".join(words[: level + 1])
            _add(result.setdefault(path, {"path": path, "level": level, **_NOTHING}), row)
    return list(result.values())


def times_of_ops(rows: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """The times in A and B of the ops of B that alone are a row: a row of several says nothing about one of them."""
    return {row.b[0].op_id: (row.a_ns, row.b_ns) for row in rows if len(row.b) == 1 and len(row.a) <= 1}


def types(rows: Iterable[Row], nets: bool = False) -> list[dict[str, Any]]:
    """The sums of the rows of ops by op type; if it ``nets`` them, all kernels in no op are one."""
    result: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.a or row.b:
            op_type = NO_OP.capitalize() if nets and is_in_no_op(row) else (row.b or row.a)[0].op_type
            _add(result.setdefault(op_type, {"op_type": op_type, **_NOTHING}), row)
    return list(result.values())


_NOTHING = {"a_ns": 0, "b_ns": 0, "rows": 0}


def _add(sums: dict[str, Any], row: Row) -> None:
    sums["a_ns"] += row.a_ns
    sums["b_ns"] += row.b_ns
    sums["rows"] += 1
