"""Applies the rules, and sorts their findings by how worthwhile they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.gains import together
from tensorboard_plugin_dlprof.analysis.rules import OF_MEMORY, RULES, Rule
from tensorboard_plugin_dlprof.analysis.rules.set_up import told_once
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import (
    Evidence,
    Feedback,
    Finding,
    Lacks,
    Severity,
    Undecided,
    Verdict,
)
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.diagnosis.known_waits import NOT_TAKEN_OUT, sure_gain, unknown_gain
from tensorboard_plugin_dlprof.diagnosis.windows import few_make_the_mean
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import percentage, short_duration


def judge(
    profile: Profile,
    aggregation: Aggregation,
    efficiency: Efficiency,
    rules: Sequence[tuple[str, Rule]] = RULES,
) -> Verdict:
    """Apply the rules to an aggregation.

    Args:
        profile: the raw tables.
        aggregation: of the profile.
        efficiency: of the aggregation.
        rules: name of the detector, and rule.

    Returns:
        The findings, and the rules that lack data; where there is no time or no GPU work, only those about memory.
    """
    signals = Signals(profile, aggregation, efficiency)
    if signals.wall_ns <= 0 or profile.info.recorded == {"memory"}:
        rules = [row for row in rules if row in OF_MEMORY]
    findings: list[Finding] = []
    spoken: dict[str, Bools] = {}
    iteration_ns = signals.diagnosis.mean_wall_ns or signals.iteration_ns
    undecided: list[Undecided] = []
    for detector, rule in rules:
        signals.spoken_of = None
        answer = _answer(detector, rule, signals)
        release_freed()
        if isinstance(answer, Lacks):
            undecided.append(Undecided(detector, answer.missing, answer.hint))
        elif answer is not None and _is_worth(answer, iteration_ns):
            findings.append(told_once(_finished(answer, signals), signals))
            if signals.spoken_of is not None:
                spoken[answer.detector] = signals.spoken_of
    findings = [_with_overlaps(finding, findings, spoken, signals) for finding in findings]
    findings.sort(key=lambda finding: _weight(finding, signals.marked), reverse=True)
    low, high = together(signals, findings)
    return Verdict(
        findings,
        undecided,
        iteration_ns,
        low,
        high,
        signals.iterations,
        signals.marked,
        signals.diagnosis,
    )


_SHARED = 0.1
"""Share of the shorter time of two findings from which they are about the same time."""


def _with_overlaps(
    finding: Finding, findings: Sequence[Finding], spoken: Mapping[str, Bools], signals: Signals
) -> Finding:
    """The finding with the others about the same time: those that it names or that name it, and those that speak of
    the same kernels."""
    mine = spoken.get(finding.detector)

    def is_shared(other: Finding) -> bool:
        theirs = spoken.get(other.detector)
        if other.detector in finding.overlaps_with or finding.detector in other.overlaps_with:
            return True
        if mine is None or theirs is None:
            return False
        return signals.time(mine & theirs) > _SHARED * min(signals.time(mine), signals.time(theirs))

    shared = tuple(other.detector for other in findings if other is not finding and is_shared(other))
    return msgspec.structs.replace(finding, overlaps_with=shared)


def _answer(detector: str, rule: Rule, signals: Signals) -> Finding | Lacks | None:
    """The result of a rule. A rule that fails counts as undecided, so that it does not spoil the import."""
    try:
        return rule(signals)
    except (MemoryError, ProfileError):  # of a limit, which the import has reached
        raise
    except Exception as error:  # logged, and reported in place of the finding
        import logging  # seldom needed

        logging.getLogger(__name__).warning("The rule %s failed.", detector, exc_info=True)
        what = f"the result of this rule, which failed ({type(error).__name__})"
        return Lacks(what, "This is a bug of ours; please report it.")


def feedback(verdict: Verdict) -> list[Feedback]:
    """The findings as rows of DLProf's table, so that its viewer can show them."""
    rows = []
    for finding in verdict.findings:
        advice = finding.recommendation_text()
        # What a job may take out of a gain nobody takes out of this table.
        if finding.gain is not None and finding.beside != NOT_TAKEN_OUT:
            advice += f" Could gain {gain_text(finding, verdict)}."
        if finding.link:
            advice += f" See {finding.link}"
        rows.append(Feedback(finding.detector, finding.problem_text(), advice, finding.action))
    return rows


