"""The Hodges-Lehmann ratio and its interval, against brute force and on real recordings."""

from __future__ import annotations

import itertools
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.comparing import noise
from tensorboard_plugin_dlprof.comparing.noise import Estimate, estimate
from tensorboard_plugin_dlprof.comparing.series import Run, first_regression, series, untested

SAMPLES = st.lists(st.integers(1, 10**12), min_size=1, max_size=12)


def estimated(a: list[float], b: list[float]) -> Estimate:
    """The estimate, which exists."""
    one = estimate(a, b)
    assert one is not None
    return one


@pytest.mark.parametrize(("left", "right"), [(2, 3), (4, 4), (3, 6)])
def test_the_distribution_of_u_is_that_of_all_orders(left: int, right: int) -> None:
    """Counted over all ways to choose the places of one side."""
    counts = [0] * (left * right + 1)
    for places in itertools.combinations(range(left + right), left):
        counts[sum(places) - left * (left - 1) // 2] += 1
    assert list(noise._counts(left, right)) == counts


def test_four_against_four_can_just_be_told_apart() -> None:
    """p = 2 / 70: all of one side below all of the other."""
    assert estimated([1, 2, 3, 4], [5, 6, 7, 8]).is_sure()
    assert not estimated([1, 2, 3, 5], [4, 6, 7, 8]).is_sure()


def test_below_four_there_is_no_interval() -> None:
    """An estimate, but no bounds."""
    one = estimated([1, 1, 1], [2, 2, 2, 2])
    assert (one.ratio, one.low, one.high) == (2, None, None)
    assert estimate([], [1]) is None
    assert estimate([0], [1]) is None


@given(SAMPLES, SAMPLES)
def test_the_ratio_is_the_middle_of_all_ratios_and_swaps_to_its_inverse(a: list[float], b: list[float]) -> None:
    """The bounds swap too."""
    one, swapped = estimated(a, b), estimated(b, a)
    ratios = sorted(y / x for x in a for y in b)
    assert ratios[(len(ratios) - 1) // 2] <= one.ratio * (1 + 1e-9)
    assert one.ratio <= ratios[len(ratios) // 2] * (1 + 1e-9)
    assert one.ratio * swapped.ratio == pytest.approx(1)
    if one.low is not None and one.high is not None and swapped.high is not None:
        assert one.low * swapped.high == pytest.approx(1)
        assert one.low <= one.ratio <= one.high


def test_few_false_alarms_and_most_true_changes_of_three_percent() -> None:
    """Windows of five against five of times that vary by 1 %, as those of real kernels do."""
    chance = random.Random(7)
    alarms, described = [], []
    for _ in range(400):
        a, b = ([chance.gauss(1, 0.01) for _ in range(5)] for _ in range(2))
        alarms.append(estimated(a, b).is_change(0.01))
        described.append(estimated(a, [1.03 * value for value in b]).is_change(0.01))
    assert statistics.mean(alarms) <= 0.05
    assert statistics.mean(described) >= 0.8


def test_many_samples_are_thinned_and_ties_count() -> None:
    """10,000 a side, of few distinct times."""
    a, b = [100 + place % 3 for place in range(10_000)], [103 + place % 3 for place in range(10_000)]
    one = estimated(list(map(float, a)), list(map(float, b)))
    assert one.a_samples == 2_000
    assert one.is_change(0.02)


def test_the_bounds_of_a_median_are_those_of_the_sign_test() -> None:
    """Of six samples the least and the largest, which hold it with 1 - 2 / 64; of ten the second and the ninth."""
    assert noise.median_of([3.0, 1.0]) == {"median": 2.0, "low": None, "high": None}
    assert noise.median_of([6.0, 5, 4, 3, 2, 1]) == {"median": 3.5, "low": 1.0, "high": 6.0}
    assert noise.median_of([float(value) for value in range(10)]) == {"median": 4.5, "low": 1.0, "high": 8.0}


def test_the_first_slower_run_of_a_series_is_found() -> None:
    """Not one that varies as those before do, nor one that is faster."""
    constant = [[100.0 + place % 4 + run % 2 for place in range(8)] for run in range(6)]
    slower = [[value * 1.1 for value in run] for run in constant]
    faster = [[value * 0.8 for value in run] for run in constant]
    assert first_regression([*constant, *slower], 0.02) == 6
    assert first_regression([*constant, *faster], 0.02) is None
    assert first_regression([[1.0], [9.0]], 0.02) is None


def test_runs_of_a_series_that_are_too_short_for_a_test_are_told() -> None:
    """None of them may be said to be no slower; samples of several runs before count together."""
    assert untested([[1.0] * 3, [9.0] * 3]) == [1]
    assert untested([[1.0] * 3, [1.0] * 8, [1.0] * 3, [1.0] * 8]) == [1, 2]
    assert untested([[1.0] * 2, [1.0] * 2, [1.0] * 4]) == [1]


def test_a_run_that_is_not_known_to_be_later_is_no_regression() -> None:
    """Of two that began at one moment, or whose begin is not known, the name alone would make one the later."""

    def run(name: str, started_ns: int | None, ns: int) -> Run:
        times = [ns + place for place in range(8)]
        return Run(name, "GPU", started_ns, marked=True, iterations=8, iteration_time=times, kernel_time=times)

    told = series([run("a", 5, 1000), run("b", 5, 9000)])
    assert (told["regression"], told["untested"]) == (None, [1])
    assert series([run("a", None, 1000), run("b", 5, 9000)])["regression"] is None
    told = series([run("a", 5, 1000), run("b", 6, 9000)])
    assert (told["regression"], told["untested"]) == (1, [])
