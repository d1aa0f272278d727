"""When members leave the operations of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks.members import Member

AGREED_NS = 5_000
"""Ends of one group are no farther apart in nine of ten operations."""


class OfMember(msgspec.Struct):
    """One member's rows of one group or pair."""

    place: int
    rows: Int64s


def ends_of(each: OfMember, members: Sequence[Member]) -> Int64s:
    """When each of the rows ends, in nanoseconds of the member's own clock."""
    ends: Int64s = members[each.place].tables.communication.end_ns[each.rows] + members[each.place].base_ns
    return ends
