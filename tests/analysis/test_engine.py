"""Findings are ordered by gain, gains of one area are not added, and sentences carry units."""

from __future__ import annotations

import json
import logging

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.analysis.engine import feedback, judge
from tensorboard_plugin_dlprof.analysis.evidence import source_line
from tensorboard_plugin_dlprof.analysis.rules import RULES, Rule
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import (
    Claim,
    Confidence,
    Evidence,
    Feedback,
    Finding,
    Gain,
    Lacks,
    Pool,
    Severity,
    Verdict,
)
from tensorboard_plugin_dlprof.analysis.wording import filled
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.profile.tables import Op
from tensorboard_plugin_dlprof.units import bandwidth, percentage, short_duration, short_range, size
from tests.analysis.scenes import NCCL, STEP_NS, T4, Step, scene, signals, verdict

RULE = dict(RULES)

SHOWN = (Evidence("call", "cudaFree"),)


def gaining(
    low: float, high: float, area: str, severity: Severity = Severity.ADVICE, *, pool: Pool = Pool.PRODUCTS
) -> Rule:
    """A rule that always finds a gain, in shares of an iteration."""

    def rule(_signals: Signals) -> Finding:
        claim = Claim(pool, round(low * STEP_NS), round(high * STEP_NS))
        gain = Gain(claim.low_ns, claim.high_ns, "made up", (claim,))
        return Finding(f"{area} {low}", severity, Confidence.HIGH, area, "problem", "advice", {}, SHOWN, gain)

    return rule


def silent(severity: Severity) -> Rule:
    """A finding without a gain."""
    return lambda _signals: Finding(severity.name, severity, Confidence.HIGH, "x", "problem", "advice", {}, SHOWN)


def verdict_of(*rules: Rule) -> Verdict:
    """What these rules say about a good step."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    aggregation = aggregate(profile)
    result = efficiency(profile, measure(profile), aggregation)
    return judge(profile, aggregation, result, [(f"rule {number}", rule) for number, rule in enumerate(rules)])


def test_the_most_gain_comes_first_and_findings_without_gain_last_by_severity() -> None:
    """The middle of the range counts."""
    said = verdict_of(
        silent(Severity.INFO),
        gaining(0.1, 0.2, "a"),
        silent(Severity.WARNING),
        gaining(0.0, 0.6, "b"),
        gaining(0.2, 0.3, "c"),
    )
    assert [finding.detector for finding in said.findings] == ["b 0.0", "c 0.2", "a 0.1", "WARNING", "INFO"]


def test_a_rule_that_fails_costs_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile and the other advice are there all the same."""
    monkeypatch.setattr(logging.getLogger("tensorboard_plugin_dlprof.analysis.engine"), "handlers", [])

    def failing(_signals: Signals) -> Finding:
        raise ZeroDivisionError

    said = verdict_of(failing, gaining(0.1, 0.2, "a"))
    assert [finding.detector for finding in said.findings] == ["a 0.1"]
    assert [(each.detector, "which failed (ZeroDivisionError)" in each.missing) for each in said.undecided] == [
        ("rule 0", True)
    ]


def test_gains_of_one_area_are_not_added_and_no_total_exceeds_an_iteration() -> None:
    """Two ways to make the same kernels faster make them faster once; idle time is another matter."""
    said = verdict_of(gaining(0.1, 0.2, "a"), gaining(0.15, 0.18, "a"), gaining(0.1, 0.3, "b", pool=Pool.SYNC))
    assert (said.total_low_ns, said.total_high_ns) == (0.25 * STEP_NS, 0.5 * STEP_NS)
    assert verdict_of(gaining(0.6, 0.9, "a"), gaining(0.6, 0.9, "b", pool=Pool.SYNC)).total_high_ns == STEP_NS


def test_what_one_finding_saves_another_cannot_save_again() -> None:
    """Of products that take the whole step: half of them gone, then half of what is left."""
    said = verdict_of(gaining(0.0, 0.5, "a"), gaining(0.0, 0.5, "b"))
    assert said.total_high_ns == 0.75 * STEP_NS


def test_kernels_behind_a_collective_gain_nothing_by_being_shorter() -> None:
    """A product in FP32 for a step; beside a collective, for all or half of that time, the gain shrinks."""

    def gain(neighbour: float) -> int:
        def body(step: Step) -> None:
            step.op("aten::mm", "volta_sgemm_128x64_nn", 0, STEP_NS)
            if neighbour:
                step.op("c10d::allreduce_", NCCL, 0, neighbour * STEP_NS, gpu="gpu0/9")

        result = RULE["amp_detector"](signals(scene(body, device=T4)))
        assert isinstance(result, Finding)
        assert result.gain is not None
        return result.gain.high_ns

    assert gain(0.5) == pytest.approx(gain(0) / 2, abs=1)
    assert gain(1) == 0


def showing(rows: tuple[Evidence, ...]) -> Rule:
    """A rule with this evidence."""
    return lambda _signals: Finding("x", Severity.INFO, Confidence.LOW, "x", "problem", "advice", {}, rows)


def test_evidence_is_as_much_as_is_shown_and_of_every_kind() -> None:
    """Thirty ops after five lines: all lines, and ops for the rest."""
    lines = tuple(Evidence("line", f"a.py({number}): f") for number in range(5))
    ops = tuple(Evidence("op", f"ADD_{number}") for number in range(30))
    assert verdict_of(showing(lines + ops)).findings[0].evidence == lines + ops[:15]
    assert verdict_of(showing(ops + lines)).findings[0].evidence == ops[:15] + lines
    assert verdict_of(showing(lines)).findings[0].evidence == lines


