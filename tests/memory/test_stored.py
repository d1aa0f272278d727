"""Windows of the curve and open blocks of any moment, read from a database without reading all of it."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from tensorboard_plugin_dlprof.database.memory_rows import write_history
from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, VIEW_SCRIPTS, run
from tensorboard_plugin_dlprof.events.memory_tables import STAYS, Blocks, History
from tensorboard_plugin_dlprof.memory.pairing import pair
from tensorboard_plugin_dlprof.memory.peak import by_category
from tensorboard_plugin_dlprof.memory.stored import MOST_STATES, devices_of, open_blocks_of, read_states, state_of
from tensorboard_plugin_dlprof.queries.memory import memory_at, memory_curve
from tensorboard_plugin_dlprof.queries.scope import Scope


def history_of(events: int, timed: bool = True) -> History:
    """Blocks at a thousand addresses, allocated and freed in turn; every hundredth address is never freed again."""
    random = np.random.default_rng(28)
    address = random.integers(0, 1_000, events)
    order = np.argsort(address, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(address[order]) != 0))
    turn = np.empty(events, np.int64)
    turn[order] = np.arange(events) - np.repeat(first, np.diff(np.append(first, events)))
    size = 512 * (1 + address % 97 + turn // 2 % 5)
    change = np.where(turn % 2 == 0, size, -size)
    remaining = (address % 100 == 0) & (turn > 0)
    change[remaining] = 0
    pairs = pair(np.where(change != 0, address, -1), change)
    in_use = 10_000_000 + np.append(0, np.cumsum(change))
    return History(
        device=0,
        measure="allocated",
        relative=False,
        time_ns=np.cumsum(random.integers(0, 900, events)) if timed else np.zeros(0, np.int64),
        in_use_bytes=in_use,
        reserved_bytes=np.maximum.accumulate(in_use) + 4_096,
        blocks=Blocks(
            pairs.allocated,
            pairs.freed,
            pairs.num_bytes,
            (pairs.allocated % 7).astype(np.int8),
            (pairs.allocated % 3).astype(np.int32),
            (pairs.allocated % 2).astype(np.int32),
        ),
        owners=["", "/a/linear", "/b/conv2d"],
        stacks=["", "model.py(7): forward < train.py(3): main"],
    )


def stored(history: History) -> sqlite3.Connection:
    """A database with a history."""
    con = sqlite3.connect(":memory:")
    run(con, *TABLE_SCRIPTS, *VIEW_SCRIPTS)
    write_history(con, history)
    return con


def test_any_window_holds_its_least_and_its_most() -> None:
    """Exactly where the window is short; with no peak lost where it is long."""
    for timed in (True, False):
        history = history_of(5 * MOST_STATES // 2, timed)
        con, axis = stored(history), np.arange(len(history.in_use_bytes)) - 1
        if timed:
            axis = np.append(history.time_ns[:1], history.time_ns)
        (facts,) = devices_of(con)
        last = int(axis[-1])
        for start, stop in ((None, None), (last // 3, last // 2), (last // 2, last // 2 + 50), (last, last + 10)):
            curve = memory_curve(con, 0, start, stop, 100)
            begin = 0 if start is None else max(int(np.searchsorted(axis, start, side="right")) - 1, 0)
            end = len(axis) if stop is None else int(np.searchsorted(axis, stop, side="right"))
            assert max(curve["in_use_max_bytes"]) == history.in_use_bytes[begin:end].max()
            assert min(curve["in_use_min_bytes"]) == history.in_use_bytes[begin:end].min()
            assert max(curve["reserved_max_bytes"]) == history.reserved_bytes[begin:end].max()
        assert len(read_states(con, facts, None, None).axis) < len(axis) / 30
        edges = np.linspace(last // 3, last // 2, 101)
        for number, most in enumerate(memory_curve(con, 0, last // 3, last // 2, 100)["in_use_max_bytes"]):
            begin = int(np.searchsorted(axis, edges[number], side="right")) - 1
            end = int(np.searchsorted(axis, edges[number + 1], side="right"))
            assert most == history.in_use_bytes[begin:end].max()


def test_the_categories_of_the_curve_add_up_and_are_those_of_the_moment() -> None:
    """In each bin they are what is open when most is in use; over too many events they are not told."""
    for timed in (True, False):
        history = history_of(20_000, timed)
        con, axis = stored(history), np.arange(len(history.in_use_bytes)) - 1
        if timed:
            axis = np.append(history.time_ns[:1], history.time_ns)
        last = int(axis[-1])
        for start, stop in ((None, None), (last // 3, last // 2)):
            curve = memory_curve(con, 0, start, stop, 100)
            categories = {row["category"]: row["bytes"] for row in curve["categories"]}
            assert np.sum(list(categories.values()), axis=0).tolist() == curve["in_use_max_bytes"]
            edges = np.linspace(curve["from"], curve["to"], 101)
            for number in (0, 40, 99):
                begin = max(int(np.searchsorted(axis, edges[number], side="right")) - 1, 0)
                end = max(int(np.searchsorted(axis, edges[number + 1], side="right")), begin + 1)
                state = begin + int(history.in_use_bytes[begin:end].argmax())
                held = {row.name: row.num_bytes for row in by_category(history, state)}
                assert {name: each[number] for name, each in categories.items() if each[number]} == held


@pytest.mark.parametrize("timed", [True, False])
def test_categories_are_told_of_any_number_of_events(timed: bool) -> None:
    """Where a row of the curve stands for many states, they are those of the state in which most is in use."""
    history = history_of(40 * MOST_STATES, timed)
    # One block from before the first event, as memory timelines tell it.
    blocks = history.blocks
    blocks.allocated[0] = -1
    curve = memory_curve(stored(history), 0, None, None, 50)
    categories = {row["category"]: row["bytes"] for row in curve["categories"]}
    assert len(categories) > 5
    assert np.sum(list(categories.values()), axis=0).tolist() == curve["in_use_max_bytes"]
    for number in (1, 25, 49):
        described = {name: each[number] for name, each in categories.items() if each[number]}
        states = np.flatnonzero(history.in_use_bytes == curve["in_use_max_bytes"][number]).tolist()
        assert described in [{row.name: row.num_bytes for row in by_category(history, state)} for state in states]


def test_any_moment_has_its_blocks() -> None:
    """Those stored with the state before it and those allocated since are all that are open."""
    history = history_of(300_000)
    # One from before the first event, as memory timelines tell it, that is never freed.
    columns = (getattr(history.blocks, name) for name in Blocks.__struct_fields__)
    history.blocks = Blocks(*(np.append(*each) for each in zip((-1, STAYS, 512, 0, 0, 0), columns, strict=True)))
    history.in_use_bytes += 512
    con = stored(history)
    (facts,) = devices_of(con)
    assert con.execute("SELECT count(DISTINCT state) FROM memory_open").fetchone() == (4,)
    for state in (0, 1, 65_535, 65_536, 65_537, 200_000, 300_000):
        blocks = open_blocks_of(con, facts, state)
        is_open = (history.blocks.allocated < state) & (history.blocks.freed >= state)
        assert blocks.allocated.tolist() == history.blocks.allocated[is_open].tolist()
        assert blocks.num_bytes.sum() + 10_000_000 == history.in_use_bytes[state]
        assert (blocks.freed == STAYS).sum() == (history.blocks.freed[is_open] == STAYS).sum()
        moment = int(history.time_ns[max(state - 1, 0)]) if state else -1
        result, _, in_use = state_of(con, facts, moment)
        assert in_use == history.in_use_bytes[result]
        answer = memory_at(con, Scope(1, 0, ""), 0, moment)
        for rows in ("at_peak", "by_owner", "by_module", "by_stack", "by_size"):
            assert sum(row["bytes"] for row in answer[rows]) == in_use
        sizes = [row["size_bytes"] for row in answer["blocks"]]
        assert sizes == sorted(blocks.num_bytes.tolist(), reverse=True)[: len(sizes)]
        for row in answer["blocks"]:
            if row["lasts_ns"] is not None:
                assert row["allocated_ns"] <= max(moment, 0) <= row["allocated_ns"] + row["lasts_ns"]
