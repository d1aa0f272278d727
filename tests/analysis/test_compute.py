"""Findings about kernels: whose time, which gain, and that each kernel is told of once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.analysis.engine import judge
from tensorboard_plugin_dlprof.analysis.precision_gain import narrower
from tensorboard_plugin_dlprof.analysis.tables import Finding, Verdict
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.cases import ADD, CASES, SGEMM, TF32_GEMM, attention, many, on_two_gpus, well_over
from tests.analysis.scenes import A100, GOOD, STEP_NS, T4, Step, said_by, scene, signals, verdict
from tests.analysis.steps import said
from tests.diagnosis.test_parts import launch
from tests.shared_data import shared_data

COMPUTE = (
    "amp_detector", "tf32_detector", "fp8_detector", "fp64_detector", "shape_detector", "layout_detector",
    "cudnn_benchmark_detector", "optimizer_detector", "zero_grad_detector", "fusion_detector", "xla_detector",
    "attention_detector", "older_attention_detector",
)  # fmt: skip
FMHA = "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, cutlass::arch::Sm80>)"


def _all_rules(profile: Profile) -> Verdict:
    aggregation = aggregate(profile)
    return judge(profile, aggregation, efficiency(profile, measure(profile), aggregation))


@pytest.mark.parametrize("detector", COMPUTE)
def test_a_finding_about_kernels_names_part_time_and_evidence(detector: str) -> None:
    """A gain is no wider than three times, and never more than the time that it is taken from."""
    case = CASES[detector]
    findings = said_by(detector, case.make(well_over(case)))
    assert findings.part in ("compute", "launching")
    assert findings.time_ns is not None
    assert 0 < findings.time_ns <= 20 * STEP_NS
    assert findings.evidence
    assert all(row.time_ns and row.count and (row.call or row.kind != "op") for row in findings.evidence)
    assert (findings.gain is None) == bool(findings.cannot_tell)
    if findings.gain is not None:
        assert findings.gain.low_ns <= findings.gain.high_ns <= min(3 * findings.gain.low_ns, findings.time_ns)


def _half_a_step(kernel: str, device: Device = A100) -> Profile:
    def body(step: Step) -> None:
        step.op("aten::mm", kernel, 0, STEP_NS / 2)
        step.good(STEP_NS / 2, STEP_NS)

    return scene(body, device=device)


@pytest.mark.parametrize(
    ("detector", "low", "high"),
    [
        # 156 and 312 of the narrower type over 19.5 TFLOP/s: times .35, at most 3; times .75, at most 8.
        ("tf32_detector", 156 / 19.5 * 0.35, 156 / 19.5 * 0.75),
        ("amp_detector", 3, 8),
    ],
)
def test_rates_of_the_units_tell_the_gain_without_shapes(detector: str, low: float, high: float) -> None:
    """Of FP32 on an A100."""
    gain = said_by(detector, _half_a_step(SGEMM)).gain
    assert gain is not None
    assert gain.low_ns == pytest.approx(STEP_NS / 2 * (1 - 1 / low), abs=1)
    assert gain.high_ns == pytest.approx(STEP_NS / 2 * (1 - 1 / high), abs=1)


def test_no_kernel_takes_less_than_its_launch() -> None:
    """Kernels of 4 microseconds gain half at most."""

    def body(step: Step) -> None:
        for number in range(100):
            step.op("aten::mm", SGEMM, number * 5_000, number * 5_000 + 4_000)
        step.good(STEP_NS / 2, STEP_NS)

    measured = signals(scene(body))
    saved = narrower(measured, measured.of_precision("fp32"), "tf32", 1.0)
    assert saved is not None
    assert saved.high_ns == 3 * 100 * 2_000


def test_an_unknown_gpu_leaves_the_gain_untold() -> None:
    """What is missing is said."""
    findings = said_by("amp_detector", _half_a_step("volta_sgemm_128x64_nn", Device(0, "", 0, 0, 0, 0)))
    assert findings.gain is None
    assert "does not name the GPU" in findings.cannot_tell
    findings = said_by("amp_detector", _half_a_step("volta_sgemm_128x64_nn", Device(0, "Tesla X9", 7, 0, 80, 0)))
    assert "Tesla X9" in findings.cannot_tell


def test_tf32_is_told_where_the_gpu_has_it_and_no_kernel_uses_it() -> None:
    """Of ops or not; beside kernels that use it, it is not called off."""

    def body(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, STEP_NS / 2)
        step.op("aten::cudnn_convolution", TF32_GEMM, STEP_NS / 2, STEP_NS)

    def attention(step: Step) -> None:
        step.op("aten::mm", SGEMM, 0, STEP_NS / 2)
        step.op("aten::_efficient_attention_forward", FMHA, STEP_NS / 2, STEP_NS)

    assert "no kernel uses it" in said_by("tf32_detector", _half_a_step(SGEMM)).problem_text()
    assert "no kernel uses it" in said_by("tf32_detector", scene(attention)).problem_text()
    assert "as other kernels of this program do" in said_by("tf32_detector", scene(body)).problem_text()
    assert "tf32_detector" not in [each.detector for each in verdict(_half_a_step(SGEMM, T4)).findings]


def test_what_multiplies_is_called_what_it_is() -> None:
    """Convolutions, other products, or both."""

    def body(*ops: str) -> Profile:
        def step(step: Step) -> None:
            for number, op in enumerate(ops):
                step.op(op, SGEMM, number * STEP_NS / 2, (number + 1) * STEP_NS / 2)

        return scene(step)

    for ops, what in (
        (("aten::cudnn_convolution",), "Convolutions in"),
        (("aten::mm",), "Matrix multiplications in"),
        (("aten::mm", "aten::cudnn_convolution"), "Matrix multiplications and convolutions in"),
    ):
        for detector in ("amp_detector", "tf32_detector"):
            assert said_by(detector, body(*ops)).problem_text().startswith(what)


def test_rows_of_layers_are_merged() -> None:
    """One row for a path without its indices, an op, a kernel and a GPU; it opens the op with the most time."""

    def body(step: Step) -> None:
        for layer in range(4):
            step.line("main", "op", 100 + layer * 1_000, 900 + layer * 1_000, f"layers.{layer}")
            start = layer * STEP_NS / 4
            step.op("aten::mm", SGEMM, start, start + 1_000 * (layer + 200), at=200 + layer * 1_000)

    profile = scene(body)
    (row,) = said_by("amp_detector", profile).evidence
    assert (row.count, row.call) == (12, SGEMM)
    assert row.time_ns == 3 * sum(1_000 * (layer + 200) for layer in range(4))
    longest = next(op for op in profile.ops if op.op_id == row.key)
    assert "layers.3" in longest.name
    assert row.path == "/layers.*"
    assert (row.iteration, row.from_ns, row.to_ns) == (0, 750_000, 953_000)
    of_two = said_by("amp_detector", on_two_gpus(profile))
    assert [each.device for each in of_two.evidence] == [0, 1]
    assert {each.time_ns for each in of_two.evidence} == {row.time_ns}


def test_evidence_names_what_a_wrapper_of_cutlass_wraps(tmp_path: Path) -> None:
    """All of CUTLASS's kernels have the name of a wrapper; two products are two rows."""
    products = ("cutlass_80_simt_sgemm_128x64_8x5_nt_align1", "cutlass_80_simt_sgemm_64x64_8x5_nt_align1")
    events = []
    for number in range(20):
        name = f"void cutlass::Kernel<{products[number % 2]}>({products[number % 2]}::Params)"
        events += launch(number, 1_000 * number, 1_000 * number + 10, 900, kernel=name)
    (amp,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "amp_detector")
    assert {row["path"]: row["count"] for row in amp["evidence"]} == {f"Kernel<{name}>": 10 for name in products}


