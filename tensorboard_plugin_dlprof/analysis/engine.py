"""Runs the rules, and puts what they find in the order in which a person should work on it."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.dlprof_detectors import Feedback
from tensorboard_plugin_dlprof.analysis.rules import RULES, Rule
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks, Severity, Undecided, Verdict
from tensorboard_plugin_dlprof.analysis.wording import duration, percentage
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency
from tensorboard_plugin_dlprof.profile.tables import Profile


def judge(
    profile: Profile,
    aggregation: Aggregation,
    efficiency: Efficiency,
    rules: Sequence[tuple[str, Rule]] = RULES,
) -> Verdict:
    """What the rules say about an aggregation. A profile without an iteration of any length gets no advice."""
    signals = Signals(profile, aggregation, efficiency)
    if signals.wall_ns <= 0:
        return Verdict()
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    for detector, rule in rules:
        answer = rule(signals)
        if isinstance(answer, Lacks):
            undecided.append(Undecided(detector, answer.missing, answer.hint))
        elif answer is not None and _is_worth(answer, signals.iteration_ns):
            findings.append(answer)
    findings.sort(key=_rank)
    low, high = _total(findings, signals.iteration_ns)
    return Verdict(findings, undecided, signals.iteration_ns, low, high)


def feedback(verdict: Verdict) -> list[Feedback]:
    """The findings as rows of DLProf's table, so that its viewer shows them."""
    rows = []
    for finding in verdict.findings:
        advice = finding.recommendation_text()
        if finding.gain is not None:
            advice += f" Could gain {gain_text(finding, verdict.iteration_ns)}."
        if finding.link:
            advice += f" See {finding.link}"
        rows.append(Feedback(finding.detector, finding.problem_text(), advice, finding.action))
    return rows


def gain_text(finding: Finding, iteration_ns: int) -> str:
    """``1.2 ms to 3.4 ms of each iteration (5.0 % to 14 %)``."""
    gain = finding.gain
    if gain is None or iteration_ns <= 0:
        return ""
    shares = f"{percentage(gain.low_ns / iteration_ns)} to {percentage(gain.high_ns / iteration_ns)}"
    if gain.low_ns <= 0:
        return f"up to {duration(gain.high_ns)} of each iteration ({percentage(gain.high_ns / iteration_ns)})"
    return f"{duration(gain.low_ns)} to {duration(gain.high_ns)} of each iteration ({shares})"


def _is_worth(finding: Finding, iteration_ns: int) -> bool:
    """A gain that no measurement would show is left out."""
    return finding.gain is None or finding.gain.high_ns >= thresholds.MIN_GAIN_FRACTION * iteration_ns


def _rank(finding: Finding) -> tuple[int, float, int]:
    """Most gain first, in the middle of its range; then those without, by severity."""
    if finding.gain is None:
        return (1, -float(finding.severity), 0)
    return (0, -(finding.gain.low_ns + finding.gain.high_ns) / 2, -int(Severity(finding.severity)))


def _total(findings: Sequence[Finding], iteration_ns: int) -> tuple[int, int]:
    """Of each area the best finding: findings of one area gain the same time."""
    best: dict[str, tuple[int, int]] = {}
    for finding in findings:
        if finding.gain is not None:
            low, high = best.get(finding.area, (0, 0))
            best[finding.area] = (max(low, finding.gain.low_ns), max(high, finding.gain.high_ns))
    return (
        min(sum(low for low, _ in best.values()), iteration_ns),
        min(sum(high for _, high in best.values()), iteration_ns),
    )
