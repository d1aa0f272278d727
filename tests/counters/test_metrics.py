"""What counters prove."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.counters.metrics import dram_bytes, occupancy, proof, scaled

HMMA = "sm__inst_executed_pipe_tensor_op_hmma.sum"
IMMA = "sm__inst_executed_pipe_tensor_op_imma.sum"
DMMA = "sm__inst_executed_pipe_tensor_op_dmma.sum"


@pytest.mark.parametrize(
    ("values", "major", "unit"),
    [
        ({"sm__inst_executed_pipe_tensor.sum": 1}, 8, MatrixUnit.YES),
        ({"sm__inst_executed_pipe_tensor.sum": 0}, 8, MatrixUnit.NO),
        ({"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 12.5}, 9, MatrixUnit.YES),
        ({"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 0}, 9, MatrixUnit.NO),
        ({HMMA: 4}, 7, MatrixUnit.YES),
        ({"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active": 3}, 8, MatrixUnit.YES),
        # All the parts of the whole prove that there was none, some of them do not.
        ({HMMA: 0, IMMA: 0}, 7, MatrixUnit.NO),
        ({HMMA: 0, IMMA: 0}, 8, MatrixUnit.UNKNOWN),
        ({HMMA: 0, IMMA: 0, DMMA: 0}, 8, MatrixUnit.NO),
        ({HMMA: 0, IMMA: 0, DMMA: 0}, 9, MatrixUnit.UNKNOWN),
        ({HMMA: 0}, 7, MatrixUnit.UNKNOWN),
        ({HMMA: 0, IMMA: 5}, 8, MatrixUnit.YES),
        ({"sm__warps_active.avg.pct_of_peak_sustained_active": 50}, 8, MatrixUnit.UNKNOWN),
        ({}, 8, MatrixUnit.UNKNOWN),
    ],
)
def test_proof(values: dict[str, float], major: int, unit: MatrixUnit) -> None:
    """Any instruction proves use; zero proves none only where everything was counted."""
    assert proof(values, major)[0] == unit


def test_occupancy_is_a_fraction() -> None:
    """Under its name on either page; nonsense is unknown."""
    assert occupancy({"sm__warps_active.avg.pct_of_peak_sustained_active": 25.0}) == 0.25
    assert occupancy({"Achieved Occupancy": 50.0}) == 0.5
    assert occupancy({"Achieved Occupancy": 130.0}) is None
    assert occupancy({}) is None


def test_dram_bytes_are_counted_whole_or_not_at_all() -> None:
    """Reads alone are no traffic."""
    assert dram_bytes({"dram__bytes.sum": 10}) == 10
    assert dram_bytes({"dram__bytes_read.sum": 4, "dram__bytes_write.sum": 5}) == 9
    assert dram_bytes({"dram__bytes_read.sum": 4}) is None


@pytest.mark.parametrize(
    ("unit", "value"),
    [("byte", 2), ("Kbyte", 2e3), ("Mbyte", 2e6), ("Gbyte", 2e9), ("KB", 2e3), ("MiB", 2 << 20), ("inst", 2)],
)
def test_units(unit: str, value: float) -> None:
    """Only bytes are scaled."""
    assert scaled(2, unit) == value