def test_what_attention_counts_is_not_told_to_fuse() -> None:
    """Softmax, scale and mask between the products."""
    measured = signals(attention(0.5))
    from tensorboard_plugin_dlprof.analysis.rules.fusing import fusible

    assert not fusible(measured).any()


@pytest.mark.parametrize("name", ["fused_rope_kernel", "add_rmsnorm_quant_kernel", "act_and_mul_kernel<float>"])
def test_what_is_fused_is_not_told_to_fuse(name: str) -> None:
    """Kernels of servers do what several did; others of the same family are told."""
    from tensorboard_plugin_dlprof.analysis.rules.fusing import fusible

    assert not fusible(signals(many(name, "aten::add", 30)(0.5))).any()
    assert fusible(signals(many(ADD, "aten::add", 30)(0.5))).any()


def test_zero_grad_is_told_by_what_it_costs() -> None:
    """The GPU's waiting where that is more, else its kernels."""

    def body(step: Step) -> None:
        step.line("main", "op", 100, 90_000, "Optimizer.zero_grad#SGD.zero_grad")
        for number in range(30):
            step.op("aten::zero_", ADD, number * 10_000, number * 10_000 + 1_000, at=200 + number * 1_000)
        step.good(300_000, STEP_NS, at=100_000)

    starved = said_by("zero_grad_detector", scene(body))
    assert "no kernel runs for 261" in starved.problem_text()
    stretch, *rows = starved.evidence
    assert (stretch.kind, stretch.key) == ("range", "/Optimizer.zero_grad#SGD.zero_grad")
    assert (stretch.to_ns or 0) - (stretch.from_ns or 0) == 291_000
    assert {row.kind for row in rows} == {"op"}
    busy = many(ADD, "aten::zero_", 30, around="Optimizer.zero_grad#SGD.zero_grad")(0.5)
    assert "which take 500 µs" in said_by("zero_grad_detector", busy).problem_text()


