"""Theoretical occupancy, against NVIDIA's occupancy calculator by hand."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.efficiency.occupancy import occupancy, tail_fraction, waves


@pytest.mark.parametrize(
    ("capability", "threads", "registers", "shared", "fraction", "blocks", "limiter"),
    [
        ((7, 0), 256, 32, 0, 1.0, 8, "warps"),
        ((7, 0), 256, 128, 0, 0.25, 2, "registers"),
        ((8, 0), 128, 255, 0, 0.125, 2, "registers"),
        ((8, 0), 128, 32, 40_960, 0.25, 4, "shared_memory"),
        ((8, 0), 128, 32, 41_088, 0.1875, 3, "shared_memory"),
        ((7, 5), 32, 16, 0, 0.5, 16, "blocks"),
        ((9, 0), 384, 168, 231_424, 0.1875, 1, "registers"),
        ((8, 6), 1024, 32, 0, 2 / 3, 1, "warps"),
    ],
)
def test_what_ends_first_limits(
    capability: tuple[int, int], threads: int, registers: int, shared: int, fraction: float, blocks: int, limiter: str
) -> None:
    """Warps, blocks, registers or shared memory."""
    result = occupancy(capability, threads, registers, -1, shared)
    assert result is not None
    assert result.fraction == pytest.approx(fraction)
    assert (result.blocks_per_sm, result.limiter) == (blocks, limiter)


@pytest.mark.parametrize(
    ("capability", "threads", "registers", "dynamic"),
    [((9, 4), 256, 32, 0), ((7, 0), 0, 32, 0), ((7, 0), 256, -1, 0), ((7, 0), 256, 32, -1), ((7, 0), 256, 32, 10**6)],
)
def test_what_is_not_recorded_or_cannot_run_is_unknown(
    capability: tuple[int, int], threads: int, registers: int, dynamic: int
) -> None:
    """Never 0 or 100 %."""
    assert occupancy(capability, threads, registers, -1, dynamic) is None


def test_waves_and_the_tail_of_the_last() -> None:
    """1.25 waves leave three quarters of the second empty: 3/8 of all slots."""
    full = waves(100, 2, 40)
    assert full == 1.25
    assert tail_fraction(1.25) == pytest.approx(0.375)
    assert tail_fraction(2.0) == 0.0
    assert waves(100, 2, 0) is None
