"""How every rule is triggered: a profile by a number, and the number from which on the rule speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks
from tensorboard_plugin_dlprof.classify.kernels import classify
from tensorboard_plugin_dlprof.events.strings import Strings
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.profile.tables import Copies, GraphLaunches, Kernels, Profile
from tests.analysis.scenes import A100, GOOD, H100, NCCL, STEP_NS, T4, Step, scene, with_memory

SGEMM = "ampere_sgemm_128x64_nn"
TF32_GEMM = "ampere_sgemm_tf32_s1688gemm_128x128_ldg8_f2f_stages_32x3_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
EIGEN = (
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<A, B>, Eigen::GpuDevice>>(A)"
)
FLASH_2 = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, 4>>(Params)"
Table = TypeVar("Table", Kernels, Copies, GraphLaunches)
Make = Callable[[float], Profile]
"""A share of the time -> a profile in which one thing takes it."""


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


def tensorflow(make: Make) -> Make:
    """The same in a program of TensorFlow's."""
    return _of(make, "TensorFlow 2.15")


def tensorrt(make: Make) -> Make:
    """The same in a program that runs an engine of TensorRT."""
    return _of(make, "TensorRT")


def cuda(make: Make) -> Make:
    """The same in a program that calls CUDA itself: its ops are ranges of its own, and so are its kernels."""

    def of_no_framework(share: float) -> Profile:
        profile = _of(make, "")(share)
        profile.strings = Strings(map(_as_its_own_kernel, profile.strings.texts()))
        profile.kernel_classes = {name: classify(profile.strings[name]) for name in profile.kernel_classes}
        for op in profile.ops:
            op.op_type = op.op_type.rstrip("_")
        return profile

    return of_no_framework


def _as_its_own_kernel(name: str) -> str:
    for of_pytorch, its_own in (
        ("at::native::vectorized_elementwise_kernel", "solver::elementwise"),
        ("at::native::reduce_kernel", "solver::reduce_rows"),
        ("at::native::", "solver::"),
        ("softmax_warp_forward", "softmax_rows"),
    ):
        name = name.replace(of_pytorch, its_own)
    return name


def _of(make: Make, framework: str) -> Make:
    def of_framework(share: float) -> Profile:
        profile = make(share)
        profile.info.source_format, profile.info.framework = "nsight_systems", framework
        return profile

    return of_framework


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


def collective(share: float) -> Profile:
    """A collective that runs alone for the share."""

    def body(step: Step) -> None:
        cut = (1 - share) * STEP_NS
        step.good(0, cut)
        step.op("c10d::allreduce_", NCCL, cut - 100, STEP_NS)

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

LARGE = {"shapes": "[[4096,4096],[4096,4096]]", "dtypes": '["c10::BFloat16","c10::BFloat16"]'}
NVJET = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN"


def good() -> Profile:
    """Nothing to say."""
    return scene(lambda step: step.good(0, STEP_NS))


def memory(share: float) -> Profile:
    """A share of the GPU's memory is held."""
    profile = good()
    profile.kernels.grid = np.ones_like(profile.kernels.grid)
    return with_memory(profile, round(share * A100.memory_bytes))


def data_parallel(gpus: float) -> Profile:
    """The annotation of DataParallel in a process that works with one or two GPUs."""

    def body(step: Step) -> None:
        step.line("main", "annotation", 90, 900, "DataParallel.forward")
        step.good(0, STEP_NS, at=100)
        if gpus > 1:
            step.op("aten::mm", GOOD, 0, STEP_NS, at=200, gpu="gpu1")

    return scene(body)


def outside_of_ops(share: float) -> Profile:
    """A share of the kernel time was launched by no recorded op."""

    def body(step: Step) -> None:
        step.good(0, (1 - share) * STEP_NS)
        step.line("gpu0", "kernel", (1 - share) * STEP_NS, STEP_NS, GOOD, short=GOOD)

    return scene(body)


def graphs(share: float) -> Profile:
    """A share of the GPU's time is one CUDA graph recorded as a whole."""
    profile = scene(lambda step: step.good(0, (1 - share) * STEP_NS), steps=1)
    op, start = np.zeros(1, np.int32), np.full(1, round((1 - share) * STEP_NS))
    profile.graphs = GraphLaunches(op, op, start, np.full(1, STEP_NS), op, np.zeros(1, np.int64))
    return profile


def early(share: float) -> Profile:
    """A share of a thousand kernels begin 5 us before their calls."""
    profile = scene(lambda step: step.good(0, STEP_NS), steps=1000)
    moved = profile.kernels.api_start_ns[: round(share * 1000)]
    moved[:] = profile.kernels.start_ns[: len(moved)] + 5_000
    return profile


