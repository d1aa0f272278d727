"""Rates, bounds and causes of ops, on drawn steps and on real profiles."""

from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.efficiency.causes import Facts, cause, misaligned
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.efficiency.tables import Bound, Cause, Efficiency
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.scenes import A100, GOOD, STEP_NS, STEPS, Step, scene

SGEMM = "ampere_sgemm_128x64_nn"
BF16 = '["c10::BFloat16","c10::BFloat16"]'
FLOAT = '["float","float"]'


def rates(profile: Profile) -> Efficiency:
    """Of all iterations."""
    return efficiency(profile, measure(profile), aggregate(profile))


def one_product(kernel: str, shapes: str, dtypes: str, device: Device = A100) -> Efficiency:
    """A product that takes the whole step."""
    return rates(
        scene(lambda step: step.op("aten::mm", kernel, 0, STEP_NS, shapes=shapes, dtypes=dtypes), device=device)
    )


def test_a_rate_is_work_over_kernel_time() -> None:
    """2 x 8192^3 operations in a millisecond would be too good: 2 x 4096^3 in one are 137 TFLOP/s of 312."""
    product = one_product(GOOD, "[[4096,4096],[4096,4096]]", BF16)
    ops = product.ops
    assert ops.product_flops.tolist() == [STEPS * 2 * 4096**3]
    assert ops.min_bytes.tolist() == [STEPS * 3 * 2 * 4096**2]
    assert ops.measured_ns.tolist() == [STEPS * STEP_NS]
    assert ops.peak_flops.tolist() == [312e12]
    assert ops.ideal_ns[0] == pytest.approx(STEPS * 2 * 4096**3 / 312e12 * 1e9)
    assert ops.bound == [Bound.COMPUTE]
    assert ops.cause == [Cause.NONE]
    assert product.iterations.mfu == pytest.approx(2 * 4096**3 / 312e12 / 1e-3)
    assert product.iterations.measured_fraction.tolist() == [1.0] * STEPS


def test_fp32_is_measured_against_the_rate_of_plain_arithmetic_and_could_gain_more() -> None:
    """TF32 is off: 19.5 TFLOP/s are the roof, 312 are what could be."""
    ops = one_product(SGEMM, "[[1024,1024],[1024,4096]]", FLOAT).ops
    assert ops.peak_flops.tolist() == [19.5e12]
    assert ops.cause == [Cause.TF32_OFF]
    assert ops.best_ns[0] < ops.ideal_ns[0]


def test_a_device_that_is_not_known_has_rates_but_no_peaks() -> None:
    """Shares of nothing are unknown."""
    ops = one_product(GOOD, "[[4096,4096],[4096,4096]]", BF16, Device(0, "Some GPU", 8, 0)).ops
    assert ops.product_flops[0] > 0
    assert np.isnan([ops.peak_flops[0], ops.peak_bytes[0], ops.ideal_ns[0]]).all()
    assert ops.bound == [Bound.UNKNOWN]


@pytest.mark.parametrize(
    ("kernel", "teraflops"),
    [
        ("ampere_hgemm_128x64_nn", 78.0),
        ("ampere_fp16_sgemm_fp16_128x64_nn", 19.5),
        ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", 312.0),
        ("void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>(int)", 19.5),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>>(int)", 19.5),
    ],
)
def test_halves_on_cuda_cores_are_measured_by_what_they_are_added_up_in(kernel: str, teraflops: float) -> None:
    """An A100 computes FP16 four times as fast as FP32, but not where it adds up in FP32, as frameworks ask."""
    ops = one_product(kernel, "[[4096,4096],[4096,4096]]", '["c10::Half","c10::Half"]').ops
    assert ops.peak_flops.tolist() == [teraflops * 1e12]


@pytest.mark.parametrize(
    ("kernel", "cause"), [("ampere_sgemm_128x64_nn", Cause.TF32_OFF), ("volta_sgemm_128x64_nn", Cause.NO_DEVICE)]
)
def test_a_gpu_without_a_name_has_what_its_kernels_are_made_for(kernel: str, cause: Cause) -> None:
    """What is made for Ampere runs on no older one; what is made for Volta, on any later one."""
    assert one_product(kernel, "[[4096,4096],[4096,4096]]", FLOAT, Device(0)).ops.cause == [cause]


