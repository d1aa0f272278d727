"""The communication matrix."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.pairs import pair_rows
from tensorboard_plugin_dlprof.ranks.waiting import times_of
from tests.ranks.by_hand import job_of, member, operations


def test_sends_count_by_who_sends_to_whom() -> None:
    """There and back apart where that is recorded, else as one pair; what is unknown is null."""
    ends = np.array([10, 30, 50, 70]) * 1_000
    source, destination = np.array([4, 4, 6, -1]), np.array([6, 6, 4, -1])
    job = job_of([member(rank, end_ns=ends, source=source, destination=destination) for rank in (4, 6, 8)])
    sends = {"kind": np.full(4, int(Collective.SEND_RECV)), "in_bytes": np.array([1_000, 3_000, 5_000, -1])}
    start = [ends - 2_000, ends - [9_000, 1_000, 2_000, 2_000]]
    groups = [
        operations([0, 1], start, [ends, ends], **sends, used=np.array([True, True, False, True])),
        operations([1, 2], start, [ends, ends]),  # all-reduces
        operations([0, 2], start, [ends, ends], **sends, believed=False),
    ]
    rows = pair_rows(job, groups, [times_of(group) for group in groups], {0})
    described = [tuple(row.values()) for row in rows]
    assert described == [
        (4, 6, 0, 1, None, 2_000, None, 1),
        (4, 6, 1, 2, 4_000, 3_000, 1.75e9, 1),
        (6, 4, 1, 1, 5_000, None, None, 1),
    ]
