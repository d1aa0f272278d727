"""Kernel time of eligible ops that is off matrix units, by cause, for ops and for groups."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import TypedDict

from tensorboard_plugin_dlprof.queries.efficiency import CAUSES
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope

UNKNOWN = "unknown"
"""The key in ``CAUSES`` for any cause that is not one of them."""

Limited = dict[str, tuple[int, int]]
"""Cause -> kernel time in nanoseconds, and ops."""


class CauseColumns(TypedDict):
    """One cause. Each list has one item per node: the sum over the ops below it."""

    cause: str
    label: str
    """The cause in words, as in the tables."""
    kernel_ns: list[int]
    ops: list[int]


def limited_op(cause: object, kernel_ns: object) -> Limited:
    """One limited op. A damaged database may contain any text, even a different one for each op."""
    return {str(cause) if cause in CAUSES else UNKNOWN: (whole(kernel_ns) or 0, 1)}


def added(one: Limited | None, other: Limited) -> Limited:
    """The sums of two, by cause."""
    sums = dict(one or {})
    for cause, (time, ops) in other.items():
        known_time, known_ops = sums.get(cause, (0, 0))
        sums[cause] = (known_time + time, known_ops + ops)
    return sums


def cause_columns(nodes: Sequence[Limited | None]) -> list[CauseColumns]:
    """The causes that occur, as columns parallel to ``nodes``; the cause with the longest time at one node first."""
    most: dict[str, int] = {}
    for node in nodes:
        for cause, (time, _) in (node or {}).items():
            most[cause] = max(most.get(cause, 0), time)
    nothing: Limited = {}
    return [
        CauseColumns(
            cause=cause,
            label=CAUSES[cause],
            kernel_ns=[(node or nothing).get(cause, (0, 0))[0] for node in nodes],
            ops=[(node or nothing).get(cause, (0, 0))[1] for node in nodes],
        )
        for cause in sorted(most, key=lambda cause: (-most[cause], cause))
    ]


class LimitedByPath:
    """The limited ops ordered by path, so that the ops below a group are adjacent."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        cursor = connection.execute(
            "SELECT op.op_name, rate.cause, rate.kept_off_ns FROM ext_op_efficiency AS rate "
            "JOIN read_only_ops AS op ON op.id = rate.read_only_ops_id WHERE rate.aggr_id = ? AND rate.kept_off_ns > 0",
            (scope.aggregation,),
        )
        ops: list[tuple[str, Limited]] = []
        while some := cursor.fetchmany(10_000):
            ops.extend((str(name), limited_op(cause, time)) for name, cause, time in some)
        ops.sort(key=lambda op: op[0])
        self._paths = [path for path, _ in ops]
        self._sums = {
            cause: list(accumulate((limited.get(cause, (0, 0))[0] for _, limited in ops), initial=0))
            for cause in {cause for _, limited in ops for cause in limited}
        }
        """Computes running sums of kernel time by cause."""

    def below(self, group: str) -> dict[str, int]:
        """Cause -> kernel time (ns) of the ops below a group, given its path with a slash at the end."""
        first = bisect_left(self._paths, group)
        last = bisect_left(self._paths, f"{group[:-1]}0")  # "0" is the character after "/"
        times = {cause: sums[last] - sums[first] for cause, sums in self._sums.items()}
        return {cause: time for cause, time in times.items() if time}
