"""Rows of the change summed over the repetitions of a model, as the pages sum ops: by path pattern and direction."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import msgspec

from tensorboard_plugin_dlprof.classify.directions import direction_in_words
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.comparing.attribution import MOST_TESTED, Row, estimate_of
from tensorboard_plugin_dlprof.comparing.comparability import NO_OP, is_in_no_op
from tensorboard_plugin_dlprof.comparing.noise import Estimate
from tensorboard_plugin_dlprof.comparing.recording import Op

_ALIKE = 2
"""Factor by which the ratio of ops and that of their calls may differ."""

_LITTLE = 0.1
"""Of the time in groups that both sides have: where more tell ops apart in other ways, ops are counted nowhere."""

_LEAST_LEFT = 0.5
"""Of the changes without their signs: where less is left of them, shares of the whole change mislead."""


class Group(msgspec.Struct):
    """Rows that are alike. Times are ns by unit of comparison; all groups add up to the change."""

    key: str
    """Identifies it within a comparison."""
    name: str
    """Pattern of the path of its ops; the name of a row that stands alone."""
    direction: str
    """``forward``, ``backward`` or empty."""
    rows: list[Row]
    of_change: float | None = None
    """Its change over the whole change; None where changes of groups largely cancel out."""
    estimate: Estimate | None = None
    """Of its kernel time; None if it was not tested."""
    is_counted: bool = True
    """Whether both sides tell ops apart alike, so that the numbers of ops say something about the program.
    Kernels are no ops."""

    @property
    def a_ns(self) -> int:
        """Time of A."""
        return sum(row.a_ns for row in self.rows)

    @property
    def b_ns(self) -> int:
        """Time of B."""
        return sum(row.b_ns for row in self.rows)

    @property
    def change_ns(self) -> int:
        """B less A."""
        return sum(row.change_ns for row in self.rows)

    @property
    def is_cause(self) -> bool:
        """Whether it is more than what times of kernels that run at once add up to."""
        return self.rows[0].kind != "overlap"

    @property
    def a(self) -> list[Op]:
        """The ops of A."""
        return [op for row in self.rows for op in row.a]

    @property
    def b(self) -> list[Op]:
        """The ops of B."""
        return [op for row in self.rows for op in row.b]

    @property
    def counts(self) -> tuple[int | None, int | None]:
        """How many ops of A and of B it stands for; None of parts of the time, and where that is not ``is_counted``."""
        a, b = len(self.a), len(self.b)
        return (a, b) if self.is_counted and (a or b) else (None, None)


def groups_of(rows: Iterable[Row], of_kernels: bool, nets: bool) -> list[Group]:
    """The groups of all rows, in the order of the program.

    Args:
        rows: of a comparison, in the order of the program.
        of_kernels: whether they stand for kernels of whole programs, of which each name is a group.
        nets: whether all kernels in no op are one group.
    """
    groups: dict[str, Group] = {}
    for row in rows:
        if nets and (row.a or row.b) and is_in_no_op(row):
            name, direction = NO_OP.capitalize(), ""
        else:
            name, direction = (row.name, "") if of_kernels else _pattern_of(row)
        key = f"{name} {direction}" if row.a or row.b else f"{name} ({row.kind})"
        groups.setdefault(key, Group(key, name, direction, [], is_counted=not of_kernels)).rows.append(row)
    result = list(groups.values())
    _set_shares(result)
    _set_counted(result)
    _test(result)
    return result


def pattern_of(op: Op, own_name: int = 0) -> tuple[str, str]:
    """Pattern of the path of an op, or of its own name, and its direction: what the tables of grouped ops group by."""
    return path_pattern(op.path, own_name), direction_in_words(op.direction)


def _pattern_of(row: Row) -> tuple[str, str]:
    """That of all ops of B, or of A where B has none; ops of several patterns are a group by the name of their row."""
    patterns = {pattern_of(op) for op in row.b or row.a}
    return patterns.pop() if len(patterns) == 1 else (row.name, "")


def _set_shares(groups: Sequence[Group]) -> None:
    changes = [group.change_ns for group in groups]
    whole = sum(changes)
    if whole and abs(whole) >= _LEAST_LEFT * sum(map(abs, changes)):
        for group, change in zip(groups, changes, strict=True):
            group.of_change = change / whole


def _set_counted(groups: Sequence[Group]) -> None:
    """Names of ops may depend on how they were recorded: 1 op stands for 150 then, with as many calls as these."""
    both = [group for group in groups if group.a and group.b]
    otherwise = [group for group in both if not _are_alike(group)]
    much = sum(group.a_ns + group.b_ns for group in otherwise) > _LITTLE * sum(g.a_ns + g.b_ns for g in both)
    for group in groups if much else otherwise:
        group.is_counted = False


def _are_alike(group: Group) -> bool:
    """Whether ops stand in about the same ratio as their calls."""
    a, b = (
        sum(calls or 0 for calls in side) for side in zip(*((r.a_calls, r.b_calls) for r in group.rows), strict=True)
    )
    return not a or not b or 1 / _ALIKE <= (len(group.b) / len(group.a)) / (b / a) <= _ALIKE


def _test(groups: Sequence[Group]) -> None:
    """Compare the iterations of A with those of B, group by group, where those of all its ops are known."""
    for group in heapq.nlargest(MOST_TESTED, groups, key=lambda group: abs(group.change_ns)):
        if len(group.rows) == 1:
            group.estimate = group.rows[0].estimate
        elif all(op.samples for row in group.rows for op in (*row.a, *row.b) if op.kernel_ns):
            group.estimate = estimate_of(group.a, group.b)
