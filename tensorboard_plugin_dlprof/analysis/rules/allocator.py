"""Rules about what the memory of the GPU holds. ``memory.findings`` finds it; here it becomes advice like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Severity
from tensorboard_plugin_dlprof.memory.answer import answer
from tensorboard_plugin_dlprof.units import size

LINK = "https://pytorch.org/docs/stable/notes/cuda.html#memory-management"


def rule_of(detector: str, least: Severity = Severity.ADVICE) -> Callable[[Signals], Finding | None]:
    """The rule that tells what was found under this name, of the first GPU where it was; it names the others.

    Args:
        detector: The name.
        least: What is of less severity calls for no change, and is told where the memory is shown only.
    """

    def rule(signals: Signals) -> Finding | None:
        if not signals.profile.memory_histories:
            return None
        devices = answer(signals.profile, "")["devices"]
        findings = [
            (int(device), each)
            for device, reported in devices.items()
            for each in reported["findings"]
            if each["rule"] == detector and Severity[each["severity"].upper()] >= least
        ]
        if not findings:
            return None
        (device, each), *others = findings
        also = f" (also found on GPU {', '.join(str(other) for other, _ in others)})" if others else ""
        where = f"On GPU {device}{also}: " if len(devices) > 1 else ""
        link = signals.advice(LINK, tensorflow="", tensorrt="", cuda="", jax="")
        return _finding(each, device, signals.iterations, where, link)

    return rule


def _finding(values: dict[str, Any], device: int, iterations: int, where: str, link: str) -> Finding:
    rows = tuple(_evidence(row, device, iterations) for row in values["evidence"])
    return Finding(
        values["rule"],
        Severity[values["severity"].upper()],
        Confidence[values["confidence"].upper()],
        "memory",
        "{where}{said}.",
        "{advice}",
        # Paths are part of the sentences, so that these are numbers of their own.
        {"where": where, "said": values["title"], "advice": values["action"]},
        rows or (Evidence("device", str(device)),),
        cause="memory",
        link=link,
    )


def _evidence(row: dict[str, Any], device: int, iterations: int) -> Evidence:
    time_ns = row.get("time_ns")
    return Evidence(
        "range",
        row["path"],
        None if time_ns is None else time_ns * iterations,
        detail=f"{size(row['bytes'])} held",
        device=device,
    )
