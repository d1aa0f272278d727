"""The first sections of an HTML report, from the diagnosis: the sentence, the step as one bar, what to change first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.parts import NAMES
from tensorboard_plugin_dlprof.reports import charts
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.markup import legend, section
from tensorboard_plugin_dlprof.units import percentage, short_duration

Diagnosis = Mapping[str, Any]
"""As ``diagnosis.as_data.as_data`` makes it."""

_COLOURS = {
    "compute_tensor": "tensor_core",
    "compute_other": "other_kernel",
    "compute_unknown": "unknown_kernel",
    "copy": "memory",
    "host_op": "cpu",
    "unrecorded": "other",
    "launch_unknown": "other",
}
"""The class of the colour of a part, as on the Dashboard, where it is not the part's own."""

MOST_FINDINGS = 10
MOST_COLUMNS = 200


def sentence(found: Diagnosis, unit: str) -> Iterator[str]:
    """The headline with the bar of a step below it. Nothing if no GPU worked."""
    device = _least_computing(found)
    if device is None:
        return
    wall = found["mean"]["wall_ns"]
    parts = _shown(found["mean"]["devices"][device]["parts"], unit)
    said = f"<p>{escape(found['typical']['said'])}</p>" if found["typical"]["said"] else ""
    bar = charts.stacked_bar(
        f"Where the {short_duration(wall)} of a step go",
        [Part(ns, colour, f"{name}: {short_duration(ns)}, {_share(ns, wall)}") for name, colour, ns in parts],
    )
    rows = [(colour, name, short_duration(ns), _share(ns, wall)) for name, colour, ns in parts]
    table = legend(("A step" if found["marked"] else "The recording", "Time", "Share"), rows)
    yield f"<section><p class=answer>{escape(found['headline'])}</p>{said}{bar}{table}</section>"


def changes(found: Diagnosis) -> Iterator[str]:
    """What to change, in the order in which to work on it, each with what it would gain on the scale of the step."""
    findings: Sequence[Mapping[str, Any]] = found["findings"]
    if not findings:
        return
    items = "".join(
        f"<li>{_gain(finding['gain'])}<div><strong>{escape(finding['title'])}</strong>"
        f"<div>{escape(finding['action'])}</div></div></li>"
        for finding in findings[:MOST_FINDINGS]
    )
    more = len(findings) - MOST_FINDINGS
    cut = f"<p class=cut>{more} more: see the page Recommendations.</p>" if more > 0 else ""
    note = "The bar is what a step could become shorter by: at least its dark part, at most all of it."
    yield section("Recommendations", note, f"<ol class=changes>{items}</ol>{cut}")


def iterations(found: Diagnosis, unit: str) -> Iterator[str]:
    """A column for each iteration, split like the step's bar; nothing for a single one, which that bar shows."""
    device, rows = _least_computing(found), found["iterations"]
    if device is None or not 1 < len(rows) <= MOST_COLUMNS:
        return
    stacks = []
    for row in rows:
        name, wall = row["label"], row["wall_ns"]
        if not row["typical"] or device not in row["devices"]:
            stacks.append([Part(wall, "outside", f"{name}: {short_duration(wall)}, left out of the means")])
            continue
        parts = _shown(row["devices"][device]["parts"], unit)
        stacks.append([Part(ns, colour, f"{name}: {what} {short_duration(ns)}") for what, colour, ns in parts])
    walls = [row["wall_ns"] for row in rows if row["typical"]] or [row["wall_ns"] for row in rows]
    longest, median = max(walls), sorted(walls)[(len(walls) - 1) // 2]
    note = (
        f"{rows[0]['label']} to {rows[-1]['label']}. The median is {short_duration(median)}, the longest "
        f"{short_duration(longest)}; what is longer than 1.5 times that, and was left out, is cut."
    )
    yield section("Iterations", note, charts.columns("Duration of the iterations", stacks, 1.5 * longest))


def _gain(gain: Mapping[str, Any] | None) -> str:
    if gain is None or gain["low_ns"] is None or gain["high_ns"] is None:
        return f"<div class=faint>{'no gain in time' if gain is None else 'gain not known'}</div>"
    low, high = short_duration(gain["low_ns"]), short_duration(gain["high_ns"])
    text = high if low == high else f"{low} to {high}" if gain["low_ns"] else f"up to {high}"
    return f"<div>{charts.whisker(f'Could gain {text}', gain['share_low'], gain['share_high'])}{escape(text)}</div>"


def _least_computing(found: Diagnosis) -> str | None:
    """The GPU that the headline is about."""
    devices = found["mean"]["devices"]
    compute = ("compute_tensor", "compute_other", "compute_unknown")
    return min(devices, key=lambda each: sum(devices[each]["parts"][part] for part in compute), default=None)


def _shown(parts: Mapping[str, int], unit: str) -> list[tuple[str, str, int]]:
    named = ((name, _COLOURS.get(part, part), parts.get(part, 0)) for part, name in NAMES.items())
    return [(name.format(unit=unit), colour, ns) for name, colour, ns in named if ns]


def _share(ns: int, wall: int) -> str:
    return percentage(ns / wall) if wall else ""
