"""The sections of an HTML report that the diagnosis gives: the sentence, the iteration as a bar, key numbers, what to
change first, the iterations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from statistics import median
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.as_data import least_computing
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, NAMES
from tensorboard_plugin_dlprof.reports import charts
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.markup import answer, keys, section, share, typeset, with_code
from tensorboard_plugin_dlprof.reports.proof import proof
from tensorboard_plugin_dlprof.units import column_unit, in_unit, short_duration, short_range, significant

Diagnosis = Mapping[str, Any]
"""As ``diagnosis.as_data.as_data`` makes it."""

COLOURS = {
    "compute_tensor": "tensor_core",
    "compute_other": "other_kernel",
    "compute_unknown": "unknown_kernel",
    "copy": "memory",
    "host_op": "cpu",
    "unrecorded": "other",
}
"""The class of the colour of a part, as on the Dashboard, where it is not the part's own."""

_MANY_TIMES = 3
"""How many times as long as the next longest iteration one is that is cut, so that others can be seen beside it."""

MOST_NAMED = 4
"""Of so many iterations that are cut it is said how long they are."""

_COMPUTE = tuple(part.label for part in COMPUTE)

_LEAST_SHARE = 0.01
"""What must be of an iteration for its cause to be named in the sentence."""

_PARTS = ("", "To weigh: these change results, too", "Also")
"""The headings of the parts of the findings, as on Recommendations: changes, those that change results, notes."""

MOST_FINDINGS = 10
MOST_COLUMNS = 200

FEW = 12
"""Up to so many iterations are bars with their names; more are columns."""

_SKEWED = 0.2
"""How far the median is from the mean, as a share of it, where few long iterations make the mean."""

_MOSTLY_BUSY = 0.85
"""Where kernels run for more of the time, faster ones shorten iterations nearly as much."""

Tile = tuple[str, str, str]
"""Name, value and meaning of a key number."""


def missing_of_queued_ns(diagnosis: Diagnosis, device: str) -> int:
    """How much of a GPU's queued time GPU work is missing from; 0 where that is not most of it."""
    means = diagnosis["mean"]["devices"][device]
    missing_ns: int = means["queued"]["graph"] + means["queued"]["unexplained"]
    is_missing = any(finding["missing_work"] for finding in diagnosis["findings"])
    return missing_ns if is_missing and 2 * missing_ns > means["parts"]["queued"] else 0


def sentence(
    diagnosis: Diagnosis, unit: str, host: Sequence[tuple[str, str, int]] = (), iterations: int = 1
) -> Iterator[str]:
    """The headline; below it the bar of an iteration: if no GPU worked, that of ``host``, the parts of its time, which
    the headline does not name: means of so many ``iterations``."""
    device = least_computing(diagnosis)
    if device is None:
        whole = "an iteration" if diagnosis["marked"] else "the recording"
        wall = sum(ns for _, _, ns in host)
        mean = f", the mean of {iterations:,} iterations" if iterations > 1 else ""
        bar = f"<p>{typeset(f'The bar is {short_duration(wall)}{mean}.')}</p>{_bar(host, wall, whole)}" if host else ""
        yield f"<section><p class=answer>{answer(diagnosis['headline'])}</p>{bar}</section>"
        return
    wall = diagnosis["mean"]["wall_ns"]
    means = diagnosis["mean"]["devices"][device]
    parts = _shown(means["parts"], unit)
    # As on the Dashboard: the bar says of that time what the sentence does.
    if missing_ns := missing_of_queued_ns(diagnosis, device):
        at = next(i for i, (_, colour, _) in enumerate(parts) if colour == "queued")
        name, colour, ns = parts[at]
        parts[at : at + 1] = [(f"{name}, GPU work missing", "missing", missing_ns), (name, colour, ns - missing_ns)]
    said = f"<p>{typeset(_said(diagnosis))}</p>" if diagnosis["typical"]["said"] else ""
    bar = _bar(parts, wall, "an iteration" if diagnosis["marked"] else "the recording")
    yield f"<section><p class=answer>{answer(diagnosis['headline'])}</p>{said}{bar}</section>"


