"""Every rule: silent just under its threshold, speaking just over it, and alone on a profile made for it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof import analysis
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules import RULES
from tensorboard_plugin_dlprof.analysis.rules.narrow_types import fp8, tf32
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks, Pool
from tensorboard_plugin_dlprof.importers.kineto_sorting import COUNTER_RANGES
from tensorboard_plugin_dlprof.profile.tables import GraphLaunches, Profile
from tests.analysis.cases import (
    ADD,
    CASES,
    EIGEN,
    FLASH_2,
    LARGE,
    NVJET,
    SGEMM,
    collective,
    copy,
    good,
    idle,
    kernel,
    loader,
    memory,
    tensorflow,
    well_over,
)
from tests.analysis.scenes import A100, H100, STEP_NS, T4, Step, found, scene, signals, verdict

RULE = dict(RULES)
README = Path(analysis.__file__).parent / "README.md"


def test_a_good_step_gets_no_advice() -> None:
    """The ground on which every other scene stands."""
    assert found(scene(lambda step: step.good(0, STEP_NS))) == []


def test_times_of_several_gpus_are_means() -> None:
    """Both GPUs compute in FP32 for 40 % of the step; the time and the share in the sentence are of one step."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, round(0.4 * STEP_NS))
        step.op("aten::mm", SGEMM, 0, round(0.4 * STEP_NS), at=300, gpu="gpu1")

    said = verdict(scene(body))
    (amp,) = (finding for finding in said.findings if finding.detector == "amp_detector")
    assert amp.numbers["share_fraction"] == pytest.approx(0.4)
    assert amp.numbers["products_ns"] == pytest.approx(0.4 * said.iteration_ns)


def test_every_rule_has_its_case() -> None:
    """A new rule is not done before it has one."""
    assert list(CASES) == list(RULE)


def test_every_rule_is_documented() -> None:
    """A row for each, in their order, that names limits which exist."""
    rows = re.findall(r"^\| `(\w+_detector)` .*", README.read_text(encoding="utf-8"), re.MULTILINE)
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
def test_a_profile_made_for_a_rule_triggers_only_it(detector: str) -> None:
    """Well over the threshold, where its gain is worth a sentence."""
    case = CASES[detector]
    said = verdict(case.make(well_over(case)))
    wanted = [] if case.answer is Lacks else [case.detector or detector]
    assert [finding.detector for finding in said.findings] == [*case.also, *wanted]
    assert (detector in {each.detector for each in said.undecided}) == (case.answer is Lacks)


def test_tf32_and_mixed_precision_gain_the_same_time() -> None:
    """One switch or another type: only the larger is added up; a T4 has no TF32."""
    said = verdict(kernel(SGEMM)(0.5))
    gains = [finding.gain for finding in said.findings]
    assert gains[0] is not None
    assert gains[1] is not None
    assert said.total_high_ns == max(gains[0].high_ns, gains[1].high_ns)
    assert tf32(signals(kernel("volta_sgemm_128x64_nn", device=T4)(0.5))) is None


@pytest.mark.parametrize(
    ("name", "problem", "recommendation"),
    [
        ("_SingleProcessDataLoaderIter", "in the training process itself", "num_workers=4 or more"),
        ("_MultiProcessingDataLoaderIter", "though it has workers", "more workers"),
    ],
)
def test_a_loader_with_workers_is_told_something_else(name: str, problem: str, recommendation: str) -> None:
    """The name of its range tells whether it has any."""
    told = said_by("dataloader_detector", idle(loader(name))(0.4))
    assert problem in told.problem_text()
    assert recommendation in told.recommendation_text()


def test_tensorflow_has_no_workers() -> None:
    """But ``tf.data``."""
    told = said_by("dataloader_detector", tensorflow(idle(loader("x")))(0.4))
    assert "AUTOTUNE" in told.recommendation_text()
    assert "num_workers" not in told.recommendation_text()


