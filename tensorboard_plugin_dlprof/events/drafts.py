"""Op instances before they are joined to ops: what the finders of ops hand to ``profile_tables``."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Rows

FORWARD = "fprop"
BACKWARD = "bprop"


class OpKey(msgspec.Struct, frozen=True):
    """What two calls of one op have in common. Several ops may still share it."""

    name: str
    """The op's path."""
    op_type: str
    direction: str
    node: str = ""
    """Autograd node, which tells the backward pieces of one op apart; not shown."""
    by_name: bool = False
    """All calls of this key are one op, however often it is called."""
    associated: bool = True
    """False for work inside no op."""


class Drafts(msgspec.Struct):
    """Op instances, one row each, in any order.

    ``place``, ``described_by`` and ``stack_of`` may be shorter than the others: the instances behind have no range.
    There are millions of those where a program calls much outside ops.
    """

    start_ns: Int64s
    end_ns: Int64s
    process_id: Int64s
    thread_id: Int64s
    key: Rows
    """Row of ``keys``."""
    place: Int64s
    """Place (of ``Nesting``) of the range, -1 where no range describes the instance."""
    described_by: Int64s
    """Place of the range whose input types tell the data type: the instance's own, or one inside it."""
    stack_of: Int64s
    """Place whose frames are the stack trace, -1 where there are none."""
    keys: list[OpKey]


class Owners(msgspec.Struct):
    """The instance (row of ``Drafts``) of each call and of each piece of device work; never -1."""

    of_call: Int32s
    of_work: Int64s
