"""Advice is that of the user's framework, and of what it uses already: loaders, compilers, XLA."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tensorboard_plugin_dlprof.analysis.program import Framework, framework_of
from tensorboard_plugin_dlprof.analysis.rules.recording import how_to_mark, recorded_ops
from tensorboard_plugin_dlprof.analysis.rules.start import how_to_record_later
from tensorboard_plugin_dlprof.analysis.tables import Lacks
from tests.analysis.cases import (
    ADD,
    CASES,
    EIGEN,
    Make,
    cuda,
    kernel,
    tensorflow,
    tensorrt,
)
from tests.analysis.scenes import STEP_NS, T4, Step, findings_of, said_by, scene, signals, verdict

_OF_PYTORCH = {"data_parallel_detector", "optimizer_detector", "zero_grad_detector"}
"""What PyTorch alone has."""


_WORDS_OF_PYTORCH = re.compile(
    r"torch|profiler\.step|ProfilerActivity|record_shapes|profile_memory|emit_nvtx|activities=|Optimizer\.step",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("recorder", "framework", "how"),
    [
        ("pytorch", "PyTorch 2.8.0", "Call profiler.step() after each step"),
        ("nsight_systems", "PyTorch 2.8.0", 'Put torch.cuda.nvtx.range("step") around each step'),
        ("nsight_systems", "JAX", "Put an NVTX range around each step"),
        ("nsight_systems", "TensorFlow", "Put an NVTX range around each step"),
        ("xplane", "JAX", 'Put jax.profiler.StepTraceAnnotation("train", step_num=i) around each step'),
        ("xplane", "TensorFlow", 'Put tf.profiler.experimental.Trace("train", step_num=i, _r=1) around each step'),
        ("xplane", "PyTorch 2.8.0", 'Put torch_xla.debug.profiler.StepTrace("train", step_num=i) around each step'),
    ],
)
def test_iterations_are_marked_for_what_records_them(recorder: str, framework: str, how: str) -> None:
    """Whatever the framework can mark for another recorder is not in its recordings."""
    profile = scene(lambda step: step.good(0, STEP_NS), marked=False)
    profile.info.source_format, profile.info.framework = recorder, framework
    assert how_to_mark(signals(profile), "step") == how


@pytest.mark.parametrize(
    ("recorder", "framework", "how"),
    [
        ("pytorch", "PyTorch 2.8.0", "torch.profiler.schedule"),
        ("nsight_systems", "PyTorch 2.8.0", "nsys profile --delay"),
        ("nsight_systems", "", "nsys profile --delay"),
        ("xplane", "JAX", "jax.profiler.start_trace"),
        ("xplane", "TensorFlow", "profile_batch"),
        ("xplane", "PyTorch 2.8.0", "start the profiler"),
    ],
)
def test_a_later_start_is_that_of_the_recorder(recorder: str, framework: str, how: str) -> None:
    """A program of CUDA has no profiler of PyTorch, and PyTorch's profiler of an AMD GPU no delay of nsys."""
    profile = scene(lambda step: step.good(0, STEP_NS), marked=False)
    profile.info.source_format, profile.info.framework = recorder, framework
    assert how_to_record_later(signals(profile)).startswith(how)


@pytest.mark.parametrize(
    ("recorder", "hint"),
    [
        (
            "pytorch",
            "Record ops: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]; start before the first step.",
        ),
        (
            "nsight_systems",
            "Record ops: emit_nvtx(), or nsys profile --pytorch=autograd-nvtx; start before the first step.",
        ),
    ],
)
def test_ops_are_recorded_by_what_recorded_the_kernels(recorder: str, hint: str) -> None:
    """Kernels of PyTorch that no op launched."""
    profile = scene(lambda step: step.line("gpu0", "kernel", 0, STEP_NS, ADD))
    profile.info.source_format = recorder
    lacks = recorded_ops(signals(profile))
    assert isinstance(lacks, Lacks)
    assert lacks.hint == hint


@pytest.mark.parametrize(
    ("recorder", "option"),
    [("pytorch", "ProfilerActivity.CUDA"), ("nsight_systems", "nsys profile"), ("xplane", "device_tracer_level=1")],
)
def test_gpu_work_is_recorded_by_what_recorded_the_host(recorder: str, option: str) -> None:
    """A recording without any GPU work."""
    profile = scene(lambda step: step.line("main", "op", 0, STEP_NS, "aten::add"))
    profile.info.source_format = recorder
    lacks = recorded_ops(signals(profile))
    assert isinstance(lacks, Lacks)
    assert option in lacks.hint


def test_what_a_compiler_made_is_fused_already() -> None:
    """Inductor's kernels take most of the time, and nobody is told to compile."""
    assert findings_of(kernel("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3", "CompiledFunction")(0.6)) == []


def test_what_torch_compile_left_out_is_not_to_be_compiled_again() -> None:
    """A kernel of Inductor's beside eager ones: the breaks in the graph are what to look for."""
    eager = kernel(ADD.replace("float", "c10::BFloat16"), "aten::add")(0.4)
    assert "model = torch.compile(model)" in said_by("fusion_detector", eager).recommendation_text()
    inductor = "triton_poi_fused_add_mul_3"

    def body(step: Step) -> None:
        step.good(0, 0.4 * STEP_NS)
        step.op("Torch-Compiled Region: 0/0", inductor, 0.4 * STEP_NS, 0.6 * STEP_NS)
        step.op("aten::add", ADD.replace("float", "c10::BFloat16"), 0.6 * STEP_NS, STEP_NS)

    findings = said_by("fusion_detector", scene(body))
    assert "graph_breaks" in findings.recommendation_text()
    assert findings.numbers["share_fraction"] == pytest.approx(0.4)


