"""The sections of an HTML report that the diagnosis gives: the sentence, the iteration as a bar, key numbers, what to
change first, the iterations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import median
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.answer import USED_FRACTION
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, NAMES
from tensorboard_plugin_dlprof.diagnosis.parts import Part as GpuPart
from tensorboard_plugin_dlprof.reports import charts
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.markup import keys, section, share, typeset
from tensorboard_plugin_dlprof.units import column_unit, in_unit, short_duration, short_range, significant

Diagnosis = Mapping[str, Any]
"""As ``diagnosis.as_data.as_data`` makes it."""

_COLOURS = {
    "compute_tensor": "tensor_core",
    "compute_other": "other_kernel",
    "compute_unknown": "unknown_kernel",
    "copy": "memory",
    "host_op": "cpu",
    "unrecorded": "other",
}
"""The class of the colour of a part, as on the Dashboard, where it is not the part's own."""

_MOST_TIMES_MEDIAN = 4
"""How much longer than the median an iteration is drawn, so that others can be seen beside it."""

_COMPUTE = tuple(part.label for part in COMPUTE)
_BUSY = tuple(part.label for part in GpuPart if part < GpuPart.QUEUED)

_LEAST_SHARE = 0.01
"""What must be of an iteration for its cause to be named in the sentence."""

MOST_FINDINGS = 10
MOST_COLUMNS = 200

FEW = 12
"""Up to so many iterations are bars with their names; more are columns."""

_SKEWED = 0.2
"""How far the median is from the mean, as a share of it, where few long iterations make the mean."""

Tile = tuple[str, str, str]
"""Name, value and meaning of a key number."""


def sentence(diagnosis: Diagnosis, unit: str) -> Iterator[str]:
    """The headline; below it, if a GPU worked, the bar of an iteration."""
    device = _least_computing(diagnosis)
    if device is None:
        yield f"<section><p class=answer>{typeset(diagnosis['headline'])}</p></section>"
        return
    wall = diagnosis["mean"]["wall_ns"]
    parts = _shown(diagnosis["mean"]["devices"][device]["parts"], unit)
    said = f"<p>{typeset(diagnosis['typical']['said'])}</p>" if diagnosis["typical"]["said"] else ""
    bar = charts.stacked_bar(
        f"Where the {short_duration(wall)} of {'an iteration' if diagnosis['marked'] else 'the recording'} go",
        [Part(ns, colour, f"{name}: {short_duration(ns)}, {_share(ns, wall)}") for name, colour, ns in parts],
    )
    amounts = keys([(colour, name, f"{short_duration(ns)}, {_share(ns, wall)}") for name, colour, ns in parts])
    yield f"<section><p class=answer>{typeset(diagnosis['headline'])}</p>{said}{bar}{amounts}</section>"


def tiles(diagnosis: Diagnosis, rates: Sequence[Tile] = ()) -> list[Tile]:
    """The key numbers of an iteration, as the Dashboard has them; none if no GPU worked.

    Args:
        diagnosis: of the profile.
        rates: samples or tokens a second, where they are known.
    """
    device = _least_computing(diagnosis)
    if device is None:
        return []
    mean = diagnosis["mean"]["devices"][device]
    wall, parts, overlap = diagnosis["mean"]["wall_ns"], mean["parts"], mean["overlap"]
    compute = sum(parts[part] for part in _COMPUTE)
    least = "at least " if {"missing_work", "launches_without_work"} & set(diagnosis["lower_bound"]) else ""
    shown = []
    if diagnosis["marked"]:
        count = diagnosis["mean"]["iterations"]
        walls = [row["wall_ns"] for row in diagnosis["iterations"] if row["typical"]]
        unit, length = column_unit([wall])
        spread = f", ± {in_unit(_deviation(walls), length)} {unit}" if len(walls) > 1 else ""
        if walls and abs(median(walls) - wall) > _SKEWED * wall:
            spread = f"; the median is {short_duration(round(median(walls)))}"
        shown += [
            (
                "Iteration time",
                short_duration(wall),
                f"The mean of {count:,}{spread}." if count > 1 else "The only one.",
            ),
            *(rates or [("Iterations a second", significant(1e9 / wall) if wall else "unknown", "From their mean.")]),
        ]
    else:
        shown.append(
            ("Recorded", short_duration(wall), "From the first to the last GPU work; no iterations are marked.")
        )
        shown += rates
    shown.append(
        ("Computing", f"{least}{_share(compute, wall)}", f"{short_duration(compute)} of {short_duration(wall)}.")
    )
    for part, name, doing in (("communication", "communication", "It ran"), ("copy", "copies", "They ran")):
        whole = overlap[f"{part}_all_ns"]
        if whole and parts[part] >= (_LEAST_SHARE * wall if part == "copy" else 1):
            hidden = f"{doing} {short_duration(whole)}, of which {_share(whole - parts[part], whole)} hidden."
            shown.append((f"Exposed {name}", _share(parts[part], wall), hidden))
            break
    return shown


