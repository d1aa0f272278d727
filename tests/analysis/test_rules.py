"""Every rule: silent just under its threshold, speaking just over it, and alone on a profile made for it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof import analysis
from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules import RULES
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks
from tests.analysis.cases import (
    CASES,
    SGEMM,
    on_two_gpus,
    well_over,
)
from tests.analysis.scenes import STEP_NS, Step, findings_of, scene, signals, verdict

RULE = dict(RULES)

OF_TIME = {
    *("unrecorded_gpu_work", "cold_start", "slow_iterations", "dataloader_detector", "io_detector", "copy_detector"),
    *("communication_detector", "small_collectives", "late_rank", "sync_detector", "launch_detector", "host_detector"),
    *("unrecorded_detector", "allocation_detector", "profiler_overhead_detector", "step_holds_many"),
    *("iteration_range_detector", "unused_gpu_detector", "recompilation"),
}
"""Rules that read the diagnosis: ``test_*_rules`` have their cases, ``test_jax`` that of compiling."""

OF_MEMORY = {
    *("oom_detector", "leak_detector", "activation_detector", "wide_activation_detector"),
    *("fragmentation_detector", "allocator_churn_detector", "cached_memory_detector"),
}
"""Rules that read what memory holds: ``test_memory_rules`` has their cases."""


README = Path(analysis.__file__).parent / "README.md"


def test_a_good_step_gets_no_advice() -> None:
    """The ground on which every other scene stands."""
    assert findings_of(scene(lambda step: step.good(0, STEP_NS))) == []


def test_times_of_several_gpus_are_means() -> None:
    """Both GPUs compute in FP32 for 40 % of the step; the time and the share in the sentence are of one step."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, round(0.4 * STEP_NS))
        step.op("aten::mm", SGEMM, 0, round(0.4 * STEP_NS), at=300, gpu="gpu1")

    said = verdict(scene(body))
    (amp,) = (finding for finding in said.findings if finding.detector == "amp_detector")
    assert amp.numbers["share_fraction"] == pytest.approx(0.4)
    assert amp.numbers["products_ns"] == pytest.approx(0.4 * said.iteration_ns)


@pytest.mark.parametrize(
    "detector", sorted(CASES.keys() - {"data_parallel_detector", "unused_gpu_detector", "cuda_graph_detector"})
)
def test_a_second_gpu_that_does_the_same_changes_no_number(detector: str) -> None:
    """What is said is of one GPU, but by the rules that speak of all GPUs, or of the recording."""
    profile = CASES[detector].make(well_over(CASES[detector]))
    one, two = verdict(profile), verdict(on_two_gpus(profile))
    assert [(said.detector, dict(said.numbers), said.gain) for said in two.findings] == [
        (said.detector, dict(said.numbers), said.gain) for said in one.findings
    ]


