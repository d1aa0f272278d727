"""When single rules speak beyond their thresholds, and which advice fits."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import Selection
from tensorboard_plugin_dlprof.analysis.rules.narrow_types import fp8
from tensorboard_plugin_dlprof.analysis.tables import Severity
from tests.analysis.cases import (
    ADD,
    FLASH_2,
    HGEMM,
    LARGE,
    NVJET,
    SGEMM,
    TF32_GEMM,
    UNALIGNED,
    collective,
    cuda,
    kernel,
    many,
    memory,
)
from tests.analysis.scenes import (
    A100,
    GOOD,
    H100,
    NCCL,
    STEP_NS,
    STEPS,
    Step,
    findings_of,
    said_by,
    scene,
    signals,
    verdict,
    with_memory,
)  # fmt: skip

_SEND_RECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


def test_no_option_of_a_framework_changes_the_kernels_of_the_user() -> None:
    """Who calls CUDA without a framework can write them for Tensor Cores."""
    own = kernel("matmul_tiled(float*, float*, float*, int, int, int)", "tile_loop")
    assert not {"amp_detector", "tf32_detector"} & set(findings_of(own(0.5)))
    assert "amp_detector" in findings_of(cuda(own)(0.5))


def test_fp8_is_for_large_products_on_devices_that_have_it() -> None:
    """Sides of 1024 and more, on Hopper, not on Ampere."""
    small = {**LARGE, "shapes": "[[4096,1016],[1016,4096]]"}
    assert fp8(signals(kernel(NVJET, device=H100, **small)(0.5))) is None
    assert fp8(signals(kernel(NVJET, device=A100, **LARGE)(0.5))) is None


@pytest.mark.parametrize(
    ("collectives", "kernel_of_it", "product", "ways"),
    [
        ("c10d::allreduce_", NCCL, "AddmmBackward0", "no_sync"),
        ("c10d::allreduce_", NCCL, "aten::mm", "fewer GPUs"),
        ("c10d::alltoall_base_", _SEND_RECV, "AddmmBackward0", "even out"),
        ("c10d::alltoall_base_", _SEND_RECV, "aten::mm", "even out"),
    ],
)
def test_advice_about_collectives_fits_what_they_carry(
    collectives: str, kernel_of_it: str, product: str, ways: str
) -> None:
    """Gradients where there is a backward pass, parts of results where there is none; tokens and activations that ranks
    send each other are neither."""

    def body(step: Step) -> None:
        step.op(product, GOOD, 0, STEP_NS / 2)
        step.op(collectives, kernel_of_it, STEP_NS / 2, STEP_NS)

    described = said_by("communication_detector", scene(body)).recommendation_text()
    assert [way for way in ("no_sync", "fewer GPUs", "even out") if way in described] == [ways]


@pytest.mark.parametrize(
    ("product", "severity", "way"),
    [
        ("AddmmBackward0", Severity.ADVICE, "checkpointing"),
        ("aten::mm", Severity.ADVICE, "smaller batch"),
        ("vllm::moe_forward", Severity.INFO, "gpu_memory_utilization"),
    ],
)
def test_activations_are_kept_for_a_backward_pass_alone(product: str, severity: Severity, way: str) -> None:
    """Servers of language models hold nearly all memory from the start."""
    profile = with_memory(scene(lambda step: step.op(product, GOOD, 0, STEP_NS)), round(0.95 * A100.memory_bytes))
    findings = said_by("memory_limit_detector", profile)
    assert findings.severity is severity
    ways = ("checkpointing", "gpu_memory_utilization")
    assert way in findings.recommendation_text()
    assert not [other for other in ways if other != way and other in findings.recommendation_text()]


def test_ranges_do_not_tell_that_there_is_no_backward_pass() -> None:
    """A training under Nsight Systems, marked by hand, shows none."""
    profile = collective(0.5)
    profile.info.recorded = frozenset({"nvtx"})
    assert "no_sync" in said_by("communication_detector", profile).recommendation_text()


def copy_alone(step: Step, share: float) -> None:
    """A pinned copy from the host."""
    step.line("main", "op", 10, 30, "aten::to")
    step.line("main", "call", 12, 20, "cudaMemcpyAsync", corr=77)
    step.line("gpu0/9", "memcpy", 0, share * STEP_NS, "Memcpy HtoD (Pinned -> Device)", corr=77, copy=1, bytes=1000)


def test_a_collective_of_the_step_before_is_one_all_the_same() -> None:
    """The GPU lags behind the host: what it waits for in one step was launched in the step before."""

    def body(step: Step) -> None:
        step.op("c10d::allreduce_", NCCL, STEP_NS, 1.3 * STEP_NS, at=900_000)
        step.good(0.3 * STEP_NS, STEP_NS, at=10)

    findings = said_by("communication_detector", scene(body), Selection(iter_start=3, iter_stop=3))
    assert findings.numbers["share_fraction"] == pytest.approx(0.3)


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
    assert ("older_attention_detector" in findings_of(profile)) == speaks


def test_a_gpu_that_is_not_named_is_known_by_its_kernels() -> None:
    """``nvjet`` is Hopper's or newer, whatever the capture leaves out."""

    def body(step: Step) -> None:
        step.op("aten::mm", NVJET, 0, 0.5 * STEP_NS)
        step.op("aten::_flash_attention_forward", FLASH_2, 0.5 * STEP_NS, STEP_NS)

    profile = scene(body, device=msgspec.structs.replace(H100, name="", capability_major=0))
    assert signals(profile).capability_major == 9
    assert "older_attention_detector" in findings_of(profile)


