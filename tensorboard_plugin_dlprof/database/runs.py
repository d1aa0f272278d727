"""Finds rows that are alike in many columns, where most are like the row before them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import alike
from tensorboard_plugin_dlprof.events.tables import Int64s


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
    kind, first = alike(*(column[head] for column in columns))
    return Runs(head[first], head, kind)
