"""Recordings of one program whose inputs differ in size."""

from __future__ import annotations

import random
import re
import tracemalloc

import pytest

from tensorboard_plugin_dlprof.comparing.comparison import Comparison, compare
from tensorboard_plugin_dlprof.comparing.equal_work import estimate_at_equal_work
from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
from tests.comparing.ops import op, recording


def batches(lengths: list[int], speed: float = 1.0, shapes: bool = True) -> list[Recording]:
    """Recordings whose kernels take 4 ms and 20 us for each token, give or take 0.2 %."""
    noise = random.Random(1)
    return [
        recording(
            [
                op(
                    "model/linear",
                    round((4e6 + 20e3 * length) * speed * noise.uniform(0.998, 1.002)),
                    shapes=f"[[{length},128],[128]]" if shapes else "",
                )
            ]
        )
        for length in lengths
    ]


SHORT, LONG = [40, 52, 47, 60, 44], [58, 49, 66, 71, 55]


def kernel_change(result: Comparison) -> float:
    """Of the estimate."""
    estimate = result.main.estimate
    assert estimate is not None
    return estimate.ratio - 1


def test_larger_inputs_are_no_slower_program() -> None:
    """The times differ by 4 %, all of which the inputs explain; without their shapes nobody can know."""
    comparison = compare(batches(SHORT), batches(LONG))
    verdict = verdict_of(comparison)
    assert verdict.verdict == "no_clear_change"
    assert abs(kernel_change(comparison)) < 0.01
    told = "No clear change: on inputs of equal size (those of B are 22.6 % larger on average), "
    assert verdict.headline.startswith(told)
    unknown = compare(batches(SHORT, shapes=False), batches(LONG, shapes=False))
    assert unknown.main.input_size_ratio is None
    assert kernel_change(unknown) > 0.03


def test_a_slower_program_is_found_behind_smaller_inputs() -> None:
    """Its kernels take less time than before, but 3 % more on inputs of one size."""
    comparison = compare(batches(LONG), batches(SHORT, speed=1.03))
    assert comparison.change_ns < 0
    verdict = verdict_of(comparison)
    assert verdict.verdict == "slower"
    assert 0.02 < kernel_change(comparison) < 0.04
    assert "of it" not in verdict.sentence


def test_the_ends_of_an_interval_are_told_apart() -> None:
    """Also where both are the same in whole percents."""
    comparison = compare(batches([50] * 8), batches([50] * 8, speed=2))
    low, high = re.findall(r"interval[^:]*: (\S+ %) to (\S+ %)", verdict_of(comparison).sentence)[0]
    assert low != high
    assert low.replace("\N{NO-BREAK SPACE}", " ").startswith(("99.", "100"))


def test_sizes_that_do_not_overlap_are_not_made_equal() -> None:
    """Nothing is known of how the time grows between them."""
    comparison = compare(batches(SHORT), batches([length + 100 for length in SHORT]))
    assert comparison.main.input_size_ratio is None


def test_impossible_shapes_are_unknown() -> None:
    """They stand in a file, which may be damaged; so nothing is known of the sizes of that side."""
    damaged = [recording([op("model/linear", 4_000_000, shapes=f"[{[10**18] * 30}]")]) for _ in SHORT]
    comparison = compare(batches(SHORT), damaged)
    assert comparison.main.input_size_ratio is None


def test_thousands_of_samples_are_compared_in_little_memory() -> None:
    """Pairs are of some of them only."""
    sizes = [float(100 + index % 7) for index in range(4_000)]
    tracemalloc.start()
    result = estimate_at_equal_work([size**0.5 for size in sizes], [2 * size**0.5 for size in sizes], sizes, sizes)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result is not None
    assert result.ratio == pytest.approx(2, rel=0.1)
    assert most < 256 << 20