def test_means_that_few_iterations_make_are_not_told_of_each() -> None:
    """Four of one length, or the last of them twenty times as long."""

    def body(last: int) -> Profile:
        def step(step: Step) -> None:
            length = last if step.number == 4 else 1
            step.lines.clear()
            step.line("main", "iteration", 0, STEP_NS * length, f"ProfilerStep#{step.number}")
            for number in range(20 * length):
                begin = number * STEP_NS / 20
                step.op("aten::add", ADD, begin, begin + STEP_NS / 25, at=begin)

        return scene(step, steps=5)

    assert "kernels take 800 µs of each iteration" in said_by("fusion_detector", body(1)).problem_text()
    assert " of an iteration on average (" in said_by("fusion_detector", body(20)).problem_text()


def _dominant(said: Verdict) -> Finding | None:
    return next((each for each in said.findings if each.detector == "dominant_kernel"), None)


def test_the_kernel_that_takes_most_is_told_if_nothing_else_is() -> None:
    """Half of the computing time and no other rule about it; collectives do not count as computing."""

    def body(share: float, kernel: str = GOOD) -> Profile:
        def step(step: Step) -> None:
            step.op("aten::mm", kernel, 0, share * STEP_NS)
            step.op("aten::mm", kernel.replace("128x128", "64x64"), share * STEP_NS, STEP_NS)

        return scene(step)

    dominant = _dominant(_all_rules(body(0.6)))
    assert dominant is not None
    assert dominant.numbers["computing_fraction"] == pytest.approx(0.6)
    assert dominant.time_ns == 0.6 * STEP_NS
    assert [row.call for row in dominant.evidence] == [GOOD]
    assert dominant.cannot_tell

    def solve(step: Step) -> None:
        step.line("main", "call", 105, 125, "cudaLaunchKernel", corr=step.number + 1)
        step.line("gpu0", "kernel", 130, STEP_NS, "my_solver", corr=step.number + 1, grid="2,2,1")

    few = scene(solve)
    dominant_few = _dominant(_all_rules(few))
    assert dominant_few is not None
    assert "launch of 4 blocks for 108 multiprocessors" in dominant_few.problem_text()
    assert dominant_few.recommendation_text().startswith("Give it more blocks")
    assert _dominant(_all_rules(body(0.45))) is not None  # the other one has more
    assert _dominant(_all_rules(body(0.6, SGEMM))) is None  # amp_detector speaks of it