def _bar(parts: Sequence[tuple[str, str, int]], wall: int, whole: str) -> str:
    """The bar of an iteration with its legend; of each part its name, the class of its colour, and its time."""
    parts = _with_rest(parts, wall)
    told = [(colour, name, f"{short_duration(ns)}, {_share(ns, wall)}") for name, colour, ns in parts]
    named = [
        # A time alone would not say whose it is.
        (Part(ns, colour, f"{name}: {amount}"), (f"{name} {short_duration(ns)}", name, name.partition(",")[0]))
        for (name, colour, ns), (_, _, amount) in zip(parts, told, strict=True)
    ]
    return charts.named_bar(f"Where the {short_duration(wall)} of {whole} go", named) + keys(told)


def _said(diagnosis: Diagnosis) -> str:
    """Which iterations means are of, as on the Dashboard."""
    typical, count = diagnosis["typical"], len(diagnosis["iterations"])
    is_all = count == typical["stop"] - typical["start"] + 1 and not (typical["why"] or typical["left_out"])
    said = str(typical["said"])
    return re.sub(r"^.*? recorded\.", f"All {count:,} iterations.", said) if is_all and count > 1 else said


def _with_rest(parts: Sequence[tuple[str, str, int]], wall: int) -> list[tuple[str, str, int]]:
    """The parts, those of less than a hundredth but communication as one, as on the Dashboard."""
    return _folded(parts, _large(parts, wall))


def _large(parts: Sequence[tuple[str, str, int]], wall: int) -> set[str]:
    return {name for name, colour, ns in parts if ns >= _LEAST_SHARE * wall or colour == "communication"}


def _folded(parts: Sequence[tuple[str, str, int]], large: set[str]) -> list[tuple[str, str, int]]:
    rest = sum(ns for name, _, ns in parts if name not in large)
    return [part for part in parts if part[0] in large] + ([("Rest", "outside", rest)] if rest else [])


def tiles(diagnosis: Diagnosis, rates: Sequence[Tile] = (), units: Sequence[Tile] = ()) -> list[Tile]:
    """The key numbers of an iteration, as the Dashboard has them; none if no GPU worked.

    Args:
        rates: samples or tokens a second, where they are known.
        units: the use of matrix units.
    """
    device = least_computing(diagnosis)
    if device is None:
        return []
    mean = diagnosis["mean"]["devices"][device]
    wall, parts, overlap = diagnosis["mean"]["wall_ns"], mean["parts"], mean["overlap"]
    compute = sum(parts[part] for part in _COMPUTE)
    least = _at_least(diagnosis)
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
        shown.append(("First to last GPU work", short_duration(wall), "No iterations are marked."))
        shown += rates
    shown.append(
        ("Computing", f"{least}{_share(compute, wall)}", f"{short_duration(compute)} of {short_duration(wall)}.")
    )
    shown += units
    for part, name, doing in (("communication", "communication", "It ran"), ("copy", "copies", "They ran")):
        whole = overlap[f"{part}_all_ns"]
        if whole and parts[part] >= (_LEAST_SHARE * wall if part == "copy" else 1):
            hidden = f"{doing} {short_duration(whole)}, of which {_share(whole - parts[part], whole)} hidden."
            shown.append((f"Exposed {name}", _share(parts[part], wall), hidden))
            break
    return shown


