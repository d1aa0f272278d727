"""Ops and nodes of several threads and processes, against the rule done thread by thread and node by node."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events import sequence_links
from tensorboard_plugin_dlprof.events.nesting import nest
from tensorboard_plugin_dlprof.events.sequence_links import SequenceLinks
from tensorboard_plugin_dlprof.events.tables import Capture
from tests.timeline import draw

THREADS = ("one", "two", "rank1/one")

OPS = st.lists(st.tuples(st.sampled_from(THREADS), st.integers(0, 3)), min_size=1, max_size=12)
"""Thread and number, by time."""

NODES = st.lists(
    st.tuples(st.sampled_from(["bw", "rank1/bw"]), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12
)
"""Thread, number and forward thread, by time."""


def drawn(ops: list[tuple[str, int]], nodes: list[tuple[str, int, int]]) -> Capture:
    """Ops and nodes by turns, of one nanosecond each."""
    lines = []
    for index in range(max(len(ops), len(nodes))):
        if index < len(ops):
            thread, number = ops[index]
            lines.append(f"{thread} op {4 * index}-{4 * index + 1} op ; seq={number}")
        if index < len(nodes):
            thread, number, forward = nodes[index]
            lines.append(f"{thread} op {4 * index + 2}-{4 * index + 3} node ; seq={number} ; fwd={forward}")
    return draw("\n".join(lines))


def slow_links(capture: Capture) -> dict[int, int]:
    """Start of each node -> start of its op."""
    ranges, threads = capture.ranges, capture.threads
    rows = range(len(ranges.start_ns))
    ops = [row for row in rows if capture.strings[int(ranges.name[row])] == "op"]
    groups: dict[tuple[int, int], list[int]] = {}
    for row in set(rows) - set(ops):
        groups.setdefault((threads[ranges.thread[row]].process_id, int(ranges.forward_thread[row])), []).append(row)
    result: dict[int, int] = {}
    for (process, _), nodes in groups.items():
        best: dict[int, int] = {}
        for thread in sorted({int(ranges.thread[row]) for row in ops}):
            if threads[thread].process_id != process:
                continue
            here: dict[int, int] = {}
            for node in nodes:
                before = [
                    int(ranges.start_ns[row])
                    for row in ops
                    if ranges.thread[row] == thread
                    and ranges.sequence[row] == ranges.sequence[node]
                    and ranges.start_ns[row] <= ranges.start_ns[node]
                ]
                if before:
                    here[int(ranges.start_ns[node])] = max(before)
            if len(here) > len(best):
                best = here
        result |= best
    return result


def links(capture: Capture) -> dict[int, int]:
    """The same, as found."""
    nesting = nest(capture.ranges)
    is_op = np.array([capture.strings[int(text)] == "op" for text in capture.ranges.name[nesting.row]], np.bool_)
    places = np.arange(len(is_op), dtype=np.int32)
    counts: Counter[int] = Counter()
    answer: dict[int, int] = {}
    for nodes, ops in SequenceLinks(capture, nesting, places[is_op], places[~is_op]).pairs():
        counts.update(nodes.tolist())
        answer |= zip(nesting.start_ns[nodes].tolist(), nesting.start_ns[ops].tolist(), strict=True)
    assert set(counts.values()) <= {1}, "each node has one op"
    return answer


@settings(deadline=None, max_examples=300)
@given(OPS, NODES)
def test_any_ops_and_nodes(ops: list[tuple[str, int]], nodes: list[tuple[str, int, int]]) -> None:
    """Nodes of one forward thread are of one thread, and of no other process."""
    capture = drawn(ops, nodes)
    assert links(capture) == slow_links(capture)


@pytest.mark.parametrize("block", [1, 2, 7])
def test_nodes_of_many_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Thousands of threads that use a number make more pairs than fit a block."""
    monkeypatch.setattr(sequence_links, "BLOCK", block)
    random = np.random.default_rng(3)
    threads = [f"thread{index}" for index in range(6)]
    ops = [(threads[random.integers(6)], int(random.integers(5))) for _ in range(60)]
    nodes = [("bw", int(random.integers(5)), int(random.integers(3))) for _ in range(60)]
    capture = drawn(ops, nodes)
    assert links(capture) == slow_links(capture)
