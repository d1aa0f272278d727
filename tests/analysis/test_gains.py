"""What advice can gain: no more than the time that is there, and nothing that another finding or the host takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from tensorboard_plugin_dlprof.aggregation import Selection
from tensorboard_plugin_dlprof.analysis.rules.narrow_types import tf32
from tensorboard_plugin_dlprof.analysis.tables import Pool
from tests.analysis.cases import (
    ADD,
    SGEMM,
    kernel,
)
from tests.analysis.scenes import (
    GOOD,
    STEP_NS,
    STEPS,
    T4,
    Step,
    findings_of,
    said_by,
    scene,
    signals,
    verdict,
)  # fmt: skip


def test_tf32_and_mixed_precision_gain_the_same_time() -> None:
    """One switch or another type: only the larger is added up; a T4 has no TF32."""
    said = verdict(kernel(SGEMM)(0.5))
    gains = [finding.gain for finding in said.findings]
    assert gains[0] is not None
    assert gains[1] is not None
    assert said.total_high_ns == max(gains[0].high_ns, gains[1].high_ns)
    assert tf32(signals(kernel("volta_sgemm_128x64_nn", device=T4)(0.5))) is None


def test_only_the_kernels_that_multiply_become_faster() -> None:
    """A range around a product and what follows it is one op; the rest of its time gains nothing by a narrower type."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 900, "aten::matmul")
        for number, name in enumerate((SGEMM, ADD, ADD)):
            step.line("main", "call", 20 + 100 * number, 60 + 100 * number, "cudaLaunchKernel", corr=10 + number)
            step.line("gpu0", "kernel", number * 300_000, (number + 1) * 300_000, name, corr=10 + number)
        step.good(900_000, STEP_NS, at=1_000)

    for detector in ("amp_detector", "tf32_detector"):
        findings = said_by(detector, scene(body, steps=1))
        assert findings.numbers["products_ns"] == 300_000
        assert findings.gain is not None
        products = [claim.high_ns for claim in findings.gain.claims if claim.pool is Pool.PRODUCTS]
        times = 8 if detector == "amp_detector" else 0.75 * 156 / 19.5
        assert products == [pytest.approx(300_000 * (1 - 1 / times))]


def test_of_a_replayed_graph_the_products_in_full_precision_alone_become_faster() -> None:
    """One call launches all kernels of a CUDA graph: products of 16 bits among them are narrow already."""

    def body(step: Step) -> None:
        step.line("main", "call", 20, 60, "cudaGraphLaunch", corr=10)
        step.line("gpu0", "kernel", 0, 600_000, SGEMM, corr=10)
        step.line("gpu0", "kernel", 600_000, STEP_NS, GOOD, corr=10)

    assert said_by("amp_detector", scene(body, steps=1)).numbers["products_ns"] == 600_000


def test_no_kernels_take_more_than_all_of_the_time() -> None:
    """The host is ahead: what it launches in one step keeps the GPU busy for two, and the first fills it."""

    def body(step: Step) -> None:
        if step.number == 0:
            step.op("aten::mm", SGEMM, 0, 1.5 * STEP_NS)
            step.good(1.5 * STEP_NS, 2 * STEP_NS)

    findings = said_by("amp_detector", scene(body), Selection(iter_start=2, iter_stop=2))
    assert findings.numbers["products_ns"] == STEP_NS
    assert findings.numbers["share_fraction"] == 1.0


def test_the_share_with_kernels_names_what_it_is_a_share_of() -> None:
    """The headline has another share, of the time with copies before the first kernel. No launch is recorded, so that
    nobody knows what the GPU waits for."""

    def body(step: Step) -> None:
        step.line("gpu0", "kernel", 0, 0.5 * STEP_NS, ADD)
        step.line("gpu0", "kernel", 0.9 * STEP_NS, STEP_NS, ADD)

    rule = "fusion_detector"
    gain = next(each.gain for each in verdict(scene(body)).findings if each.detector == rule)
    assert gain is not None
    assert "Kernels run in 60.0 % of the time of the iterations:" in gain.reasoning


def test_findings_about_the_same_kernels_say_so() -> None:
    """What attention gains cannot be gained again by its products; a finding that is not there is not named."""

    def body(step: Step) -> None:
        step.op("aten::matmul", SGEMM, 0, 0.3 * STEP_NS, at=100)
        step.op("aten::softmax", "softmax_warp_forward<float>", 0.3 * STEP_NS, 0.6 * STEP_NS, at=200)
        step.op("aten::matmul", SGEMM, 0.6 * STEP_NS, STEP_NS, at=300)

    overlaps = {each.detector: set(each.overlaps_with) for each in verdict(scene(body)).findings}
    both = {"attention_detector", "amp_detector", "tf32_detector"}
    assert {name: overlaps[name] for name in both} == {name: both - {name} for name in both}
    assert said_by("amp_detector", kernel("volta_sgemm_128x64_nn", device=T4)(0.5)).overlaps_with == ()


def _wait_in_a_call(step: Step) -> None:
    step.line("main", "call", 0.1 * STEP_NS, 0.51 * STEP_NS, "cudaStreamSynchronize", corr=step.number + 1)


