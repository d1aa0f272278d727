"""Reasons at their borders: grouped, depthwise and batched products, packed FP4, AMD's types, GPUs without units."""

from __future__ import annotations

import json

import pytest

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.efficiency.calls import Call, parse_call
from tensorboard_plugin_dlprof.efficiency.causes import Facts, cause, misaligned
from tensorboard_plugin_dlprof.efficiency.formulas import work_of
from tensorboard_plugin_dlprof.efficiency.tables import Cause
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work

LONG_NS = 1e6
FITS = Work("gemm", 2 * 4096**3, dimensions=tuple(Dimension(name, 4096) for name in "MNK"))


def call(name: str, *shapes: object, kind: str = "c10::Half", values: object = "") -> Call:
    """An op whose arguments are tensors of one type."""
    return parse_call(name, json.dumps(shapes), json.dumps([kind] * len(shapes)), json.dumps(values) if values else "")


def convolution(data: list[int], weight: list[int], groups: int, kind: str = "c10::Half") -> Work:
    """A forward convolution of 3 x 3 with padding 1."""
    types = [kind, kind, "", "", "", "", "", "", ""]
    values = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", str(groups)]
    shapes = [data, weight, [], [], [], [], [], [], []]
    work = work_of(parse_call("convolution", json.dumps(shapes), json.dumps(types), json.dumps(values)))
    assert work is not None
    return work


def facts(work: Work | None, precision: str = "fp16", **more: bool | None) -> Facts:
    """Of an op that ran long on plain units of a GPU with TF32."""
    known = {"tf32_device": True, "multiplies": True, "transposes": False, **more}
    return Facts(precision, MatrixUnit.NO, work=work, mean_kernel_ns=LONG_NS, **known)  # type: ignore[arg-type]


def test_a_grouped_convolution_is_judged_by_the_channels_of_a_group() -> None:
    """128 channels in 32 groups are products of 4 by 4 channels, which no unit takes without padding."""
    work = convolution([32, 128, 56, 56], [128, 4, 3, 3], 32)
    assert [(each.name, each.length) for each in work.dimensions] == [
        ("input channels per group", 4),
        ("output channels per group", 4),
    ]
    assert cause(facts(work)) is Cause.DIMENSION
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert (wrong.dimension, wrong.length, wrong.padded) == ("input channels per group", 4, 8)
    assert wrong.padded_shape == "input channels per group 8, output channels per group 8"


def test_a_grouped_convolution_of_wide_groups_fits() -> None:
    """64 channels a group are a multiple of 8: the shape is not to blame."""
    work = convolution([32, 128, 56, 56], [128, 64, 3, 3], 2)
    assert misaligned(work, "fp16") is None
    assert cause(facts(work)) is Cause.LIBRARY_CHOICE


@pytest.mark.parametrize(("weight", "groups"), [([128, 1, 3, 3], 128), ([256, 1, 3, 3], 128)])
def test_a_depthwise_convolution_multiplies_no_matrices(weight: list[int], groups: int) -> None:
    """Each channel meets its own filter: no length is to blame and nothing is to be padded."""
    work = convolution([32, 128, 56, 56], weight, groups)
    assert misaligned(work, "fp16") is None
    assert cause(facts(work)) is Cause.TOO_SMALL
    assert cause(facts(work, "fp32")) is Cause.TOO_SMALL


def test_a_picture_of_one_channel_is_no_depthwise_convolution() -> None:
    """One input channel without groups: the filter's points are summed over, too; three are to be padded."""
    assert cause(facts(convolution([32, 1, 224, 224], [64, 1, 3, 3], 1))) is Cause.LIBRARY_CHOICE
    work = convolution([32, 3, 224, 224], [64, 3, 3, 3], 1)
    assert cause(facts(work)) is Cause.DIMENSION
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert wrong.padded_shape == "input channels 8, output channels 64"


def test_leading_dimensions_before_one_matrix_are_its_rows() -> None:
    """8 x 77 x 768 by 768 x 768 runs as 616 rows: 77 is no length of the product."""
    work = work_of(call("matmul", [8, 77, 768], [768, 768]))
    assert work is not None
    assert [each.length for each in work.dimensions] == [616, 768, 768]
    assert work.size == "M 616, N 768, K 768"
    assert work.flops == 2 * 616 * 768 * 768
    assert misaligned(work, "fp16") is None


