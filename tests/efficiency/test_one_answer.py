"""One answer for each op: eligible, why not on Tensor Cores, what limits it, the same in every table."""

from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.efficiency.causes import Facts, cause
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.op_rates import roofs
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.efficiency.tables import Bound, Cause, OpEfficiency
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.cases import ADD, SGEMM
from tests.analysis.scenes import GOOD, STEP_NS, Step, scene

TF32_CONVOLUTION = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4"
TF32_ATTENTION = "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)"
TF32_GEMM = "ampere_sgemm_tf32_s1688gemm_128x128_ldg8_f2f_stages_32x3_tn"


def _judged(profile: Profile) -> dict[str, Eligibility]:
    return {op.op_type: op.eligibility for op in profile.ops}


def test_an_op_is_eligible_by_what_it_launched() -> None:
    """Types that could multiply: one does, one sums over nothing, one launches nothing, one is untold."""

    def body(step: Step) -> None:
        step.op("aten::mm", GOOD, 0, STEP_NS / 4)
        step.op("aten::einsum", ADD, STEP_NS / 4, STEP_NS / 2)
        step.op("aten::bmm", "my_kernel", STEP_NS / 2, STEP_NS)
        step.line("main", "op", 5_000, 6_000, "aten::linear")

    profile = scene(body)
    assert _judged(profile) == {
        "mm": Eligibility.ELIGIBLE,
        "einsum": Eligibility.NOT_ELIGIBLE,
        "bmm": Eligibility.ELIGIBLE,
        "linear": Eligibility.NOT_ELIGIBLE,
    }
    aggregation = aggregate(profile)
    kinds = aggregation.categories
    assert aggregation.efficiency.eligible_ops == kinds.using_ops.count + kinds.eligible_ops.count


def test_types_decide_where_no_gpu_was_recorded() -> None:
    """No kernels say nothing."""
    assert _judged(scene(lambda step: step.line("main", "op", 10, 900, "aten::mm"))) == {"mm": Eligibility.ELIGIBLE}


def _ops(*kernels: tuple[str, str]) -> OpEfficiency:
    def body(step: Step) -> None:
        for number, (op, kernel) in enumerate(kernels):
            step.op(op, kernel, number * STEP_NS / len(kernels), (number + 1) * STEP_NS / len(kernels))

    profile = scene(body)
    return efficiency(profile, measure(profile), aggregate(profile)).ops


@pytest.mark.parametrize(
    ("neighbour", "expected"),
    [
        (("aten::add", ADD), Cause.TF32_OFF),
        (("aten::cudnn_convolution", TF32_CONVOLUTION), Cause.UNKNOWN),
        (("aten::_efficient_attention_forward", TF32_ATTENTION), Cause.TF32_OFF),  # in three parts, whatever is allowed
        (("aten::addmm", TF32_GEMM), Cause.NO_SHAPES),  # without shapes, nothing tells why the library chose FP32
    ],
)
def test_tf32_is_off_only_where_no_kernel_of_the_process_runs_it(neighbour: tuple[str, str], expected: Cause) -> None:
    """Products and convolutions have switches of their own."""
    ops = _ops(("aten::mm", SGEMM), neighbour)
    product = next(
        row for row, precision in enumerate(ops.precision) if precision == "fp32" and ops.family[row] == "gemm"
    )
    assert ops.cause[product] is expected


def test_where_products_run_tf32_the_shape_or_the_library_is_the_cause() -> None:
    """The switch is on."""
    work = Work("gemm", 2 * 4096**3, dimensions=tuple(Dimension(name, 4096) for name in "MNK"))
    known = Facts(
        "fp32", MatrixUnit.NO, True, work, 1e6, multiplies=True, transposes=False,
        tf32_families=frozenset({"gemm"}), family="gemm",
    )  # fmt: skip
    assert cause(known) is Cause.LIBRARY_CHOICE


def test_a_product_near_its_peak_needs_no_padding() -> None:
    """4096 x 4096 x 1001 in half of a step: at 80 % of an A100's rate nothing is to be padded, at 20 % it is."""

    def wrong(share: float) -> bool:
        took_ns = 2 * 4096 * 4096 * 1001 / (312e12 * share) * 1e9

        def body(step: Step) -> None:
            kinds = {"shapes": "[[4096,1001],[1001,4096]]", "dtypes": '["c10::Half","c10::Half"]'}
            step.op("aten::mm", GOOD, 0, took_ns, **kinds)

        profile = scene(body)
        ops = efficiency(profile, measure(profile), aggregate(profile)).ops
        return ops.misaligned[0] is not None

    assert wrong(0.2)
    assert not wrong(0.8)


def test_data_that_come_faster_than_from_memory_come_from_caches() -> None:
    """A rate above the peak is told, not shown as all of it."""
    flops, rate = np.array([0, 0, 0]), np.full(3, 1e12)
    moved, took = np.array([900_000, 1_010_000, 1_100_000]), np.full(3, 1_000_000)
    result = roofs(flops, moved, took, np.ones(3, np.int64), rate, np.full(3, 1e9), np.full(3, np.nan))
    assert result.bound == [Bound.MEMORY, Bound.MEMORY, Bound.CACHES]
    assert (result.ideal_ns <= took).all()