def _wait_in_a_range(step: Step) -> None:
    step.line("main", "annotation", 0.1 * STEP_NS, 0.51 * STEP_NS, "block_until_ready")


def _wait_in_a_copy(step: Step) -> None:
    """The host's memory is pageable: a call that is called asynchronous returns when its copy is over."""
    step.line("main", "call", 0.4 * STEP_NS, 0.499 * STEP_NS, "cudaMemcpyAsync", corr=9_000 + step.number)
    step.line("gpu0/9", "memcpy", 0.48 * STEP_NS, 0.495 * STEP_NS, "Memcpy DtoH", corr=9_000 + step.number)


def _look_at_an_event(step: Step) -> None:
    """Nothing that was launched ends meanwhile, so that the host does not wait for it."""
    step.line("main", "call", 0.505 * STEP_NS, 0.51 * STEP_NS, "cudaEventSynchronize", corr=9_000 + step.number)
    step.line("main", "call", 0.2 * STEP_NS, 0.21 * STEP_NS, "cudaEventSynchronize", corr=9_500 + step.number)


@pytest.mark.parametrize("wait", [None, _look_at_an_event, _wait_in_a_call, _wait_in_a_range, _wait_in_a_copy])
def test_kernels_after_which_the_gpu_waits_for_the_host_gain_nothing_by_being_shorter(
    wait: Callable[[Step], None] | None,
) -> None:
    """A product in FP32 for half of a step, and the next one is launched when it is over: by a host that was busy, or
    that waited for it. What fewer kernels save is not lost."""
    waits = wait not in (None, _look_at_an_event)

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, (0.48 if wait is _wait_in_a_copy else 0.5) * STEP_NS)
        if wait is not None:
            wait(step)
        step.op("aten::add", ADD, 0.6 * STEP_NS, STEP_NS, at=0.595 * STEP_NS, host_ns=100)

    said = {each.detector: each for each in verdict(scene(body)).findings}
    assert (said["amp_detector"].gain is not None) == waits
    assert bool(said["amp_detector"].none_while) != waits
    # A T4's matrix units make the half of a step that the product takes 3 to 8 times as fast.
    assert ("kernels get 333 to 438 µs shorter" in said["amp_detector"].cannot_tell) != waits
    assert said["fusion_detector"].gain is not None  # a host that is busy launching
    if waits:
        assert "as long as the host is the limit" not in said["amp_detector"].gain.reasoning


@pytest.mark.parametrize("limited_by", ["launching", "the data loader"])
def test_where_launching_limits_fewer_kernels_gain_their_launches_alone(limited_by: str) -> None:
    """From one launch to the next it is a twentieth of a step. Where the data loader is what the GPU waits for most,
    they gain as much only if it runs on the thread that launches."""

    def body(step: Step) -> None:
        if limited_by != "launching":
            step.line("main", "annotation", 0, 0.5 * STEP_NS, "enumerate(DataLoader)")
        step.good(0.49 * STEP_NS, 0.495 * STEP_NS, at=0.5 * STEP_NS - 25)
        step.line("main", "op", 0.5 * STEP_NS, 0.56 * STEP_NS, "aten::add")
        step.line("main", "call", 0.5 * STEP_NS, 0.55 * STEP_NS, "cudaLaunchKernel", corr=9_000 + step.number)
        step.line("gpu0", "kernel", 0.555 * STEP_NS, 0.8 * STEP_NS, ADD, corr=9_000 + step.number)
        step.good(0.9 * STEP_NS, STEP_NS, at=0.895 * STEP_NS)

    fusion = said_by("fusion_detector", scene(body))
    assert fusion.cannot_tell.startswith("at most 42.5 µs, ") == (limited_by != "launching")
    assert fusion.most_ns == (None if limited_by == "launching" else 42_500)
    assert (fusion.gain is not None) == (limited_by == "launching")
    if fusion.gain is not None:
        (claim,) = fusion.gain.claims
        assert claim.pool is Pool.OTHER_KERNELS
        assert (claim.low_ns, claim.high_ns) == (pytest.approx(0.015 * STEP_NS), pytest.approx(0.0425 * STEP_NS))


@pytest.mark.parametrize(("idle_ns", "gains"), [(19_000, True), (40_000, True), (60_000, False)])
def test_a_host_that_is_silent_until_the_gpu_is_done_waited_for_it(idle_ns: int, gains: bool) -> None:
    """All is launched at the start of a step of 2 ms, and the next one's first launch is soon after its end, or not."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, idle_ns, step.step_ns, at=idle_ns - 2_000, host_ns=1_000)

    amp = said_by("amp_detector", scene(body, step_ns=2 * STEP_NS))
    assert (amp.gain is not None) == gains
    assert bool(amp.none_while) != gains


@pytest.mark.parametrize(("idle", "limits"), [(0.015, False), (0.03, True)])
def test_what_takes_next_to_none_of_the_time_does_not_limit(idle: float, limits: bool) -> None:
    """The host, which is busy all the time, is late by that share of a step."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, idle * STEP_NS, STEP_NS, at=(idle - 0.002) * STEP_NS, host_ns=200)
        step.line("main", "op", (idle - 0.001) * STEP_NS, 0.999 * STEP_NS, "aten::ones")

    amp = said_by("amp_detector", scene(body))
    assert bool(amp.none_while) == limits
    if not limits:
        assert amp.gain is not None
        assert "if only for 1." in amp.gain.reasoning


