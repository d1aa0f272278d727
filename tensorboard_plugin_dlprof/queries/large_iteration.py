"""Pages of an iteration with up to millions of kernels, from ``ext_kernel_orders``.

Kernels lie by op, so those of one launch are runs of places: what holds for launches is worked out for the runs, of
which there are fewer. Orders are read a part at a time, so memory does not grow beyond a byte for each kernel.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cached_property

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.packing import Part, unpack
from tensorboard_plugin_dlprof.queries.chosen import Chosen, Places, no_flags
from tensorboard_plugin_dlprof.queries.packed import Question, StoredOrders, TimeRange, is_below

PART = 16_384
"""As ``database.kernel_orders`` stores them."""

_RUNS_AT_ONCE = 8_192

_MOST_KEPT_RUNS = 1 << 18
"""Of one iteration, with a connection: 6 MB."""

_MOST_KEPT_FLAGS = 1 << 22
"""Of one condition on launches, with a connection: 4 MB."""


class _Runs(msgspec.Struct, frozen=True):
    """Places with something in common: the runs begin at ``starts``, the last where no place is any more."""

    starts: Places
    numbers: Places

    lengths: Places


class LargeIteration(StoredOrders):
    """An iteration of which the import stored every order by itself."""

    few = 2_000

    def __init__(self, connection: sqlite3.Connection, aggregation: int, iteration: int, nodes: _Runs) -> None:
        super().__init__(connection, aggregation, iteration, int(nodes.starts[-1]))
        self._nodes = nodes
        self._last: tuple[tuple[str, int], Places] | None = None
        """The part that was read last, and what it is."""

    @classmethod
    def find(cls, connection: sqlite3.Connection, aggregation: int, iteration: int) -> LargeIteration | None:
        """That of this number, where it is stored, and not damaged."""
        try:
            nodes = _runs(connection, aggregation, iteration, "node")
        except ValueError:
            return None
        return cls(connection, aggregation, iteration, nodes) if len(nodes.starts) > 1 else None

    def places(self, question: Question, chosen: Chosen | None, at_once: int) -> Iterator[Places]:
        """All places that pass, in the order of the question, as many at once, and at last the rest."""
        waiting = np.zeros(0, np.int64)
        for found in self._by_rank(question, chosen) if question.sorted_launches else self._in_order(question, chosen):
            waiting = np.concatenate([waiting, found])
            whole = len(waiting) - len(waiting) % at_once
            yield from (waiting[start : start + at_once] for start in range(0, whole, at_once))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def page(self, question: Question, chosen: Chosen | None, offset: int, limit: int) -> list[int]:
        """``kernel_iteration_node.id`` of one page."""
        if question.sorted_launches:
            return self.ids(self._page_by_rank(question, chosen, offset, limit))
        # Without a condition, the part in which the page begins is known.
        skip, offset = self._skipped(offset, question.descending) if chosen is None else (0, offset)
        return self.ids(_cut(self._in_order(question, chosen, skip), offset, limit))

    def ids(self, places: Places) -> list[int]:
        """``kernel_iteration_node.id`` of some places."""
        run = np.searchsorted(self._nodes.starts, places, side="right") - 1
        found: list[int] = (self._nodes.numbers[run] + places - self._nodes.starts[run]).tolist()
        return found

    def _in_order(self, question: Question, chosen: Chosen | None, skip: int = 0) -> Iterator[Places]:
        for _, found in self._parts(question.order, skip, question.descending):
            some = found if chosen is None else chosen.of(found)
            yield some[::-1] if question.descending else some

    def _skipped(self, offset: int, descending: bool) -> tuple[int, int]:
        """How many parts lie before a row of the order, and the offset of the row behind them."""
        first = (self.kernels - 1) % PART + 1 if descending else PART
        if offset < first:
            return 0, offset
        parts, rest = divmod(offset - first, PART)
        return parts + 1, rest

    @cached_property
    def _launches(self) -> _Runs:
        of, kept = self._kept.get("runs", (None, None))
        if of == self._of and isinstance(kept, _Runs):
            return kept
        try:
            found = _runs(self._connection, *self._of, "launch")
        except ValueError:
            raise self._damaged() from None
        if len(found.starts) < 2 or found.starts[-1] != self.kernels:
            raise self._damaged()
        if len(found.starts) <= _MOST_KEPT_RUNS:
            self._kept["runs"] = self._of, found
        return found

    def _by_launch(self, question: Question) -> Chosen:
        # One filter has many pages.
        key = self._of, question.launches, question.key()
        kept_key, kept = self._kept.get("chosen", (None, None))
        if key == kept_key and isinstance(kept, Chosen):
            return kept
        found = self._found_by_launch(question)
        if len(found.flags) <= _MOST_KEPT_FLAGS:
            self._kept["chosen"] = key, found
        return found

    def _found_by_launch(self, question: Question) -> Chosen:
        runs, passes = self._launches, self._passes(question).take(self._launches.numbers[:-1], mode="clip")
        passing = np.flatnonzero(passes)
        if not len(passing):
            return Chosen(0, no_flags(0))
        first, behind = int(passing[0]), int(passing[-1]) + 1
        begin = int(runs.starts[first])
        flags = no_flags(int(runs.starts[behind]) - begin)
        for low in range(first, behind, _RUNS_AT_ONCE):
            high = min(low + _RUNS_AT_ONCE, behind)
            some = slice(runs.starts[low] - begin, runs.starts[high] - begin)
            flags[some] = np.repeat(passes[low:high], runs.lengths[low:high])
        return Chosen(begin, flags)

    def _chosen_by_run(self, chosen: Chosen) -> Places:
        """How many of each run pass."""
        starts, counts = self._launches.starts, np.zeros(len(self._launches.lengths), np.int64)
        if len(chosen.flags):
            # It may begin or end within a run.
            low, high = np.searchsorted(starts, (chosen.begin, chosen.end), side="right").tolist()
            heads = np.append(chosen.begin, starts[low : high - (starts[high - 1] == chosen.end)])
            counts[low - 1 : low - 1 + len(heads)] = np.add.reduceat(chosen.flags, heads - chosen.begin, dtype=np.int64)
        return counts

    def _run_ranks(self, question: Question) -> tuple[Places, int]:
        ranks, number = self._ranks(question)
        return ranks.take(self._launches.numbers[:-1], mode="clip"), number

    def _page_by_rank(self, question: Question, chosen: Chosen | None, offset: int, limit: int) -> Places:
        rank, number = self._run_ranks(question)
        runs = self._launches
        count = runs.lengths if chosen is None else self._chosen_by_run(chosen)
        of_rank = np.bincount(rank, weights=count, minlength=number).astype(np.int64)
        ends = np.cumsum(of_rank)
        first = int(np.searchsorted(ends, offset, side="right"))
        last = int(np.searchsorted(ends, offset + limit))
        wanted = np.flatnonzero((rank >= first) & (rank <= last) & (count > 0))
        wanted = _by(rank, wanted, question.descending)
        # Of these runs, those that the page needs.
        behind = np.cumsum(count[wanted])
        skip = offset - int(ends[first] - of_rank[first])
        begin = int(np.searchsorted(behind, skip, side="right"))
        end = int(np.searchsorted(behind, skip + limit)) + 1
        parts = self._expanded(wanted[begin:end], chosen, question.descending)
        return _cut(parts, skip - int(behind[begin - 1] if begin else 0), limit)

    def _by_rank(self, question: Question, chosen: Chosen | None) -> Iterator[Places]:
        rank, _ = self._run_ranks(question)
        return self._expanded(_by(rank, np.arange(len(rank)), question.descending), chosen, question.descending)

    def _expanded(self, runs: Places, chosen: Chosen | None, descending: bool) -> Iterator[Places]:
        """The places of some runs, run by run."""
        starts, lengths = self._launches.starts, self._launches.lengths
        for run in runs.tolist():
            # A run may be all of an iteration.
            pieces = range(int(starts[run]), int(starts[run] + lengths[run]), PART)
            for piece in reversed(pieces) if descending else pieces:
                places = np.arange(piece, min(piece + PART, int(starts[run] + lengths[run])))
                places = places if chosen is None else chosen.of(places)
                yield places[::-1] if descending else places

    def _within(self, wanted: TimeRange) -> Chosen:
        low, high = self._slice(wanted)
        inside = no_flags(self.kernels)
        # What is less to read: those in the range, or those outside.
        is_most = high - low > self.kernels // 2
        inside[:] = is_most
        for begin, end in ((0, low), (high, self.kernels)) if is_most else ((low, high),):
            for first, places in self._parts(wanted.order, begin // PART):
                if first >= end:
                    break
                inside[places[max(begin - first, 0) : end - first]] = not is_most
        return Chosen(0, inside)

    def _bounds(self, wanted: TimeRange, limit: float, is_in: bool) -> tuple[int, int]:
        if wanted.order == "node":
            return super()._bounds(wanted, limit, is_in)
        lowest = self._connection.execute(
            "SELECT lowest_ns FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = ? ORDER BY part",
            (*self._of, wanted.order),
        )
        below = sum(is_below(value, limit, is_in) for (value,) in lowest)
        return (below - 1) * PART + 1 if below else 0, min(below * PART, self.kernels)

    def _node(self, place: int) -> int:
        return self.ids(np.array([place]))[0]

    def _place(self, order: str, rank: int) -> int:
        return int(self._part(order, rank // PART)[rank % PART])

    def _part(self, kind: str, part: int) -> Places:
        if self._last is None or self._last[0] != (kind, part):
            row = self._connection.execute(
                "SELECT data FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = ? AND part = ?",
                (*self._of, kind, part),
            ).fetchone()
            try:
                places = np.cumsum(unpack(row[0], 1)[0])
            except (TypeError, ValueError):
                raise self._damaged() from None
            if len(places) != min(PART, self.kernels - part * PART) or places.min() < 0 or places.max() >= self.kernels:
                raise self._damaged()
            self._last = (kind, part), places
        return self._last[1]

    def _damaged(self) -> UnfitDatabase:
        name = getattr(self._connection, "shown_name", "The database")
        return UnfitDatabase(f"{name} is damaged in ext_kernel_orders; make it again.")

    def _parts(self, kind: str, skip: int = 0, descending: bool = False) -> Iterator[tuple[int, Places]]:
        """The parts of an order, each with the rank at which it begins."""
        count = -(-self.kernels // PART)
        for number in range(count - 1 - skip, -1, -1) if descending else range(skip, count):
            if kind == "node":
                # The order of the places themselves.
                yield number * PART, np.arange(number * PART, min((number + 1) * PART, self.kernels))
            else:
                yield number * PART, self._part(kind, number)


def _runs(connection: sqlite3.Connection, aggregation: int, iteration: int, kind: str) -> _Runs:
    rows = connection.execute(
        "SELECT data FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = ? ORDER BY part",
        (aggregation, iteration, kind),
    )
    parts = [Part(data, 2).rows() for (data,) in rows]
    empty = np.zeros(0, np.int64)
    starts, numbers = (np.concatenate([empty, *(part[column] for part in parts)]) for column in (0, 1))
    if len(starts) and (starts[0] != 0 or (np.diff(starts) <= 0).any()):
        raise ValueError("runs are not in order")
    return _Runs(starts, numbers, np.diff(starts))


def _by(rank: Places, runs: Places, descending: bool) -> Places:
    """Some runs by rank; those of one in the order of their places, or in its reverse."""
    runs = runs[::-1] if descending else runs
    return runs[np.argsort(rank[runs], kind="stable")]


def _cut(parts: Iterator[Places], offset: int, limit: int) -> Places:
    found: list[Places] = []
    for part in parts:
        if limit <= 0:
            break
        some = part[offset : offset + limit]
        offset = max(offset - len(part), 0)
        limit -= len(some)
        found.append(some)
    return np.concatenate(found) if found else np.zeros(0, np.int64)
