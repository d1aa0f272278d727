"""Memory of a GPU over time, and what held it at the peak, as a section of a report; drawn as on Memory
(``frontend/src/panels/memory/memory_curve.tsx``)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, groupby
from typing import Any

from tensorboard_plugin_dlprof.queries.memory import memory_curve
from tensorboard_plugin_dlprof.queries.memory_answers import MemoryCurve
from tensorboard_plugin_dlprof.reports import phases
from tensorboard_plugin_dlprof.reports.charts import WIDTH
from tensorboard_plugin_dlprof.reports.held import colour_of, rows_of
from tensorboard_plugin_dlprof.reports.markup import duration, keys, section
from tensorboard_plugin_dlprof.units import size

_BINS = 360
_HEIGHT = 180
_TOP = 18
"""Above the curve, where its marks are named."""
_LEFT = 8.0
"""What the sizes at the left take, in percent of the width."""

_ROOM = 1.12
"""How high the axis is, of what is in use or reserved at most."""
_MOST_TIMES = 2
"""A capacity that is farther above would press the curve down."""

_LARGE_FLOOR = 0.6
_ABOVE_CUT = 0.1
_CUT = 14
"""A floor of more of the most in use presses what changes to a line: the axis is cut below it, and what is left of the
part that is cut out is so high. As ``model/memory_curve.ts`` has them."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEPS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
_MOST_ITERATIONS = 100
_NUMBER = 5.0
"""What the number of an iteration takes, in percent of the width."""
_RIGHT = 85
"""From here on the name of the peak stands at the left of its line."""


def over_time(connection: sqlite3.Connection, device: str, each: dict[str, Any], note: str = "") -> str:
    """The section about a GPU of which allocations were recorded; ``each`` is its part of the answer about memory."""
    data = memory_curve(connection, int(device), None, None, _BINS)
    most = max([*data["in_use_max_bytes"], *(data["reserved_max_bytes"] or []), 1])
    capacity = data["capacity_bytes"]
    if capacity is not None and capacity >= _MOST_TIMES * most:
        capacity = None
    axis = _Axis(data, max(_ROOM * most, 1.04 * (capacity or 0)))
    drawing = "".join(_shapes(data, axis))
    sizes = "".join(_sizes(axis, each["relative"]))
    marks = "".join([*_capacity(axis, capacity), *_moments(data, each, axis)])
    label = f"Memory in use on GPU {device} over time: at most {size(each['peak_bytes'])}"
    picture = (
        f'<svg role="img" class="curve" aria-label="{label}">{sizes}'
        f'<svg x="{_LEFT}%" y="{_TOP}" width="{100 - _LEFT}%" height="{_HEIGHT}" viewBox="0 0 {WIDTH} {_HEIGHT}" '
        f'preserveAspectRatio="none">{drawing}</svg>{marks}</svg>'
    )
    of_driver = any(row["category"] == "taken from the driver" for row in each["at_peak"])
    title = "Memory taken from the driver" if of_driver else "Memory over time"
    notes = " ".join(filter(None, [note, *_notes(data, each, axis)]))
    above, legend = phases.strip(data["phases"], data["from"], data["to"], _LEFT)
    return section(f"{title}, GPU {device}", notes, above + picture + legend + _at_peak(data, each))


class _Axis:
    """From bytes to heights, from moments to percents of the width."""

    def __init__(self, data: MemoryCurve, top: float) -> None:
        self.top, self.first, self.last = top, data["from"], data["to"]
        floor = min(data["categories"][0]["bytes"], default=0) if data["categories"] else 0
        is_large = floor > _LARGE_FLOOR * max(data["in_use_max_bytes"])
        self.cut = max(floor - _ABOVE_CUT * (top - floor), 0) if is_large else 0

    def y(self, num_bytes: float) -> float:
        if num_bytes < self.cut:
            return _HEIGHT - num_bytes / self.cut * _CUT
        low = _HEIGHT - (_CUT if self.cut else 0)
        return (1 - (num_bytes - self.cut) / (self.top - self.cut)) * low

    def x(self, moment: float) -> float:
        share = (moment - self.first) / max(self.last - self.first, 1)
        return _LEFT + (100 - _LEFT) * min(max(share, 0), 1)


def _shapes(data: MemoryCurve, axis: _Axis) -> Iterator[str]:
    """What is in use by category, from above, and what is reserved."""
    in_use, reserved = data["in_use_max_bytes"], data["reserved_max_bytes"]
    sums = list(accumulate((each["bytes"] for each in data["categories"]), _added))
    layers = [(each["category"], upto) for each, upto in zip(data["categories"], sums, strict=True)]
    for category, upto in reversed(layers or [("unknown", in_use)]):
        shape = f"{_line(upto, axis)}V{_HEIGHT}H0z"
        yield f'<path class="{colour_of(category)}" d="{shape}"><title>{escape(category)}</title></path>'
    yield f'<path class="outline" d="{_line(in_use, axis)}"/>'
    if reserved is not None:
        yield f'<path class="reserved" d="{_line(reserved, axis)}"/>'
    if axis.cut:
        yield f'<path class="cut-out" d="M0 {_HEIGHT - _CUT}H{WIDTH}"/>'