@pytest.mark.parametrize("is_start", [False, True])
def test_the_kernel_that_takes_most_of_what_a_start_leaves_is_told(is_start: bool) -> None:
    """Six hundredths of the capture, of which nine tenths load a module; or the host waits as long in each step."""

    def body(step: Step) -> None:
        ns = step.step_ns
        step.good(0, 0.01 * ns)
        step.line("main", "call", 0.01 * ns, 0.9 * ns, "cuModuleLoadData")
        step.op("aten::mm", "my_solver", 0.91 * ns, 0.97 * ns, at=0.905 * ns)
        step.good(0.97 * ns, ns, at=0.906 * ns)

    profile = scene(body, marked=False, steps=1, step_ns=20 * STEP_NS) if is_start else scene(body)
    assert (_dominant(_all_rules(profile)) is not None) == is_start


def test_fusions_of_one_name_are_one_kernel_in_one_op_only() -> None:
    """XLA numbers its fusions in each program anew; those of a library have one name wherever they run."""

    def body(kernel: str, share: float) -> Profile:
        def step(step: Step) -> None:
            step.op("aten::a", kernel, 0, share * STEP_NS)
            step.op("aten::b", kernel, share * STEP_NS, 0.8 * STEP_NS)
            step.op("aten::mm", GOOD, 0.8 * STEP_NS, STEP_NS)

        return scene(step)

    assert _dominant(_all_rules(body("loop_convert_fusion", 0.4))) is None
    assert _dominant(_all_rules(body("my_solver", 0.4))) is not None
    dominant = _dominant(_all_rules(body("loop_convert_fusion", 0.7)))
    assert dominant is not None
    assert "loop_convert_fusion (/a)" in dominant.problem_text()


@pytest.mark.parametrize(
    ("kernel", "registers", "described"),
    [
        ("triton_", (32, 48), False),
        ("triton__0d1d2d3de", (32, 48), False),
        ("triton_", (-1, -1), False),  # nobody knows whether they are one
        ("triton_", (32, 32), True),
        ("triton_poi_fused_add_0", (32, 48), True),  # a kernel may be compiled twice
    ],
)
def test_kernels_without_a_name_of_their_own_are_told_by_their_code(
    kernel: str, registers: tuple[int, int], described: bool
) -> None:
    """Inductor once called all its kernels ``triton_``, with the numbers of their arguments at most."""

    def body(step: Step) -> None:
        for number, count in enumerate(registers):
            options = {"corr": 900 + 10 * step.number + number, "registers": count}
            begin = 0.4 * number * STEP_NS
            step.line("main", "call", 105, 125, "cudaLaunchKernel", corr=options["corr"])
            step.line("gpu0", "kernel", begin, begin + 0.4 * STEP_NS, kernel, **options)
        step.op("aten::mm", GOOD, 0.8 * STEP_NS, STEP_NS)

    assert (_dominant(_all_rules(scene(body))) is not None) == described


def test_the_gain_of_a_real_transformer_is_that_of_its_gpu() -> None:
    """3.11 s of FP32 products on an A100 without shapes: TF32 saves 2.0 to 2.6 s."""
    path = shared_data() / "nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite"
    capture = find_importer(path).read(path, ReadOptions(), lambda *_: None)
    described = {each.detector: each for each in _all_rules(build_profile(capture)).findings}
    tf32, amp = described["tf32_detector"], described["amp_detector"]
    assert tf32.time_ns == amp.time_ns == 3_114_184_256
    assert tf32.gain is not None
    assert (round(tf32.gain.low_ns / 1e9, 1), round(tf32.gain.high_ns / 1e9, 1)) == (2.0, 2.6)
