"""Blocks of neighbouring iterations, which are added up to the bars of a chart and kept for the next chart.

For very many iterations, the import has stored the blocks; for fewer, each iteration is a block.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.queries.iteration_sums import SINGLE, Bar, last_aggregated, parts_of_bar
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCES

Numbers = npt.NDArray[np.int64]


class NotWholeNumbers(Exception):
    """A column of a damaged database contains something other than an integer in some rows."""


_KEPT = 4
"""Aggregations whose blocks are kept, each with a megabyte or two."""

_PARTS = tuple(f"{resource}_ns" for resource in RESOURCES)

_SUMMED = {
    **dict.fromkeys(("first_value", "start_ns", "shortest_ns"), np.minimum),
    **dict.fromkeys(("last_value", "longest_ns"), np.maximum),
    **dict.fromkeys(("iterations", "duration_ns", *_PARTS), np.add),
}

_COLUMNS = (*_SUMMED, "is_aggregated")

MOST_SINGLE = 1 << 13
"""The import stores blocks for more iterations than this (``database.iteration_blocks``)."""

_LARGEST_SUM = 2**62
"""Only sums from damaged databases are larger."""


class Blocks(msgspec.Struct, frozen=True):
    """Sums over blocks of iterations, in order."""

    columns: Mapping[str, Numbers]
    """The columns of ``ext_iteration_blocks``. Parts are 0 for iterations that are not aggregated."""
    width: int
    """Iteration numbers per block."""

    def between(self, first: int, behind: int) -> Mapping[str, Numbers]:
        """The columns of the blocks from ``first`` to before ``behind``, numbered by ``iter_value // width``."""
        begin, end = np.searchsorted(self.columns["block"], (first, behind))
        return {name: values[begin:end] for name, values in self.columns.items()}


def iteration_blocks(connection: sqlite3.Connection, scope: Scope) -> Blocks | None:
    """The blocks of an aggregation; None if it has none, or if they contain unknown or damaged values."""
    shared: dict[str, dict[int, list[Blocks | None]]] = getattr(connection, "shared", {})
    kept = shared.setdefault("blocks", {})
    known = kept.get(scope.aggregation)
    if known is None:
        known = [_stored(connection, scope) or _all_single(connection, scope)]
        if len(kept) >= _KEPT:
            kept.clear()
        kept[scope.aggregation] = known
    return known[0]


