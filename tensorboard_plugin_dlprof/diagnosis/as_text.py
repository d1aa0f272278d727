"""The diagnosis in words, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.parts import BUSY, COMPUTE, NAMES
from tensorboard_plugin_dlprof.units import narrow_percentage, short_duration

_INCOMPLETE = {
    "missing_work": "for what launched work waited",
    "launches_without_work": "the work of some launches",
    "work_without_launch": "the launches of some GPU work",
    "graphs_whole": "the kernels inside CUDA graphs",
}

_ROWS = 3


def text_of(diagnosis: Mapping[str, Any]) -> str:
    """The object of ``as_data.as_data`` as text that ends in a newline."""
    return "".join(f"{line}\n" for line in _lines(diagnosis))


def _lines(diagnosis: Mapping[str, Any]) -> Iterator[str]:
    yield diagnosis["headline"]
    yield from filter(None, [_counted(diagnosis)])
    wall = diagnosis["mean"]["wall_ns"]
    unit = diagnosis["matrix_unit"]
    for device, mean in diagnosis["mean"]["devices"].items():
        yield ""
        yield f"GPU {device}, {_span(diagnosis)} {short_duration(wall)}"
        for part, time in sorted(mean["parts"].items(), key=lambda item: -item[1]):
            if not time:
                continue
            share = narrow_percentage(time / wall) if wall else ""
            name = f"{_kind(part, diagnosis['lower_bound'])}{NAMES[part].format(unit=unit)}"
            yield f"  {short_duration(time):>9}  {share:>7}  {name}"
            places = Counter[str]()  # One place may be on several threads.
            for row in mean["rows"]:
                if row["part"] == part and (row["path"] or row["call"]):
                    places[" in ".join(filter(None, (row["call"], row["path"])))] += row["time_ns"]
            for place, spent in sorted(places.items(), key=lambda item: (item[0] == "(rest)", -item[1]))[:_ROWS]:
                yield f"  {'':>18}  {short_duration(spent):>9}  {place}"
    if diagnosis["lower_bound"]:
        yield ""
        yield f"Not recorded: {'; '.join(_INCOMPLETE[reason] for reason in diagnosis['lower_bound'])}."
    for number, finding in enumerate(diagnosis["findings"], start=1):
        yield ""
        yield f"{number}. {'Whole job: ' if finding.get('whole_job') else ''}{finding['title']}"
        if finding["action"]:
            yield f"   {finding['action']}"


def _counted(diagnosis: Mapping[str, Any]) -> str:
    """Which iterations means are of: why the typical ones, or how many were asked for."""
    count, asked = len(diagnosis["iterations"]), diagnosis["mean"]["selected"]
    if asked == [position for position, each in enumerate(diagnosis["iterations"]) if each["typical"]]:
        return str(diagnosis["typical"]["said"])
    return f"All {count:,} iterations." if len(asked) == count else f"{len(asked):,} of {count:,} iterations."


def _span(diagnosis: Mapping[str, Any]) -> str:
    count = diagnosis["mean"]["iterations"]
    if not diagnosis["marked"]:
        return "from the first to the last GPU work:"
    return "the iteration:" if count == 1 else f"mean of {count:,} iterations:"


def _kind(part: str, incomplete: Collection[str]) -> str:
    """What the name of a part is a kind of: computing, or idle time, as far as that is known."""
    if part in _COMPUTE:
        return "Computing: "
    return "" if part in _BUSY or (part == "queued" and "missing_work" in incomplete) else "Idle: "


_COMPUTE = frozenset(part.label for part in COMPUTE)
_BUSY = frozenset(part.label for part in BUSY)
