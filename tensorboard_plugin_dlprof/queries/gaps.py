"""The gaps of a window: when a GPU was idle, why, and which op's work ended it; one by one, and grouped.

A gap is a maximal interval in which a GPU is idle, cut to the window. It consists of one or more pieces with a cause
each. The grouped table counts a gap once in each group that it has pieces of, by the time of those pieces, so that its
times add up to the idle time. Ops that do the same in the repetitions of a model are one there.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.group import are_among, begins_new, distinct_values
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES, REASON_NAMES, Part
from tensorboard_plugin_dlprof.diagnosis.spans import Spans
from tensorboard_plugin_dlprof.queries.activity import Int64s, Pieces, causes_named, some_pieces_in
from tensorboard_plugin_dlprof.queries.host_calls import calls_during
from tensorboard_plugin_dlprof.queries.item_facts import Facts
from tensorboard_plugin_dlprof.queries.scope import iteration_windows
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.tracks import Items, TrackRow, all_tracks, items_by_part, items_in, joined
from tensorboard_plugin_dlprof.timeline.tables import DEVICE, STREAM

MOST_PIECES = 400_000
"""Changes between work and waiting in a window whose gaps are listed."""

_GAPS = (
    *("id INTEGER PRIMARY KEY", "device", "start_ns", "duration_ns", "cause", "reason", "host", "cause_ns", "op"),
    *("op_id", "iteration", "pieces", "at"),
)
_GROUPS = (
    *("id INTEGER PRIMARY KEY", "cause", "reason", "op", "op_id", "host", "gaps", "total_ns", "window_fraction"),
    *("longest_ns", "longest_start_ns", "device", "at"),
)


class Gap(msgspec.Struct):
    """Gaps of one GPU, cut to a window, and what their pieces are."""

    start: Int64s
    stop: Int64s
    of_piece: Int64s
    """The gap of each idle piece."""
    pieces: Pieces
    """Idle pieces only."""


def gaps_in(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int) -> Gap:
    """The gaps of a GPU in a window.

    Raises:
        BadRequest: there are too many.
    """
    result = some_pieces_in(con, device, start_ns, stop_ns, MOST_PIECES)
    idle = np.flatnonzero(result.is_idle())
    idle_pieces = Pieces(result.start[idle], result.stop[idle], result.cause[idle], result.part[idle])
    begins = np.ones(len(idle), np.bool_)
    begins[1:] = idle_pieces.start[1:] != idle_pieces.stop[:-1]
    ends = np.append(begins[1:], True)[: len(idle)]
    return Gap(idle_pieces.start[begins], idle_pieces.stop[ends], np.cumsum(begins) - 1, idle_pieces)


def works_after(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int) -> Items:
    """The work of a GPU in a window, by start."""
    items = joined([items_in(con, track, start_ns, stop_ns) for track in _streams(con, device)])
    return some_rows(items, np.argsort(items.start, kind="stable"))


def _streams(con: sqlite3.Connection, device: int) -> list[TrackRow]:
    return [track for track in all_tracks(con) if track.kind == STREAM and track.device == device]


def computed(
    con: sqlite3.Connection, start_ns: int, stop_ns: int, only: int | None = None
) -> dict[str, tuple[Sequence[str], list[tuple[Any, ...]]]]:
    """The columns and rows of each table for a window, of all GPUs or one, as ``database.memory`` takes them.

    Raises:
        BadRequest: there are too many gaps.
    """
    devices = [track.device for track in all_tracks(con) if track.kind == DEVICE and only in (None, track.device)]
    windows = iteration_windows(con)
    begins = np.array([window[1] for window in windows], np.int64)
    single: list[tuple[Any, ...]] = []
    groups: dict[tuple[int, str, str], _Group] = {}
    for device in devices:
        result = gaps_in(con, device, start_ns, stop_ns)
        ops = _ending_ops(con, device, result, stop_ns)
        words = causes_named(con, distinct_values(result.pieces.cause).tolist())
        length = result.pieces.stop - result.pieces.start
        main, main_ns = largest_parts(result.of_piece, result.pieces)
        hosts = _hosts(con, result.pieces, words)
        iteration = np.searchsorted(begins, result.start, side="right") - 1
        count = np.bincount(result.of_piece, minlength=len(result.start)).tolist()
        starts, stops = result.start.tolist(), result.stop.tolist()
        of_iteration, of_cause = iteration.tolist(), main_ns.tolist()
        for gap, (start, stop, piece) in enumerate(zip(starts, stops, main.tolist(), strict=True)):
            told, (op, op_id) = _words(words.get(int(result.pieces.cause[piece]), {})), ops[gap]
            inside = of_iteration[gap] >= 0 and start < windows[of_iteration[gap]][2]
            number = windows[of_iteration[gap]][0] if inside else None
            host = _in_words(*hosts[piece])
            single.append((device, start, stop - start, *told, host, of_cause[gap], op, op_id, number, count[gap]))
        pieces = zip(
            result.of_piece.tolist(),
            result.pieces.start.tolist(),
            length.tolist(),
            result.pieces.cause.tolist(),
            hosts,
            strict=True,
        )
        for gap, start, duration, cause, (call, path) in pieces:
            label, reason = _words(words.get(cause, {}))
            op, op_id = ops[gap]
            group = groups.setdefault((device, label, path_pattern(op)), _Group())
            group.op_ids.add(op_id)
            group.hosts[_in_words(call, path_pattern(path) if path.startswith("/") else path)] += duration
            group.reasons[reason] += duration
            group.add(gap, start, duration)
    wall = max(stop_ns - start_ns, 1)
    by_group = [(number, *group.row(*key, wall_ns=wall)) for number, (key, group) in enumerate(groups.items(), 1)]
    gaps = [(number, *row, f"{row[0]}:{row[1]}") for number, row in enumerate(single, 1)]
    return {"gaps": (_GAPS, gaps), "gap_groups": (_GROUPS, by_group)}


class _Group:
    """What is idle on one GPU for one cause before ops of one path: a gap is as long as its pieces of this cause."""

    def __init__(self) -> None:
        self.op_ids: set[str] = set()
        self.hosts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.ns: dict[int, int] = defaultdict(int)
        """Of each gap."""
        self.start: dict[int, int] = {}
        """Of each gap."""

    def add(self, gap: int, start_ns: int, duration_ns: int) -> None:
        """Adds a piece of a gap; those of a gap by start."""
        self.ns[gap] += duration_ns
        self.start.setdefault(gap, start_ns)

    def row(self, device: int, cause: str, op: str, wall_ns: int) -> tuple[Any, ...]:
        """The columns of ``_GROUPS`` after the id."""
        total = sum(self.ns.values())
        longest = max(self.ns, key=self.ns.__getitem__)
        start = self.start[longest]
        (reason, _), (host, _) = self.reasons.most_common(1)[0], self.hosts.most_common(1)[0]
        op_id = next(iter(self.op_ids)) if len(self.op_ids) == 1 else ""
        return (
            *(cause, reason, op, op_id, host, len(self.ns), total, total / wall_ns),
            *(self.ns[longest], start, device, f"{device}:{start}"),
        )


def _words(cause: dict[str, str]) -> tuple[str, str]:
    """The cause in words, and its reason."""
    label = NAMES.get(cause.get("part", ""), cause.get("part", ""))
    reason = cause.get("detail", "")
    return label, REASON_NAMES.get(reason, reason)


def _hosts(con: sqlite3.Connection, pieces: Pieces, words: dict[int, dict[str, str]]) -> list[tuple[str, str]]:
    """The call and the place that the host was in during each idle piece; empty for what is not known.

    Of queued work and of what was not recorded, the cause names the call that was awaited, if any."""
    named = {cause: (word.get("call", ""), word.get("path", "")) for cause, word in words.items()}
    hosts = [named.get(cause, ("", "")) for cause in pieces.cause.tolist()]
    awaited = (pieces.part == Part.QUEUED) | (pieces.part == Part.UNRECORDED)
    rows = np.flatnonzero(awaited & are_among(pieces.cause, [cause for cause, host in named.items() if any(host)]))
    during = calls_during(con, Spans(pieces.start[rows], pieces.stop[rows], np.arange(len(rows))))
    for row, host in zip(rows.tolist(), during, strict=True):
        hosts[row] = host
    return hosts


def _in_words(call: str, path: str) -> str:
    """The path alone as ops have it; within words, one of a single name is that name."""
    if not call:
        return path
    return " in ".join(filter(None, (call, path[1:] if path.rfind("/") == 0 else path)))


def largest_parts(of_gap: Int64s, pieces: Pieces) -> tuple[Int64s, Int64s]:
    """Of each gap the part that takes most of it: its longest piece, and the sum of all its pieces (ns)."""
    length = pieces.stop - pieces.start
    part = of_gap * len(Part) + pieces.part
    order = np.lexsort((-length, part))
    begins = np.flatnonzero(begins_new(order, part))
    sums = np.add.reduceat(length[order], begins) if len(begins) else length
    piece = order[begins]
    ranked = np.lexsort((-sums, of_gap[piece]))
    first = ranked[begins_new(ranked, of_gap[piece])]
    return piece[first], sums[first]


def _ending_ops(con: sqlite3.Connection, device: int, result: Gap, stop_ns: int) -> list[tuple[str, str]]:
    """Path and id of the op whose work ended each gap; empty where the capture or the window ends first."""
    known: list[tuple[str, str]] = [("", "")] * len(result.stop)
    if not known:
        return known
    facts = Facts(con)
    for track in reversed(_streams(con, device)):  # the first one of several that start together
        for items in items_by_part(con, track, int(result.stop[0]), stop_ns + 1):
            if not len(items.start):
                continue
            low, high = np.searchsorted(result.stop, (items.start[0], items.start[-1] + 1))
            place = np.searchsorted(items.start, result.stop[low:high])
            ends = np.flatnonzero(items.start[place] == result.stop[low:high])
            some = some_rows(items, place[ends])
            for gap, fact in zip((low + ends).tolist(), facts.of(track, some.work_class, some.ref), strict=True):
                known[gap] = (str(fact.get("op", "")), str(fact.get("op_id", "")))
    return known


_CAUSE = Column("cause", "Cause", "text", "Why the GPU was idle, as the diagnosis says.", "gap.cause", searchable=True)
_REASON = Column("reason", "Reason", "text", "Why queued work did not start, or what kind of call blocked.",
                 "gap.reason", searchable=True, tier=2)  # fmt: skip
_OP = Column("op", "Next Op", "path", "The op whose work ended the gap; empty where the window ends first.", "gap.op",
             searchable=True)  # fmt: skip
_HOST = Column("host", "Host Was In", "path", "The call, op, range or function that the host was in.", "gap.host",
               searchable=True, tier=1)  # fmt: skip
_DEVICE = Column("device", "GPU", "integer", "Number of the GPU.", "gap.device")
_LINKS = ("from", "to")

GAPS = Table(
    name="gaps",
    key="at",
    base="gaps AS gap",
    row_id="gap.id",
    where="1",
    default_sort="-duration_ns",
    links=_LINKS,
    columns=(
        Column("at", "Place", "text", "The GPU and the moment that it begins.", "gap.at", hidden=True),
        Column("start_ns", "Start", "duration_ns", "When it begins, since the start of the recording.", "gap.start_ns"),
        Column("duration_ns", "Length", "duration_ns", "How long the GPU was idle.", "gap.duration_ns"),
        _CAUSE,
        Column("cause_ns", "Takes", "duration_ns", "How much of the gap has this cause.", "gap.cause_ns", tier=1),
        _OP,
        _HOST,
        Column("iteration", "Iteration", "integer", "The iteration that it begins in.", "gap.iteration", nullable=True),
        _REASON,
        _DEVICE,
        Column("pieces", "Causes", "integer", "How many pieces of one cause each it has.", "gap.pieces", tier=2),
        Column("op_id", "Op ID", "text", "Id of the ending op.", "gap.op_id", hidden=True),
    ),
)

GAP_GROUPS = Table(
    name="gap_groups",
    key="at",
    base="gap_groups AS gap",
    row_id="gap.id",
    where="1",
    default_sort="-total_ns",
    links=_LINKS,
    columns=(
        Column("at", "Place", "text", "The GPU and the moment that the longest begins.", "gap.at", hidden=True),
        _CAUSE,
        msgspec.structs.replace(_OP, description="Path of the ops whose work ended the gaps, without indices, with * "
                                "for numbers that only count repetitions; empty where the window ends first."),
        Column("gaps", "Gaps", "integer", "How many gaps have this cause and are ended by these ops.", "gap.gaps"),
        Column("total_ns", "Total", "duration_ns", "How long the GPU was idle for it in all of them.", "gap.total_ns"),
        Column("window_fraction", "Share", "fraction", "Share of the window.", "gap.window_fraction", tier=1),
        Column("longest_ns", "Longest", "duration_ns", "The most of it in one of them.", "gap.longest_ns"),
        _HOST,
        msgspec.structs.replace(_REASON, description=f"That of most of the time. {_REASON.description}"),
        _DEVICE,
        Column("longest_start_ns", "Longest At", "duration_ns", "When the longest begins.", "gap.longest_start_ns",
               tier=2),
        Column("op_id", "Op ID", "text", "Id of the ending op, if it is one.", "gap.op_id", hidden=True),
    ),
)  # fmt: skip

TABLES = {"gaps": GAPS, "gap_groups": GAP_GROUPS}
