"""Many devices at once, against the oracle and against each of them alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tensorboard_plugin_dlprof.aggregation import aggregate, side_by_side
from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, covered, union, union_of
from tensorboard_plugin_dlprof.aggregation.side_by_side import SideBySide
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.oracle import computed_tables, expected
from tests.aggregation.test_oracle import profiles

DEVICES = 40
SHARED = Intervals(np.array([-5, 40, 70]), np.array([20, 55, 90]))


def _work(seed: int) -> side_by_side.Work:
    """Work of some of the devices, whose ids are 3, 5, 7, ..., and of others."""
    drawn = np.random.default_rng(seed)
    start = drawn.integers(-10, 90, 300)
    return start, start + drawn.integers(-2, 30, 300), drawn.integers(0, 70, 300).astype(np.int32)


def _groups(work: side_by_side.Work) -> list[SideBySide]:
    ids = np.random.default_rng(1).permutation(2 * np.arange(DEVICES) + 3)
    groups = list(side_by_side.side_by_side(ids, [work], [SHARED]))
    assert sorted(np.concatenate([group.row for group in groups]).tolist()) == list(range(DEVICES))
    assert all((ids[group.row] == group.device_id).all() for group in groups)
    return groups


def _alone(work: side_by_side.Work, device: int) -> Intervals:
    start, stop, of_device = work
    return union(start[of_device == device], stop[of_device == device])


@settings(max_examples=60)
@given(profiles())
def test_every_number_equals_the_slow_way_where_devices_are_side_by_side(profile: Profile) -> None:
    """As the fewer ones, of which each is worked on alone."""
    candidate = profile.iterations[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_by_side, "_MOST_ALONE", 0)
        aggregation = aggregate(profile)
    values = candidate.values.tolist()
    assert computed_tables(profile, aggregation) == expected(profile, candidate, values[0], values[-1])


@pytest.mark.parametrize("rows", [1, 50, 1 << 18])
def test_a_union_of_all_is_the_union_of_each(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever many are together; rows of other devices are left out."""
    monkeypatch.setattr(side_by_side, "_ROWS", rows)
    work = _work(rows)
    groups = _groups(work)
    assert (len(groups) == 1) == (rows > 500)
    for group in groups:
        joined = union_of([group.piece(work)])
        index = group.index(joined.start)
        for place, device in enumerate(group.device_id.tolist()):
            own = group.own(joined.start[index == place]), group.own(joined.stop[index == place])
            alone = _alone(work, device)
            assert [times.tolist() for times in own] == [alone.start.tolist(), alone.stop.tolist()]


def test_a_clock_for_all_runs_as_that_of_each() -> None:
    """What it shows within windows that all have."""
    work = _work(7)
    (group,) = _groups(work)
    windows = group.repeated(SHARED)
    times = covered(union_of([group.piece(work)]), windows.start, windows.stop, group.clock_within(SHARED))
    for row, device in zip(times.reshape(DEVICES, -1), group.device_id.tolist(), strict=True):
        assert row.tolist() == covered(_alone(work, device), SHARED.start, SHARED.stop).tolist()


def test_times_that_lie_far_apart_are_not_moved_beyond_what_an_integer_holds() -> None:
    """So that fewer devices stand side by side."""
    start, stop, device = _work(3)
    far = (start + (start > 50) * (1 << 58), stop + (start > 50) * (1 << 58), device)
    groups = _groups(far)
    assert len(groups) > 1
    for group in groups:
        assert (group.own(union_of([group.piece(far)]).start) >= -10).all()