def test_only_the_kernels_that_multiply_become_faster() -> None:
    """A range around a product and what follows it is one op; the rest of its time gains nothing by a narrower type."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 900, "aten::matmul")
        for number, name in enumerate((SGEMM, ADD, ADD)):
            step.line("main", "call", 20 + 100 * number, 60 + 100 * number, "cudaLaunchKernel", corr=10 + number)
            step.line("gpu0", "kernel", number * 300_000, (number + 1) * 300_000, name, corr=10 + number)
        step.good(900_000, STEP_NS, at=1_000)

    for detector in ("amp_detector", "tf32_detector"):
        told = said_by(detector, scene(body, steps=1))
        assert told.numbers["products_ns"] == 300_000
        assert told.gain is not None
        products = [claim.high_ns for claim in told.gain.claims if claim.pool is Pool.PRODUCTS]
        assert products == [pytest.approx(0.7 * 300_000)]


def test_fp8_is_for_large_products_on_devices_that_have_it() -> None:
    """Sides of 1024 and more, on Hopper, not on Ampere."""
    small = {**LARGE, "shapes": "[[4096,1016],[1016,4096]]"}
    assert fp8(signals(kernel(NVJET, device=H100, **small)(0.5))) is None
    assert fp8(signals(kernel(NVJET, device=A100, **LARGE)(0.5))) is None


def test_what_a_compiler_made_is_fused_already() -> None:
    """Inductor's kernels take most of the time, and nobody is told to compile."""
    assert found(kernel("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3", "CompiledFunction")(0.6)) == []


def test_what_torch_compile_left_out_is_not_to_be_compiled_again() -> None:
    """A kernel of Inductor's beside eager ones: the breaks in the graph are what to look for."""
    eager = kernel(ADD.replace("float", "c10::BFloat16"), "aten::add")(0.4)
    assert "model = torch.compile(model)" in said_by("fusion_detector", eager).recommendation_text()
    inductor = "triton_poi_fused_add_mul_3"

    def body(step: Step) -> None:
        step.good(0, 0.4 * STEP_NS)
        step.op("Torch-Compiled Region: 0/0", inductor, 0.4 * STEP_NS, 0.6 * STEP_NS)
        step.op("aten::add", ADD.replace("float", "c10::BFloat16"), 0.6 * STEP_NS, STEP_NS)

    told = said_by("fusion_detector", scene(body))
    assert "graph_breaks" in told.recommendation_text()
    assert told.numbers["share_fraction"] == pytest.approx(0.4)


