"""Rows of kernels of which most cells are those of their launches, of which there are few.

A page shows a handful of launches again and again. What they tell is read once, and kept with the connection: of each
kernel, only its times are read then, which takes a third of the time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.rows import IDS_AT_ONCE, Row, read_rows
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.table_query import Value

_MOST_KEPT_LAUNCHES = 2_000
_MOST_KEPT_LETTERS = 1 << 20
"""So a connection keeps three megabytes at most, of each of two tables."""

_LAUNCH = ""
"""Key of the id of the launch among a kernel's own cells; no column has it."""


class _Kept(msgspec.Struct):
    """What a connection keeps of the launches of a table."""

    own_columns: Mapping[str, ColumnType]
    """Those that differ from kernel to kernel, and the id of the launch."""
    select_own: str
    launch_columns: Mapping[str, ColumnType]
    select_launches: str
    nothing: Row
    """A row of which no cell is known yet, in the order of the columns."""
    rows: dict[int, Row] = msgspec.field(default_factory=dict)
    """Id of a launch -> the cells of its kernels, but for their own."""
    texts: dict[str, str] = msgspec.field(default_factory=dict)
    """Most launches share theirs."""
    letters: int = 0

    @classmethod
    def of(cls, table: Table, of_row: str) -> _Kept:
        """Nothing yet."""
        launches = table.launches
        own = [column for column in table.columns if launches is None or not launches.are_told_by(column)]
        common = [column for column in table.columns if column not in own]
        return cls(
            own_columns={**{column.key: column.type for column in own}, _LAUNCH: "integer"},
            select_own=table.select(own, of_row),
            launch_columns={column.key: column.type for column in common},
            select_launches=table.select_launches(common),
            nothing=dict.fromkeys(column.key for column in table.columns),
        )

    def keep(self, launches: Mapping[int, Row]) -> None:
        """Keeps some more, and forgets the others where they are too many."""
        if len(self.rows) + len(launches) > _MOST_KEPT_LAUNCHES or self.letters > _MOST_KEPT_LETTERS:
            self.rows, self.texts, self.letters = {}, {}, 0
        for launch, row in launches.items():
            for key, cell in row.items():
                if isinstance(cell, str):
                    if cell not in self.texts:
                        self.texts[cell] = cell
                        self.letters += len(cell)
                    row[key] = self.texts[cell]
            self.rows[launch] = row


def read_kernel_rows(
    connection: sqlite3.Connection, table: Table, values: Mapping[str, Value], ids: Sequence[int]
) -> dict[int, Row] | None:
    """The rows of those ids that there are; nothing where rows of the table have no launches, or one is not there."""
    if table.launches is None:
        return None
    name = f"launches of {table.name}"
    by_table: dict[str, _Kept] = getattr(connection, "kept", {})
    kept = by_table.get(name)
    if kept is None:
        kept = by_table[name] = _Kept.of(table, table.launches.of_row)
    rows = read_rows(connection, kept.select_own, kept.own_columns, values, ids)
    launches = {row_id: row.pop(_LAUNCH) for row_id, row in rows.items()}
    known = kept.rows
    missing = sorted({launch for launch in launches.values() if isinstance(launch, int)}.difference(known))
    if missing:
        read = read_rows(connection, kept.select_launches, kept.launch_columns, values, _repeated(missing))
        known = {**known, **{launch: {**kept.nothing, **row} for launch, row in read.items()}}
        kept.keep({launch: known[launch] for launch in read})
    found: dict[int, Row] = {}
    for row_id, own in rows.items():
        launch = launches[row_id]
        of_launch = known.get(launch) if isinstance(launch, int) else None
        if of_launch is None:
            return None
        row = found[row_id] = of_launch.copy()
        row.update(own)
    return found


def _repeated(ids: Sequence[int]) -> list[int]:
    """The ids, the last of them as often as makes their number one of few: each number has a statement of its own."""
    part = len(ids) % IDS_AT_ONCE
    wanted = min(1 << (part - 1).bit_length(), IDS_AT_ONCE) if part else 0
    return [*ids, *[ids[-1]] * (wanted - part)]