def test_an_op_that_must_move_more_than_compute_is_bound_by_memory() -> None:
    """One row times a matrix."""
    ops = one_product(GOOD, "[[8,16384],[16384,16384]]", BF16).ops
    assert ops.bound == [Bound.MEMORY]


def test_short_kernels_far_from_any_roof_are_bound_by_latency() -> None:
    """Four microseconds for a thousand elements."""

    def body(step: Step) -> None:
        kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
        step.op("aten::add", kernel, 0, 4_000, shapes="[[1024],[1024]]", dtypes=FLOAT)
        step.good(4_000, STEP_NS)

    result = rates(scene(body)).ops
    assert Bound.LATENCY in result.bound


def test_what_the_gpu_computes_counts_in_the_step_in_which_it_runs() -> None:
    """The host launches the products of both steps in the first 200 ns of each, the GPU takes five times a step: in
    every step it computes at the same rate, whichever step launched that."""

    def body(step: Step) -> None:
        start = step.number * 4 * STEP_NS
        shapes = "[[8192,8192],[8192,8192]]"
        step.op("aten::mm", GOOD, start, start + 5 * STEP_NS, shapes=shapes, dtypes=BF16)

    result = rates(scene(body, steps=2)).iterations
    assert (result.ideal_ns > STEP_NS).all()
    assert result.mfu == pytest.approx(2 * 8192**3 / 312e12 * 1e9 / (5 * STEP_NS))


