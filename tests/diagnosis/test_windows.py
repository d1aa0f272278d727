"""The typical iterations."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.diagnosis.windows import Typical, find_typical, mean_said, said


@pytest.mark.parametrize(
    ("wall", "want"),
    [
        ((2100, 90, 85, 88, 110, 87), (1, 5, (), ("warm_up",))),
        ((700, 210, 230, 212, 215), (1, 4, (), ("warm_up",))),
        ((60, 59, 500, 520, 530), (2, 4, (), ("became_slower",))),
        ((22, 22, 51), (0, 2, (), ())),
        ((100, 300, 100, 310, 105, 290, 100), (0, 6, (), ("two_kinds",))),
        ((900, 900, 100, 100, 100), (2, 4, (), ("became_faster",))),
        ((100, 101, 99, 100, 40), (0, 3, (), ("cut_end",))),
        ((500,), (0, 0, (), ())),
        ((300, 100), (1, 1, (), ("warm_up",))),
        ((100,) * 9 + (250,) + (100,) * 9, (0, 18, (9,), ("slow_single",))),
        ((60, 160, 900, 70, 9000, 150, 80), (0, 6, (), ())),
        (tuple(range(100, 140, 4)), (0, 9, (), ("drift",))),
    ],
)
def test_typical_iterations(wall: tuple[int, ...], want: tuple[int, int, tuple[int, ...], tuple[str, ...]]) -> None:
    """Warm-up is left out, two kinds and a drift are kept, single slow ones are left out of means."""
    typical = find_typical(wall, [True] * len(wall), [False] * len(wall))
    assert (typical.start, typical.stop, typical.left_out, typical.why) == want


def test_iterations_without_work_and_those_in_which_the_host_ran_ahead_go() -> None:
    """The first two have no work; the third ended before its work."""
    wall = (50, 50, 40, 100, 100, 100, 100)
    typical = find_typical(wall, [False, False, *[True] * 5], [False, False, True, *[False] * 4])
    assert (typical.start, typical.stop, typical.why) == (3, 6, ("no_gpu_work", "ran_up"))


def test_what_is_left_out_is_said() -> None:
    """With its length, and why."""
    wall = (3_860_000, 1_480_000, 1_500_000, 1_490_000, 1_470_000)
    typical = find_typical(wall, [True] * 5, [False] * 5)
    assert said(typical, wall, list("01234")) == (
        "Iterations 1 to 4: 4 of 5 recorded. Iteration 0 took 3.86 ms, 2.6 times the median: warm-up."
    )
    typical = find_typical((13_200, *wall[1:]), [False, *[True] * 4], [False] * 5)
    assert "Iteration 0 took 13.2 µs, 0.9 % of the median: no GPU work." in said(typical, (13_200, *wall[1:]), "01234")


def test_a_mean_that_few_long_ones_make_is_said_to_be_one() -> None:
    """Spread too far for any to be left out: the mean is an iteration that nobody sees."""
    wall = (90_000, 160_000, 900_000, 70_000, 4_000_000, 150_000, 80_000)
    spread = Typical(0, 6, (), (), (0, 6)), wall, list("3456789")
    alone = mean_said(*spread)
    assert alone == "Long ones make the mean: half take up to 150 µs, iteration 7 took 4.00 ms."
    assert said(*spread).endswith(f"7 recorded. {alone}")
    # A page with little place leaves the end out.
    assert said(*spread, "GPU work goes on.").endswith(f"7 recorded. GPU work goes on. {alone}")
    steady = Typical(0, 5, (), (), (0, 5)), [10, 11, 12, 11, 10, 18], list("012345")
    assert (mean_said(*steady), "Long" in said(*steady)) == ("", False)


def test_each_end_is_said_to_be_left_out_for_its_own_reasons() -> None:
    """The first took long and has work; the last has none."""
    wall = (9_000_000, 1_000_000, 1_000_000, 1_000_000, 400_000)
    sentences = said(find_typical(wall, [True] * 4 + [False], [False] * 5), wall, list("01234"))
    assert "Iteration 0 took 9.00 ms, 9.0 times the median: warm-up." in sentences
    assert sentences.endswith("Iteration 4 took 400 µs, 40.0 % of the median: no GPU work.")