@pytest.mark.parametrize("detector", sorted(CASES.keys() - {"iteration_range_detector", "no_iterations_detector"}))
def test_evidence_of_one_step_is_the_like_of_that_of_all(detector: str) -> None:
    """Of some steps that are alike, the one in the middle has its share of the time and of the calls."""
    profile = CASES[detector].make(well_over(CASES[detector]))
    steps = profile.iterations[0].values
    one = int(steps[len(steps) // 2])
    every, alone = verdict(profile), verdict(profile, Selection(iter_start=one, iter_stop=one))
    for said, again in zip(every.findings, alone.findings, strict=True):
        rows = {(row.kind, row.key): row for row in said.evidence if row.kind != "iteration"}
        for row in again.evidence:
            whole = rows.get((row.kind, row.key))
            if whole is not None and whole.time_ns:
                assert len(steps) * (row.time_ns or 0) == pytest.approx(whole.time_ns, rel=0.02)
                assert len(steps) * (row.count or 0) == (whole.count or 0)


@pytest.mark.parametrize("detector", sorted(CASES))
def test_evidence_of_ops_is_of_those_that_a_page_can_open(detector: str) -> None:
    """A call that began before the iterations may be what the GPU waits for in them; its op is in none of them."""
    profile = CASES[detector].make(well_over(CASES[detector]))
    steps, calls = profile.iterations[0], profile.instances
    last = int(steps.values[-1])
    begins_in_last = calls.start_ns >= steps.start_ns[-1]
    calls.start_ns = np.where(begins_in_last, steps.start_ns[-1] - 1, calls.start_ns)
    selection = Selection(iter_start=last, iter_stop=last)
    aggregated = {profile.ops[row].op_id for row in aggregate(profile, selection).op_nodes.op.tolist()}
    named = {row.key for said in verdict(profile, selection).findings for row in said.evidence if row.kind == "op"}
    assert named <= aggregated


def test_every_rule_has_its_case() -> None:
    """A new rule is not done before it has one, here or among those of the time in which nothing computes."""
    assert list(CASES) == [
        rule for rule in RULE if rule not in OF_TIME | OF_MEMORY | {"dominant_kernel"}
    ]  # see test_compute


def test_every_rule_is_documented() -> None:
    """A row for each, in their order, that names limits which exist."""
    rows = re.findall(r"^\| `(\w+)` .*", README.read_text(encoding="utf-8").split("**Compilers.**")[0], re.MULTILINE)
    assert rows == list(RULE)
    named = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", README.read_text(encoding="utf-8")))
    limits = {name for name in vars(thresholds) if name.isupper()}
    assert limits - named == {"EVIDENCE_ROWS"}


@pytest.mark.parametrize("detector", CASES)
def test_a_rule_is_silent_just_under_its_threshold(detector: str) -> None:
    """A tenth below, where it is a share of the time."""
    case = CASES[detector]
    assert RULE[detector](signals(case.make(case.below * case.threshold))) is None


@pytest.mark.parametrize("detector", CASES)
def test_a_rule_speaks_just_over_its_threshold(detector: str) -> None:
    """With a range of gain that is a part of an iteration, and sentences that can be filled."""
    case = CASES[detector]
    answer = RULE[detector](signals(case.make(case.above * case.threshold)))
    assert isinstance(answer, case.answer)
    if isinstance(answer, Lacks):
        assert answer.missing
        assert answer.hint
        return
    assert answer.detector == (case.detector or detector)
    assert "{" not in answer.problem_text() + answer.recommendation_text()
    if answer.gain is not None:
        assert 0 <= answer.gain.low_ns <= answer.gain.high_ns <= 20 * STEP_NS
        assert answer.gain.reasoning
        assert sum(claim.high_ns for claim in answer.gain.claims) >= answer.gain.high_ns


@pytest.mark.parametrize("detector", CASES)
def test_sentences_agree_with_a_count_of_one(detector: str) -> None:
    """``1 op multiplies``, not ``1 ops multiply``."""
    case = CASES[detector]
    answer = RULE[detector](signals(case.make(case.above * case.threshold)))
    if isinstance(answer, Finding):
        whole = {name for name, number in answer.numbers.items() if isinstance(number, int) and "_" not in name}
        counts = dict.fromkeys(whole - {"all", "devices"}, 1)
        said = msgspec.structs.replace(answer, numbers={**answer.numbers, **counts})
        assert not re.search(r"\b1 (elementwise, .* copy |large )?[A-Za-z]+s\b", said.problem_text())


@pytest.mark.parametrize("detector", CASES)
def test_a_profile_made_for_a_rule_triggers_only_it(detector: str) -> None:
    """Well over the threshold, where its gain is worth a sentence."""
    case = CASES[detector]
    said = verdict(case.make(well_over(case)))
    wanted = [] if case.answer is Lacks else [case.detector or detector]
    assert [finding.detector for finding in said.findings] == [*case.also, *wanted]
    assert (detector in {each.detector for each in said.undecided}) == (case.answer is Lacks)