def changes(diagnosis: Diagnosis) -> Iterator[str]:
    """What to change, in the order in which to work on it, each with what it would gain of an iteration."""
    findings: Sequence[Mapping[str, Any]] = diagnosis["findings"]
    if not findings:
        return
    items = "".join(
        f"<li>{_gain(finding)}<div><strong>{escape(finding['heading'])}</strong>"
        f"<div class=faint>{typeset(finding['title'])}</div>"
        f"<div class=action>{typeset(finding['action'])}</div>{_untold(finding['gain'])}</div></li>"
        for finding in findings[:MOST_FINDINGS]
    )
    more = len(findings) - MOST_FINDINGS
    cut = f"<p class=cut>{more} more: see the page Recommendations.</p>" if more > 0 else ""
    whole = "an iteration" if diagnosis["marked"] else "the recording"
    note = (
        f"A bar is as long as {whole}; its coloured part is what that could become shorter by, the dark part at least."
    )
    yield section("Recommendations", note, f"<ol class=changes>{items}</ol>{cut}")


def iterations(diagnosis: Diagnosis, unit: str) -> Iterator[str]:
    """A bar or column for each iteration, split like that of the answer; nothing for a single one, which that shows."""
    device, rows = _least_computing(diagnosis), diagnosis["iterations"]
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
    longest, middle = max(walls), round(median(walls))
    note = (
        f"{rows[0]['label']} to {rows[-1]['label']}. Of those that count, the median is "
        f"{short_duration(middle)} and the longest {short_duration(longest)}."
    )
    longest_of_all = max(row["wall_ns"] for row in rows)
    most = min(_MOST_TIMES_MEDIAN * middle or longest_of_all, longest_of_all)
    if longest_of_all > most:
        note += f" Bars are cut at {short_duration(most)}."
    names = [f"{row['label']}{'' if row['typical'] else ', left out'}" for row in rows]
    yield section("Iterations", note, durations(names, [row["wall_ns"] for row in rows], stacks, most))


def durations(names: Sequence[str], walls_ns: Sequence[int], stacks: Sequence[Sequence[Part]], most_ns: float) -> str:
    """The iterations as columns; few of them as bars with their names, since wide columns are a wall of colour."""
    name = "Duration of the iterations"
    if len(stacks) > FEW:
        return charts.columns(name, stacks, most_ns)
    rows = "".join(
        f"<tr><th scope=row>{escape(each)}</th><td>{charts.stacked_bar(f'{name}: {each}', stack, most_ns)}</td>"
        f"<td class=n>{short_duration(wall)}</td></tr>"
        for each, wall, stack in zip(names, walls_ns, stacks, strict=True)
    )
    return f"<table class=bars>{rows}</table>"


def _untold(gain: Mapping[str, Any] | None) -> str:
    """Why it is not known what a finding gains, where there is a reason."""
    reason = ((gain or {}).get("cannot_tell") or "").rstrip(".")
    return f"<div class=faint>Gain not known: {typeset(reason)}.</div>" if reason else ""


def _gain(finding: Mapping[str, Any]) -> str:
    gain, time = finding["gain"], finding.get("time_ns")
    if gain is None or gain["low_ns"] is None or gain["high_ns"] is None:
        # As ``model/findings.ts`` has it: the time in question, where there is one.
        of = finding.get("share")
        about = "" if time is None or of is None else f"{short_duration(time)}, {share(of)}<br>"
        why = "gain not known" if gain is not None or about else "no gain in time"
        return (
            f"<div class=faint>{about}{'happens once' if finding.get('per') == 'once' and gain is None else why}</div>"
        )
    low, high = gain["low_ns"], gain["high_ns"]
    text = short_range(low, high) if low else f"up to {short_duration(high)}"
    ends = share(gain["share_low"]), share(gain["share_high"])
    part = (
        ends[1] if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}" if low else f"up to {ends[1]}"
    )
    bar = charts.whisker(f"Could gain {text}", gain["share_low"], gain["share_high"])
    return f"<div>{bar}{escape(text)}<div class=faint>{escape(part)}</div></div>"


def _least_computing(diagnosis: Diagnosis) -> str | None:
    """The GPU that the headline is about: none that only copies, or works now and then, beside one that computes."""
    devices = diagnosis["mean"]["devices"]
    busy = {each: sum(device["parts"][part] for part in _BUSY) for each, device in devices.items()}
    kernels = {each: busy[each] - device["parts"][GpuPart.COPY.label] for each, device in devices.items()}
    least, computes = USED_FRACTION * max(busy.values(), default=0), any(kernels.values())
    working = [each for each in devices if busy[each] >= least and (kernels[each] or not computes)]
    return min(working, key=lambda each: sum(devices[each]["parts"][part] for part in _COMPUTE), default=None)


def _deviation(walls: Sequence[int]) -> float:
    mean = sum(walls) / len(walls)
    return math.sqrt(sum((wall - mean) ** 2 for wall in walls) / len(walls))


def _shown(parts: Mapping[str, int], unit: str) -> list[tuple[str, str, int]]:
    named = ((name, _COLOURS.get(part, part), parts.get(part, 0)) for part, name in NAMES.items())
    return [(name.format(unit=unit), colour, ns) for name, colour, ns in named if ns]


def _share(ns: int, wall: int) -> str:
    return share(ns / wall) if wall else ""