def test_copies_that_set_a_model_up_do_not_make_a_gpu_idle() -> None:
    """Of a capture without iterations, kernels are asked for from the first to the last of them."""

    def body(step: Step) -> None:
        copy_alone(step, 0.5)
        step.good(0.5 * STEP_NS, STEP_NS)

    profile = scene(body, marked=False, steps=1)
    assert signals(profile).busy_while_active_fraction == pytest.approx(1.0, abs=0.01)


def test_only_training_has_a_learning_rate() -> None:
    """A larger batch of inference needs no other advice."""
    assert "learning rate" not in verdict(memory(0.1)).findings[0].recommendation_text()


@pytest.mark.parametrize(
    ("optimizer", "described"),
    [
        ("AdamW", "torch.optim.AdamW(..., fused=True), or foreach=True"),
        ("SGD", "torch.optim.SGD(..., foreach=True), or, since PyTorch 2.3, fused=True"),
        ("Adagrad", "torch.optim.Adagrad(..., foreach=True)"),
        ("RMSprop", "torch.optim.RMSprop(..., foreach=True)"),
        ("Lamb", "torch.compile(optimizer.step)"),
    ],
)
def test_an_optimizer_is_told_of_what_its_class_has(optimizer: str, described: str) -> None:
    """Only some of torch.optim are fused on GPUs, the others of it have foreach; of other classes nobody knows."""
    (slow,) = verdict(many(ADD, "aten::add_", 60, around=f"Optimizer.step#{optimizer}.step")(0.3)).findings
    advice = slow.recommendation_text()
    assert described in advice
    assert ("fused=True" in advice) == (optimizer in ("AdamW", "SGD"))


def test_products_of_16_bits_need_no_mixed_precision_wherever_they_run() -> None:
    """Their letter is that of the accumulator: the same time in FP32 would be told twice."""
    assert {"amp_detector", "tf32_detector"} <= set(findings_of(kernel(SGEMM)(0.5)))
    assert findings_of(kernel("ampere_fp16_sgemm_fp16_128x64_nn")(0.5)) == []


@pytest.mark.parametrize(("small_ns", "speaks"), [(0.6 * STEP_NS, True), (0.4 * STEP_NS, False)])
def test_a_larger_batch_is_for_kernels_that_are_small_by_number_and_by_time(small_ns: float, speaks: bool) -> None:
    """Ten of one block beside one that fills the GPU."""

    def body(step: Step) -> None:
        step.good(0, STEP_NS - small_ns)
        for number in range(10):
            step.good(STEP_NS - small_ns * (10 - number) / 10, STEP_NS - small_ns * (9 - number) / 10)

    profile = with_memory(scene(body), 1)
    long = profile.kernels.end_ns - profile.kernels.start_ns > 0.1 * STEP_NS
    profile.kernels.grid = np.repeat(np.where(long, 10_000, 1)[:, None], 3, axis=1)
    assert ("batch_size_detector" in findings_of(profile)) == speaks


