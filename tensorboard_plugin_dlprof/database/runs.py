"""Finds rows that are alike in many columns, where most are like the row before them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.events.tables import Int64s

_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: the golden ratio."""


class Runs(msgspec.Struct, frozen=True):
    """The kinds of rows, and where in their order the kind changes."""

    first: Int64s
    """First row of each kind, ascending."""
    head: Int64s
    """Rows that are of another kind than the row before."""
    kind: Int64s
    """Kind of each of these, from 0."""


def runs(columns: Sequence[npt.NDArray[np.integer]]) -> Runs:
    """The kinds of rows of some columns, in the order of first use."""
    changes = np.zeros(len(columns[0]), np.bool_)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    head = np.flatnonzero(changes).astype(np.int64)
    number, first = _numbered([column[head] for column in columns])
    order = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return Runs(head[first[order]], head, place[number])


def _numbered(columns: list[npt.NDArray[np.integer]]) -> tuple[Int64s, Int64s]:
    """As ``codes``, in any order: one sort of a hash instead of one of each column, and exact all the same."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.int64).view(np.uint64)) * _MIXER
        mixed ^= mixed >> np.uint64(29)
    _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if any((column[first][number] != column).any() for column in columns):
        return codes(*columns)
    return number.astype(np.int64), first.astype(np.int64)