def gain_text(finding: Finding, verdict: Verdict) -> str:
    """``1.2 ms to 3.4 ms of each iteration (5.0 % to 14 %)``; empty if the finding has no gain."""
    gain, whole_ns = finding.gain, verdict.iteration_ns
    if gain is None or whole_ns <= 0:
        return ""
    of = _whole(verdict.marked, verdict.iterations)
    if gain.low_ns <= 0:
        return f"up to {short_duration(gain.high_ns)} of {of} ({percentage(gain.high_ns / whole_ns)})"
    shares = f"{percentage(gain.low_ns / whole_ns)} to {percentage(gain.high_ns / whole_ns)}"
    return f"{short_duration(gain.low_ns)} to {short_duration(gain.high_ns)} of {of} ({shares})"


def _whole(marked: bool, iterations: int) -> str:
    """What times are a part of."""
    if not marked:
        return "the recording"
    return "each iteration" if iterations > 1 else "the iteration"


_WAITS = re.compile("[Tt]he GPU waits")
_ITERATION = re.compile("each iteration|an iteration on average")


def _finished(finding: Finding, signals: Signals) -> Finding:
    """The finding with as much evidence as is shown, and worded for what its times are a part of.

    Of several GPUs, it names the one that has these times: another than that of the headline would contradict it.
    """
    problem = finding.problem
    if finding.device is not None and len(signals.diagnosis.devices) > 1:
        gpu = f"GPU {finding.device}"
        problem = _WAITS.sub(f"{gpu} waits", problem)
        if gpu not in problem:
            problem = _ITERATION.sub(rf"\g<0> on {gpu}", problem, count=1)
    whole = _whole(signals.marked, signals.iterations)
    of = signals.diagnosis
    if len(of.selected) > 1 and few_make_the_mean(of.mean_wall_ns, int(np.median(of.wall_ns[of.selected]))):
        whole = whole.replace("each iteration", "an iteration on average")
    problem = problem.replace("each iteration", whole)
    return msgspec.structs.replace(finding, evidence=_shown(finding.evidence), problem=problem)


def _shown(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The first rows of evidence, with a fair share for each kind."""
    most = thresholds.EVIDENCE_ROWS
    kinds = list(dict.fromkeys(each.kind for each in evidence))
    left = {kind: sum(each.kind == kind for each in evidence) for kind in kinds}
    allowed = dict.fromkeys(kinds, 0)
    while sum(allowed.values()) < min(most, len(evidence)):
        for kind in kinds:
            if allowed[kind] < left[kind] and sum(allowed.values()) < most:
                allowed[kind] += 1
    shown = []
    for each in evidence:
        if allowed[each.kind]:
            allowed[each.kind] -= 1
            shown.append(each)
    return tuple(shown)


_OF_BOUNDS_OF_THEIR_OWN = frozenset({"unrecorded_gpu_work", "cold_start", "slow_iterations"})

_LOST_ONCE = 0.5
"""How much of the time of findings without a gain counts, if it is lost once."""


def _is_worth(finding: Finding, iteration_ns: int) -> bool:
    """Whether a finding names a culprit, and is about enough time to be noticed, as far as that is known."""
    if finding.severity == Severity.INFO:
        return True
    if not finding.evidence:
        return False
    least = thresholds.MIN_GAIN_FRACTION * iteration_ns
    if finding.gain is not None and finding.gain.high_ns < least:
        return False
    return finding.detector in _OF_BOUNDS_OF_THEIR_OWN or finding.time_ns is None or finding.time_ns >= least


def _weight(finding: Finding, marked: bool) -> tuple[float, float]:
    """Sort key: nanoseconds of an iteration that are probably gained; information last."""
    if finding.severity == Severity.INFO:
        return (-1.0, 0.0)
    if finding.cause == "iterations":
        return (float("inf"), 0.0)  # what the other causes say holds for this choice of iterations alone
    if finding.cause == "missing_work" and finding.time_ns and finding.severity == Severity.WARNING:
        return (float("inf"), 1.0)  # what the other causes say is only part of the truth
    gain, time = finding.gain, float(finding.time_ns or 0)
    if finding.cause == "recompilation":  # The next new shapes cost as much again.
        return (time / float(finding.numbers["all"]), time)
    if gain is not None:
        return (sure_gain(gain.low_ns, gain.high_ns, finding.confidence.name.lower()), time)
    if finding.none_while:
        return (0.0, time)
    if finding.once:  # Work that is missing once is from before the time that everything else is about.
        return (0.0 if marked or finding.cause == "missing_work" else _LOST_ONCE * time, time)
    return (unknown_gain(time, finding.cause), time)
