"""Waiting and transfer of matched collectives, from durations, so that no clock is needed.

All members of an operation are released at the same moment, when the last has arrived: ``end - transfer``, and transfer
is the shortest duration.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, covered, subtract, union
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import RankTables
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job


class Times(msgspec.Struct, frozen=True):
    """Of the operations of one group: n members, k operations."""

    duration_ns: Int64s
    """Shape (n, k), as is ``wait_ns``."""
    transfer_ns: Int64s
    wait_ns: Int64s
    release_ns: Int64s
    """Shape (n, k), on each member's clock."""
    last: Int64s
    """Row of the member that arrived last; of several, the one with the lowest rank."""


def times_of(each: Operations) -> Times:
    """Waiting and transfer of a group's operations."""
    duration = each.end_ns - each.start_ns
    transfer = duration.min(0)
    return Times(duration, transfer, duration - transfer, each.end_ns - transfer, duration.argmin(0))


class Exposed(msgspec.Struct, frozen=True):
    """The parts of one rank's exposed communication, of each window. They add up to it."""

    transfer_ns: Int64s
    wait_ns: Int64s
    unmatched_ns: Int64s


def exposed_parts(job: Job, sequences: Sequence[Operations], times: Sequence[Times]) -> list[Exposed]:
    """The parts of exposed communication of each member: in the whole capture first, then in its iterations."""
    spans: list[list[tuple[Int64s, Int64s, Int64s]]] = [[] for _ in job.members]
    for each, of in zip(sequences, times, strict=True):
        if each.used.any():
            for row, place in enumerate(each.members.tolist()):
                base = job.members[place].base_ns
                spans[place].append(
                    (
                        each.start_ns[row, each.used] - base,
                        of.release_ns[row, each.used] - base,
                        each.end_ns[row, each.used] - base,
                    )
                )
    return [_of_member(member.tables, spans_of) for member, spans_of in zip(job.members, spans, strict=True)]


def _of_member(tables: RankTables, spans: Sequence[tuple[Int64s, Int64s, Int64s]]) -> Exposed:
    start = np.concatenate([tables.whole.start_ns, tables.parts.start_ns])
    stop = np.concatenate([tables.whole.stop_ns, tables.parts.stop_ns])
    exposed = np.concatenate([tables.whole.exposed_communication_ns, tables.parts.exposed_communication_ns])
    if not spans:
        nothing = np.zeros(len(start), np.int64)
        return Exposed(nothing, nothing, exposed)
    begin, release, end = (np.concatenate(columns) for columns in zip(*spans, strict=True))
    overlap = Intervals(tables.overlap_start_ns, tables.overlap_stop_ns)
    moving = union(release, end)
    waiting = subtract(union(begin, release), moving)
    transfer = covered(subtract(moving, overlap), start, stop)
    wait = covered(subtract(waiting, overlap), start, stop)
    return Exposed(transfer, wait, exposed - transfer - wait)