def test_a_batch_of_matrices_on_both_sides_stays_a_batch() -> None:
    """8 x 77 x 64 by 8 x 64 x 77: eight products of 77 x 77, which is the length to pad."""
    work = work_of(call("bmm", [8, 77, 64], [8, 64, 77]))
    assert work is not None
    assert work.size == "M 77, N 77, K 64, batch 8"
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert wrong.padded_shape == "M 80, N 80, K 64"


def test_batched_matrices_by_a_vector_are_too_small_for_a_unit() -> None:
    """N is 1: nothing that a unit computes would be used twice."""
    work = work_of(call("matmul", [512, 1024, 1024], [1024]))
    assert work is not None
    assert cause(facts(work)) is Cause.TOO_SMALL


def test_packed_fp4_counts_both_values_of_a_byte() -> None:
    """float4_e2m1fn_x2 records half of K: 4096 x 2048 bytes by 2048 x 4096 bytes multiply 4096 values each."""
    work = work_of(call("_scaled_mm", [4096, 2048], [2048, 4096], kind="c10::Float4_e2m1fn_x2"))
    assert work is not None
    assert work.flops == 2 * 4096**3
    assert work.size == "M 4096, N 4096, K 4096"
    assert misaligned(work, "fp4") is None


@pytest.mark.parametrize(
    ("precision", "length", "padded"),
    [("fp16", 1015, 1016), ("fp16", 1016, None), ("bf16", 7, 8), ("fp8", 1016, 1024), ("fp8", 1024, None),
     ("int8", 1000, 1008), ("fp4", 1008, 1024), ("tf32", 1018, 1020), ("fp64", 1017, 1018), ("mixed", 1001, 1008)],
)  # fmt: skip
def test_borders_of_the_multiples(precision: str, length: int, padded: int | None) -> None:
    """One below a multiple is padded by one; a multiple is not."""
    wrong = misaligned(Work("gemm", 0, dimensions=(Dimension("K", length), Dimension("M", 4096))), precision)
    assert (wrong and wrong.padded) == padded


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_a_type_that_the_units_take_is_not_to_blame(precision: str) -> None:
    """AMD's matrix cores take FP32 and FP64, NVIDIA's of the data centre FP64 since A100."""
    assert cause(facts(FITS, precision, tf32_device=None, native=True)) is Cause.LIBRARY_CHOICE
    odd = Work("gemm", 2 * 4096**3, dimensions=(Dimension("M", 4096), Dimension("N", 4096), Dimension("K", 4097)))
    assert cause(facts(odd, precision, native=True)) is Cause.DIMENSION


def test_a_gpu_without_matrix_units_is_the_cause() -> None:
    """P100: neither type nor shape would help, nor would larger work."""
    vector = Work("gemm", 2 * 4096, dimensions=(Dimension("M", 4096), Dimension("N", 1), Dimension("K", 1)))
    for precision in ("fp16", "fp32", "fp64"):
        for work in (FITS, vector):
            assert cause(facts(work, precision, tf32_device=False, has_units=False)) is Cause.NO_UNIT


