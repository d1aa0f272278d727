"""Findings about what a program does once: it counts only because no iteration is marked."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Severity
from tensorboard_plugin_dlprof.diagnosis.headings import SET_UP
from tensorboard_plugin_dlprof.diagnosis.set_up import set_up_places


def told_once(finding: Finding, signals: Signals) -> Finding:
    """The finding as one about what happens once, if most of what it names is in ranges that ran once and set the
    program up: what would be gained of an iteration is nothing."""
    if signals.marked or finding.once or finding.severity == Severity.INFO:
        return finding
    times = [(each.path, each.time_ns or 0) for each in finding.evidence]
    places = set_up_places(signals.profile, times, sum(time for _, time in times))
    if not places:
        return finding
    ran = "ran once and by its name sets" if len(places) == 1 else "ran once and by their names set"
    return msgspec.structs.replace(
        finding,
        severity=Severity.INFO,
        recommendation=f"No change needed for long runs: most of it is in {{set_up}}, which {ran} the program up. "
        "Marked iterations leave it out.",
        numbers={**finding.numbers, SET_UP: " and ".join(places)},
        gain=None,
        cannot_tell="",
        once=True,
    )
