"""Modules of the job step alone, on operations made by hand."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.ranks.clocks import align
from tensorboard_plugin_dlprof.ranks.own_delay import own_delays
from tensorboard_plugin_dlprof.ranks.waiting import times_of
from tests.ranks.by_hand import job_of, member, operations


def test_a_wrong_match_of_a_stream_does_not_set_clocks() -> None:
    """Stages of a pipeline that share a stream are apart by as much in each iteration; one host has one clock."""
    job = job_of([member(rank, host) for rank, host in enumerate("aabb")])
    true_ends = np.array([[10, 20, 30, 40]]) * 1_000_000
    ahead = np.array([[0], [0], [7_000], [7_000]])
    tensor = [operations([0, 1], true_ends + ahead[:2] - 50_000, true_ends + ahead[:2])]
    tensor += [operations([2, 3], true_ends + ahead[2:] - 50_000, true_ends + ahead[2:])]
    data = operations([1, 2], true_ends + ahead[1:3] - 50_000, true_ends + ahead[1:3])
    lag = np.array([[0], [3_000_000], [6_000_000], [9_000_000]])
    wrong = operations(
        [0, 1, 2, 3], true_ends + lag - 50_000, true_ends + lag, grouped=False, stream="1", number=np.arange(4)
    )
    clocks = align(job, [wrong, *tensor, data])
    assert clocks.offset_ns.tolist() == [0, 0, 7_000, 7_000]
    assert not clocks.warnings


def test_a_lag_that_is_carried_over_is_told_from_a_new_one() -> None:
    """A peer that computes while it waits is ahead when it is released: the same lag delays every operation."""
    ends = np.array([1_000, 2_000, 3_000, 4_000])
    late = ends - 100
    early = late - 300
    first = member(0, start_ns=late, end_ns=ends)
    # The peer computes while it waits, so that it is as much ahead at each operation.
    second = member(1, start_ns=early, end_ns=ends, overlap_start_ns=early, overlap_stop_ns=late)
    each = operations([0, 1], np.stack([late, early]), np.stack([ends, ends]))
    found = own_delays(job_of([first, second]), [each], [times_of(each)])
    assert found.member.tolist() == [0, 0, 0]
    assert found.own_delay_ns.tolist() == [300, 300, 300]
    assert found.fresh_ns.tolist() == [0, 0, 0]
    assert (found.asked, found.compared) == (3, 3)
