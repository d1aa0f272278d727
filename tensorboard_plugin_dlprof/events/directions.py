"""Finds backward ranges, and the forward op of each.

PyTorch numbers the autograd nodes that a thread creates. A forward op is recorded with the number of the node that it
creates; when the node runs, it is recorded with the same number and with PyTorch's own id of the forward thread. Newer
traces add arrows (``fwdbwd``) from op to node, which are exact and take precedence. An arrow or number may belong to a
sub-op (``aten::addmm`` in ``aten::linear``): then the forward op is the instance around it.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.instances import has_role
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.sequence_links import SequenceLinks
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s
from tensorboard_plugin_dlprof.events.trees import Flags, nearest_of

_MODEL_ROLES = (Role.OP, Role.WRAPPER, Role.EVALUATE, Role.COMPILED)


def backward_ranges(capture: Capture, nesting: Nesting, role: Int8s) -> Flags:
    """Whether the range at each place is itself a backward op or autograd node (``role`` is by place)."""
    name, strings = capture.ranges.name, capture.strings
    of_name = np.zeros(len(strings), np.bool_)
    distinct = distinct_values(name[nesting.row[has_role(role, *_MODEL_ROLES)]])
    of_name[distinct] = list(map(names.is_backward, strings.some(distinct)))
    backward: Flags = of_name[name][nesting.row]
    return backward & has_role(role, *_MODEL_ROLES)


def forward_of(capture: Capture, nesting: Nesting, role: Int8s, backward: Flags, in_backward: Flags) -> Int32s:
    """For each place, the place of the forward range of the autograd node around it; -1 if unknown.

    Args:
        backward: From ``backward_ranges``.
        in_backward: Whether each place is a backward range or inside one.
    """
    linked = np.full(len(role), -1, np.int32)
    _link_by_sequence(capture, nesting, has_role(role, *_MODEL_ROLES), backward, in_backward, linked)
    _link_by_arrow(capture, nesting, backward, linked)
    return nesting.inherit(linked >= 0, linked)


def _link_by_arrow(capture: Capture, nesting: Nesting, backward: Flags, linked: Int32s) -> None:
    arrows = capture.forward_links
    if not len(arrows.forward_ns):
        return
    forward = nesting.innermost(arrows.forward_thread, arrows.forward_ns)
    around = nesting.innermost(arrows.backward_thread, arrows.backward_ns)
    node = nearest_of(around, backward, nesting.parent)
    hit = (forward >= 0) & (node >= 0)
    linked[node[hit]] = forward[hit]


def _link_by_sequence(
    capture: Capture, nesting: Nesting, model: Flags, backward: Flags, in_backward: Flags, linked: Int32s
) -> None:
    ranges, row = capture.ranges, nesting.row
    model &= (ranges.sequence >= 0)[row]
    nodes = np.flatnonzero(model & backward).astype(np.int32)
    ops = np.flatnonzero(model & ~backward).astype(np.int32)
    # Ops that run in the backward pass (recomputation) are candidates only for nodes whose forward thread is known.
    known = ranges.forward_thread[row[nodes]] > 0
    for some, pool in ((nodes[known], ops), (nodes[~known], ops[~in_backward[ops]])):
        if len(some) and len(pool):
            for node, op in SequenceLinks(capture, nesting, pool, some).pairs():
                linked[node] = op