def test_a_triton_kernel_written_by_hand_is_no_sign_of_torch_compile() -> None:
    """Of a library of kernels, in an eager model."""

    def body(step: Step) -> None:
        step.good(0, 0.4 * STEP_NS)
        step.op("LigerRMSNormFunction", "_rms_norm_forward_kernel", 0.4 * STEP_NS, 0.6 * STEP_NS)
        step.op("aten::add", ADD.replace("float", "c10::BFloat16"), 0.6 * STEP_NS, STEP_NS)

    assert "model = torch.compile(model)" in said_by("fusion_detector", scene(body)).recommendation_text()


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("_XlaRun: cluster_0_1/xla_run", "MaxPool"),
        ("XlaModule:#hlo_module=jit_step#", "MaxPool"),
        ("Relu: model/relu/Relu", "loop_multiply_fusion"),
    ],
)
def test_a_program_that_uses_xla_is_told_to_use_it_for_more(op: str, name: str) -> None:
    """Shown by an op that runs a cluster, by a range around a module, by a kernel that XLA named."""

    def body(step: Step) -> None:
        step.good(0, 0.3 * STEP_NS)
        step.op(op, name, 0.3 * STEP_NS, 0.6 * STEP_NS)
        step.op("BiasAdd: model/BiasAdd", EIGEN, 0.6 * STEP_NS, STEP_NS)

    told = said_by("xla_detector", tensorflow(lambda _: scene(body))(0))
    assert "outside of the clusters" in told.problem_text()
    assert told.numbers["share_fraction"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("ResourceApplyAdam: Adam/update", "some_kernel"),
        ("BiasAddGrad: gradient_tape/BiasAddGrad", "some_kernel"),
        ("anything", "void tensorflow::BiasNHWCKernel<float>(int, float const*)"),
    ],
)
def test_tensorflow_is_known_by_its_ops_and_kernels(op: str, name: str) -> None:
    """Without a word of the source; advice is then TensorFlow's, of mixed precision too."""

    def body(step: Step) -> None:
        step.op("MatMul: dense/MatMul", "volta_sgemm_128x64_nn", 0, 0.5 * STEP_NS)
        step.op(op, name, 0.5 * STEP_NS, 0.55 * STEP_NS)
        step.op("Relu: relu", EIGEN, 0.55 * STEP_NS, STEP_NS)

    profile = scene(body, device=T4)
    profile.info.source_format, profile.info.framework = "nsight_systems", ""
    said = {finding.detector: finding for finding in verdict(profile).findings}
    assert "mixed_float16" in said["amp_detector"].recommendation_text()
    assert "fusion_detector" not in said
    assert "jit_compile" in said["xla_detector"].recommendation_text()


_OF_PYTORCH = {"data_parallel_detector", "older_attention_detector", "optimizer_detector", "zero_grad_detector"}
"""What PyTorch alone has."""

_WORDS_OF_PYTORCH = re.compile(
    r"torch|profiler\.step|ProfilerActivity|record_shapes|emit_nvtx|activities=|Optimizer\.step", re.IGNORECASE
)


@pytest.mark.parametrize("name", sorted(CASES.keys() - _OF_PYTORCH))
def test_tensorflow_is_not_told_of_pytorch(name: str) -> None:
    """By no sentence, link or hint."""
    case = CASES[name]
    judged = verdict(tensorflow(case.make)(case.threshold * case.above))
    said = [text for each in judged.findings for text in (each.recommendation_text(), each.link)]
    said += [each.hint for each in judged.undecided]
    assert said
    assert not [text for text in said if _WORDS_OF_PYTORCH.search(text)]


def test_what_tensorflow_lacks_is_no_option_of_pytorch() -> None:
    """Where its shapes would be needed, and where calls are missing."""

    def body(step: Step) -> None:
        step.op("MatMul: dense/MatMul", "ampere_h16816gemm_128x64_nn", 0, 0.4 * STEP_NS, shapes="")
        step.op("Conv2D: conv/Conv2D", "ampere_scudnn_128x64_relu_medium_nn_v1", 0.4 * STEP_NS, STEP_NS, shapes="")

    hints = {each.detector: each.hint for each in verdict(tensorflow(lambda _: scene(body))(0)).undecided}
    assert hints.keys() >= {"shape_detector", "cudnn_benchmark_detector"}
    assert not [hint for hint in hints.values() if _WORDS_OF_PYTORCH.search(hint)]


@pytest.mark.parametrize("name", ["memory_full_detector", "fp8_detector"])
def test_nothing_to_say_about_tensorflow(name: str) -> None:
    """It takes all memory at once, and has no FP8."""
    case = CASES[name]
    assert name in found(case.make(case.threshold * case.above))
    assert name not in found(tensorflow(case.make)(case.threshold * case.above))


def test_no_advice_about_xla_for_pytorch() -> None:
    """Nor about torch.compile for TensorFlow."""
    make = kernel(EIGEN, "aten::add")
    profile = make(0.4)
    profile.info.source_format = "pytorch"
    assert found(profile) == ["fusion_detector"]
    assert found(tensorflow(make)(0.4)) == ["xla_detector"]


