"""Drafts: op instances that have not been assigned to ops yet. The finders of ops make them for ``op_tables``."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Rows

FORWARD = "fprop"
BACKWARD = "bprop"


class OpKey(msgspec.Struct, frozen=True):
    """The properties that all calls of an op share. Several ops may have equal keys; ``identity`` separates them."""

    name: str
    """The op's path."""
    op_type: str
    direction: str
    node: str = ""
    """Autograd node, which distinguishes the backward ops of one forward op; not shown."""
    by_name: bool = False
    """Whether all calls with this key are one op, however often it is called."""
    associated: bool = True
    """False for calls and device work outside ops."""


class Drafts(msgspec.Struct):
    """Op instances, one row each, in any order.

    ``place``, ``described_by`` and ``stack_of`` may be shorter than the other columns: instances without a range, of
    which a program may have millions, are at the end and need no values there.
    """

    start_ns: Int64s
    end_ns: Int64s
    process_id: Int64s
    thread_id: Int64s
    key: Rows
    """Row of ``keys``."""
    place: Int64s
    """Place (of ``Nesting``) of the instance's range, -1 if it has none."""
    described_by: Int64s
    """Place of the range whose input types determine the data type: the instance's own range or one inside it."""
    stack_of: Int64s
    """Place whose stack trace the instance gets, -1 for none."""
    keys: list[OpKey]


class Owners(msgspec.Struct):
    """The instance (row of ``Drafts``) of each call and of each piece of device work.

    -1 means outside ops, until ``add_unassociated`` has given every row an instance.
    """

    of_call: Int32s
    of_work: Int32s