def changes(diagnosis: Diagnosis) -> Iterator[str]:
    """What to change, in the order in which to work on it, each with what it would gain of an iteration."""
    # Which iterations count stands below the sentence, and is chosen on a page that a report does not have.
    findings = [finding for finding in diagnosis["findings"] if finding.get("rule") != "iteration_range_detector"]
    if not findings:
        return
    findings.sort(key=_part)
    shown = ""
    for part, group in groupby(enumerate(findings[:MOST_FINDINGS]), key=lambda each: _part(each[1])):
        items = "".join(_item(finding, findings[:place], diagnosis["marked"]) for place, finding in group)
        shown += f"{_PARTS[part] and f'<h3>{_PARTS[part]}</h3>'}<ol class=changes>{items}</ol>"
    more = len(findings) - MOST_FINDINGS
    cut = f"<p class=cut>{more} more are left out.</p>" if more > 0 else ""
    whole = "an iteration" if diagnosis["marked"] else "the recording"
    note = f"Bars are shares of {whole}: the first part is gained at least, both are at most."
    if any(finding.get("share") is not None and not _is_known(finding["gain"]) for finding in findings):
        note += " An outline is time of which the gain is not known."
    yield section("Recommendations", note, f"{shown}{cut}")


def _part(finding: Mapping[str, Any]) -> int:
    """Which of ``_PARTS`` a finding is of."""
    return 0 if finding.get("severity") != "info" else 2 if finding["gain"] is None else 1


def _item(finding: Mapping[str, Any], before: Sequence[Mapping[str, Any]], marked: bool) -> str:
    return (
        f"<li>{_gain(finding)}<div>{_head(finding, before)}"
        f"<div class=faint>{typeset(finding['title'])}</div>"
        f"<div class=action>{with_code(finding['action'])}{_read_more(finding)}</div>"
        f"{_untold(finding['gain'])}{proof(finding, marked)}</div></li>"
    )


