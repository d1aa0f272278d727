"""Idle time of some causes, with the rows behind it, and findings about it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.naming import evidence_of, places_of
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Claim, Confidence, Finding, Gain, Pool, Severity
from tensorboard_plugin_dlprof.analysis.wording import Number
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Row, working
from tensorboard_plugin_dlprof.diagnosis.places import place_of
from tensorboard_plugin_dlprof.diagnosis.segments import Cause, Int64s
from tensorboard_plugin_dlprof.units import short_duration

Test = Callable[[Cause], bool]


class Waiting(msgspec.Struct):
    """Idle time of some causes in a typical iteration."""

    time_ns: int
    """On the GPU with most of it."""
    device: DeviceDiagnosis
    rows: list[Row]
    """On that GPU, most time first."""
    others: list[tuple[int, list[Row]]]
    """The other GPUs, with their rows."""
    each_ns: Int64s
    """On that GPU, in each of the iterations that means are of."""

    @property
    def count(self) -> int:
        """How often it happens in an iteration."""
        return sum(row.count for row in self.rows)

    @property
    def foremost(self) -> tuple[str, int]:
        """The place with most of the time that can be named, and that time."""
        return (places_of(self.rows) or [(place_of(self.rows[0]), self.rows[0].time_ns)])[0]


def waiting(signals: Signals, test: Test) -> Waiting | None:
    """Idle time of the causes that pass a test; None if there is none."""
    result = []
    used = [device.device for device in working(signals.diagnosis)]
    for device, every in zip(signals.diagnosis.devices, signals.idle_rows, strict=True):
        if device.device in used:
            rows = [row for row in every if test(row.cause)]
            result.append((sum(row.time_ns for row in rows), device, rows))
    if not result:
        return None
    time, device, rows = max(result, key=lambda each: each[0])
    if not time:
        return None
    others = [(each.device, own) for _, each, own in result if each is not device and own]
    passing = device.clipped.sums_ns([test(cause) for cause in signals.profile.activity.causes])
    return Waiting(time, device, rows, others, passing[signals.diagnosis.selected])


def finding_about(
    signals: Signals,
    detector: str,
    cause: str,
    result: Waiting,
    part: str,
    problem: str,
    recommendation: str,
    *,
    confidence: Confidence = Confidence.MEDIUM,
    gain: tuple[float, float] | None = (0.5, 1.0),
    pool: Pool | None = None,
    how: str = "Half to all of it, by how much of the cause can be avoided.",
    numbers: dict[str, Number] | None = None,
    link: str = "",
    nowhere: bool = False,
) -> Finding | None:
    """A finding about a part of the time; None if it is not worth one, or nobody can be named.

    ``nowhere``: its sentence tells of time that nobody can be named for.
    """
    share = signals.share_of_iteration(result.time_ns)
    evidence = evidence_of(signals, result.rows, result.device.device, nowhere=nowhere) + tuple(
        each for device, rows in result.others for each in evidence_of(signals, rows[:3], device)
    )
    if share < thresholds.MIN_GAIN_FRACTION or not evidence:
        return None
    numbers = dict(numbers or {})
    how_often, which = _how_often(signals, result)
    if how_often:
        problem = problem.replace("of each iteration", "of an iteration on average") + how_often
        numbers |= which
    if 2 * result.foremost[1] <= result.time_ns:
        problem = problem.replace("{where} most, {most_ns}", "the largest part, {most_ns}, in {where}")
        problem = problem.replace("Most: ", "The largest part: ")
    if short_duration(result.foremost[1]) == short_duration(result.time_ns):
        problem = problem.replace("{where} most, {most_ns}", "all of it in {where}")
        problem = problem.replace("most of it before {where} ({most_ns})", "all of it before {where}")
    can_gain_ns, late = _less_where_late(signals, result)
    cannot_tell = ""
    if which.get("times_seen") == 1:
        cannot_tell = "it is in one iteration of the recording, and may happen once"
    elif signals.share_of_iteration(can_gain_ns) < thresholds.MIN_GAIN_FRACTION:
        cannot_tell = late
    is_sure = gain is not None and not cannot_tell
    low, high = (round(end * can_gain_ns) for end in gain) if gain is not None and is_sure else (0, 0)
    claims = () if pool is None else (Claim(pool, low, high),)
    return Finding(
        detector,
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        confidence,
        cause,
        problem,
        recommendation,
        {
            "time_ns": result.time_ns,
            "share_fraction": share,
            "calls": result.count,
            "times": "once" if result.count == 1 else f"{result.count:,} times",
            "where": result.foremost[0],
            "most_ns": result.foremost[1],
            **numbers,
        },
        evidence,
        Gain(low, high, f"{how} {late}".rstrip(), claims) if is_sure else None,
        link,
        cause=cause,
        part=part,
        time_ns=result.time_ns,
        device=result.device.device,
        cannot_tell="" if gain is None else cannot_tell,
        overlaps_with=("late_rank",) if gain is not None else (),
    )


def _less_where_late(signals: Signals, result: Waiting) -> tuple[int, str]:
    """How much of some idle time can be gained (ns), and a sentence if that is not all: what a GPU saves that waits for
    another one in collectives, it waits longer there. Only what the late one saves, too, shortens an iteration."""
    late = signals.late
    if late is None or late.waiting != result.device.device:
        return result.time_ns, ""
    if signals.share_of_iteration(late.lost_ns) < thresholds.MIN_GAIN_FRACTION:
        return result.time_ns, ""
    of_late = sum(row.time_ns for device, rows in result.others if device == late.device for row in rows)
    return min(result.time_ns, of_late), (
        f"GPU {late.waiting} waits for GPU {late.device}, which comes late to collectives: only the "
        f"{short_duration(of_late)} that GPU {late.device} loses in the same way can be gained."
    )


def _how_often(signals: Signals, result: Waiting) -> tuple[str, dict[str, Number]]:
    """A sentence about waits that most iterations do not have, and its numbers; empty for others."""
    each, selected = result.each_ns, signals.diagnosis.selected
    slow = each >= thresholds.MIN_GAIN_FRACTION * signals.diagnosis.mean_wall_ns
    count = int(slow.sum())
    if len(selected) < thresholds.FEW_ITERATIONS or not 0 < 2 * count <= len(selected):
        return "", {}
    worst = int(each.argmax())
    numbers: dict[str, Number] = {
        "times_seen": count,
        "of_all": len(selected),
        "worst_ns": int(each[worst]),
        "worst": str(signals.diagnosis.candidate.values[selected[worst]]),
    }
    if count == 1:
        return " It is {worst_ns} in iteration {worst}, and less than 1 % of the time in each of the others.", numbers
    return (
        " It is in {times_seen} of {of_all} iterations, and less than 1 % of the time in each of the others.",
        numbers,
    )
