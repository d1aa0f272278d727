"""What a program does once, by the names of its ranges: it counts only because no iteration is marked."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Severity
from tensorboard_plugin_dlprof.diagnosis.headings import SET_UP
from tensorboard_plugin_dlprof.expressions import Expression

_SET_UP: Final = Expression(
    r"(?:^|[^a-z])(?:init(?:iali[sz](?:e|ation|ing))?|set[_ -]?up|start[_ -]?up|warm[_ -]?up|"
    r"(?:load|build|creat|prepar|download)(?:e|ing)?[_ -]?(?:\w+[_ -])?"
    r"(?:model|weight|checkpoint|state|data|dataset|engine|tokenizer)s?)(?![a-z])",
    re.IGNORECASE,
    ("init", "set", "start", "warm", "load", "build", "creat", "prepar"),
)


def told_once(finding: Finding, signals: Signals) -> Finding:
    """The finding as one about what happens once, if most of what it names is in a range that ran once and sets the
    program up: what would be gained of an iteration is nothing."""
    if signals.marked or finding.once or finding.severity == Severity.INFO:
        return finding
    time_ns: Counter[str] = Counter()
    for each in finding.evidence:
        time_ns[_set_up(signals, each.path)] += each.time_ns or 0
    inside = time_ns.total() - time_ns.pop("", 0)
    if not time_ns or 2 * inside <= sum(each.time_ns or 0 for each in finding.evidence):
        return finding
    return msgspec.structs.replace(
        finding,
        severity=Severity.INFO,
        recommendation="No change needed for long runs: most of it is in {set_up}, which ran once and by its "
        "name sets the program up. Marked iterations leave it out.",
        numbers={**finding.numbers, SET_UP: time_ns.most_common(1)[0][0]},
        gain=None,
        cannot_tell="",
        once=True,
    )


def _set_up(signals: Signals, path: str) -> str:
    """The part of a path down to a range that ran once and is set-up by its name; empty if there is none."""
    levels = path.strip("/").split("/")
    for depth, level in enumerate(levels, 1):
        if _SET_UP.search(level):
            prefix = "/".join(levels[:depth])
            own = [row for row, op in enumerate(signals.profile.ops) if op.name.strip("/") == prefix]
            calls = signals.profile.instances.op
            return prefix if sum(int((calls == row).sum()) for row in own) == 1 else ""
    return ""