def _head(finding: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    """What a finding is called, which of those before it are about the same time, at the right how sure it is, and
    whether all ranks tell it, as on Recommendations."""
    whole = "whole job, " if finding.get("whole_job") else ""
    sure = f"{whole}confidence {finding['confidence']}"
    overlaps = finding.get("overlaps_with") or ()
    same = " and ".join(f"“{other['heading']}”" for other in before if other.get("rule") in overlaps)
    beside = f" <span class=faint>overlaps {escape(same)}: their gains do not add up</span>" if same else ""
    return f"<span class='faint sure'>{sure}</span><strong>{escape(finding['heading'])}</strong>{beside}"


def _read_more(finding: Mapping[str, Any]) -> str:
    """Where the documentation tells more, as on Recommendations."""
    link = str(finding.get("link") or "")
    if not link.startswith("https://"):
        return ""
    return f' <a href="{escape(link)}" rel="noreferrer" target="_blank">Read\N{NO-BREAK SPACE}more</a>'


def iterations(diagnosis: Diagnosis, unit: str) -> Iterator[str]:
    """A bar or column for each iteration, split like that of the answer; nothing for a single one, which that shows."""
    device, rows = least_computing(diagnosis), diagnosis["iterations"]
    if device is None or not 1 < len(rows) <= MOST_COLUMNS:
        return
    mine = [row["devices"][device]["parts"] for row in rows if device in row["devices"]]
    parts = _shown({part: sum(each[part] for each in mine) for part in NAMES}, unit)
    mean = _shown(diagnosis["mean"]["devices"][device]["parts"], unit)
    # What the bar at the top shows, this shows, however little it is beside a long warm-up.
    large = _large(parts, sum(ns for _, _, ns in parts)) | _large(mean, diagnosis["mean"]["wall_ns"])
    stacks = []
    for row in rows:
        name, wall = row["label"], row["wall_ns"]
        # As on the Dashboard: what is left out of the means is pale.
        left, pale = ("", "") if row["typical"] else (", left out of the means", " faded")
        own = _folded(_shown(row["devices"][device]["parts"], unit), large) if device in row["devices"] else []
        own = own or [("not on this GPU", "outside", wall)]
        stacks.append(
            [Part(ns, colour + pale, f"{name}{left}: {what} {short_duration(ns)}") for what, colour, ns in own]
        )
    walls = [row["wall_ns"] for row in rows if row["typical"]] or [row["wall_ns"] for row in rows]
    longest, middle = max(walls), round(median(walls))
    note = (
        f"{rows[0]['label']} to {rows[-1]['label']}. Of those that count, the median is "
        f"{short_duration(middle)} and the longest {short_duration(longest)}."
    )
    all_walls = [row["wall_ns"] for row in rows]
    most = longest_shown(all_walls)
    # What is known of the few that are cut stands beside their bars.
    cut = sorted((row for row in rows if row["wall_ns"] > most), key=lambda row: -row["wall_ns"])
    if cut and len(rows) > FEW:
        named = ", ".join(f"{row['label']} {short_duration(row['wall_ns'])}" for row in cut[:MOST_NAMED])
        note += f" Cut at {short_duration(most)}: {named}{', and others' if len(cut) > MOST_NAMED else ''}."
    names = [f"{row['label']}{'' if row['typical'] else ', left out'}" for row in rows]
    colours = keys([(colour, what, "") for what, colour, _ in _folded(parts, large)])
    yield section("Iterations", note, durations(names, all_walls, stacks, most) + colours)


def longest_shown(walls_ns: Sequence[int]) -> int:
    """How long an iteration is drawn: those are cut that are many times as long as the next longest one, never more
    than a quarter, as on the pages (``frontend/src/model/iterations.ts``)."""
    walls = sorted(walls_ns, reverse=True)
    most = (len(walls) + 1) // 4
    cut = [place + 1 for place in range(most) if walls[place] > _MANY_TIMES * walls[place + 1]]
    return max([*walls, 1][max(cut, default=0)], 1)


def durations(names: Sequence[str], walls_ns: Sequence[int], stacks: Sequence[Sequence[Part]], most_ns: float) -> str:
    """The iterations as columns; few of them as bars with their names, since wide columns are a wall of colour."""
    name = "Duration of the iterations"
    if len(stacks) > FEW:
        axis = f"<p class=axis>{short_duration(most_ns)}</p>"
        ends = f"<p class='axis ends'><span>{escape(names[0])}</span><span>{escape(names[-1])}</span></p>"
        return axis + charts.columns(name, stacks, most_ns) + ends
    rows = "".join(
        f"<tr><th scope=row>{escape(each)}</th><td>{charts.stacked_bar(f'{name}: {each}', stack, most_ns)}</td>"
        f"<td class=n>{short_duration(wall)}</td></tr>"
        for each, wall, stack in zip(names, walls_ns, stacks, strict=True)
    )
    return f"<table class=bars>{rows}</table>"


def _untold(gain: Mapping[str, Any] | None) -> str:
    """Why nobody can tell what a finding gains, or why it is nothing yet, where there is a reason."""
    if gain is None or not gain["cannot_tell"]:
        return ""
    reason = gain["cannot_tell"].rstrip(".")
    words = f"Gain not known: {reason}" if gain["most_ns"] is None else f"Gains {reason}"
    if gain["none_while"]:
        words = f"No gain{reason.removeprefix('none')}"
    return f"<div class=faint>{typeset(words)}.</div>"


def _is_known(gain: Mapping[str, Any] | None) -> bool:
    return gain is not None and gain["low_ns"] is not None and gain["high_ns"] is not None


def _gain(finding: Mapping[str, Any]) -> str:
    gain, time = finding["gain"], finding.get("time_ns")
    if gain is None or not _is_known(gain):
        # As ``model/findings.ts`` has it: the time in question, where there is one.
        of = finding.get("share")
        about = "" if time is None else f"{short_duration(time)}{'' if of is None else f', {share(of)}'}<br>"
        bar = "" if of is None else charts.outline(f"About {share(of)}", of)
        why = "gain not known" if gain is not None or about else "no gain in time"
        if gain is not None and gain["none_while"]:
            why = f"none while {gain['none_while']}"
        elif gain is not None and gain["most_ns"] is not None:
            why = f"at most {short_duration(gain['most_ns'])} of launches"
            if of and time:
                most = of * gain["most_ns"] / time
                bar = charts.whisker(f"At most {share(most)}", 0, most)
        is_once = finding.get("per") == "once" and gain is None
        return f"<div class=faint>{bar}{about}{'happens once' if is_once else why}</div>"
    low, high = gain["low_ns"], gain["high_ns"]
    text = short_range(low, high)
    ends = share(gain["share_low"]), share(gain["share_high"])
    part = (
        ends[1] if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}" if low else f"up to {ends[1]}"
    )
    bar = charts.whisker(f"Could gain {text}", gain["share_low"], gain["share_high"])
    return f"<div>{bar}{escape(text)}<div class=faint>{escape(part)}</div></div>"


