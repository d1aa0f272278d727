"""FLOPs are PyTorch's own; bytes are worked out by hand."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.efficiency import attention, convolutions
from tensorboard_plugin_dlprof.efficiency.calls import parse_call
from tensorboard_plugin_dlprof.efficiency.convolutions import Outputs, learn
from tensorboard_plugin_dlprof.efficiency.formulas import PRODUCT_FORMULAS, work_of
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.efficiency.work import Work
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.sub_ops import COUNTED
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tests.running.programs import torch_python

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
MODELS = "tests.efficiency.torch_models"
ROWS: list[dict[str, Any]] = json.loads((FOLDER / "flop_counter.json").read_text(encoding="utf-8"))


def call(row: dict[str, Any]) -> Work | None:
    """The work of a recorded op."""
    return work_of(parse_call(row["name"], row["shapes"], row["dtypes"], row["parameters"]))


@pytest.mark.parametrize("row", ROWS, ids=[f"{number}-{row['name']}" for number, row in enumerate(ROWS)])
def test_an_op_has_the_flops_that_flop_counter_mode_counts(row: dict[str, Any]) -> None:
    """Forward and backward, transposed, strided, padded and dilated convolutions, fused attention."""
    work = call(row)
    assert work is not None
    assert work.flops == row["flops"]


def test_the_golden_numbers_hold_every_kind_of_op() -> None:
    """A table of one kind would prove little."""
    names = {row["name"] for row in ROWS}
    assert {"mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward"} <= names
    assert {"_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention"} <= names
    assert {"_scaled_mm", "_flash_attention_forward", "_efficient_attention_backward"} <= names


MORE_THAN_COUNTED = {
    # The CPU's fused attention, of which FlopCounterMode knows nothing: two products forward, five backward.
    "encoder": 7 * 2 * 3 * 4 * 17 * 17 * 8,
    "decoder": 7 * 2 * 2 * 4 * 8 * 11 * (11 + 9),
    # The CPU's LSTM of one op, of which it knows nothing: 21 rows by both weights, and both gradients.
    "rnn": 3 * 2 * 21 * (80 * 10 + 80 * 20),
    # The weight gradients of grouped convolutions, which it counts once for every group.
    "grouped": -(2 * 2 * 81 * 12 * 2 * 9 * 3 + 2 * 2 * 81 * 12 * 25 * 11),
}
"""Where we differ from ``FlopCounterMode`` (2.13) and mean to."""


def test_whole_steps_of_models_have_the_flops_that_flop_counter_mode_counts() -> None:
    """Through the importer, from a trace of PyTorch's profiler on a CPU in which each step is another model."""
    assert steps(FOLDER / "steps.pt.trace.json.gz") == expected(json.loads((FOLDER / "steps.json").read_text()))


def test_so_have_steps_recorded_here_and_now(tmp_path: Path) -> None:
    """By whatever PyTorch there is."""
    trace = tmp_path / "steps.pt.trace.json.gz"
    record = f"models.record_steps(pathlib.Path({str(trace)!r}))"
    program = f"import json, pathlib, {MODELS} as models; print(json.dumps({record}))"
    done = subprocess.run(
        [torch_python(), "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
    )
    assert steps(trace) == expected(json.loads(done.stdout.splitlines()[-1]))


def steps(trace: Path) -> list[int]:
    """The FLOPs of each step of a trace."""
    profile = build_profile(find_importer(trace).read(trace, ReadOptions(), lambda _what, _fraction: None))
    result = efficiency(profile, measure(profile), aggregate(profile)).iterations
    return (result.product_flops + result.masked_flops).tolist()


def expected(counts: dict[str, int]) -> list[int]:
    """What we mean to find."""
    return [count + MORE_THAN_COUNTED.get(name, 0) for name, count in counts.items()]


def test_what_is_counted_without_kernels_has_a_formula() -> None:
    """The importer keeps these ops, by names that efficiency knows."""
    assert {*PRODUCT_FORMULAS, *convolutions.FORMULAS, *attention.FORMULAS} >= COUNTED


needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["perceptron", "convolutions", "attention", "encoder", "rnn"])
def test_a_model_run_here_has_the_flops_that_flop_counter_mode_counts(name: str) -> None:
    """One step of training, recorded by PyTorch's profiler, counted by PyTorch at the same time."""
    from tests.efficiency.torch_models import MODELS, run

    ops, total = run(*MODELS[name])
    result = [call(op) for op in ops]
    assert sum(work.flops for work in result if work is not None) == total
    assert None not in result


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_the_weight_gradient_of_a_grouped_convolution_is_not_counted_once_for_every_group() -> None:
    """``FlopCounterMode`` (2.13) takes every input channel with every output channel there; the GPU does not.

    Its count is ``groups`` times too large for the gradient of the weight alone; with it, a depthwise convolution
    would exceed the rate of any GPU.
    """
    from tests.efficiency.torch_models import Grouped, run

    ops, total = run(Grouped, (2, 8, 9, 9))
    forward = [2 * 2 * 81 * 12 * 2 * 9, 2 * 2 * 81 * 12 * 1 * 25]
    assert [work.flops for op in ops if op["name"] == "convolution" and (work := call(op))] == forward
    ours = sum(work.flops for op in ops if (work := call(op)))
    assert ours == 3 * sum(forward)
    assert total - ours == forward[0] * (4 - 1) + forward[1] * (12 - 1)


