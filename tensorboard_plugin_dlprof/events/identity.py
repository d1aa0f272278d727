"""Decides which op instances are calls of the same op.

Calls with the same key (path, type, direction) are distinguished by their occurrence within the iteration: the third
``linear`` of one iteration is the same op as the third of any other. So a network without module names still has one
op per layer. If the number of occurrences differs between iterations (dynamic control flow), or is so large that they
come from a loop, calls of one key are grouped by input shapes instead. Occurrences are counted per process, because the
ranks of a job run the same ops.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.tables import Int64s, Rows

MAX_OCCURRENCES = 1_000
"""Most calls of one key in an iteration that are different ops; more than that come from a loop."""

MAX_OPS = 50_000
"""Most ops that a table can reasonably show; if there were more, calls of all keys are grouped by shapes."""


def join_calls(key: Rows, process: Int64s, iteration: Int64s, start: Int64s, shapes: Rows) -> Int64s:
    """The op of each instance, numbered from 0 without gaps. All arguments have one value per instance.

    Args:
        key: Index of its ``OpKey``.
        iteration: Index of the iteration in which it starts, -1 for none.
        shapes: Id of its input shapes.
    """
    if not len(key):
        return np.zeros(0, np.int64)
    occurrence, calls, same_every_time = _occurrences(key, process, iteration, start)
    by_occurrence = same_every_time[key]
    part = np.where(by_occurrence, occurrence % np.maximum(calls[key], 1), shapes)
    ops = _dense(key, part)
    return ops if int(ops.max()) < MAX_OPS else _dense(key, shapes)


def _occurrences(key: Rows, process: Int64s, iteration: Int64s, start: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """The occurrence of each instance within its iteration; for each key, the most calls per iteration, and whether all
    iterations have as many."""
    order = np.lexsort((start, iteration, process, key))
    ordered = np.stack((key[order], process[order], iteration[order]))
    changes = np.flatnonzero((np.diff(ordered, axis=1) != 0).any(axis=0)) + 1
    first = np.concatenate(([0], changes))
    size = np.diff(np.append(first, len(order)))
    occurrence = np.empty(len(order), np.int64)
    occurrence[order] = np.arange(len(order)) - np.repeat(first, size)
    group_key, inside = ordered[0, first], ordered[2, first] >= 0
    # For keys without a call in any iteration, the calls outside iterations decide.
    in_any = np.zeros(int(key.max()) + 1, np.bool_)
    in_any[group_key[inside]] = True
    counted = inside | ~in_any[group_key]
    most = np.zeros(len(in_any), np.int64)
    least = np.full(len(in_any), np.iinfo(np.int64).max)
    np.maximum.at(most, group_key[counted], size[counted])
    np.minimum.at(least, group_key[counted], size[counted])
    return occurrence, most, (most == least) & (most <= MAX_OCCURRENCES)


def _dense(first: Rows, second: Rows) -> Int64s:
    """A number from 0 for each distinct pair."""
    return numbered(combine(first, second))[1]