def test_a_transposed_convolution_in_groups_is_judged_by_its_groups() -> None:
    """Its filter holds the output channels of a group: 64 in, 2 x 6 out are products of 32 by 6 channels."""
    types = ["c10::Half", "c10::Half", "", "", "", "", "", "", ""]
    values = ["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "2"]
    shapes = [[8, 64, 14, 14], [64, 6, 2, 2], [], [], [], [], [], [], []]
    work = work_of(parse_call("convolution", json.dumps(shapes), json.dumps(types), json.dumps(values)))
    assert work is not None
    assert [(each.name, each.length) for each in work.dimensions] == [
        ("input channels per group", 32),
        ("output channels per group", 6),
    ]
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert wrong.padded_shape == "input channels per group 32, output channels per group 8"


def test_an_odd_head_size_is_the_length_of_an_attention() -> None:
    """Sequences need no multiple: 77 x 77 scores of heads of 40 fit, of 36 do not."""
    fits = work_of(call("scaled_dot_product_attention", *[[2, 8, 77, 40]] * 3))
    odd = work_of(call("scaled_dot_product_attention", *[[2, 8, 77, 36]] * 3))
    assert misaligned(fits, "fp16") is None
    wrong = misaligned(odd, "fp16")
    assert wrong is not None
    assert (wrong.dimension, wrong.length, wrong.padded) == ("head size", 36, 40)


@pytest.mark.parametrize(
    ("op", "kind", "precision", "length", "padded"),
    [
        ("_scaled_mm", "c10::Float8_e4m3fn", "fp8", 4104, 4112),
        ("_scaled_mm", "c10::Float8_e4m3fn", "fp8", 4112, None),
        ("_int_mm", "signed char", "int8", 4100, 4112),
    ],
)
def test_narrow_types_need_multiples_of_sixteen(
    op: str, kind: str, precision: str, length: int, padded: int | None
) -> None:
    """Sixteen bytes are sixteen values of 8 bits; K is the length that both operands have."""
    work = work_of(call(op, [4096, length], [length, 4096], kind=kind))
    wrong = misaligned(work, precision)
    assert (wrong and wrong.padded) == padded
    assert wrong is None or wrong.dimension == "K"


def without_stride(name: str, data: list[int], weight: list[int]) -> Work | None:
    """A convolution as traces before PyTorch 2 recorded it: shapes and types alone."""
    return work_of(parse_call(name, json.dumps([data, weight]), json.dumps(["c10::Half"] * 2), ""))


@pytest.mark.parametrize("name", ["cudnn_convolution", "conv2d"])
def test_channels_that_do_not_fit_are_to_blame_without_a_recorded_stride(name: str) -> None:
    """They are in the shapes of input and filter; the size of the output is not."""
    work = without_stride(name, [32, 3, 224, 224], [60, 3, 7, 7])
    assert work is not None
    assert (work.flops, work.min_bytes, work.elements) == (None, None, None)
    assert work.size == "3 -> 60 channels, 7 x 7, 224 x 224, batch 32"
    assert cause(facts(work)) is Cause.DIMENSION
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert (wrong.dimension, wrong.padded_shape) == ("input channels", "input channels 8, output channels 64")


def test_channels_that_fit_leave_the_cause_unknown_without_a_recorded_stride() -> None:
    """It may have been too small, or the library's choice."""
    work = without_stride("cudnn_convolution", [32, 64, 56, 56], [64, 64, 3, 3])
    assert work is not None
    assert cause(facts(work)) is Cause.NO_SHAPES
    assert cause(facts(work, transposes=True)) is Cause.LAYOUT


def test_a_depthwise_convolution_is_one_without_a_recorded_stride() -> None:
    """Its filters have one channel."""
    work = without_stride("conv2d", [32, 128, 56, 56], [128, 1, 3, 3])
    assert cause(facts(work)) is Cause.TOO_SMALL


def test_the_groups_of_a_transposed_convolution_are_in_its_parameters_alone() -> None:
    """64 channels in, 6 out of each group: which of both is told only with the number of groups."""
    work = without_stride("cudnn_convolution_transpose", [8, 64, 14, 14], [64, 6, 2, 2])
    assert work is not None
    assert [(each.name, each.length) for each in work.dimensions] == [("output channels per group", 6)]
    assert cause(facts(work)) is Cause.DIMENSION


def test_a_convolution_that_may_be_transposed_has_no_channels() -> None:
    """``convolution`` tells by a parameter: 64 x 32 is 64 -> 32 channels, or 64 -> 64 in two groups."""
    assert without_stride("convolution", [8, 64, 14, 14], [64, 32, 3, 3]) is None
    plain = without_stride("convolution", [8, 64, 14, 14], [100, 64, 3, 3])
    assert plain is not None
    assert cause(facts(plain)) is Cause.DIMENSION


@pytest.mark.parametrize("weight", [[60, 5, 7, 7], [0, 3, 7, 7], [60, 0, 7, 7], [60, 3, 7], [61, 1, 7, 7]])
def test_filters_that_do_not_fit_say_nothing(weight: list[int]) -> None:
    """Damaged shapes."""
    assert without_stride("conv2d", [32, 3, 224, 224], weight) is None


def test_a_product_of_which_nothing_is_known_has_no_cause() -> None:
    """Not the library's choice: nobody knows."""
    assert cause(facts(Work("gemm", None))) is Cause.NO_SHAPES


def test_experts_with_an_odd_length_are_to_blame_whatever_their_tokens() -> None:
    """The tokens of each are data, the features are not."""
    shapes = [[4096, 1001], [8, 1001, 512], [8]]
    kinds = ["c10::Half", "c10::Half", "int"]
    work = work_of(parse_call("_grouped_mm", json.dumps(shapes), json.dumps(kinds), ""))
    assert cause(facts(work)) is Cause.DIMENSION
    wrong = misaligned(work, "fp16")
    assert wrong is not None
    assert (wrong.dimension, wrong.padded_shape) == ("K", "N 512, K 1008")
