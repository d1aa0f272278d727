"""Every rule: silent just under its threshold, speaking just over it, and alone on a profile made for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules import RULES
from tensorboard_plugin_dlprof.analysis.rules.narrow_types import fp8, tf32
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.scenes import A100, GOOD, H100, STEP_NS, T4, Step, found, scene, signals, verdict, with_memory

SGEMM = "ampere_sgemm_128x64_nn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
RULE = dict(RULES)

Make = Callable[[float], Profile]
"""A share of the time -> a profile in which one thing takes it."""


def test_a_good_step_gets_no_advice() -> None:
    """The ground on which every other scene stands."""
    assert found(scene(lambda step: step.good(0, STEP_NS))) == []


def kernel(name: str, op: str = "aten::mm", *, device: Device = A100, also: str = "", **options: object) -> Make:
    """One kernel takes the share, the good product the rest; ``also`` is a kernel of a tenth that must be there."""

    def make(share: float) -> Profile:
        def body(step: Step) -> None:
            cut = (1 - share) * STEP_NS
            if also:
                step.op("aten::convolution", also, 0, 0.1 * STEP_NS)
            step.good(0.1 * STEP_NS if also else 0, cut)
            step.op(op, name, cut, STEP_NS, **options)

        return scene(body, device=device)

    return make


def many(name: str, op: str, count: int, *, around: str = "") -> Make:
    """Many kernels share the share; ``around`` is an annotation around their ops."""

    def make(share: float) -> Profile:
        def body(step: Step) -> None:
            cut = (1 - share) * STEP_NS
            step.good(0, cut, at=10)
            each = (STEP_NS - cut) / count
            if around:
                step.line("main", "annotation", 90, 100 + 55 * count, around)
            for number in range(count):
                step.op(op, name, cut + number * each, cut + (number + 1) * each, at=100 + 50 * number)

        return scene(body)

    return make


def idle(cause: Callable[[Step, float, float], None], *, step_ns: int = STEP_NS) -> Make:
    """The GPU idles for the share, in the middle of the step, with a cause drawn into the gap."""

    def make(share: float) -> Profile:
        def body(step: Step) -> None:
            begin = 0.3 * step_ns
            stop = begin + share * step_ns
            step.good(0, begin, at=10)
            cause(step, begin, stop)
            step.good(stop, step_ns, at=stop - 1_000)

        return scene(body, step_ns=step_ns)

    return make


def _loader(step: Step, begin: float, stop: float) -> None:
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    step.line("main", "annotation", begin, stop - 1_100, name)
    step.line("main", "annotation", stop - 1_100, stop, name)


def _sync(step: Step, begin: float, stop: float) -> None:
    step.line("main", "op", 1_000, begin + 60, "aten::item")
    step.line("main", "call", 1_100, begin + 50, "cudaStreamSynchronize")


def _host(step: Step, begin: float, stop: float) -> None:
    step.line("main", "op", begin - 1_000, stop - 1_100, "aten::unique")


def _malloc(step: Step, begin: float, stop: float) -> None:
    step.line("main", "op", begin - 1_000, stop - 1_050, "aten::empty")
    step.line("main", "call", begin, stop - 1_100, "cudaMalloc")


def _nothing(step: Step, begin: float, stop: float) -> None:
    """The program is elsewhere."""


def _io(step: Step, begin: float, stop: float) -> None:
    step.line("main", "os", begin, stop - 1, "read")


def copy(*, alone: bool, name: str = "Memcpy HtoD (Pinned -> Device)") -> Make:
    """A copy from the host takes the share, alone or beside the good product."""

    def make(share: float) -> Profile:
        def body(step: Step) -> None:
            stop = share * STEP_NS
            step.line("main", "op", 10, 30, "aten::copy_")
            step.line("main", "call", 12, 20, "cudaMemcpyAsync", corr=77 + step.number)
            options = {"corr": 77 + step.number, "copy": 1, "bytes": 1_000_000}
            step.line("gpu0/9", "memcpy", 0, stop, name, **options)
            step.good(stop if alone else 0, STEP_NS)

        return scene(body)

    return make


def launches(share: float) -> Profile:
    """Hundred short kernels, each launched too late by its part of the share."""

    def body(step: Step) -> None:
        each = STEP_NS / 100
        for number in range(100):
            begin = number * each
            end = begin + each * (1 - share)
            step.op("aten::add", GOOD, begin, end, at=max(begin - 20, 1), host_ns=round(each) - 10)

    return scene(body)


def collective(share: float) -> Profile:
    """A collective that runs alone for the share."""

    def body(step: Step) -> None:
        cut = (1 - share) * STEP_NS
        step.good(0, cut)
        step.op("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", cut - 100, STEP_NS)

    return scene(body)


def attention(share: float) -> Profile:
    """Product, softmax, product; what is between takes the share."""

    def body(step: Step) -> None:
        cut = (1 - share) * STEP_NS
        step.good(0, cut / 2, at=100)
        step.op("aten::softmax", "softmax_warp_forward<float>", cut / 2, cut / 2 + share * STEP_NS, at=200)
        step.op("aten::matmul", GOOD, cut / 2 + share * STEP_NS, STEP_NS, at=300)

    def with_matmul(step: Step) -> None:
        body(step)
        step.lines = [line.replace("aten::mm", "aten::matmul") for line in step.lines]

    return scene(with_matmul)


SLOW_CONVOLUTION = {
    "shapes": "[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
    "dtypes": '["c10::BFloat16","c10::BFloat16","","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar"]',
    "parameters": '["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","False"]',
}
CONVOLUTION = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1"
HGEMM = "ampere_hgemm_128x64_nn"
UNALIGNED = {"shapes": "[[4096,1001],[1001,4096]]", "dtypes": '["c10::Half","c10::Half"]'}

SCENES: dict[str, tuple[Make, float]] = {
    "amp_detector": (kernel("volta_sgemm_128x64_nn", device=T4), thresholds.PRODUCT_FRACTION),
    "fp64_detector": (
        kernel("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<double, double>>(int)", "aten::sum"),
        thresholds.FP64_FRACTION,
    ),
    "shape_detector": (kernel(HGEMM, **UNALIGNED), thresholds.SHAPE_FRACTION),
    "layout_detector": (
        kernel("nchwToNhwcKernel", "aten::convolution", also=CONVOLUTION), thresholds.LAYOUT_FRACTION
    ),
    "cudnn_benchmark_detector": (
        kernel(CONVOLUTION, "aten::cudnn_convolution", **SLOW_CONVOLUTION), thresholds.SLOW_CONVOLUTION_FRACTION
    ),
    "dataloader_detector": (idle(_loader), thresholds.DATA_LOADER_FRACTION),
    "io_detector": (idle(_io), thresholds.IO_FRACTION),
    "copy_detector": (copy(alone=True), thresholds.COPY_FRACTION),
    "pageable_copy_detector": (
        copy(alone=False, name="Memcpy HtoD (Pageable -> Device)"), thresholds.PAGEABLE_FRACTION
    ),
    "communication_detector": (collective, thresholds.COMMUNICATION_FRACTION),
    "underutilized_gpu_detector": (idle(_nothing), 1 - thresholds.UNDERUTILIZED_FRACTION),
    "sync_detector": (idle(_sync, step_ns=10 * STEP_NS), thresholds.SYNC_FRACTION),
    "launch_detector": (launches, thresholds.LAUNCH_FRACTION),
    "host_detector": (idle(_host, step_ns=20 * STEP_NS), thresholds.LAUNCH_FRACTION),
    "allocation_detector": (idle(_malloc), thresholds.SYNC_FRACTION),
    "optimizer_detector": (
        many(ADD, "aten::add_", 60, around="Optimizer.step#SGD.step"), thresholds.OPTIMIZER_FRACTION
    ),
    "zero_grad_detector": (
        many(ADD, "aten::zero_", 30, around="Optimizer.zero_grad#SGD.zero_grad"), thresholds.MIN_GAIN_FRACTION
    ),
    "fusion_detector": (kernel(ADD.replace("float", "c10::BFloat16"), "aten::add"), thresholds.FUSION_FRACTION),
    "attention_detector": (attention, thresholds.ATTENTION_FRACTION),
}  # fmt: skip
"""Detector -> a scene by the share that its thing takes, and the threshold of that share."""


@pytest.mark.parametrize("detector", SCENES)
def test_a_rule_is_silent_just_under_its_threshold(detector: str) -> None:
    """A tenth below."""
    make, threshold = SCENES[detector]
    assert RULE[detector](signals(make(0.9 * threshold))) is None


@pytest.mark.parametrize("detector", SCENES)
def test_a_rule_speaks_just_over_its_threshold(detector: str) -> None:
    """A tenth above, with a range of gain that is a part of an iteration, and sentences that can be filled."""
    make, threshold = SCENES[detector]
    finding = RULE[detector](signals(make(1.1 * threshold)))
    assert isinstance(finding, Finding)
    assert finding.detector == detector
    assert "{" not in finding.problem_text() + finding.recommendation_text()
    if finding.gain is not None:
        assert 0 <= finding.gain.low_ns <= finding.gain.high_ns <= 20 * STEP_NS
        assert finding.gain.reasoning


@pytest.mark.parametrize("detector", SCENES)
def test_a_profile_made_for_a_rule_triggers_only_it(detector: str) -> None:
    """At twice the threshold, where its gain is worth a sentence."""
    make, threshold = SCENES[detector]
    share = min(2 * threshold, 0.6)
    assert found(make(share)) == [detector]


def test_every_rule_has_a_scene() -> None:
    """Those below are tested by themselves."""
    others = {
        "tf32_detector", "fp8_detector", "data_parallel_detector", "profiler_overhead_detector", "batch_size_detector",
        "memory_full_detector", "no_iterations_detector", "iteration_range_detector", "unused_gpu_detector",
        "coverage_detector",
    }  # fmt: skip
    assert set(RULE) == set(SCENES) | others


def test_tf32_is_offered_beside_mixed_precision_where_the_device_has_it() -> None:
    """One switch or another type: they gain the same time, so only the larger is added up."""
    make = kernel(SGEMM)
    assert tf32(signals(make(0.9 * thresholds.PRODUCT_FRACTION))) is None
    said = verdict(make(0.5))
    assert [finding.detector for finding in said.findings] == ["amp_detector", "tf32_detector"]
    gains = [finding.gain for finding in said.findings]
    assert gains[0] is not None
    assert gains[1] is not None
    assert said.total_high_ns == max(gains[0].high_ns, gains[1].high_ns)
    assert tf32(signals(kernel("volta_sgemm_128x64_nn", device=T4)(0.5))) is None


def test_fp8_is_offered_for_large_products_where_the_device_has_it() -> None:
    """Over 30 % of the time in sides of 1024 and more, on Hopper, not on Ampere."""
    large = {"shapes": "[[4096,4096],[4096,4096]]", "dtypes": '["c10::BFloat16","c10::BFloat16"]'}
    small = {**large, "shapes": "[[4096,1016],[1016,4096]]"}
    other = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN"
    assert fp8(signals(kernel(other, device=H100, **large)(0.9 * thresholds.FP8_FRACTION))) is None
    assert fp8(signals(kernel(other, device=H100, **small)(0.5))) is None
    assert fp8(signals(kernel(other, device=A100, **large)(0.5))) is None
    assert isinstance(fp8(signals(kernel(other, device=H100, **large)(0.5))), Finding)


def test_data_parallel_needs_two_gpus_in_one_process() -> None:
    """Its annotation alone says nothing."""

    def body(step: Step) -> None:
        step.line("main", "annotation", 90, 900, "DataParallel.forward")
        step.good(0, STEP_NS, at=100)
        step.op("aten::mm", GOOD, 0, STEP_NS, at=200, gpu="gpu1")

    def one(step: Step) -> None:
        step.line("main", "annotation", 90, 900, "DataParallel.forward")
        step.good(0, STEP_NS, at=100)

    assert found(scene(body)) == ["data_parallel_detector"]
    assert found(scene(one)) == []


def test_recorded_stacks_are_told_where_the_host_limits() -> None:
    """They slow the host, so that the GPU waits longer than without."""
    profile = launches(1.1 * thresholds.PROFILER_LAUNCH_FRACTION)
    profile.info.recorded = frozenset({"ops", "stacks"})
    assert found(profile) == ["launch_detector", "profiler_overhead_detector"]
    profile = launches(0.9 * thresholds.PROFILER_LAUNCH_FRACTION)
    profile.info.recorded = frozenset({"ops", "stacks"})
    assert found(profile) == ["launch_detector"]


def test_little_memory_asks_for_a_larger_batch_and_a_full_one_warns() -> None:
    """A quarter and nine tenths of the GPU's memory."""
    good = scene(lambda step: step.good(0, STEP_NS))
    total = A100.memory_bytes
    shares = {0.24: ["batch_size_detector"], 0.26: [], 0.89: [], 0.91: ["memory_full_detector"]}
    assert {share: found(with_memory(good, round(share * total))) for share in shares} == shares