def test_fused_layers_are_those_that_the_kernels_are_in() -> None:
    """A network of convolutions has no use for the layers of a language model."""
    add = ADD.replace("float", "c10::BFloat16")
    for op, layers in (
        ("/Net/BatchNorm2d/batch_norm", ", or fused layers (BatchNorm with ReLU) of a library."),
        ("/Model/LlamaRMSNorm/mul", ", or fused layers (RMSNorm) of a library."),
        ("aten::add", "model = torch.compile(model)."),
    ):
        assert said_by("fusion_detector", kernel(add, op)(0.4)).recommendation_text().endswith(layers)


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

    findings = said_by("xla_detector", tensorflow(lambda _: scene(body))(0))
    assert "outside of the clusters" in findings.problem_text()
    assert findings.numbers["share_fraction"] == pytest.approx(0.4)


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


@pytest.mark.parametrize("framework", [tensorflow, tensorrt])
@pytest.mark.parametrize("name", sorted(CASES.keys() - _OF_PYTORCH))
def test_others_are_not_told_of_pytorch(name: str, framework: Callable[[Make], Make]) -> None:
    """By no sentence, link or hint."""
    case = CASES[name]
    judged = verdict(framework(case.make)(case.threshold * case.above))
    said = [text for each in judged.findings for text in (each.recommendation_text(), each.link)]
    said += [each.hint for each in judged.undecided]
    assert said
    assert not [text for text in said if _WORDS_OF_PYTORCH.search(text)]


@pytest.mark.parametrize("name", sorted(CASES.keys() - _OF_PYTORCH - {"xla_detector"}))
def test_a_program_that_calls_cuda_itself_is_not_told_of_a_framework(name: str) -> None:
    """It hears what CUDA and its libraries offer, in whole sentences."""
    case = CASES[name]
    judged = verdict(cuda(case.make)(case.threshold * case.above))
    assert (case.detector or name) in {each.detector for each in (*judged.findings, *judged.undecided)}
    described = [each.recommendation_text() for each in judged.findings] + [each.hint for each in judged.undecided]
    assert all(text.endswith(".") for text in described)
    said = described + [each.link for each in judged.findings]
    assert not [text for text in said if _WORDS_OF_PYTORCH.search(text) or "tensorflow" in text.lower()]


@pytest.mark.parametrize(
    ("op", "kernel_name", "framework"),
    [
        ("AddmmBackward0", "sm80_gemm", Framework.PYTORCH),
        ("empty_strided", "sm80_gemm", Framework.PYTORCH),
        ("Optimizer.step#SGD.step", "sm80_gemm", Framework.PYTORCH),
        ("solve", "triton_poi_fused_add_3", Framework.PYTORCH),
        ("solve", "sm80_gemm", Framework.UNKNOWN),
        ("backward substitution", "heat_41_gpu", Framework.UNKNOWN),
    ],
)
def test_pytorch_is_known_by_its_ops_where_no_kernel_is_its_own(
    op: str, kernel_name: str, framework: Framework
) -> None:
    """A program of matrix products alone; one of CUDA or OpenACC shows nothing of it."""
    profile = scene(lambda step: step.op(op, kernel_name, 0, STEP_NS))
    profile.info.source_format, profile.info.framework = "nsight_systems", ""
    assert framework_of(profile, frozenset({"cublas"})) is framework


def test_what_tensorflow_lacks_is_no_option_of_pytorch() -> None:
    """Where its shapes would be needed, and where calls are missing."""

    def body(step: Step) -> None:
        step.op("MatMul: dense/MatMul", "ampere_h16816gemm_128x64_nn", 0, 0.4 * STEP_NS, shapes="")
        step.op("Conv2D: conv/Conv2D", "ampere_scudnn_128x64_relu_medium_nn_v1", 0.4 * STEP_NS, STEP_NS, shapes="")

    hints = {each.detector: each.hint for each in verdict(tensorflow(lambda _: scene(body))(0)).undecided}
    assert hints.keys() >= {"shape_detector", "cudnn_benchmark_detector"}
    assert not [hint for hint in hints.values() if _WORDS_OF_PYTORCH.search(hint)]


@pytest.mark.parametrize("name", ["memory_limit_detector", "fp8_detector"])
def test_nothing_to_say_about_tensorflow(name: str) -> None:
    """It takes all memory at once, and has no FP8."""
    case = CASES[name]
    assert name in findings_of(case.make(case.threshold * case.above))
    assert name not in findings_of(tensorflow(case.make)(case.threshold * case.above))


def test_no_advice_about_xla_for_pytorch() -> None:
    """Nor about torch.compile for TensorFlow."""
    make = kernel(EIGEN, "aten::add")
    profile = make(0.4)
    profile.info.source_format = "pytorch"
    assert findings_of(profile) == ["fusion_detector"]
    assert findings_of(tensorflow(make)(0.4)) == ["xla_detector"]


@pytest.mark.parametrize(
    ("libraries", "framework"),
    [
        ({"tensorrt", "cublas"}, Framework.TENSORRT),
        ({"tensorrt", "pytorch"}, Framework.PYTORCH),
        ({"tensorrt", "eigen"}, Framework.TENSORFLOW),
        ({"cublas"}, Framework.UNKNOWN),
    ],
)
def test_tensorrt_is_known_by_its_kernels(libraries: set[str], framework: Framework) -> None:
    """Unless PyTorch or TensorFlow calls it for a part of a model."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    profile.info.source_format, profile.info.framework = "nsight_systems", ""
    assert framework_of(profile, frozenset(libraries)) is framework