def _added(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [low + high for low, high in zip(one, other, strict=True)]


def _line(values: Sequence[int], axis: _Axis) -> str:
    """Steps over the bins, those of one height as one."""
    heights, wide, at, shape = [f"{axis.y(value):.1f}" for value in values], WIDTH / len(values), 0, ""
    for height, run in groupby(heights):
        at += len(list(run))
        shape += f"{'V' if shape else 'M0 '}{height}H{at * wide:.1f}"
    return shape


def _sizes(axis: _Axis, relative: bool) -> Iterator[str]:
    """Up to five round sizes; 0 is one of them."""
    power = max(place for place in range(len(_UNITS)) if place == 0 or axis.top >= 1024**place)
    unit, name = 1024.0**power, _UNITS[power]
    step = unit * next((each for each in _STEPS if (axis.top - axis.cut) / (each * unit) < 5), 1000)
    first = -(-axis.cut // step)
    for num_bytes in [0.0, *((first + number) * step for number in range(5) if first + number > 0)]:
        if num_bytes >= axis.top:
            break
        text = f"{'+' * relative}{num_bytes / unit:g} {name}"
        if not num_bytes:
            text = "start" if relative else "0"
        y = _TOP + axis.y(num_bytes)
        yield f'<line class="grid" x1="{_LEFT}%" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="end" x="{_LEFT - 0.6}%" y="{y + 4:.1f}">{text}</text>'


def _capacity(axis: _Axis, capacity: int | None) -> Iterator[str]:
    if capacity is not None:
        y = _TOP + axis.y(capacity)
        yield f'<line class="capacity" x1="{_LEFT}%" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT + 0.6}%" y="{y - 4:.1f}">the GPU\'s {size(capacity)}</text>'


def _moments(data: MemoryCurve, each: dict[str, Any], axis: _Axis) -> Iterator[str]:
    """The peak, allocations that failed, where iterations begin, and both ends."""
    timed, bottom = data["unit"] == "ns", _TOP + _HEIGHT
    peak = axis.x(data["peak_at"])
    # Beside the line at the side where there is room.
    kind, beside = (' class="end"', -0.4) if peak > _RIGHT else ("", 0.4)
    yield f'<text{kind} x="{peak + beside:.2f}%" y="{_TOP - 5}">peak</text>'
    marks = [("mark", peak), *(("failed", axis.x(at)) for at in _failed(data, each))]
    for kind, x in marks:
        yield f'<line class="{kind}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_TOP - 14}" y2="{bottom}"/>'
    yield from _iterations(each["iterations"] if timed else [], axis, bottom)
    for at, x, kind in ((data["from"], _LEFT, ""), (data["to"], 100, ' class="end"')):
        text = duration(at) if timed else "start" if at < 0 else f"event {at:,}"
        yield f'<text{kind} x="{x}%" y="{bottom + 28}">{text}</text>'


def _iterations(rows: Sequence[Mapping[str, Any]], axis: _Axis, bottom: int) -> Iterator[str]:
    """Where iterations begin, with the numbers that have room; none of only one, which tells no moments."""
    begun = sum(row["start_ns"] <= axis.first for row in rows)
    inside = [row for row in rows[max(begun - 1, 0) :] if row["start_ns"] < axis.last]
    if not 1 < len(inside) <= _MOST_ITERATIONS:
        return
    yield f'<text class="end" x="{_LEFT - 0.6}%" y="{bottom + 14}">iteration</text>'
    free = 0.0
    for row in inside:
        x = axis.x(row["start_ns"])
        yield f'<line class="begin" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_TOP}" y2="{bottom + 14}"/>'
        if x >= free:
            yield f'<text x="{x + 0.4:.2f}%" y="{bottom + 14}">{row["number"]:,}</text>'
            free = x + _NUMBER


def _failed(data: MemoryCurve, each: dict[str, Any]) -> list[int]:
    key = "time_ns" if data["unit"] == "ns" else "event"
    return [row[key] for row in each["out_of_memory"] if row[key] is not None]


def _notes(data: MemoryCurve, each: dict[str, Any], axis: _Axis) -> Iterator[str]:
    if _failed(data, each):
        yield "Solid lines: allocations failed, out of memory."
    if data["reserved_max_bytes"] is not None:
        yield "Dashed: reserved by the allocator."
    if axis.cut:
        yield f"The axis is cut between 0 and {size(axis.cut)}, which is in use all the time."
    if data["unit"] == "events":
        yield "The recording has no times: the axis counts events."


def _at_peak(data: MemoryCurve, each: dict[str, Any]) -> str:
    """What is held at the peak by category, the legend of the curve; nothing where nothing tells what it is."""
    rows = rows_of(each)
    if all(row["category"] == "unknown" and row["blocks"] is None for row in each["at_peak"]):
        return ""
    told = [(colour, name, ", ".join(filter(None, [amount, share]))) for colour, name, amount, share, _ in rows]
    # What the curve shows at other moments.
    names = {name for _, name, _ in told}
    others = [row["category"] for row in reversed(data["categories"]) if row["category"] not in names]
    besides = f"<p>At other moments:</p>{keys([(colour_of(name), name, '') for name in others])}" if others else ""
    held = f"<p class=faint>{escape(each['held_before'])}</p>" if each["held_before"] else ""
    most = f"{size(each['peak_bytes'])} {'more than at the start' if each['relative'] else each['peak_of']}"
    return f"<p>At the peak: {most}.</p>{keys(told)}{held}{besides}"