def work(name: str, shapes: object, dtypes: object, values: object = ()) -> Work | None:
    """The work of an op described in Python."""
    return work_of(parse_call(name, json.dumps(shapes), json.dumps(dtypes), json.dumps(list(values))))  # type: ignore[call-overload]


def test_bytes_of_a_product_are_its_operands_and_its_result() -> None:
    """16-bit: (8 x 4 + 4 x 2 + 8 x 2) x 2."""
    result = work("mm", [[8, 4], [4, 2]], ["c10::Half", "c10::Half"])
    assert result is not None
    assert (result.flops, result.min_bytes, result.data_type) == (2 * 8 * 4 * 2, 112, "float16")


def test_a_linear_layer_takes_all_leading_dimensions_as_rows() -> None:
    """Weight is (out, in); the bias is read."""
    result = work("linear", [[2, 3, 5], [7, 5], [7]], ["float"] * 3)
    assert result is not None
    assert result.flops == 2 * 6 * 5 * 7
    assert result.min_bytes == 4 * (30 + 35 + 7 + 42)
    assert [(each.name, each.length) for each in result.dimensions] == [("M", 6), ("N", 7), ("K", 5)]


def test_matmul_broadcasts_and_takes_vectors() -> None:
    """NumPy's rules."""
    batched = work("matmul", [[5, 1, 3, 4], [2, 4, 6]], ["float", "float"])
    vector = work("matmul", [[4], [4, 6]], ["float", "float"])
    assert batched is not None
    assert vector is not None
    assert (batched.flops, vector.flops) == (2 * 10 * 3 * 4 * 6, 2 * 4 * 6)


@pytest.mark.parametrize("shapes", [[[2, 3], [4, 5]], [[2, 3, 4], [5, 4, 6], []], [[], [4, 5]], [], [[2, 3]]])
def test_shapes_that_do_not_fit_have_no_work(shapes: list[Any]) -> None:
    """Damaged or partial recordings: unknown, no exception."""
    assert work("matmul", shapes, ["float"] * len(shapes)) is None


def test_einsum_needs_its_equation() -> None:
    """With it, contracted letters are K; without, the shapes do not tell."""
    result = work("einsum", [[], [[2, 3, 4], [2, 4, 5]]], ["Scalar", "TensorList"], ["bik,bkj->bij"])
    assert result is not None
    assert result.flops == 2 * 2 * 3 * 4 * 5
    assert work("einsum", [[], [[2, 3, 4], [2, 4, 5]]], ["Scalar", "TensorList"]) is None


def test_a_convolution_without_parameters_learns_its_output_from_its_backward() -> None:
    """Traces before PyTorch 2 do not hold stride and padding."""
    learnt: Outputs = {}
    backward = parse_call(
        "cudnn_convolution_backward_weight", "[[2,3,8,8],[2,4,4,4],[4,3,3,3]]", '["float","float","float"]', ""
    )
    forward = parse_call("cudnn_convolution", "[[2,3,8,8],[4,3,3,3]]", '["float","float"]', "")
    alone = work_of(forward, learnt)
    assert alone is not None
    assert alone.flops is None
    learn(backward, learnt)
    result = work_of(forward, learnt)
    assert result is not None
    assert result.flops == 2 * 2 * 16 * 4 * 3 * 9
    other = parse_call(
        "cudnn_convolution_backward_weight", "[[2,3,8,8],[2,4,8,8],[4,3,3,3]]", '["float","float","float"]', ""
    )
    learn(other, learnt)
    again = work_of(forward, learnt)
    assert again is not None
    assert again.flops is None, "two strides for the same shapes: unknown"