def test_a_capture_without_iterations_is_not_called_one() -> None:
    """Its findings speak of the recording."""
    profile = scene(lambda step: step.op("aten::mm", "volta_sgemm_128x64_nn", 0, STEP_NS), device=T4, marked=False)
    first = verdict(profile).findings[0]
    assert "of the recording (100 %;" in first.problem_text()
    rows = feedback(verdict(profile))
    assert " of the recording (" in rows[0].recommendation
    assert not any("each iteration" in row.problem + row.recommendation for row in rows[:1])


def test_the_only_iteration_is_not_called_each() -> None:
    """Its findings and their gains speak of the iteration."""
    profile = scene(lambda step: step.op("aten::mm", "volta_sgemm_128x64_nn", 0, STEP_NS), device=T4, steps=1)
    first = verdict(profile).findings[0]
    assert "of the iteration (100 %;" in first.problem_text()
    assert " of the iteration (" in feedback(verdict(profile))[0].recommendation


def test_a_gain_that_no_measurement_would_show_is_left_out() -> None:
    """Under one percent."""
    assert verdict_of(gaining(0.0, 0.0099, "a")).findings == []
    assert len(verdict_of(gaining(0.0, 0.0101, "a")).findings) == 1


def test_a_rule_that_lacks_data_says_so_and_stops_nobody() -> None:
    """The others speak."""
    said = verdict_of(lambda _signals: Lacks("shapes", "record_shapes=True"), gaining(0.1, 0.2, "a"))
    assert [(each.detector, each.missing) for each in said.undecided] == [("rule 0", "shapes")]
    assert len(said.findings) == 1


def test_findings_become_rows_of_dlprofs_table() -> None:
    """With the gain and the link in the sentence, since its viewer shows nothing else."""
    rows = feedback(verdict_of(gaining(0.1, 0.2, "a"), gaining(0.0, 0.05, "b")))
    assert rows[0] == Feedback(
        "a 0.1", "problem", "advice Could gain 100 µs to 200 µs of each iteration (10.0 % to 20.0 %)."
    )
    assert rows[1].recommendation == "advice Could gain up to 50.0 µs of each iteration (5.0 %)."


def test_numbers_get_their_unit_from_their_name() -> None:
    """Sentences are made at the edge; a finding carries numbers."""
    numbers = {"wait_ns": 12_345_678, "share_fraction": 0.123, "used_bytes": 2_630_000_000, "ops": 1_234, "text": "x"}
    template = "{wait_ns} {share_fraction} {used_bytes} {ops} {text}"
    assert filled(template, numbers) == "12.3 ms 12.3 % 2.45 GiB 1,234 x"
    assert json.dumps(numbers)


@pytest.mark.parametrize(("ops", "said"), [(1, "1 op takes its time"), (2, "2 ops take their time")])
def test_words_agree_with_their_number(ops: int, said: str) -> None:
    """One or several, after the name of the number."""
    assert filled("{ops} {ops:op takes|ops take} {ops:its|their} time", {"ops": ops}) == said


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (short_duration(999), "999 ns"), (short_duration(999_700), "1.00 ms"), (short_duration(999_400), "999 µs"),
        (short_duration(1_500), "1.50 µs"), (short_duration(11_250), "11.3 µs"),
        (short_duration(2 * 10**9), "2.00 s"), (short_duration(0), "0 ns"), (short_duration(float("inf")), "inf s"),
        (short_range(29_600_000, 59_300_000), "29.6 to 59.3 ms"), (short_range(935_000, 1_870_000), "0.935 to 1.87 ms"),
        (short_range(935, 1_870), "0.935 to 1.87 µs"), (short_range(120, 450), "120 to 450 ns"),
        (short_range(5_001_000, 5_002_000), "5.00 ms"), (short_range(0, 1_381_937), "up to 1.38 ms"),
        (percentage(0.0004), "under 0.1 %"), (percentage(0.0994), "9.9 %"), (percentage(0.0996), "10.0 %"),
        (percentage(0.0), "0 %"), (percentage(1.0), "100 %"), (percentage(0.996), "99.6 %"),
        (percentage(0.9999), "over 99.9 %"), (size(1023), "1023 bytes"), (size(42.5e9), "39.6 GiB"),
        (bandwidth(17.04e6), "17.0 MB/s"), (bandwidth(5.018e9), "5.02 GB/s"),
    ],
)  # fmt: skip
def test_three_digits_are_enough(shown: str, text: str) -> None:
    """And no share is shown as none."""
    assert shown == text


def test_the_line_shown_is_the_users_own() -> None:
    """Not one inside of PyTorch, nor a call of a module."""
    stack = (
        "train.py(10): <module>\nmodel.py(36): forward\nnn.Module: Linear_3\ntorch/nn/modules/linear.py(114): forward"
    )
    op = Op("LINEAR_1", "/linear", "linear", "fprop", "", "", "", "", Eligibility.ELIGIBLE, stack)
    assert source_line(op) == "model.py(36): forward"


def test_without_anybody_to_name_nothing_is_said() -> None:
    """But information."""

    def nameless(severity: Severity) -> Rule:
        return lambda _signals: Finding(severity.name, severity, Confidence.HIGH, "x", "problem", "advice", {})

    said = verdict_of(nameless(Severity.WARNING), nameless(Severity.INFO))
    assert [finding.detector for finding in said.findings] == ["INFO"]
