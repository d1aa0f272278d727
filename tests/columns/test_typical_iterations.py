"""The range of iterations that is proposed."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.columns.typical_iterations import TypicalRange, typical_range


def typical(durations: list[int], first: int = 5) -> TypicalRange | None:
    """Of iterations numbered from ``first``."""
    return typical_range(range(first, first + len(durations)), durations)


@pytest.mark.parametrize(
    ("durations", "proposed"),
    [
        ([100, 100, 101, 99], None),
        ([210, 100, 100, 100, 100], (6, 9)),
        ([150, 100, 100, 100, 100], None),
        ([151, 100, 100, 100, 100], (6, 9)),
        ([100, 100, 100, 100, 100, 900], (5, 9)),
        ([900, 800, *[100] * 12, 700], (7, 18)),
        ([100, 100, 900, 100, 100, 100], None),
        ([300, 100], None),
        ([301, 99], (6, 6)),
        ([77], None),
        ([], None),
        ([0, 0, 0], None),
    ],
)
def test_warm_up_and_outliers_at_the_ends_are_left_out(durations: list[int], proposed: tuple[int, int] | None) -> None:
    """The first above 1.5 medians; others only beyond Q3 + 1.5 IQR as well; none in the middle; one stays."""
    found = typical(durations)
    assert (found and (found.iter_start, found.iter_stop)) == proposed


def test_the_reason_names_the_iterations_and_how_slow_they_were() -> None:
    """So that the user can judge it."""
    found = typical([210, 100, 100, 100, 100])
    assert found is not None
    assert found.reason == "Iteration 5 took 2.1 times the median: warm-up."
