"""Matches autograd nodes with their forward ops by the sequence number that PyTorch gives both.

PyTorch numbers nodes per thread, so ops of several threads may have the same number. Nodes record their forward thread
by an id of PyTorch's own, which is not the recorded thread id. All nodes with the same id belong to one thread: the one
that has ops for most of their numbers. Each node then belongs to the last op of that thread with its number that
started before the node.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s
from tensorboard_plugin_dlprof.events.trees import BLOCK


class SequenceLinks:
    """Matches some autograd nodes with some forward ops.

    Args:
        ops: Places of candidate forward ops, ascending, at least one.
        nodes: Places of autograd nodes.
    """

    def __init__(self, capture: Capture, nesting: Nesting, ops: Int32s, nodes: Int32s) -> None:
        ranges, row = capture.ranges, nesting.row
        self._ranges, self._row, self._start_ns = ranges, row, nesting.start_ns
        self._processes = np.array([thread.process_id for thread in capture.threads], np.int64)
        self._nodes = nodes
        number = ranges.sequence[row[ops]]
        # Places ascend by thread, then start, and mostly by number already.
        order = np.argsort(number, kind="stable")
        number, self._ops = number[order], ops[order]
        thread = ranges.thread[row[self._ops]]
        is_first = np.ones(len(ops), np.bool_)
        is_first[1:] = (number[1:] != number[:-1]) | (thread[1:] != thread[:-1])
        self._first = np.flatnonzero(is_first).astype(np.int32)
        """Index of ``_ops`` at which each run of one number and thread begins; runs ascend by number, then thread."""
        self._end = np.append(self._first[1:], np.int32(len(ops)))
        self._number, self._thread = number[self._first], thread[self._first]

    def pairs(self) -> Iterator[tuple[Int32s, Int32s]]:
        """Places of nodes and of their ops, in blocks; nodes without an op are left out."""
        if (self._thread == self._thread[0]).all():
            for node, _, op in self._pairs():
                yield self._nodes[node], op
            return
        row = self._row[self._nodes]
        group = numbered(combine(self._processes[self._ranges.thread[row]], self._ranges.forward_thread[row]))[1]
        best = self._threads_of_groups(group)
        for node, run, op in self._pairs():
            selected = self._thread[run] == best[group[node]]
            yield self._nodes[node[selected]], op[selected]

    def _threads_of_groups(self, group: Int64s) -> Int64s:
        """The thread (row) with ops for most nodes of each group, of equal threads the first; -1 if there is none.

        Args:
            group: The group of each node.
        """
        best = np.full(int(group.max(initial=-1)) + 1, -1, np.int64)
        met, count = np.zeros(0, np.int64), np.zeros(0, np.int64)
        threads = int(self._thread.max()) + 1
        for node, run, _ in self._pairs():
            both = np.concatenate([met, group[node] * threads + self._thread[run]])
            weights = np.append(count, np.ones(len(node), np.int64))
            met, index = numbered(both)
            count = np.bincount(index, weights, len(met)).astype(np.int64)
        order = np.lexsort((met, -count))[::-1]
        best[met[order] // threads] = met[order] % threads  # Written from worst to best, as the last write stays.
        return best

    def _pairs(self) -> Iterator[tuple[Int64s, Int64s, Int32s]]:
        """Candidate pairs in blocks: index of a node, a run of its number in its process, and the place of the last op
        of the run that started before the node."""
        for start in range(0, len(self._nodes), BLOCK):
            sought = self._ranges.sequence[self._row[self._nodes[start : start + BLOCK]]]
            first = np.searchsorted(self._number, sought, side="left")
            count = np.searchsorted(self._number, sought, side="right") - first
            for here in _blocks(count):
                stops = np.cumsum(count[here])
                node = start + np.repeat(np.arange(here.start, here.stop), count[here])
                run = np.arange(len(node)) - np.repeat(stops - count[here] - first[here], count[here])
                thread = self._ranges.thread[self._row[self._nodes[node]]]
                same = self._processes[self._thread[run]] == self._processes[thread]
                node, run = node[same], run[same]
                last = self._last_before(run, self._start_ns[self._nodes[node]])
                there = last >= self._first[run]
                yield node[there], run[there], self._ops[last[there]]

    def _last_before(self, run: Int64s, time_ns: Int64s) -> Int32s:
        """Index of the last op of each run that starts at or before a time; the index before the run if none does."""
        # Binary search: ops of the run up to ``last`` have started, those from ``late`` on have not.
        last, late = self._first[run] - 1, self._end[run].copy()
        while len(pending := np.flatnonzero(late - last > 1)):
            middle = (last[pending] + late[pending]) // 2
            has_started = self._start_ns[self._ops[middle]] <= time_ns[pending]
            last[pending[has_started]] = middle[has_started]
            late[pending[~has_started]] = middle[~has_started]
        return last


def _blocks(count: npt.NDArray[np.intp]) -> Iterator[slice]:
    """Consecutive slices of rows whose counts add up to ``BLOCK`` at most, or that are a single row."""
    totals = np.cumsum(count)
    low = before = 0
    while low < len(count):
        high = max(int(np.searchsorted(totals, before + BLOCK, side="right")), low + 1)
        yield slice(low, high)
        low, before = high, int(totals[high - 1])
