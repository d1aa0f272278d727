"""Who belongs together where the source has no groups: what one stream seems to tell, another may contradict."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.matching import match
from tests.ranks.by_hand import job_of, member

REDUCE, SEND = int(Collective.ALL_REDUCE), int(Collective.SEND_RECV)

Ends = list[int]
"""Of the operations of one rank on one stream, in us."""


def groups(hosts: str, streams: Mapping[str, tuple[int, list[Ends]]]) -> dict[str, list[tuple[int, ...]]]:
    """The ranks of each group, by stream; hosts are letters, and streams have a kind and the ends of each rank."""
    members = []
    for rank, host in enumerate(hosts):
        kinds, stream, ends = [], [], []
        for number, (kind, of_ranks) in enumerate(streams.values()):
            kinds += [kind] * len(of_ranks[rank])
            stream += [number] * len(of_ranks[rank])
            ends += of_ranks[rank]
        end = np.array(ends, np.int64) * 1_000
        order = np.argsort(end, kind="stable")
        unknown: Int64s = np.full(len(end), -1, np.int64)
        columns = {"kind": np.array(kinds), "stream": np.array(stream), "start_ns": end - 20_000, "end_ns": end}
        names = (
            "group",
            "comms_id",
            "sequence",
            "source",
            "destination",
            "in_elements",
            "out_elements",
            "element_bytes",
        )
        columns |= dict.fromkeys(names, unknown)
        members.append(member(rank, host, **{name: values[order] for name, values in columns.items()}))
    result: dict[str, list[tuple[int, ...]]] = {}
    for each in match(job_of(members)).sequences:
        result.setdefault(list(streams)[int(each.stream.split()[-1])], []).append(tuple(each.members.tolist()))
    return {name: sorted(ranks) for name, ranks in result.items()}


def test_stages_that_are_always_as_late_are_no_group_where_their_sends_tell_the_offset_of_clocks() -> None:
    """The second stage reduces 1.6 ms after the first one, give or take some us; clocks are 0.1 ms apart."""
    begin = [10_000 * step + 13 * step**2 for step in range(6)]
    first = [each + 1_000 for each in begin]
    second = [each + 2_716 + late for each, late in zip(begin, (-3, 3, -2, 2, 0, 1), strict=True)]
    sends = [each + 1_100 for each in begin]
    later = [each + 100 for each in sends]
    found = groups(
        "aaaabbbb", {"tensor": (REDUCE, [first] * 4 + [second] * 4), "sends": (SEND, [sends] * 4 + [later] * 4)}
    )
    assert found["tensor"] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_stages_are_divided_further_where_another_stream_contradicts_that_they_are_groups() -> None:
    """The pairs of one stage end nearly together, those of another one ms later: these are clearest, but too large."""
    begin = [10_000 * step + 17 * step**2 for step in range(5)]
    noise = [[0, 0, 0, 0, 0], [1, 2, -13, 9, -8], [9, -2, -8, 6, -8]]
    reduces: list[Ends] = []
    sums: list[Ends] = []
    for rank in range(12):
        pair, stage = rank // 4, rank // 2 % 2
        late = 2_500 if pair == 1 and stage else 0
        lag = [1_000 + stage * (800 if step == 0 else 4_500) for step in range(5)]
        reduces.append([sum(parts) + late for parts in zip(begin, lag, noise[pair], strict=True)])
        sums.append([each + 5_000 + (700 + 211 * step) * (rank % 4) for step, each in enumerate(begin)])
    found = groups("aaabbbcccddd", {"tensor": (REDUCE, reduces), "data": (REDUCE, sums)})
    assert found["tensor"] == [(rank, rank + 1) for rank in range(0, 12, 2)]
    assert found["data"] == [tuple(range(first, 12, 4)) for first in range(4)]


def test_groups_that_are_always_as_late_are_divided_by_a_stream_that_is_clear() -> None:
    """One of the first four is 6 ms late each time, until their gradients are reduced with those of the others."""
    begin = [10_000 * step + 17 * step**2 for step in range(3)]
    reduces = [
        [each + 1_000 for each in begin],
        [each + 7_000 + late for each, late in zip(begin, (1, 0, 2), strict=True)],
    ]
    noise = [[0, 13, -9], [-14, 6, 11], [9, -8, 16], [12, 0, -13]]
    sums = [[each + 8_000 + late for each, late in zip(begin, of, strict=True)] for of in noise]
    found = groups(
        "aabbccdd",
        {
            "tensor": (REDUCE, [reduces[rank // 4] for rank in range(8)]),
            "data": (REDUCE, [sums[rank % 4] for rank in range(8)]),
        },
    )
    assert found["tensor"] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert found["data"] == [(rank, rank + 4) for rank in range(4)]


@pytest.mark.parametrize("iterations", [1, 2])
def test_sends_that_end_together_contradict_that_stages_are_a_group(iterations: int) -> None:
    """Few operations of two stages end as far apart each time, but what they exchange ends 3 ms less far apart."""
    first = [5_008, 5_757, 6_501, 7_246, 12_443, 13_189, 13_935, 14_675][: 4 * iterations]
    second = [28_084, 28_832, 29_572, 30_317, 35_514, 36_261, 37_008, 37_753][: 4 * iterations]
    sends, received = [7_342, 14_771][:iterations], [27_342, 34_771][:iterations]
    found = groups(
        "aabb", {"tensor": (REDUCE, [first] * 2 + [second] * 2), "sends": (SEND, [sends] * 2 + [received] * 2)}
    )
    assert found["tensor"] == [(0, 1), (2, 3)]
    assert found["sends"] == [(0, 1, 2, 3)]


def test_nobody_is_a_partner_where_any_may_be() -> None:
    """Sends of four ranks of a host end together, and those of another host do, but not with these."""
    ends = [[1_000, 5_000, 9_017], [1_000, 5_400, 9_900]]
    reduces = [[2_000, 6_000, 9_500]] * 8
    found = groups("aaaabbbb", {"sends": (SEND, [ends[rank // 4] for rank in range(8)]), "all": (REDUCE, reduces)})
    assert all(len(ranks) != 2 for ranks in found["sends"])