def test_a_backward_convolution_has_the_gradients_that_were_asked_for() -> None:
    """The first layer needs none of its input."""
    shapes, types = [[2, 4, 4, 4], [2, 3, 8, 8], [4, 3, 3, 3], *[[]] * 8], ["float"] * 3 + ["Scalar"] * 8
    values = ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
    both = work("convolution_backward", shapes, types, [*values, "[True, True, False]"])
    weight = work("convolution_backward", shapes, types, [*values, "[False, True, False]"])
    assert both is not None
    assert weight is not None
    assert both.flops == 2 * weight.flops


def test_causal_attention_leaves_out_what_lies_above_the_diagonal() -> None:
    """4 queries, 4 keys: 10 of 16 scores."""
    shapes = [[1, 4, 2, 8]] * 3 + [[]] * 6
    values = ["", "", "", "", "", "4", "4", "0.", "True"]
    result = work("_flash_attention_forward", shapes, ["c10::Half"] * 3 + ["Scalar"] * 6, values)
    assert result is not None
    assert result.flops == 2 * 2 * 2 * 16 * 8
    assert result.skipped_flops == result.flops * 6 // 16


def test_packed_sequences_of_several_lengths_are_unknown() -> None:
    """Their lengths are numbers on the GPU, not shapes."""
    result = work("_flash_attention_forward", [[99, 2, 8]] * 3, ["c10::Half"] * 3)
    assert result is not None
    assert result.flops is None


@pytest.mark.parametrize(
    ("name", "shapes", "flops", "elements"),
    [
        ("add", [[4, 1, 3], [2, 3]], 24, 12 + 6 + 24),
        ("relu_", [[10]], 10, 20),
        ("copy_", [[10], [10]], 0, 20),
        ("fill_", [[10], []], 0, 10),
        ("native_layer_norm", [[4, 8], [8], [8]], 7 * 32, 32 + 16 + 32),
        ("_softmax", [[4, 8]], 5 * 32, 64),
        ("cat", [[[2, 3], [2, 5]]], 0, 32),
        ("embedding", [[1000, 8], [6]], 0, 6 + 2 * 48),
    ],
)
def test_other_ops_move_what_they_read_and_write(name: str, shapes: Any, flops: int, elements: int) -> None:
    """Each input once, each output once; FLOPs are the documented approximation."""
    kinds = ["TensorList" if shapes and isinstance(shape[0] if shape else 0, list) else "float" for shape in shapes]
    result = work(name, shapes, kinds)
    assert result is not None
    assert (result.flops, result.elements) == (flops, elements)


def test_bytes_are_unknown_without_types_and_elements_are_not() -> None:
    """NVTX records shapes alone."""
    result = work_of(parse_call("mul", "[[4],[4]]", "", ""))
    assert result is not None
    assert (result.min_bytes, result.elements) == (None, 12)


def test_an_unknown_op_has_no_work() -> None:
    """Never a guess."""
    assert work("my_custom_op", [[4]], ["float"]) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)
NAMES = sorted(
    {
        *PRODUCT_FORMULAS,
        *convolutions.FORMULAS,
        *attention.FORMULAS,
        "add",
        "cat",
        "embedding",
        "_foreach_add_",
        "_thnn_fused_lstm_cell",
    }
)


@given(
    st.sampled_from(NAMES),
    st.lists(ANYTHING, max_size=12),
    st.lists(ANYTHING, max_size=12),
    st.lists(ANYTHING, max_size=12),
)
def test_no_recording_however_strange_stops_an_import(name: str, shapes: Any, dtypes: Any, values: Any) -> None:
    """Shapes of strings, negative lengths, numbers beyond 64 bits: unknown, or a number that is not negative."""
    result = work_of(parse_call(name, json.dumps(shapes), json.dumps(dtypes), json.dumps(values)))
    assert result is None or ((result.flops or 0) >= result.skipped_flops >= 0 and (result.min_bytes or 0) >= 0)


@given(st.sampled_from(NAMES), st.lists(st.lists(st.integers(0, 2**62), max_size=5), min_size=1, max_size=4))
def test_nor_do_huge_shapes(name: str, shapes: list[list[int]]) -> None:
    """The work is counted without overflow; ``measure`` leaves out what no call can have."""
    result = work_of(parse_call(name, json.dumps(shapes), "", ""))
    assert result is None or (result.flops or 0) >= result.skipped_flops >= 0
