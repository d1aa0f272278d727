"""Launches of one op in one iteration, in iterations of which the orders are stored."""

from __future__ import annotations

import tensorboard_plugin_dlprof as dlprof
from benchmarks.serving import TRACE


def test_kernels_of_an_op_in_an_iteration_are_those_of_both() -> None:
    """Six hundred kernels an iteration: what is stored of it are the orders of all of them, not of those of an op."""
    with dlprof.open(TRACE) as p:
        iteration = int(p.iterations().loc[0, "iteration"])
        every, of_iteration = p.kernels(), p.kernels(iteration=iteration)
        assert 500 < len(of_iteration) < len(every)
        expected = every[every["iteration"] == iteration].sort_values(["timestamp_ns", "kernel_id"])
        assert of_iteration["kernel_id"].tolist() == expected["kernel_id"].tolist()
        for op in of_iteration["op_id"].unique()[:5]:
            result = p.kernels(op=op, iteration=iteration)
            assert result["kernel_id"].tolist() == expected[expected["op_id"] == op]["kernel_id"].tolist()
            assert set(result["op_id"]) == {op}
            assert set(result["iteration"]) == {iteration}
            assert p.kernels(op=op)["kernel_id"].nunique() == (every["op_id"] == op).sum()