def _deviation(walls: Sequence[int]) -> float:
    mean = sum(walls) / len(walls)
    return math.sqrt(sum((wall - mean) ** 2 for wall in walls) / len(walls))


def _shown(parts: Mapping[str, int], unit: str) -> list[tuple[str, str, int]]:
    named = ((name, COLOURS.get(part, part), parts.get(part, 0)) for part, name in NAMES.items())
    return [(name.format(unit=unit), colour, ns) for name, colour, ns in named if ns]


def _share(ns: int, wall: int) -> str:
    return share(ns / wall) if wall else ""


_SAME = 0.01
"""How far sums of the diagnosis may be from DLProf's of the same time."""


def exposed_communication(diagnosis: Diagnosis | None, iterations: int | None, others_ns: int | None) -> int:
    """The communication of the aggregated iterations while nothing was computed; 0 where the diagnosis is not of the
    same time, which the kernels tell that are on no matrix unit (``others_ns``). As ``model/parts.ts`` has it."""
    devices = [] if diagnosis is None else list(diagnosis["mean"]["devices"])
    if diagnosis is None or len(devices) != 1 or not others_ns:
        return 0
    counted = [row["devices"] for row in diagnosis["iterations"] if row["typical"]]
    if len(counted) != iterations:
        return 0
    exposed, others = (
        sum(row[devices[0]]["parts"][part] for row in counted if devices[0] in row)
        for part in ("communication", "compute_other")
    )
    return min(exposed, others_ns) if abs(exposed + others - others_ns) <= _SAME * others_ns else 0


def span(diagnosis: Diagnosis | None, wall_ns: int | None) -> str:
    """Of which time DLProf's numbers are, where it is another than that of the sentence, as on the Dashboard."""
    if diagnosis is None or diagnosis["marked"] or wall_ns is None or least_computing(diagnosis) is None:
        return ""
    mean_ns = diagnosis["mean"]["wall_ns"]
    if abs(wall_ns - mean_ns) <= _SAME * mean_ns:
        return ""
    return (
        f" It is about all {short_duration(wall_ns)} recorded, not from the first to the last GPU work "
        f"({short_duration(mean_ns)}) as the numbers above."
    )


def iteration_gain(diagnosis: Diagnosis | None, busy: float | None) -> str:
    """How what kernels could gain relates to what an iteration gains, as ``model/iteration_gain.ts`` has it: of the
    share of the time of the sentence in which they run, else of the wall clock time (``busy``)."""
    whole, least = "wall clock time", ""
    device = None if diagnosis is None else least_computing(diagnosis)
    if diagnosis is not None and device is not None and (wall := diagnosis["mean"]["wall_ns"]):
        parts = diagnosis["mean"]["devices"][device]["parts"]
        busy = sum(parts[part] for part in (*_COMPUTE, "communication")) / wall
        whole = f"{short_duration(wall)} {'of an iteration' if diagnosis['marked'] else 'from first to last GPU work'}"
        least = _at_least(diagnosis)
    if not 0 < (busy or 0) < _MOSTLY_BUSY:
        return ""
    return f" Kernels run for {least}{share(busy)} of the {whole}, which may gain less."


def _at_least(diagnosis: Diagnosis) -> str:
    return "at least " if {"missing_work", "launches_without_work"} & set(diagnosis["lower_bound"]) else ""