def test_what_runs_in_a_later_step_counts_in_that_one() -> None:
    """Each product begins half a step after the step that launched it: the first step computes nothing known."""

    def body(step: Step) -> None:
        shapes = "[[2048,2048],[2048,2048]]"
        step.op("aten::mm", GOOD, 3 * STEP_NS // 2, 2 * STEP_NS, shapes=shapes, dtypes=BF16)

    result = rates(scene(body)).iterations
    assert np.isnan(result.mfu[0])
    assert np.isnan(result.measured_fraction[0])
    assert result.mfu[1:] == pytest.approx(2 * 2048**3 / 312e12 * 1e9 / STEP_NS)
    assert (result.product_flops == 2 * 2048**3).all()


def test_without_shapes_everything_is_unknown_but_time() -> None:
    """Not 0."""
    result = rates(scene(lambda step: step.good(0, STEP_NS)))
    assert result.ops.flops.tolist() == [-1]
    assert result.ops.min_bytes.tolist() == [-1]
    assert result.iterations.measured_fraction.tolist() == [0.0] * STEPS
    assert np.isnan(result.iterations.mfu).all()


def test_autocast_is_counted_in_the_type_of_the_op_inside() -> None:
    """``linear`` gets FP32, ``addmm`` inside it computes in BF16."""

    def body(step: Step) -> None:
        step.line(
            "main",
            "op",
            100,
            300,
            "aten::linear",
            shapes="[[64,32],[128,32],[128]]",
            dtypes='["float","float","float"]',
        )
        step.op(
            "aten::addmm", GOOD, 0, STEP_NS, at=150, shapes="[[128],[64,32],[32,128],[],[]]",
            dtypes='["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"]',
        )  # fmt: skip

    profile = scene(body)
    result = rates(profile)
    assert [profile.ops[op].op_type for op in result.ops.op.tolist()] == ["linear"]
    assert result.ops.product_flops.tolist() == [STEPS * 2 * 64 * 32 * 128]
    assert result.ops.min_bytes.tolist() == [STEPS * 2 * (128 + 64 * 32 + 32 * 128 + 64 * 128)]


GEMM = Work(
    "gemm", 2 * 4096 * 4096 * 1001, dimensions=(Dimension("M", 4096), Dimension("N", 4096), Dimension("K", 1001))
)
FITS = Work("gemm", 2 * 4096**3, dimensions=(Dimension("M", 4096), Dimension("N", 4096), Dimension("K", 4096)))
TINY = Work("gemm", 2 * 64**3, dimensions=(Dimension("M", 64), Dimension("N", 64), Dimension("K", 64)))
VECTOR = Work(
    "gemm", 2 * 4096**2, dimensions=(Dimension("M", 1), Dimension("N", 4096), Dimension("K", 4096)), by_vector=True
)


@pytest.mark.parametrize(
    ("precision", "unit", "tf32", "work", "kernel_ns", "transposes", "expected"),
    [
        ("fp16", MatrixUnit.YES, True, FITS, 1e6, False, Cause.NONE),
        ("fp16", MatrixUnit.YES, True, FITS, 1e6, True, Cause.LAYOUT),
        ("fp16", MatrixUnit.UNKNOWN, True, FITS, 1e6, False, Cause.NO_NAME),
        ("fp64", MatrixUnit.NO, True, FITS, 1e6, False, Cause.FP64),
        ("fp32", MatrixUnit.NO, True, FITS, 1e6, False, Cause.TF32_OFF),
        ("fp32", MatrixUnit.NO, False, FITS, 1e6, False, Cause.FP32_TYPE),
        ("fp32", MatrixUnit.NO, None, FITS, 1e6, False, Cause.NO_DEVICE),
        ("fp16", MatrixUnit.NO, True, GEMM, 1e6, False, Cause.DIMENSION),
        ("fp16", MatrixUnit.NO, True, FITS, 1e6, False, Cause.LIBRARY_CHOICE),
        ("fp16", MatrixUnit.NO, True, None, 1e6, False, Cause.NO_SHAPES),
        ("", MatrixUnit.NO, True, FITS, 1e6, False, Cause.UNKNOWN),
        ("fp16", MatrixUnit.NO, True, TINY, 1e6, False, Cause.TOO_SMALL),
        ("fp16", MatrixUnit.NO, True, VECTOR, 1e6, False, Cause.TOO_SMALL),
        ("fp32", MatrixUnit.NO, True, FITS, 4_999, False, Cause.TOO_SMALL),
        ("fp32", MatrixUnit.NO, True, FITS, 5_000, False, Cause.TF32_OFF),
    ],
)
def test_the_first_cause_that_holds_is_told(
    precision: str,
    unit: MatrixUnit,
    tf32: bool | None,
    work: Work | None,
    kernel_ns: float,
    transposes: bool,
    expected: Cause,
) -> None:
    """In the order in which they would have to be mended."""
    assert cause(Facts(precision, unit, tf32, work, kernel_ns, True, transposes)) is expected


def test_an_op_that_multiplies_nothing_has_no_cause() -> None:
    """The cast of a gradient belongs to a linear layer, but is no product."""
    assert cause(Facts("fp32", MatrixUnit.NO, True, FITS, 1e6, False, False)) is Cause.NONE


@pytest.mark.parametrize(
    ("lengths", "precision", "expected"),
    [
        ((4096, 1001, 64), "fp16", ("N", 1001, 1008)),
        ((4096, 1000, 64), "bf16", None),
        ((4096, 1000, 64), "fp8", ("N", 1000, 1008)),
        ((4096, 1001, 64), "fp32", ("N", 1001, 1008)),
        ((33, 1001, 64), "fp16", ("N", 1001, 1008)),
        ((33, 1001, 65), "fp16", ("K", 65, 72)),
        ((33, 1000, 64), "fp16", ("M", 33, 40)),
        ((1, 4096, 64), "fp16", None),
        ((4096, 1002, 64), "tf32", ("N", 1002, 1004)),
    ],
)
def test_the_length_that_fits_worst_is_named_with_the_next_that_fits(
    lengths: tuple[int, ...], precision: str, expected: tuple[str, int, int] | None
) -> None:
    """Multiples of 16 bytes; FP32 as the 16 bits that it should become; a vector is not padded."""
    work = Work("gemm", 0, dimensions=tuple(Dimension(name, each) for name, each in zip("MNK", lengths, strict=True)))
    wrong = misaligned(work, precision)
    assert (wrong and (wrong.dimension, wrong.length, wrong.padded)) == expected
    if wrong:
        assert f"{wrong.dimension} {wrong.padded}" in wrong.padded_shape.split(", ")


def test_shapes_that_no_gpu_could_hold_are_unknown() -> None:
    """A damaged trace: no overflow, no rate beyond the device's."""
    product = one_product(GOOD, f"[[{2**40},{2**40}],[{2**40},{2**40}]]", BF16)
    assert product.ops.flops.tolist() == [-1]


def test_achieved_occupancy_is_the_mean_by_time_of_what_was_recorded() -> None:
    """Of 40 % and 80 %; a kernel without it has none."""

    def body(step: Step) -> None:
        wide = {"grid": "216,1,1", "block": "256,1,1", "registers": 32, "dynamic": 0}
        step.op("aten::mm", GOOD, 0, 600_000)
        step.lines[-1] += " ; occupancy=40" + "".join(f" ; {key}={value}" for key, value in wide.items())
        step.op("aten::mm", GOOD, 600_000, 800_000)
        step.lines[-1] += " ; occupancy=80"
        step.op("aten::add", GOOD, 800_000, STEP_NS)

    profile = scene(body)
    result = rates(profile)
    ops, row = result.ops, {profile.ops[op].op_id: row for row, op in enumerate(result.ops.op.tolist())}
    first, second, third = row["MM_1"], row["MM_2"], row["ADD_1"]
    assert ops.achieved[[first, second]].tolist() == pytest.approx([0.4, 0.8])
    assert np.isnan(ops.achieved[third])
    # Eight blocks of 256 threads fit on each of 108 multiprocessors: 216 blocks are a quarter of a wave.
    assert ops.occupancy[first] == 1.0
    assert ops.waves[first] == pytest.approx(0.25)
    assert ops.tail[first] == pytest.approx(0.75)
    assert sorted(result.kernels.achieved[~np.isnan(result.kernels.achieved)]) == pytest.approx([0.4, 0.8])


def test_a_product_that_shapes_do_not_decide_leaves_its_op_unknown() -> None:
    """Experts' tokens are data: not the addition's operations alone, not 0, and no time that rates divide by."""

    def body(step: Step) -> None:
        step.line("main", "op", 100, 300, "aten::linear", shapes="[[4096,1001],[512,1001]]", dtypes=BF16)
        step.op(
            "aten::_grouped_mm", "ampere_sgemm_bf16_128x64_nn", 0, STEP_NS // 2, at=150,
            shapes="[[4096,1001],[8,1001,512],[8],[],[]]",
            dtypes='["c10::BFloat16","c10::BFloat16","int","",""]',
        )  # fmt: skip
        add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
        step.op("aten::add", add, STEP_NS // 2, STEP_NS, at=200, shapes="[[4096,512],[4096,512]]", dtypes=BF16)

    result = rates(scene(body))
    row = int(result.ops.kernel_ns.argmax())
    assert result.ops.flops[row] == result.ops.product_flops[row] == result.ops.min_bytes[row] == -1
    assert result.ops.measured_ns[row] == 0
    assert result.ops.size[row] == "N 512, K 1001, 8 groups"
    assert result.iterations.measured_fraction.tolist() == [0.0] * STEPS
    assert np.isnan(result.iterations.mfu).all()


def test_a_convolution_without_a_recorded_stride_has_a_cause_and_no_flops() -> None:
    """Three channels do not fit, whatever the size of the output."""
    result = rates(
        scene(
            lambda step: step.op(
                "aten::cudnn_convolution", "void implicit_convolve_sgemm<__half, __half, 1024, 5, 5>(int)", 0, STEP_NS,
                shapes="[[32,3,224,224],[64,3,7,7]]", dtypes='["c10::Half","c10::Half"]',
            )
        )
    ).ops  # fmt: skip
    assert (result.flops.tolist(), result.cause) == ([-1], [Cause.DIMENSION])
    assert result.misaligned[0] is not None
    assert result.misaligned[0].dimension == "input channels"