@pytest.mark.parametrize(
    ("dtype", "product", "wide"), [("float", GOOD, True), ("float", SGEMM, False), ("int", GOOD, False)]
)
def test_copies_are_told_to_be_narrower_where_half_the_bytes_would_do(dtype: str, product: str, wide: bool) -> None:
    """What is copied in FP32 is multiplied in 16 bits."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 30, "aten::to", shapes="[[1024]]", dtypes=f'["{dtype}"]')
        step.line("main", "call", 12, 20, "cudaMemcpyAsync", corr=77 + step.number)
        step.line("gpu0/9", "memcpy", 0, 0.4 * STEP_NS, "Memcpy HtoD (Pinned -> Device)", corr=77 + step.number, copy=1)
        step.op("aten::mm", product, 0.4 * STEP_NS, STEP_NS)

    assert ("Cast on the host" in said_by("copy_detector", scene(body)).recommendation_text()) == wide


def test_copies_of_one_path_are_one_row_whatever_the_layer() -> None:
    """With their number, their bytes, and how long no kernel ran beside them."""

    def body(step: Step) -> None:
        for number in range(4):
            begin, corr = 100 * number, 50 + 10 * step.number + number
            step.line("main", "annotation", begin, begin + 90, f"block.{number}")
            step.line("main", "op", begin + 10, begin + 30, "aten::to")
            step.line("main", "call", begin + 12, begin + 20, "cudaMemcpyAsync", corr=corr)
            start = 0.1 * number * STEP_NS
            step.line(
                "gpu0/9", "memcpy", start, start + 0.1 * STEP_NS, "Memcpy HtoD (Pinned -> Device)", corr=corr, copy=1
            )
        step.good(0.3 * STEP_NS, STEP_NS)

    (row,) = said_by("copy_detector", scene(body)).evidence
    assert (row.count, row.time_ns) == (3 * STEPS, round(0.3 * STEPS * STEP_NS))


def test_attention_that_is_written_out_has_no_length_to_pad() -> None:
    """One kernel for all of it needs none: its products are told once."""

    def body(step: Step) -> None:
        step.op("aten::matmul", HGEMM, 0, 0.3 * STEP_NS, at=100, **UNALIGNED)
        step.op("aten::softmax", "softmax_warp_forward<float>", 0.3 * STEP_NS, 0.6 * STEP_NS, at=200)
        step.op("aten::matmul", HGEMM, 0.6 * STEP_NS, 0.9 * STEP_NS, at=300, **UNALIGNED)
        step.op("aten::mm", HGEMM, 0.9 * STEP_NS, STEP_NS, at=400, **UNALIGNED)

    findings = said_by("shape_detector", scene(body))
    assert findings.numbers["products_ns"] == 0.1 * STEP_NS
    assert "attention_detector" in findings_of(scene(body))


@pytest.mark.parametrize(("width", "length", "padded"), [(1, 1001, "1,001 to 1,004"), (4, 1001, ""), (1, 1004, "")])
def test_products_in_tf32_load_four_numbers_at_a_time(width: int, length: int, padded: str) -> None:
    """So lengths have to be multiples of 4, which kernels that load fewer tell."""
    kernel = f"cutlass_80_tensorop_s1688gemm_256x128_32x3_nn_align{width}"
    kinds = {"shapes": f"[[4096,{length}],[{length},4096]]", "dtypes": '["float","float"]'}
    profile = scene(lambda step: step.op("aten::mm", kernel, 0, STEP_NS, **kinds))
    assert ("shape_detector" in findings_of(profile)) == bool(padded)
    if padded:
        assert padded in said_by("shape_detector", profile).recommendation_text()


def test_pages_of_unified_memory_are_no_copies_of_the_program() -> None:
    """The driver moves them: a stream of its own is no advice, and what a prefetch gains is not known."""

    def body(step: Step) -> None:
        step.good(0, 0.7 * STEP_NS)
        step.line("gpu0", "memcpy", 0.75 * STEP_NS, 0.95 * STEP_NS, "Unified memory HtoD", copy=11)

    finding = said_by("copy_detector", scene(body))
    assert "of unified memory to the GPU" in finding.problem_text()
    assert "cudaMemPrefetchAsync" in finding.recommendation
    assert finding.gain is None
    # The gap before ends as a page is touched, which no call asks for.
    assert finding.time_ns == pytest.approx(0.25 * STEP_NS, rel=0.01)
    assert "for 50.0 µs of it, waits until the next one is touched" in finding.problem_text()

    def back(step: Step) -> None:
        step.good(0, 0.7 * STEP_NS)
        step.line("gpu0", "memcpy", 0.75 * STEP_NS, 0.76 * STEP_NS, "Unified memory HtoD", copy=11)
        step.line("gpu0", "memcpy", 0.9 * STEP_NS, 0.905 * STEP_NS, "Unified memory DtoH", copy=12)

    assert said_by("copy_detector", scene(back)).recommendation.startswith("Bring these pages back at once")


def test_the_path_with_most_of_the_time_is_that_of_the_evidence() -> None:
    """Repetitions are one, and say so."""

    def body(step: Step) -> None:
        for layer in range(4):
            step.line("main", "annotation", 90 + 200 * layer, 190 + 200 * layer, f"layers.{layer}")
            start = layer * STEP_NS / 4
            step.op("aten::mm", SGEMM, start, start + STEP_NS / 4, at=100 + 200 * layer)

    finding = said_by("amp_detector", scene(body))
    assert "all in /layers.*/mm)" in finding.problem_text()
    (row,) = finding.evidence
    assert row.path == "/layers.*/mm"
    assert row.detail.startswith(f"4 ops, e.g. {row.key}, /layers.")


@pytest.mark.parametrize(
    ("op", "beside", "switch"),
    [
        ("aten::mm", "aten::cudnn_convolution", "set_float32_matmul_precision"),
        ("aten::cudnn_convolution", "aten::mm", "cudnn.allow_tf32"),
        ("aten::cudnn_convolution", "aten::cudnn_convolution", ""),
        ("aten::mm", "aten::mm", ""),
    ],
)
def test_a_switch_of_tf32_that_is_on_is_not_told(op: str, beside: str, switch: str) -> None:
    """PyTorch has one for convolutions, on unless told otherwise, and one for the rest. Where kernels use TF32, the
    library has chosen FP32 for the others, and the switch changes nothing."""

    def body(step: Step) -> None:
        step.op(op, SGEMM, 0, STEP_NS / 2)
        step.op(beside, TF32_GEMM, STEP_NS / 2, STEP_NS)

    said = [each for each in verdict(scene(body)).findings if each.detector == "tf32_detector"]
    assert len(said) == bool(switch)
    for each in said:
        advice = each.recommendation_text()
        assert [way for way in ("set_float32_matmul_precision", "cudnn.allow_tf32") if way in advice] == [switch]


def test_elementwise_kernels_after_a_start_are_a_share_of_what_is_left() -> None:
    """Nine tenths of the capture load a module: of the rest, they take more than half."""

    def body(step: Step) -> None:
        ns = step.step_ns
        step.op("aten::mm", GOOD, 0, 0.01 * ns)
        step.line("main", "call", 0.01 * ns, 0.9 * ns, "cuModuleLoadData")
        step.op("aten::add", ADD, 0.91 * ns, 0.97 * ns, at=0.905 * ns)
        step.good(0.97 * ns, ns, at=0.906 * ns)

    assert "fusion_detector" not in findings_of(scene(body))
    assert "fusion_detector" in findings_of(scene(body, marked=False, steps=1, step_ns=20 * STEP_NS))


@pytest.mark.parametrize(("calls", "described"), [(1, False), (9, True)])
def test_algorithms_that_a_library_tries_once_are_no_products_of_the_program(calls: int, described: bool) -> None:
    """Of one convolution all kernels are tries; of nine, one tries."""

    def body(step: Step) -> None:
        for number in range(calls):
            start = number * STEP_NS / calls
            at = 100 + 1_000 * number
            step.op("aten::cudnn_convolution", SGEMM, start, start + STEP_NS / calls, at=at, host_ns=200)
        step.line("main", "call", 130, 170, "cudaEventSynchronize", corr=9_000 + step.number)

    assert ("amp_detector" in findings_of(scene(body))) == described