def _all_single(connection: sqlite3.Connection, scope: Scope) -> Blocks | None:
    count, low, high = connection.execute(
        "SELECT count(*), min(iter_value), max(iter_value) FROM iteration_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    if not 0 < count <= MOST_SINGLE:
        return None
    try:
        columns = _single(connection, scope, low, high)
    except NotWholeNumbers:
        return None
    return Blocks({**columns, "block": columns["first_value"]}, 1)


def _stored(connection: sqlite3.Connection, scope: Scope) -> Blocks | None:
    names = (*_COLUMNS, "block", "width", "position")
    told = {"unknown_kernel_ns": "unknown_part_ns", "other_kernel_ns": "other_kernel_ns - unknown_part_ns"}
    stored = [told.get(name, name) for name in names]
    rows = "FROM ext_iteration_blocks WHERE aggr_id = :aggregation ORDER BY position"
    try:
        found = _read_columns(connection, stored, rows, {"aggregation": scope.aggregation})
    except NotWholeNumbers:
        return None
    columns = dict(zip(names, found, strict=True))
    width, position = columns.pop("width"), columns.pop("position")
    is_sound = (
        len(width) > 0
        and width[0] > 0
        and bool((width == width[0]).all())
        and bool((position == np.arange(len(position))).all())
        and bool((np.diff(columns["block"]) >= 0).all())
    )
    return Blocks(columns, int(width[0])) if is_sound else None


def bars_by_position(connection: sqlite3.Connection, scope: Scope, blocks: Blocks, size: int) -> list[Bar]:
    """Bars over all blocks, ``size`` blocks in each.

    Raises:
        NotWholeNumbers: the blocks are damaged.
    """
    count = len(blocks.columns["block"])
    return _added(connection, scope, blocks.columns, np.arange(count) // size)


def bars_by_number(
    connection: sqlite3.Connection, scope: Scope, blocks: Blocks, low: int, high: int, size: int
) -> list[Bar]:
    """Bars over the iterations numbered ``low`` to ``high``, each spanning ``size`` numbers.

    ``size`` must be a multiple of the width. Whole blocks are added up, and single iterations where the range begins or
    ends inside a block.

    Raises:
        NotWholeNumbers: the blocks or iterations are damaged.
    """
    width = blocks.width
    first, behind = -(-low // width), (high + 1) // width
    edges = (low, min(high, first * width - 1)), (max(low, first * width, behind * width), high)
    pieces = [blocks.between(first, behind)]
    pieces += [_single(connection, scope, begin, end) for begin, end in edges if begin <= end]
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in _COLUMNS}
    return _added(connection, scope, columns, (columns["first_value"] - (low - low % width)) // size)


def _single(connection: sqlite3.Connection, scope: Scope, low: int, high: int) -> Mapping[str, Numbers]:
    """The iterations numbered ``low`` to ``high``, each as a block of one."""
    values = [f"CASE WHEN is_aggregated THEN {name} ELSE 0 END" if name in _PARTS else name for name in _COLUMNS]
    rows = f"FROM ({SINGLE} AND iteration.iter_value BETWEEN :low AND :high) ORDER BY first_value"
    asked = {"aggregation": scope.aggregation, "low": low, "high": high}
    return dict(zip(_COLUMNS, _read_columns(connection, values, rows, asked), strict=True))


def _read_columns(
    connection: sqlite3.Connection, expressions: Sequence[str], rows: str, values: Mapping[str, int]
) -> list[Numbers]:
    """The values of each expression; ``rows`` is the statement after its columns."""
    found = connection.execute(f"SELECT {', '.join(expressions)} {rows}", values).fetchall()
    if any(type(value) is not int for row in found for value in row):
        raise NotWholeNumbers
    return list(np.array(found, np.int64).reshape(-1, len(expressions)).T)


def _added(connection: sqlite3.Connection, scope: Scope, columns: Mapping[str, Numbers], bar: Numbers) -> list[Bar]:
    """The sums of each bar, in order; ``bar`` is the number of the bar that each block belongs to."""
    if not len(bar):
        return []
    if any(max(-int(column.min()), int(column.max())) > _LARGEST_SUM // len(bar) for column in columns.values()):
        raise NotWholeNumbers
    first, is_aggregated = columns["first_value"], columns["is_aggregated"] != 0
    # Iterations after the aggregated ones are kept apart from those before them.
    key = bar * 4 + is_aggregated * 2 + (first > last_aggregated(connection, scope))
    order = np.argsort(key, kind="stable")
    heads = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
    sums = {name: how.reduceat(columns[name][order], heads) for name, how in _SUMMED.items()}
    in_order = np.argsort(sums["first_value"], kind="stable")
    shown = {name: values[in_order].tolist() for name, values in sums.items()}
    parts = zip(*(shown[name] for name in _PARTS), strict=True)
    profiled = is_aggregated[order][heads][in_order].tolist()
    return [
        Bar(
            iteration=shown["first_value"][row],
            stop_iteration=shown["last_value"][row],
            count=shown["iterations"][row],
            start_ns=shown["start_ns"][row],
            duration_ns=shown["duration_ns"][row],
            shortest_ns=shown["shortest_ns"][row],
            longest_ns=shown["longest_ns"][row],
            profiled=profiled[row],
            parts=parts_of_bar(times) if profiled[row] else None,
        )
        for row, times in enumerate(parts)
    ]
