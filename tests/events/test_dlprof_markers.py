"""DLProf's markers: what is read, what is refused, and ops made of them."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.events.dlprof_markers import describe_marker, parse_op, parse_trace
from tensorboard_plugin_dlprof.events.identity import MAX_OPS
from tensorboard_plugin_dlprof.events.inputs import Tensor
from tests.events.building import build, calls, kernels, ops

RELU = "{'mod': 'torch', 'op': 'relu', 'args': [{'name': 'x', 'type': 'tensor', 'shape': (4, 5), 'dtype': 'float32'}]}"
TRACE = "{'traceMarker': ['a.py:3', 'b.py:9'], 'funcStack': '/<module>/Net::forward(2)/relu'}"


def test_op_marker() -> None:
    """Type, and the tensors among the arguments."""
    result = parse_op(
        "{'mod': 'm', 'op': 'add', 'args': [{'name': '', 'type': 'tensor', 'shape': (6,), 'dtype': 'float16'},"
        " {'name': 'alpha', 'type': 'int', 'value': 1}]}"
    )
    assert result is not None
    assert (result.op_type, result.tensors, result.names) == ("add", [Tensor([6], "float16")], [""])


def test_trace_marker() -> None:
    """Angle brackets go, round brackets become square, frames become lines."""
    result = parse_trace(TRACE)
    assert result is not None
    assert (result.path, result.stack) == ("/module/Net::forward[2]/relu", "a.py:3\nb.py:9")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{'op': 5}", "{'op': ''}", "__import__('os').getcwd()", "(" * 50_000,
     "{'op': 'x', 'args': " + "[" * 9_000, "{'op': '" + "x" * 70_000 + "'}", "{'op': f'{1}'}", "\x00"],
)  # fmt: skip
def test_malformed_markers_are_refused(text: str) -> None:
    """Nothing is evaluated, nothing crashes."""
    assert parse_op(text) is None
    assert parse_trace(text) is None


_LONG = f"0x{'f' * 20_000}"
"""More digits than Python writes out."""


@pytest.mark.parametrize(
    ("trace", "marker", "result"),
    [
        (r"{'traceMarker': ['a\udfff'], 'funcStack': '/x\ud800'}", r"{'op': 'r\udc00'}", ("R?_1", "/x?", "a?")),
        (f"{{'traceMarker': [{_LONG}], 'funcStack': '/x'}}",
         f"{{'op': 'r', 'args': [{{'type': 'tensor', 'name': {_LONG}, 'dtype': {_LONG}, 'shape': ({_LONG}, 4)}}]}}",
         ("R_1", "/x", "")),
    ],
)  # fmt: skip
def test_what_cannot_be_written_costs_no_op(trace: str, marker: str, result: tuple[str, str, str]) -> None:
    """Halves of surrogates, and endless numbers in the place of texts and lengths."""
    (op,) = build(f"main trace 0-100 {trace}\nmain marker 5-90 {marker}").ops
    assert (op.op_id, op.name, op.stack_trace) == result


def test_malformed_markers_are_counted() -> None:
    """The other ops stand."""
    profile = build(f"main marker 0-10 {RELU}\nmain marker 20-30 {{'op'}}")
    assert list(ops(profile)) == ["RELU_1"]
    assert profile.coverage.skipped == {"DLProf markers that are not readable": 1}


def test_ops_from_markers() -> None:
    """Outer op markers are ops with the op marker's times, each with its own id; pieces and aten ranges are not."""
    profile = build(
        f"""
        main trace  0-100 {TRACE}
        main marker 5-90 {RELU}
        main marker 10-20 {{'mod': 'torch', 'op': 'has_torch_function_unary', 'args': []}}
        main op     30-80 aten::relu
        main call   40-45 cudaLaunchKernel ; corr=1
        main trace  200-300 {TRACE}
        main marker 205-290 {RELU}
        main op     400-500 aten::mul
        main call   410-415 cudaLaunchKernel ; corr=2
        main call   600-605 cudaDeviceSynchronize
        main call   610-615 cudaDeviceSynchronize
        gpu0 kernel 50-60 void relu<float>() ; corr=1 ; short=relu
        gpu0 kernel 450-460 mul ; corr=2
        """
    )
    assert ops(profile) == {
        "RELU_1": ("/module/Net::forward[2]/relu", "fprop"),
        "RELU_2": ("/module/Net::forward[2]/relu", "fprop"),
        "CUDADEVICESYNCHRONIZE_1": ("unassociated_cudaDeviceSynchronize", ""),
        "CUDADEVICESYNCHRONIZE_2": ("unassociated_cudaDeviceSynchronize", ""),
        "MUL_1": ("unassociated_mul", ""),
    }
    assert set(calls(profile).values()) == {1}
    assert kernels(profile) == {"RELU_1": ["relu"], "MUL_1": ["mul"]}
    assert profile.instances.start_ns.tolist()[:2] == [5, 205]
    assert profile.dlprof_markers
    assert [(item.start_ns.tolist(), item.stop_ns.tolist()) for item in profile.iterations] == [([0], [615])]