def said_by(detector: str, profile: Profile) -> Finding:
    """The finding of a detector."""
    return next(finding for finding in verdict(profile).findings if finding.detector == detector)


def test_collectives_leave_a_gpu_under_used() -> None:
    """A kernel of NCCL's runs, and the GPU computes nothing."""
    said = {finding.detector: finding for finding in verdict(collective(0.6)).findings}
    assert list(said) == ["communication_detector", "underutilized_gpu_detector"]
    assert said["underutilized_gpu_detector"].numbers["busy_fraction"] == pytest.approx(0.4, abs=0.01)
    assert "other than collectives" in said["underutilized_gpu_detector"].problem_text()


def test_copies_can_only_hide_behind_kernels() -> None:
    """Copies for 60 % of a step beside kernels for 5 % gain no more than these 5; without kernels they gain nothing."""

    def body(step: Step) -> None:
        copy_alone(step, 0.6)
        step.good(0.95 * STEP_NS, STEP_NS)

    told = said_by("copy_detector", scene(body))
    assert told.gain is not None
    assert told.gain.high_ns == pytest.approx(0.05 * STEP_NS, rel=0.01)
    alone = said_by("copy_detector", scene(lambda step: copy_alone(step, 0.6)))
    assert alone.gain is None
    assert "too few kernels" in alone.recommendation_text()


def copy_alone(step: Step, share: float) -> None:
    """A pinned copy from the host."""
    step.line("main", "op", 10, 30, "aten::to")
    step.line("main", "call", 12, 20, "cudaMemcpyAsync", corr=77)
    step.line("gpu0/9", "memcpy", 0, share * STEP_NS, "Memcpy HtoD (Pinned -> Device)", corr=77, copy=1, bytes=1000)


def test_collectives_can_only_hide_behind_what_else_runs() -> None:
    """Nearly alone they wait for a late rank: at least next to nothing is gained."""
    told = said_by("communication_detector", collective(0.98))
    assert told.gain is not None
    assert told.gain.low_ns == pytest.approx(0.2 * 0.02 * STEP_NS, rel=0.05)
    assert told.gain.high_ns == pytest.approx(0.9 * 0.98 * STEP_NS, rel=0.01)


