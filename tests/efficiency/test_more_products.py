"""Products of today's PyTorch: by shapes where these decide the work, unknown (not zero) where data does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tensorboard_plugin_dlprof.efficiency.calls import parse_call
from tensorboard_plugin_dlprof.efficiency.formulas import work_of
from tensorboard_plugin_dlprof.efficiency.work import Work

HALF, BYTE, INT, LIST = "c10::BFloat16", "signed char", "int", "TensorList"


def work(name: str, shapes: list[Any], kinds: list[str], values: list[str] | None = None) -> Work | None:
    """The work of an op as PyTorch's profiler records it."""
    padded = kinds + [""] * (len(shapes) - len(kinds))
    return work_of(parse_call(name, json.dumps(shapes), json.dumps(padded), json.dumps(values) if values else ""))


def lengths(result: Work) -> dict[str, int]:
    """Its dimensions by name."""
    return {each.name: each.length for each in result.dimensions}


@pytest.mark.parametrize(
    ("name", "shapes", "kinds", "flops"),
    [
        ("_scaled_mm_v2", [[32, 64], [64, 48]], ["c10::Float8_e4m3fn"] * 2, 2 * 32 * 64 * 48),
        ("_grouped_mm", [[4, 8, 16], [4, 16, 24]], [HALF] * 2, 2 * 4 * 8 * 16 * 24),
        ("_scaled_grouped_mm", [[4, 8, 16], [4, 16, 24], [4, 8], [4, 24]],
         ["c10::Float8_e4m3fn"] * 2 + ["float"] * 2, 2 * 4 * 8 * 16 * 24),
        ("_foreach_mm", [[[2, 3], [4, 5]], [[3, 6], [5, 7]]], [LIST] * 2, 2 * (2 * 3 * 6 + 4 * 5 * 7)),
        ("addbmm", [[3, 5], [2, 3, 4], [2, 4, 5]], ["float"] * 3, 2 * 2 * 3 * 4 * 5),
        ("inner", [[4, 4], [7, 4]], ["float"] * 2, 2 * 4 * 4 * 7),
        ("mkldnn_linear", [[2, 3, 5], [7, 5], [7]], ["float"] * 3, 2 * 6 * 5 * 7),
        # 64 outputs of 128 inputs: [8 tiles of 8, 128 / (8 x 16), 32, 4] of 32 bits.
        ("_weight_int4pack_mm", [[3, 128], [8, 1, 32, 4], [], [4, 64, 2]], [HALF, INT, "Scalar", HALF],
         2 * 3 * 128 * 64),
        ("_weight_int4pack_mm_for_cpu", [[3, 128], [64, 64], [], [4, 64, 2]], [HALF, "unsigned char", "Scalar", HALF],
         2 * 3 * 128 * 64),
        ("_weight_int8pack_mm", [[3, 128], [64, 128], [64]], [HALF, BYTE, HALF], 2 * 3 * 128 * 64),
        ("_mixed_dtypes_linear", [[2, 3, 128], [128, 64], [64]], [HALF, BYTE, HALF], 2 * 6 * 128 * 64),
        # Of 2:4 sparse matrices only the values that are kept meet the other.
        ("_sparse_semi_structured_mm", [[32, 64], [32, 8], [128, 48]], [HALF, "short int", HALF],
         32 * 128 * 48 * 2 // 2),
        ("_sparse_semi_structured_addmm", [[32], [32, 64], [32, 8], [128, 48]], [HALF, HALF, "short int", HALF],
         32 * 128 * 48 * 2 // 2),
        ("_sparse_semi_structured_linear", [[5, 6, 128], [32, 64], [32, 8]], [HALF, HALF, "short int"],
         30 * 128 * 32 * 2 // 2),
        # 9 of 16 parts of the dense matrix are stored, of 8-bit types 10.
        ("_cslt_sparse_mm", [[32, 72], [128, 48]], [HALF, HALF], 32 * 128 * 48 * 2 // 2),
        ("_cslt_sparse_mm", [[32 * 80], [128, 48]], [BYTE, BYTE], 32 * 128 * 48 * 2 // 2),
    ],
)  # fmt: skip
def test_shapes_decide_the_work(name: str, shapes: list[Any], kinds: list[str], flops: int) -> None:
    """By the operators' schemas (``native_functions.yaml`` of PyTorch 2.13)."""
    result = work(name, shapes, kinds)
    assert result is not None
    assert (result.family, result.flops) == ("gemm", flops)
    # Of lists no types are recorded.
    assert (result.min_bytes is None) == (LIST in kinds)
    assert result.elements


@pytest.mark.parametrize(
    ("mask", "products"), [("[True, True, True]", 2), ("[False, True, False]", 1), ("[True, False, False]", 1)]
)
@pytest.mark.parametrize("name", ["linear_backward", "mkldnn_linear_backward"])
def test_the_gradients_of_a_linear_layer_that_were_asked_for(name: str, mask: str, products: int) -> None:
    """``(input, gradient, weight, mask)``; each is as large as the product forward."""
    shapes = [[2, 3, 5], [2, 3, 7], [7, 5], []]
    result = work(name, shapes, ["float"] * 3 + ["ScalarList"], ["", "", "", mask])
    assert result is not None
    assert result.flops == products * 2 * 6 * 5 * 7


def test_no_gradient_is_no_work() -> None:
    """The bias alone: a sum, no product."""
    shapes = [[2, 5], [2, 7], [7, 5], []]
    values = ["", "", "", "[False, False, True]"]
    assert work("linear_backward", shapes, ["float"] * 3 + ["ScalarList"], values) is None


def test_the_gradients_of_a_product() -> None:
    """``(gradient, left, right, mask)``."""
    result = work("matmul_backward", [[2, 3, 5], [2, 3, 4], [4, 5], []], ["float"] * 3, ["", "", "", "[True, True]"])
    assert result is not None
    assert result.flops == 2 * 2 * 6 * 4 * 5


@pytest.mark.parametrize(
    ("left", "right", "known"),
    [
        ([4096, 1000], [8, 1000, 520], {"N": 520, "K": 1000}),
        ([8, 64, 1000], [1000, 4096], {"M": 64, "K": 1000}),
        ([1000, 4096], [4096, 520], {"M": 1000, "N": 520}),
    ],
)
@pytest.mark.parametrize(
    ("name", "offsets"), [("_grouped_mm", 2), ("_scaled_grouped_mm", 4), ("_scaled_grouped_mm_v2", 8)]
)
def test_groups_of_lengths_that_are_data_are_unknown(
    name: str, offsets: int, left: list[int], right: list[int], known: dict[str, int]
) -> None:
    """Rows behind the last offset are not multiplied, and the offsets are on the GPU; the other lengths are known."""
    result = work(name, [left, right, *[[]] * (offsets - 2), [8]], [HALF, HALF, *[""] * (offsets - 2), INT])
    assert result is not None
    assert (result.flops, result.min_bytes, result.elements) == (None, None, None)
    assert lengths(result) == known


LSTM = [[40, 10], [40, 10], [40], [40]]
"""Both weights of a layer of 10 units, 10 inputs, and its biases."""


@pytest.mark.parametrize("name", ["_cudnn_rnn", "miopen_rnn"])
@pytest.mark.parametrize("data", [[7, 3, 10], [21, 10]])
def test_a_recurrent_layer_multiplies_every_row_by_every_weight(name: str, data: list[int]) -> None:
    """Seven steps of three sequences, also packed; two layers in two directions are four sets of weights."""
    weights = [[40, 10], [40, 10], [40], [40]] * 2 + [[40, 20], [40, 10], [40], [40]] * 2
    result = work(name, [data, weights], [HALF, LIST])
    assert result is not None
    assert (result.family, result.flops) == ("gemm", 2 * 21 * (4 * 400 + 2 * 800 + 2 * 400))


def test_the_gradients_of_a_recurrent_layer() -> None:
    """That of the data always, that of the weights where it was asked for."""
    shapes = [[7, 3, 10], LSTM, *[[]] * 20]
    for mask, products in (("[True, False, False, True]", 2), ("[True, True, True, False]", 1)):
        result = work("_cudnn_rnn_backward", shapes, [HALF, LIST], [*[""] * 21, mask])
        assert result is not None
        assert result.flops == products * 2 * 21 * 800


def test_the_cells_of_a_recurrent_layer_multiply_no_matrices() -> None:
    """The products of an LSTM cell are ops of their own."""
    result = work("_thnn_fused_lstm_cell", [[3, 40], [3, 40], [3, 10], [40], [40]], ["float"] * 5)
    assert result is not None
    assert result.family == "elementwise"
    assert result.elements == 120 + 120 + 30 + 40 + 40 + 6 * 30


EFFICIENT = [[1, 99, 2, 8], [1, 99, 2, 8], [1, 99, 2, 8], []]


@pytest.mark.parametrize(
    ("name", "shapes", "kinds"),
    [
        ("_efficient_attention_forward", [*EFFICIENT, [4], [4], [], []], [HALF] * 3 + ["", INT, INT]),
        ("_efficient_attention_backward", [[1, 99, 2, 8], *EFFICIENT, [1, 99, 2, 8], [4], [4]],
         [HALF] * 4 + ["", HALF, INT, INT]),
        ("_flash_attention_forward", [[99, 2, 8]] * 3 + [[4], [4]], [HALF] * 3 + [INT, INT]),
        ("_flash_attention_backward", [[99, 2, 8]] * 5 + [[2, 99], [4], [4]], [HALF] * 5 + ["float", INT, INT]),
        ("_cudnn_attention_forward", [[99, 2, 8]] * 3 + [[], [4], [4]], [HALF] * 3 + ["", INT, INT]),
        # As many sequences as pages, each with a length that a tensor holds.
        ("_flash_attention_forward", [[4, 1, 2, 8], [4, 16, 2, 8], [4, 16, 2, 8], [5], [], [], [], [], [], [], [], [],
                                      [], [4], [], [4, 1]], [HALF] * 3 + [INT] + [""] * 9 + [INT, "", INT]),
        ("_varlen_attn", [[99, 2, 8]] * 3 + [[4], [4]], [HALF] * 3 + [INT, INT]),
    ],
)  # fmt: skip
def test_packed_sequences_are_unknown_and_their_head_size_is_not(
    name: str, shapes: list[Any], kinds: list[str]
) -> None:
    """Also where they have four dimensions: the lengths are numbers on the GPU."""
    result = work(name, shapes, kinds)
    assert result is not None
    assert (result.family, result.flops, result.elements) == ("attention", None, None)
    assert lengths(result)["head size"] == 8


def test_more_ways_to_fused_attention() -> None:
    """Backward of cuDNN's, PyTorch's overrideable pair, flash-attn's own backward."""
    four = [[2, 4, 16, 8]] * 3
    once = 2 * 2 * 4 * 16 * 16 * 8
    for name, first, count in (
        ("_cudnn_attention_backward", 1, 5),
        ("_scaled_dot_product_fused_attention_overrideable", 0, 2),
        ("_scaled_dot_product_fused_attention_overrideable_backward", 1, 5),
    ):
        result = work(name, [[2, 4, 16, 8]] * first + four, [HALF] * 4)
        assert result is not None
        assert result.flops == count * once
    result = work("_flash_attn_backward", [[2, 16, 4, 8]] * 4, [HALF] * 4)
    assert result is not None
    assert result.flops == 5 * once


def attended(left: int, right: int, causal: bool, queries: int = 6, keys: int = 6) -> int:
    """Query and key pairs that a window leaves, one by one."""
    shift = keys - queries
    return sum(
        (left < 0 or key >= row + shift - left)
        and (right < 0 or key <= row + shift + right)
        and (not causal or key <= row + shift)
        for row in range(queries)
        for key in range(keys)
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("left", "right"), [(-1, -1), (2, 0), (1, 1), (0, 0), (9, 9), (-1, 2), (3, -1)])
@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (3, 8), (8, 3)])
def test_a_sliding_window_leaves_out_what_is_outside(
    left: int, right: int, causal: bool, queries: int, keys: int
) -> None:
    """Window sizes of -1 (or none) are no limit."""
    shapes = [[1, queries, 2, 8], [1, keys, 2, 8], [1, keys, 2, 8], *[[]] * 10]
    values = ["", "", "", "", "", str(queries), str(keys), "0.", str(causal), "False", "", str(left), str(right)]
    result = work("_flash_attention_forward", shapes, [HALF] * 3, values)
    assert result is not None
    assert result.flops is not None
    assert result.flops - result.skipped_flops == 2 * 2 * 2 * 8 * attended(left, right, causal, queries, keys)


def test_causal_attention_of_the_efficient_kernels_starts_in_the_first_key() -> None:
    """Their kind of mask 1 is aligned at the upper left, 2 at the lower right."""
    shapes = [[1, 3, 2, 8], [1, 8, 2, 8], [1, 8, 2, 8], *[[]] * 7]
    for kind, remaining in (("1", 1 + 2 + 3), ("2", 6 + 7 + 8), ("0", 24)):
        values = [*[""] * 9, kind]
        result = work("_efficient_attention_forward", shapes, [HALF] * 3, values)
        assert result is not None
        assert result.flops is not None
        assert result.flops - result.skipped_flops == 2 * 2 * 2 * 8 * remaining


def test_the_causal_flag_of_quantized_attention_stands_behind_the_scales() -> None:
    """``_scaled_dot_product_flash_attention.quantized``: three scales before dropout."""
    shapes = [[1, 2, 4, 8]] * 3 + [[1, 2]] * 3 + [[]] * 4
    values = [*[""] * 6, "0.", "True", "False", ""]
    kinds = ["c10::Float8_e4m3fn"] * 3 + ["float"] * 3
    result = work("_scaled_dot_product_flash_attention", shapes, kinds, values)
    assert result is not None
    assert result.flops is not None
    assert result.skipped_flops == result.flops * 6 // 16


@pytest.mark.parametrize(
    ("name", "shapes", "flops"),
    [
        ("mm", [[0, 4], [4, 5]], 0),
        ("mm", [[3, 0], [0, 5]], 0),
        ("matmul", [[0, 3, 4], [1, 4, 5]], 0),
        ("matmul", [[1, 3, 4], [0, 4, 5]], 0),
        ("linear", [[0, 5], [7, 5]], 0),
        ("scaled_dot_product_attention", [[2, 4, 0, 8], [2, 4, 6, 8], [2, 4, 6, 8]], 0),
        ("convolution_backward", [[0, 4, 8, 8], [0, 3, 8, 8], [4, 3, 3, 3]], 0),
    ],
)
def test_no_elements_are_no_work(name: str, shapes: list[Any], flops: int) -> None:
    """Known, and zero: an expert without tokens, the last batch."""
    result = work(name, shapes, ["float"] * len(shapes))
    assert result is not None
    assert result.flops == flops


@pytest.mark.parametrize(
    ("shapes", "equation", "flops"),
    [
        ([[2, 3, 4], [1, 4, 5]], "bik,bkj->bij", 2 * 2 * 3 * 4 * 5),
        ([[0, 3, 4], [1, 4, 5]], "bik,bkj->bij", 0),
        ([[2, 3, 4], [3, 4, 5]], "bik,bkj->bij", None),
    ],
)
def test_letters_of_an_einsum_broadcast_ones_only(shapes: list[Any], equation: str, flops: int | None) -> None:
    """One and nothing is nothing; two and three is no einsum."""
    result = work("einsum", [[], shapes], ["Scalar", LIST], [equation])
    assert (result and result.flops) == flops


@pytest.mark.parametrize(
    "shape",
    ["torch.Size([4, 5])", "[4, 5]", ["4", "5"], [4.0, 5.0], [True, 5], ["s0", 5], [-1, 5], [4, None], None, {}],
)
def test_shapes_that_are_no_lists_of_lengths_are_unknown(shape: object) -> None:
    """Texts, symbols, floats, lengths below zero: no number is made of them."""
    assert work("mm", [shape, [5, 6]], ["float", "float"]) is None


def test_a_recurrent_layer_of_the_cpu_is_counted_like_that_of_a_gpu() -> None:
    """``mkldnn_rnn_layer`` has its weights as arguments of their own; backward makes both gradients."""
    shapes = [[7, 3, 10], [80, 10], [80, 20], [80], [80], [3, 20], [3, 20]]
    forward = work("mkldnn_rnn_layer", shapes, ["float"] * 7)
    backward = work("mkldnn_rnn_layer_backward", shapes, ["float"] * 7)
    assert forward is not None
    assert backward is not None
    assert (forward.flops, backward.flops) == (2 * 21 * 2400, 4 * 21 * 2400)