def test_what_is_not_recorded_is_asked_for() -> None:
    """Memory and shapes of a profile without."""
    missing = {each.detector: each for each in verdict(scene(lambda step: step.good(0, STEP_NS))).undecided}
    assert set(missing) == {"batch_size_detector", "shape_detector"}
    assert "profile_memory=True" in missing["batch_size_detector"].hint


def test_a_capture_without_iterations_says_so() -> None:
    """And nothing that is only true of steps."""
    assert found(scene(lambda step: step.good(0, STEP_NS), marked=False, steps=1)) == ["no_iterations_detector"]


def test_warm_up_among_the_aggregated_iterations_is_told() -> None:
    """The first step takes five times as long as the others."""

    def body(step: Step) -> None:
        step.good(0, STEP_NS)

    profile = scene(body, steps=6)
    longer = dataclasses.replace(profile.iterations[0])
    longer.start_ns = longer.start_ns.copy()
    longer.stop_ns = longer.stop_ns.copy()
    longer.stop_ns[0] = longer.start_ns[0] + STEP_NS // 6
    longer.start_ns[1:] -= 0
    short = longer.start_ns[0] + np.arange(6) * (STEP_NS // 6) + np.where(np.arange(6) > 0, STEP_NS, 0)
    longer.start_ns, longer.stop_ns = short, np.append(short[1:], short[-1] + STEP_NS // 6)
    profile.iterations = [longer, *profile.iterations[1:]]
    assert "iteration_range_detector" in found(profile)


def test_gpus_without_work_are_told_unless_other_ranks_use_them() -> None:
    """A trace lists every GPU of the machine."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    profile.devices = [A100, dataclasses.replace(A100, device_id=1)]
    said = verdict(profile).findings
    assert [finding.problem_text() for finding in said] == ["1 of 2 GPUs did nothing in this profile: 1."]
    profile.info.world_size = 2
    assert verdict(profile).findings == []


def test_kernels_without_ops_are_told_as_missing() -> None:
    """Advice about models needs to know which op launched what."""

    def body(step: Step) -> None:
        step.line("gpu0", "kernel", 0, STEP_NS, GOOD, short=GOOD)

    answer = RULE["coverage_detector"](signals(scene(body)))
    assert isinstance(answer, Lacks)
    assert "100%" in answer.missing


def test_a_profile_without_gpu_work_gets_no_advice_but_is_told() -> None:
    """A trace of the CPU alone."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 900_000, "aten::mm")

    said = verdict(scene(body))
    assert said.findings == []
    assert [each.missing for each in said.undecided] == ["any GPU work"]