@pytest.mark.parametrize(
    ("capability", "name", "speaks"),
    [
        (9, FLASH_2, True),
        (10, FLASH_2, True),
        (8, FLASH_2, False),
        (12, FLASH_2, False),
        (9, "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<A>>>(Params)", False),
        (9, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128", False),
        (9, "void pytorch_flash::flash_bwd_convert_dq_kernel<pytorch_flash::Traits>(Params)", False),
    ],
)
def test_older_attention_is_that_of_a_gpu_with_kernels_of_its_own(capability: int, name: str, speaks: bool) -> None:
    """Hopper and data centre Blackwell; what runs on these already, and helpers, are not meant."""
    device = msgspec.structs.replace(H100, capability_major=capability)
    profile = kernel(name, "aten::_flash_attention_forward", device=device)(0.5)
    assert ("older_attention_detector" in found(profile)) == speaks


def test_a_gpu_that_is_not_named_is_known_by_its_kernels() -> None:
    """``nvjet`` is Hopper's or newer, whatever the capture leaves out."""

    def body(step: Step) -> None:
        step.op("aten::mm", NVJET, 0, 0.5 * STEP_NS)
        step.op("aten::_flash_attention_forward", FLASH_2, 0.5 * STEP_NS, STEP_NS)

    profile = scene(body, device=msgspec.structs.replace(H100, name="", capability_major=0))
    assert signals(profile).capability_major == 9
    assert "older_attention_detector" in found(profile)


def test_copies_that_set_a_model_up_do_not_make_a_gpu_idle() -> None:
    """Of a capture without iterations, kernels are asked for from the first to the last of them."""

    def body(step: Step) -> None:
        copy_alone(step, 0.5)
        step.good(0.5 * STEP_NS, STEP_NS)

    profile = scene(body, marked=False, steps=1)
    assert signals(profile).busy_fraction == pytest.approx(0.5, abs=0.01)
    assert signals(profile).busy_while_active_fraction == pytest.approx(1.0, abs=0.01)


def test_only_training_has_a_learning_rate() -> None:
    """A larger batch of inference needs no other advice."""
    assert "learning rate" not in verdict(memory(0.1)).findings[0].recommendation_text()


def test_the_model_goes_to_the_gpu_once() -> None:
    """A copy before the first kernel of a capture without iterations is no advice; in every step it is."""
    assert found(copy(alone=True)(0.4)) == ["copy_detector"]

    def upload(step: Step) -> None:
        step.line("main", "op", 10, 30, "aten::to")
        step.line("main", "call", 12, 20, "cudaMemcpyAsync", corr=77)
        step.line("gpu0/9", "memcpy", 0, 0.4 * STEP_NS, "Memcpy HtoD (Pinned -> Device)", corr=77, copy=1, bytes=1000)
        step.good(0.4 * STEP_NS, STEP_NS)

    assert found(scene(upload, marked=False, steps=1)) == ["no_iterations_detector"]


def test_graphs_recorded_as_a_whole_hide_their_kernels() -> None:
    """More GPU time in them than in kernels."""
    profile = good()
    op, instance, zero = (np.zeros(1, kind) for kind in (np.int32, np.int32, np.int64))
    device = np.zeros(1, np.int32)
    profile.graphs = GraphLaunches(op, instance, zero, zero + 4 * STEP_NS, device, zero)
    answer = RULE["coverage_detector"](signals(profile))
    assert isinstance(answer, Lacks)
    assert "57%" in answer.missing
    assert "cuda-graph-trace=node" in answer.hint


def test_what_is_not_recorded_is_asked_for() -> None:
    """Memory and shapes of a profile without."""
    missing = {each.detector: each for each in verdict(scene(lambda step: step.good(0, STEP_NS))).undecided}
    assert set(missing) == {"batch_size_detector", "shape_detector"}
    assert "profile_memory=True" in missing["batch_size_detector"].hint


def test_input_that_is_not_recorded_is_asked_for_where_the_gpu_waits() -> None:
    """For no recorded reason, a quarter of the time; a busy GPU waits for no file."""
    waiting = idle(lambda _step, _begin, _stop: None, step_ns=20 * STEP_NS)(0.25)
    assert "io_detector" in undecided(waiting)
    waiting.info.recorded = frozenset({"io"})
    assert undecided(waiting) >= {"dataloader_detector"}
    assert "io_detector" not in undecided(waiting)
    assert not undecided(good()) & {"io_detector", "dataloader_detector"}


def undecided(profile: Profile) -> set[str]:
    """The detectors that lack data."""
    return {each.detector for each in verdict(profile).undecided}


def test_gpus_without_work_are_told_unless_other_ranks_use_them() -> None:
    """A trace lists every GPU of the machine."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    profile.devices = [A100, msgspec.structs.replace(A100, device_id=1)]
    said = verdict(profile).findings
    assert [finding.problem_text() for finding in said] == ["1 of 2 GPUs did nothing in this profile: 1."]
    profile.info.world_size = 2
    assert verdict(profile).findings == []


def test_a_profile_without_gpu_work_gets_no_advice_but_is_told() -> None:
    """A trace of the CPU alone."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 900_000, "aten::mm")

    profile = scene(body)
    said = verdict(profile)
    assert said.findings == []
    assert [each.missing for each in said.undecided] == ["any GPU work"]
    assert "nsys" in said.undecided[0].hint
    profile.info.source_format = "pytorch"
    assert "activities" in verdict(profile).undecided[0].hint
    profile.coverage.skipped[COUNTER_RANGES] = 3
    assert "--counters" in verdict(profile).undecided[0].hint