class Case(msgspec.Struct, frozen=True):
    """How a rule is triggered."""

    make: Make
    threshold: float
    """Of what ``make`` is given."""
    below: float = 0.9
    """Just under the threshold, as a multiple of it."""
    above: float = 1.1
    alone: float = 2.0
    """Where its gain is worth a sentence; never more than 60 % of the time."""
    also: tuple[str, ...] = ()
    """Detectors that cannot but speak with it, before it."""
    detector: str = ""
    """Whose finding it writes, where that is not its own name."""
    answer: type[Finding] | type[Lacks] = Finding


CASES: dict[str, Case] = {
    "amp_detector": Case(kernel("volta_sgemm_128x64_nn", device=T4), thresholds.PRODUCT_FRACTION, above=1.5),
    # What TF32 would do, 16 bits would do better.
    "tf32_detector": Case(kernel(SGEMM), thresholds.PRODUCT_FRACTION, above=1.5, also=("amp_detector",)),
    "fp8_detector": Case(kernel(NVJET, device=H100, **LARGE), thresholds.FP8_FRACTION),
    "fp64_detector": Case(
        kernel("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<double, double>>(int)", "aten::sum"),
        thresholds.FP64_FRACTION,
    ),
    "shape_detector": Case(kernel(HGEMM, **UNALIGNED), thresholds.SHAPE_FRACTION),
    "layout_detector": Case(
        kernel("nchwToNhwcKernel", "aten::convolution", also=CONVOLUTION), thresholds.LAYOUT_FRACTION
    ),
    "cudnn_benchmark_detector": Case(
        kernel(CONVOLUTION, "aten::cudnn_convolution", **SLOW_CONVOLUTION), thresholds.SLOW_CONVOLUTION_FRACTION
    ),
    "data_parallel_detector": Case(data_parallel, 2, below=0.5, above=1, alone=1),
    "optimizer_detector": Case(
        many(ADD, "aten::add_", 60, around="Optimizer.step#SGD.step"), thresholds.OPTIMIZER_FRACTION
    ),
    "zero_grad_detector": Case(
        many(ADD, "aten::zero_", 30, around="Optimizer.zero_grad#SGD.zero_grad"), thresholds.MIN_GAIN_FRACTION
    ),
    "fusion_detector": Case(kernel(ADD.replace("float", "c10::BFloat16"), "aten::add"), thresholds.FUSION_FRACTION),
    "xla_detector": Case(tensorflow(kernel(EIGEN, "Relu: model/relu/Relu")), thresholds.FUSION_FRACTION),
    "attention_detector": Case(attention, thresholds.ATTENTION_FRACTION),
    "older_attention_detector": Case(
        kernel(FLASH_2, "aten::_flash_attention_forward", device=H100), thresholds.OLDER_ATTENTION_FRACTION
    ),
    "batch_size_detector": Case(memory, thresholds.SMALL_MEMORY_FRACTION, below=1.04, above=0.96, alone=0.5),
    "memory_limit_detector": Case(memory, thresholds.FULL_MEMORY_FRACTION, below=0.99, above=1.01, alone=1.1),
    "no_iterations_detector": Case(
        lambda marks: scene(lambda step: step.good(0, STEP_NS), marked=marks > 0, steps=1), 1, 1, 0, 0
    ),
    "cuda_graph_detector": Case(graphs, thresholds.GRAPH_FRACTION),
    "clock_detector": Case(early, thresholds.EARLY_WORK_FRACTION, answer=Lacks),
    "coverage_detector": Case(outside_of_ops, 0.5, answer=Lacks),
}  # fmt: skip
"""Detector -> how it is triggered by a number, and from which number on."""


def on_two_gpus(profile: Profile) -> Profile:
    """The profile with a second GPU that does all that the first does, launched by the same calls."""

    def doubled(table: Table) -> Table:
        columns = {name: getattr(table, name) for name in table.__struct_fields__}
        columns = {name: column if column is None else np.repeat(column, 2, axis=0) for name, column in columns.items()}
        columns["device"][1::2] += 1
        return type(table)(**columns)

    return msgspec.structs.replace(
        profile,
        kernels=doubled(profile.kernels),
        memcpys=doubled(profile.memcpys),
        memsets=doubled(profile.memsets),
        graphs=doubled(profile.graphs),
        devices=[*profile.devices, *(msgspec.structs.replace(each, device_id=1) for each in profile.devices)],
    )


def well_over(case: Case) -> float:
    """What ``make`` is given where its rule has to speak alone."""
    over = case.alone * case.threshold
    return min(over, 0.6) if case.threshold < 0.6 and case.alone > 1 else min(over, 1.0) if case.threshold < 1 else over