@pytest.mark.parametrize(
    ("loading", "limits"), [(0.3, "the data loader limits"), (0, "launching limits"), (0.1, "launching limits")]
)
def test_what_limits_is_what_the_gpu_waits_for_most(loading: float, limits: str) -> None:
    """The data loader from the end of the product on, and what is launched late besides."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, 0.5 * STEP_NS)
        if loading:
            step.line("main", "annotation", 0.4 * STEP_NS, (0.5 + loading) * STEP_NS, "enumerate(DataLoader)")
        step.op("aten::add", ADD, 0.9 * STEP_NS, STEP_NS, at=0.895 * STEP_NS, host_ns=100)

    amp = said_by("amp_detector", scene(body))
    assert amp.none_while == limits
    assert amp.cannot_tell.startswith(f"none while {limits}: kernels get ")


def test_where_far_less_is_gained_than_kernels_save_the_problem_says_so() -> None:
    """After most of the products' time the host is late; before, it waits for the GPU."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, 0.06 * STEP_NS)
        step.line("main", "call", 0.03 * STEP_NS, 0.07 * STEP_NS, "cudaStreamSynchronize", corr=9_000 + step.number)
        step.op("aten::mm", SGEMM, 0.52 * STEP_NS, 0.9 * STEP_NS, at=0.515 * STEP_NS, host_ns=100)
        step.line("main", "annotation", 0.6 * STEP_NS, STEP_NS, "enumerate(DataLoader)")

    amp = said_by("amp_detector", scene(body))
    assert amp.gain is not None
    assert amp.problem_text().endswith(" Kernels get 293 to 385 µs shorter, but launching limits.")
    assert 0 < amp.gain.high_ns < 0.25 * 385_000


def test_what_the_last_iteration_leaves_to_do_is_as_what_the_others_leave() -> None:
    """The GPU works on after each mark, and the host loads meanwhile: that nothing follows the last one is no gain."""

    def body(step: Step) -> None:
        step.line("main", "annotation", 0, 0.5 * STEP_NS, "enumerate(DataLoader)")
        step.op("aten::mm", SGEMM, 0.6 * STEP_NS, 1.2 * STEP_NS, at=0.59 * STEP_NS)
        if step.number == STEPS - 1:
            step.line("main", "call", STEP_NS, 1.2 * STEP_NS, "cudaDeviceSynchronize", corr=9_000)

    assert said_by("amp_detector", scene(body)).none_while == "the data loader limits"


def test_what_gains_nothing_yet_comes_after_what_gains() -> None:
    """However long the kernels take."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, 0.5 * STEP_NS)
        step.op("aten::add", ADD, 0.94 * STEP_NS, STEP_NS, at=0.935 * STEP_NS, host_ns=100)

    gains = [each.gain is not None for each in verdict(scene(body)).findings]
    assert True in gains
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(("lost", "described"), [(0.4, False), (0.9, True)])
def test_only_where_most_is_lost_is_that_why_nothing_is_gained(lost: float, described: bool) -> None:
    """Products in FP32 that would save little more than the least that is told, if nothing of it were lost."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, lost * 0.02 * STEP_NS)
        step.good(0.1 * STEP_NS, 0.5 * STEP_NS, at=0.09 * STEP_NS)
        end = (0.5 + (1 - lost) * 0.02) * STEP_NS
        step.op("aten::mm", SGEMM, 0.5 * STEP_NS, end, at=0.092 * STEP_NS)
        step.line("main", "call", 0.2 * STEP_NS, STEP_NS - 50, "cudaStreamSynchronize", corr=9_000 + step.number)
        step.good(end, STEP_NS, at=0.094 * STEP_NS)

    assert ("amp_detector" in findings_of(scene(body))) == described


def test_kernels_that_run_after_the_last_iteration_take_no_time_of_one() -> None:
    """Its mark ends before the GPU has done what was launched in it; the kernels' time is that in the iterations."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0.6 * STEP_NS, 1.4 * STEP_NS)

    amp = said_by("amp_detector", scene(body))
    assert amp.time_ns == pytest.approx((0.4 + 0.8 + 0.8) / 3 * STEP_NS, abs=2)
    assert sum(each.time_ns for each in amp.evidence) == pytest.approx(2 * STEP_NS, abs=9)


def test_an_op_whose_kernels_run_after_the_last_iteration_gains_nothing() -> None:
    """Its products take no time of an iteration: the gain is that of the others."""

    def body(step: Step, late: bool) -> None:
        step.op("aten::mm", SGEMM, 0, STEP_NS)
        if late and step.number == STEPS - 1:
            step.op("aten::bmm", SGEMM, 1.1 * STEP_NS, 1.3 * STEP_NS)

    late, without = (said_by("amp_detector", scene(partial(body, late=late))).gain for late in (True, False))
    assert late == without
