"""Kernels that took the place of others stand beside each other by what they do, as far as names tell."""

from __future__ import annotations

from tensorboard_plugin_dlprof.comparing.as_json import row_json
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, compare
from tensorboard_plugin_dlprof.comparing.recording import Kernel
from tests.comparing.ops import op, recording

DGRAD = "sm80_xmma_dgrad_implicit_gemm_{0}_nhwckrsc_nchw_tilesize128x128x{1}_execute_kernel__5x_cudnn"
WGRAD = "sm80_xmma_wgrad_implicit_gemm_{0}_nhwckrsc_nhwc_tilesize128x128x{1}_execute_kernel__5x_cudnn"
LAYOUT = "void cudnn::nchwToNhwcKernel<__half, __half, float>"


def _compared(a: dict[str, int], b: dict[str, int]) -> Comparison:
    return compare([_recording(a, "a")], [_recording(b, "b")])


def _recording(kernels: dict[str, int], name: str):  # type: ignore[no-untyped-def]
    launched = [Kernel(each, each, 1, ns, False, "fp32", "gemm") for each, ns in kernels.items()]
    return recording([op("/net/conv", sum(kernels.values()), kernels=launched)], name)


def test_a_kernel_is_replaced_by_the_one_that_does_the_same() -> None:
    """Which pass of an op takes longer depends on the precision; a change of layout goes with one of them."""
    before = {DGRAD.format("f32f32", 8): 900, WGRAD.format("f32f32", 8): 890}
    after = {DGRAD.format("f16f16", 64): 110, WGRAD.format("f16f16", 32): 120, LAYOUT: 20}
    comparison = _compared(before, after)
    replaced = [(one.a.names, one.b.names[0], one.a.time_ns) for one in comparison.replacements]
    assert replaced == [
        ([DGRAD.format("f32f32", 8)], DGRAD.format("f16f16", 64), 900),
        ([WGRAD.format("f32f32", 8)], WGRAD.format("f16f16", 32), 890),
    ]
    assert sum(one.b.time_ns for one in comparison.replacements) == 250
    (row,) = (row_json(each) for each in comparison.rows if each.a)
    assert (row["a_kernel"], row["b_kernel"]) == (DGRAD.format("f32f32", 8), DGRAD.format("f16f16", 64))


def test_one_kernel_in_place_of_several_replaces_them_all() -> None:
    """None of them is left without one in its place."""
    (one,) = _compared({"sgemm_tn": 100, "add_bias": 30, "relu": 20}, {"gemm_bias_relu": 90}).replacements
    assert (one.a.names, one.a.time_ns, one.b.names) == (["sgemm_tn", "add_bias", "relu"], 150, ["gemm_bias_relu"])


def test_a_kernel_of_little_time_is_not_what_a_row_is_about() -> None:
    """However alike its name is."""
    (row,) = (
        row_json(each)
        for each in _compared({"volta_sgemm_tn": 100}, {"cutlass_tensorop": 60, "sgemm_splitk": 5}).rows
        if each.a
    )
    assert row["b_kernel"] == "cutlass_tensorop"
