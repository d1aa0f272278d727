"""Hardware counters in traces: samples of the Tensor Cores prove what kernels use; ranges in place of kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Capture
from tests.importers.kineto.traces import kernel, op, read, trace, x

SHARE = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
COUNT = "sm__inst_executed_pipe_tensor.sum"


def sample(ts: float, value: Any, metric: str = SHARE, gpu: int = 0) -> dict[str, Any]:
    """As Kineto writes it: the name of the value is empty."""
    pid = f"GPU {gpu} Counters"
    return {"ph": "C", "cat": "hardware_counters", "name": metric, "pid": pid, "tid": 0, "ts": ts, "args": {"": value}}


def samples(capture: Capture) -> list[tuple[int, int, int]]:
    """Device, time and percentage."""
    table = capture.tensor_samples
    return list(zip(table.device.tolist(), table.time_ns.tolist(), table.active_percent.tolist(), strict=True))


def test_a_sample_stands_at_its_end(tmp_path: Path) -> None:
    """Where the next begins; Kineto writes when it began. The end of the last is not recorded."""
    capture = read(trace(op(ts=10), sample(20, 37.4), sample(30, 0), sample(40, 5)), tmp_path)
    assert samples(capture) == [(0, 20_000, 37), (0, 30_000, 0)]
    assert capture.skipped == {}


def test_less_than_a_percent_is_neither_nothing_nor_something(tmp_path: Path) -> None:
    """It may be the edge of a neighbour; so is what cannot be."""
    capture = read(trace(op(ts=10), *(sample(20 + n, v) for n, v in enumerate((0.4, 1.0, 101.0, 0, 9)))), tmp_path)
    assert [percent for _, _, percent in samples(capture)] == [1, 0]


def test_gpus_are_told_apart_and_times_need_no_order(tmp_path: Path) -> None:
    """By the name of their track."""
    events = [sample(30, 7, gpu=1), sample(20, 5, gpu=1), sample(20, 1, gpu=0), sample(40, 2, gpu=0)]
    assert samples(read(trace(op(ts=10), *events), tmp_path)) == [(0, 30_000, 1), (1, 20_000, 5)]


def test_a_count_is_taken_as_a_share_of_the_largest(tmp_path: Path) -> None:
    """A percentage that is recorded beside it goes first."""
    counts = [sample(20, 0, COUNT), sample(30, 4e9, COUNT), sample(40, 2e9, COUNT), sample(50, 0, COUNT)]
    assert [percent for _, _, percent in samples(read(trace(op(), *counts), tmp_path))] == [0, 100, 50]
    both = [*counts, sample(20, 3), sample(30, 4)]
    assert [percent for _, _, percent in samples(read(trace(op(), *both), tmp_path))] == [3]


@pytest.mark.parametrize(
    "event",
    [
        sample(20, 50, "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
        sample(20, 50, "sm__inst_executed_pipe_tensor_op_hmma.sum"),
        sample(20, "50"),
        sample(20, None),
        sample(20, -1),
        sample(20, True),
        {**sample(20, 50), "pid": "counters"},
        {**sample(20, 50), "ph": "X", "dur": 1},
        {**sample(20, 50), "args": {}},
    ],
)
def test_other_counters_prove_nothing(tmp_path: Path, event: dict[str, Any]) -> None:
    """Another metric, a part of the instructions, no number, no GPU."""
    capture = read(trace(op(ts=10), event, event, event), tmp_path)
    assert samples(capture) == []
    assert capture.skipped == {}


@pytest.mark.parametrize(("percent", "unit"), [(40, MatrixUnit.YES), (0, MatrixUnit.NO)])
def test_samples_override_a_kernels_name(tmp_path: Path, percent: int, unit: MatrixUnit) -> None:
    """A kernel of four milliseconds whose name says the contrary: the samples in it decide."""
    name = "ampere_sgemm_128x64_nn" if unit == MatrixUnit.YES else "ampere_h16816gemm_128x64_nn"
    call = x("cuda_runtime", "cudaLaunchKernel", 11, 2, correlation=1)
    work = kernel(name, ts=500, dur=5_000)
    taken = [sample(ts, percent if 500 <= ts < 5_000 else 0) for ts in range(0, 7_000, 1_000)]
    profile = build_profile(read(trace(op(ts=10, dur=10), call, work, *taken), tmp_path))
    assert profile.kernels.matrix_unit.tolist() == [unit]
    assert {known.rule for known in profile.kernel_classes.values()} == {"counter Tensor Active"}


def test_counters_in_place_of_kernels_are_told(tmp_path: Path) -> None:
    """With what to do with such a file."""
    ranges = [x("cuda_profiler_range", "k", 20, 5, {"pid": 0, "tid": 0}, **{COUNT: 3}) for _ in range(3)]
    capture = read(trace(op(), *ranges), tmp_path)
    assert list(capture.skipped.values()) == [3]
    assert "--counters" in next(iter(capture.skipped))
    assert len(capture.work.kind) == 0