def test_kernels_of_one_short_name_get_the_long_name_of_the_last_launch() -> None:
    """DLProf's quirk, within one op only."""
    profile = build(
        f"""
        main marker 0-100 {RELU}
        main call 10-15 l ; corr=1
        main call 20-25 l ; corr=2
        main marker 200-300 {RELU}
        main call 210-215 l ; corr=3
        gpu0 kernel 50-60 void k<1>() ; corr=1 ; short=k
        gpu0 kernel 70-80 void k<2>() ; corr=2 ; short=k
        gpu0 kernel 250-260 void k<3>() ; corr=3 ; short=k
        """
    )
    result = [profile.strings[text] for text in profile.kernels.long_name.tolist()]
    assert result == ["void k<2>()", "void k<2>()", "void k<3>()"]


def test_marker_without_a_trace_marker() -> None:
    """Its type is its path."""
    assert ops(build(f"main marker 0-10 {RELU}")) == {"RELU_1": ("/relu", "fprop")}


def test_config_marker() -> None:
    """Known settings are taken, others and other types are not."""
    settings = '{"model_config": {"amp_enabled": true, "num_workers": 4, "x": 1, "pin_memory": "no"}}'
    config = build(f"main marker 0-10 {RELU}\nmain config 1-2 {settings}").model_config
    assert (config.amp_enabled, config.num_workers, config.pin_memory) == (1, 4, 1)


def test_output_of_linear_needs_no_matching_sizes() -> None:
    """DLProf derives it from the weight, even of a call that failed."""
    marker = parse_op(
        "{'op': 'linear', 'args': [{'type': 'tensor', 'shape': (1, 10816), 'dtype': 'float32'},"
        " {'type': 'tensor', 'shape': (120, 400), 'dtype': 'float32'}]}"
    )
    assert marker is not None
    assert describe_marker(marker).output_shapes == "[[1,120]]\n"


def test_too_many_markers_are_joined() -> None:
    """Nobody can read a hundred thousand ops: markers that say the same within the same stack are one op then."""
    relu = "".join(f"main trace {at}-{at + 9} {TRACE}\nmain marker {at + 1}-{at + 8} {RELU}\n" for at in (10, 20))
    repeated = "\n".join(f"main marker {at}-{at + 5} {{'op': 'add'}}" for at in range(100, 100 + 10 * MAX_OPS, 10))
    broken = f"main marker 40-50 {{'op'\nmain trace 60-70 {{'traceMarker'\nmain marker 61-69 {RELU}"
    profile = build(f"{relu}\n{broken}\n{repeated}")
    assert calls(profile) == {"RELU_1": 2, "RELU_2": 1, "ADD_1": MAX_OPS}
    assert ops(profile)["RELU_1"][0] == "/module/Net::forward[2]/relu"
    assert ops(profile)["RELU_2"][0] == "/relu"
    assert profile.coverage.skipped == {"DLProf markers that are not readable": 2}
    assert profile.ops[0].stack_trace + profile.ops[1].stack_trace + profile.ops[2].stack_trace == "a.py:3\nb.py:9"
