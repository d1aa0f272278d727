"""Bins and proposals."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.iterations import MAX_ROWS, IterationRow, _derived_proposal, binned


def row(iteration: int, duration_ns: int, profiled: bool = True) -> IterationRow:
    """An iteration whose time is all the host's."""
    parts: dict[str, int | None] | None = {"cpu": duration_ns} if profiled else None
    return IterationRow(
        iteration=iteration,
        stop_iteration=iteration,
        start_ns=0,
        duration_ns=duration_ns,
        profiled=profiled,
        parts=parts,
    )


def test_bins_keep_the_sums_and_the_ends_of_the_aggregation() -> None:
    """100,000 iterations of which the middle is aggregated: at most 1,000 bars, no bar on both sides of an end."""
    rows = [row(number, number, 1_234 <= number < 98_765) for number in range(100_000)]
    bins = binned(rows)
    assert len(bins) <= MAX_ROWS
    assert sum(found["duration_ns"] or 0 for found in bins) == sum(range(100_000))
    assert sum((found["parts"] or {}).get("cpu") or 0 for found in bins) == sum(range(1_234, 98_765))
    assert {found["iteration"] for found in bins} >= {0, 1_234, 98_765}
    assert rows[0]["stop_iteration"] == 0


def test_warm_up_is_proposed_to_be_left_out() -> None:
    """The first takes twice the median."""
    found = _derived_proposal([row(5, 210), *(row(number, 100) for number in range(6, 11))])
    assert found == {"iter_start": 6, "iter_stop": 10, "reason": "Iteration 5 took 2.1 times the median: warm-up."}


def test_nothing_is_proposed_where_all_are_alike_or_few() -> None:
    """No advice without evidence."""
    assert _derived_proposal([row(number, 100) for number in range(10)]) is None
    assert _derived_proposal([row(0, 500), row(1, 100)]) is None
    assert _derived_proposal([row(number, 0) for number in range(10)]) is None
