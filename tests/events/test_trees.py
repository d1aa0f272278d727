"""Depths, parents, nearest flagged ancestors and what is inside, against a plain stack: small trees and long ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events import trees
from tensorboard_plugin_dlprof.events.tables import Int32s

SHAPES = st.lists(st.integers(0, 4), max_size=40)
"""For each place how many of the open ranges end before it, at most."""


def stops(closed: list[int]) -> Int32s:
    """Where the inside of each place stops."""
    stop = [len(closed)] * len(closed)
    stack: list[int] = []
    for place, count in enumerate(closed):
        for _ in range(min(count, len(stack))):
            stop[stack.pop()] = place
        stack.append(place)
    return np.array(stop, np.int32)


def slow_parents(stop: Int32s) -> list[int]:
    """The innermost place before each that has not stopped."""
    result: list[int] = []
    stack: list[int] = []
    ends = stop.tolist()
    for place in range(len(ends)):
        while stack and ends[stack[-1]] <= place:
            stack.pop()
        result.append(stack[-1] if stack else -1)
        stack.append(place)
    return result


def slow_nearest(own: trees.Flags, parents: list[int]) -> list[int]:
    """Parents come first, so each place finds its parent's answer ready."""
    result: list[int] = []
    for place, is_own in enumerate(own.tolist()):
        result.append(place if is_own else result[parents[place]] if parents[place] >= 0 else -1)
    return result


def check(stop: Int32s, own: trees.Flags) -> None:
    """All that is told of the tree."""
    parents = slow_parents(stop)
    depth = trees.depths(stop)
    parent = trees.parents(depth)
    assert parent.tolist() == parents
    assert all(depth[place] == (depth[above] + 1 if above >= 0 else 0) for place, above in enumerate(parents))
    nearest = slow_nearest(own, parents)
    assert trees.nearest(own, parent).tolist() == nearest
    places = np.arange(-1, len(stop))
    assert trees.nearest_of(places, own, parent).tolist() == [-1, *nearest]
    inside = [False] * len(stop)
    for place in reversed(range(len(stop))):
        if parents[place] >= 0:
            inside[parents[place]] |= inside[place] or bool(own[place])
    assert trees.around(own, stop).tolist() == inside
    assert trees.inside(own, stop).tolist() == [above >= 0 and nearest[above] >= 0 for above in parents]


@settings(deadline=None, max_examples=300)
@given(SHAPES, st.data())
def test_any_tree(closed: list[int], data: st.DataObject) -> None:
    """Whatever is flagged: nothing, a few places, all of them."""
    own = data.draw(st.lists(st.booleans(), min_size=len(closed), max_size=len(closed)))
    check(stops(closed), np.array(own, np.bool_))


@pytest.mark.parametrize("share", [0.001, 0.4, 0.9])
def test_tree_of_several_blocks(share: float) -> None:
    """What is carried from block to block: open ranges, their parents, what was flagged last."""
    random = np.random.default_rng(5)
    count = trees.BLOCK + trees.BLOCK // 2
    stop = stops(random.choice([0, 1, 2, 9], count, p=[0.45, 0.35, 0.1, 0.1]).tolist())
    check(stop, random.random(count) < share)


@pytest.mark.parametrize("own", [[0], [7, 100], []])
def test_tree_as_deep_as_it_is_long(own: list[int]) -> None:
    """What is nearest may be hundreds of parents away, or nowhere."""
    count = 320
    flags = np.zeros(count, np.bool_)
    flags[own] = True
    check(np.full(count, count, np.int32), flags)


def test_one_range_around_a_long_capture() -> None:
    """It stays the parent of what starts blocks later."""
    count = 2 * trees.BLOCK
    stop = np.arange(1, count + 1, dtype=np.int32)
    stop[0] = count
    parent = trees.parents(trees.depths(stop))
    assert parent[0] == -1
    assert (parent[1:] == 0).all()
