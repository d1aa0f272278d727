"""What makes up most of the change between two recordings, in words: an op type, or a part of the time without
kernels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple, TypedDict

from tensorboard_plugin_dlprof.classify.vocabulary import RANGE_TYPE
from tensorboard_plugin_dlprof.comparing.attribution import PART_LABELS, Row
from tensorboard_plugin_dlprof.comparing.comparability import NO_OP, is_in_no_op, nets_kernels
from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.recording import BUSY_PARTS, Op
from tensorboard_plugin_dlprof.comparing.words import duration

_LARGE_SHARE = 0.2
"""Of the change, from which a row is named as its reason."""

_LITTLE, _MOSTLY = 0.1, 0.5
"""Shares of kernel time on matrix units, between which ops have moved to them."""


def changes_by_kind(comparison: Comparison, but: Collection[str] = ("overlap",)) -> list[tuple[str, int]]:
    """The change of each op type, and of each part of the time without kernels (ns), ``but`` of some kinds of rows."""
    sums: dict[str, int] = defaultdict(int)
    nets = nets_kernels(comparison.a, comparison.b)
    for row in comparison.rows:
        if row.kind not in but:
            sums[kind_of(row, nets)] += row.change_ns
    return list(sums.items())


def kind_of(row: Row, nets: bool = False) -> str:
    """The op type of a row, or what the part of the time is called within a sentence."""
    if not row.a and not row.b:
        return _within_sentence(row.name)
    if nets and is_in_no_op(row):
        return NO_OP
    op_type = (row.b or row.a)[0].op_type
    if op_type == RANGE_TYPE:
        return f"`{row.name}`"
    return f"`{row.name if row.kind.startswith('kernel') or not op_type else op_type}`"


def _within_sentence(label: str) -> str:
    name, _, exposed = label.partition(", ")
    return _PLACES.get(label) or f"{exposed} {name[:1].lower()}{name[1:]}".strip()


_PLACES = {
    "Data loader": "the data loader",
    "I/O": "I/O",
    "Queued": "launched work that waits",
    "Not recorded": "what was not recorded",
    "Launch not recorded": "gaps whose launch was not recorded",
}
"""Names of rows without ops as they stand within a sentence, where they do not just begin with a small letter."""


def main_change(comparison: Comparison, inside: bool = False) -> str:
    """A sentence about the op types or parts with most of the change, or ``inside`` one; empty if none has much."""
    change, told = comparison.change_ns, _told(comparison)
    if told is None:
        return ""
    (name, part), against = told.largest, told.against
    where = _in(comparison, name)
    size = duration(abs(part))
    if abs(part) <= abs(change) and against is None:
        return f", {size} of it {where}" if inside else f" {size} of it is {where}."
    # What makes up for it is told too, since more than all is no part.
    more, less = ("more", "less") if part > 0 else ("less", "more")
    rest = f"{duration(abs(part - change))} {less} elsewhere"
    if against is not None:
        rest = f"{duration(abs(against[1]))} {less} {_in(comparison, against[0])}"
    text = f"{size} {more} {where}{',' * (', ' in where)} and {rest}"
    return f", {text}" if inside else f" It is {text}."


_Change = tuple[str, int]
"""What it is of, as ``kind_of`` names it, and how much (ns)."""


class _Told(NamedTuple):
    """What a sentence names of a change."""

    largest: _Change
    against: _Change | None
    """What makes up for it, if that is named."""

    def rest(self, change: int) -> int:
        """How much of the change it leaves untold."""
        return abs(change - self.largest[1] - (self.against[1] if self.against else 0))


def _told(comparison: Comparison) -> _Told | None:
    """Of op types and idle time, unless these leave more than half of the change untold and what the GPU did leaves
    less."""
    change = comparison.change_ns
    kinds, parts = (
        _named_of(changes, change, most_against)
        for changes, most_against in (
            (changes_by_kind(comparison), _more_against),
            (_changes_by_part(comparison), _making_up),
        )
    )
    if kinds is None or parts is None or 2 * kinds.rest(change) <= abs(change):
        return kinds or parts
    return min(kinds, parts, key=lambda one: one.rest(change))


def _named_of(
    changes: Sequence[_Change], change: int, most_against: Callable[[Sequence[_Change], _Change, int], _Change | None]
) -> _Told | None:
    """What has most of the change, if that is much of it."""
    largest = max((one for one in changes if one[1] * change > 0), key=lambda one: abs(one[1]), default=None)
    if largest is None or abs(largest[1]) < _LARGE_SHARE * abs(change):
        return None
    return _Told(largest, most_against(changes, largest, change))


def _more_against(changes: Sequence[_Change], largest: _Change, change: int) -> _Change | None:
    """What changed the other way by more than the largest part of a change that is no larger than the change."""
    if abs(largest[1]) > abs(change):
        return None
    most = _most_against(changes, largest)
    return most if most is not None and abs(most[1]) > abs(largest[1]) else None


def _making_up(changes: Sequence[_Change], largest: _Change, change: int) -> _Change | None:
    """What changed the other way, if less of the change is untold with it."""
    most = _most_against(changes, largest)
    return most if most and _Told(largest, most).rest(change) < _Told(largest, None).rest(change) else None


def _most_against(changes: Sequence[_Change], largest: _Change) -> _Change | None:
    return max((one for one in changes if one[1] * largest[1] < 0), key=lambda one: abs(one[1]), default=None)


def _changes_by_part(comparison: Comparison) -> list[_Change]:
    """The change of each exclusive part of the time: what the GPU did, or why it was idle."""
    changes = {part: b_ns - a_ns for part, a_ns, b_ns in comparison.parts if a_ns or b_ns}
    computing = changes.keys() & _COMPUTING
    names = dict.fromkeys(computing, "kernels") if len(computing) == 1 else _ON_UNITS
    return [
        (names.get(part) or _within_sentence(PART_LABELS.get(part, part)), change_ns)
        for part, change_ns in changes.items()
    ]


_COMPUTING = BUSY_PARTS - {"communication"}

_UNITS = "matrix units"
_ON_UNITS = dict.fromkeys(("compute_tensor", "tensor_core"), _UNITS)


def _in(comparison: Comparison, name: str) -> str:
    """Where a change is."""
    return f"on {comparison.matrix_unit}s" if name == _UNITS else f"in {_place(comparison, name)}"


class Named(TypedDict):
    """What the headline names: the groups of ops with a value in a column."""

    column: Literal["op_type", "name"]
    value: str


def named(comparison: Comparison) -> Named | None:
    """Where the table of groups has what ``main_change`` names; None where no column tells it."""
    told = _told(comparison)
    if told is None:
        return None
    name, part = told.largest
    types: dict[str, int] = defaultdict(int)
    names: dict[str, int] = defaultdict(int)
    for group in comparison.groups:
        ops = group.b or group.a
        types[ops[0].op_type if ops else ""] += group.change_ns
        names[group.name] += group.change_ns
    # Names of parts within a sentence are others: what adds up to the change is what is named.
    columns: tuple[tuple[Literal["op_type", "name"], dict[str, int]], ...] = ("op_type", types), ("name", names)
    for column, sums in columns:
        values = [value for value, change_ns in sums.items() if value and change_ns == part]
        own = [value for value in values if name.startswith("`") and value == name.strip("`")] or values
        if len(own) == 1:
            return {"column": column, "value": own[0]}
    return None


def _place(comparison: Comparison, name: str) -> str:
    """What ``kind_of`` names, within a sentence, with what else is known of it: that one side has none of its ops, or
    that they moved to matrix units."""
    nets = nets_kernels(comparison.a, comparison.b)
    rows = [row for row in comparison.rows if kind_of(row, nets) == name]
    of_a, of_b = [op for row in rows for op in row.a], [op for row in rows for op in row.b]
    if not of_a and not of_b:
        return name
    # The table has ops of a type by their path.
    is_type = any(op.associated and name == f"`{op.op_type}`" for op in of_b or of_a)
    place = f"ops of type {name}" if is_type else name
    if not of_a or not of_b:
        return f"{place}, which only {'A' if of_a else 'B'} has"
    before, after = _tensor_core_share(of_a), _tensor_core_share(of_b)
    if before is None or after is None or not (before < _LITTLE and after > _MOSTLY):
        return place
    return f"{place}, which now run{'' if is_type else 's'} on {comparison.matrix_unit}s"


def _tensor_core_share(ops: Sequence[Op]) -> float | None:
    kernel_ns = sum(op.kernel_ns for op in ops)
    return sum(op.tensor_core_ns for op in ops) / kernel_ns if kernel_ns else None
