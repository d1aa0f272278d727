"""Writes and reads the tables of ``sql/ranks.sql``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import PART, pack, unpack_from
from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.events.tables import Int64s, ProcessGroup
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows, Parts, RankTables

_COLUMNS = CommunicationRows.__struct_fields__
_GROWING = {"start_ns", *(name for name in _COLUMNS if name.endswith("_before"))}
"""Columns that are stored as differences from row to row."""

_PARTS = Parts.__struct_fields__

_MOST_RANKS = 1_000_000
"""A limit for hostile files."""


def write_ranks(con: sqlite3.Connection, ranks: Sequence[RankTables]) -> None:
    """Store what is needed to compare ranks."""
    for index, rank in enumerate(ranks):
        facts = {
            "process_index": index,
            "process_id": rank.process_id,
            "rank": _known(rank.rank),
            "world_size": _known(rank.world_size),
            "host_name": storable(rank.host_name),
            "device_id": _known(rank.device),
            "gpu_name": storable(rank.gpu_name),
            "kernels": rank.kernels,
            "graphs": rank.graphs,
            "fused": rank.fused,
        }
        insert_row(con, "ranks", facts)
        whole = [(index, None, *row) for row in _rows(rank.whole)]
        numbered = zip(rank.iterations.tolist(), _rows(rank.parts), strict=True)
        parts = [*whole, *((index, iteration, *row) for iteration, row in numbered)]
        insert_rows(con, "rank_parts", ("process_index", "iteration", *_PARTS), parts)
        groups = [
            (
                *(index, number, storable(group.name), storable(group.description)),
                *(ranks_text(group.ranks), _known(group.size), storable(group.text)),
            )
            for number, group in enumerate(rank.groups)
        ]
        columns = ("process_index", "group_index", "name", "description", "ranks", "size", "ranks_text")
        insert_rows(con, "rank_groups", columns, groups)
        columns_by_name = {name: getattr(rank.communication, name) for name in _COLUMNS}
        table = [_steps(column) if name in _GROWING else column for name, column in columns_by_name.items()]
        _write_packed(con, "collectives", "kernels", index, table)
        overlaps = [_steps(rank.overlap_start_ns), rank.overlap_stop_ns - rank.overlap_start_ns]
        _write_packed(con, "rank_overlaps", "intervals", index, overlaps)


def _known(number: int) -> int | None:
    return number if number >= 0 else None


def _rows(parts: Parts) -> Iterator[tuple[int, ...]]:
    return zip(*(getattr(parts, name).tolist() for name in _PARTS), strict=True)


def _steps(column: Int64s) -> Int64s:
    return np.diff(column, prepend=np.int64(0))


def _write_packed(con: sqlite3.Connection, table: str, counted: str, index: int, columns: Sequence[Int64s]) -> None:
    rows = []
    for part, begin in enumerate(range(0, len(columns[0]), PART)):
        some = [column[begin : begin + PART] for column in columns]
        rows.append((index, part, len(some[0]), pack(some)))
    insert_rows(con, table, ("process_index", "part", counted, "packed"), rows)


def read_ranks(con: Any) -> list[RankTables]:
    """What a database holds of its ranks; nothing if it was made by others or by an older version.

    Raises:
        ValueError: the packed columns are damaged.
    """
    result = []
    facts = con.execute(
        "SELECT process_index, process_id, rank, world_size, host_name, device_id, gpu_name, kernels, graphs, "
        "fused FROM ranks ORDER BY process_index"
    ).fetchall()
    for index, process, rank, size, host, device, gpu, kernels, graphs, fused in facts:
        parts = con.execute(
            f"SELECT iteration, {', '.join(_PARTS)} FROM rank_parts WHERE process_index = ? "
            "ORDER BY iteration IS NULL, iteration",
            (index,),
        ).fetchall()
        whole = [row[1:] for row in parts if row[0] is None]
        iterations = [row for row in parts if row[0] is not None]
        columns = _read_packed(con, "collectives", index, len(_COLUMNS))
        communication = {
            name: np.cumsum(column) if name in _GROWING else column
            for name, column in zip(_COLUMNS, columns, strict=True)
        }
        start, span = _read_packed(con, "rank_overlaps", index, 2)
        start = np.cumsum(start)
        groups = con.execute(
            "SELECT name, description, ranks, size, ranks_text FROM rank_groups WHERE process_index = ? "
            "ORDER BY group_index",
            (index,),
        ).fetchall()
        result.append(
            RankTables(
                process_id=process,
                rank=-1 if rank is None else rank,
                world_size=-1 if size is None else size,
                host_name=host,
                device=-1 if device is None else device,
                gpu_name=gpu,
                kernels=kernels,
                graphs=graphs,
                fused=fused,
                whole=_parts_of(whole),
                iterations=np.array([row[0] for row in iterations], np.int64),
                parts=_parts_of([row[1:] for row in iterations]),
                groups=[
                    ProcessGroup(name, text, ranks_of(members), -1 if count is None else count, cut)
                    for name, text, members, count, cut in groups
                ],
                communication=CommunicationRows(**communication),
                overlap_start_ns=start,
                overlap_stop_ns=start + span,
            )
        )
    return result


def read_collective(con: Any, start_ns: int, stop_ns: int) -> dict[str, Any]:
    """What is known of the communication kernel of these times: its kind, bytes as the job counts them, and group.

    Nothing where there is none, or more than one.

    Raises:
        ValueError: the packed columns are damaged.
    """
    found = []
    for (index,) in con.execute("SELECT process_index FROM ranks ORDER BY process_index").fetchall():
        columns = dict(zip(_COLUMNS, _read_packed(con, "collectives", index, len(_COLUMNS)), strict=True))
        rows = np.flatnonzero((np.cumsum(columns["start_ns"]) == start_ns) & (columns["end_ns"] == stop_ns))
        found += [(index, {name: int(column[row]) for name, column in columns.items()}) for row in rows.tolist()]
    if len(found) != 1:
        return {}
    ((index, row),) = found
    kind = Collective(row["kind"])
    elements = row["out_elements"] if kind == Collective.ALL_GATHER else row["in_elements"]
    facts: dict[str, Any] = {} if kind == Collective.OTHER else {"collective": kind.name.lower()}
    if elements >= 0 and row["element_bytes"] > 0:
        facts["bytes"] = elements * row["element_bytes"]
    group = con.execute(
        "SELECT description, size FROM rank_groups WHERE process_index = ? AND group_index = ?",
        (index, row["group"]),
    ).fetchone()
    names = ("group", "group size")
    return facts | {name: value for name, value in zip(names, group or (), strict=False) if value not in (None, "")}


def _parts_of(rows: Sequence[Sequence[int]]) -> Parts:
    table = np.array(rows, np.int64).reshape(-1, len(_PARTS))
    return Parts(*(table[:, place] for place in range(len(_PARTS))))


def _read_packed(con: Any, table: str, index: int, columns: int) -> list[Int64s]:
    rows = con.execute(f"SELECT packed FROM {table} WHERE process_index = ? ORDER BY part", (index,))
    parts = [unpack_from(con, packed, columns) for (packed,) in rows]
    if not parts:
        return [np.zeros(0, np.int64) for _ in range(columns)]
    return [np.concatenate([part[place] for part in parts]) for place in range(columns)]


def ranks_text(ranks: Sequence[int]) -> str:
    """Ranks as ``0-7``, ``0-24/8`` (every eighth) or ``0,5``. Large jobs have groups of thousands."""
    if len(ranks) > 2:
        step = ranks[1] - ranks[0]
        if step > 0 and list(ranks) == list(range(ranks[0], ranks[-1] + 1, step)):
            return f"{ranks[0]}-{ranks[-1]}" + (f"/{step}" if step > 1 else "")
    return ",".join(map(str, ranks))


def ranks_of(text: str) -> tuple[int, ...]:
    """The ranks in a text of ``ranks_text``; none if it is something else."""
    try:
        if "-" in text:
            first, _, rest = text.partition("-")
            last, _, step = rest.partition("/")
            ranks = range(int(first), int(last) + 1, int(step or 1))
            return tuple(ranks) if len(ranks) <= _MOST_RANKS else ()
        return tuple(int(rank) for rank in text.split(",")) if text else ()
    except ValueError:
        return ()
