"""Backward ranges, and the forward op that each belongs to.

PyTorch numbers the autograd nodes of each thread: a forward op carries the number that the node
it makes will get, and the node carries it again when it runs, with a number of PyTorch's own for
the forward thread. Newer traces add arrows (``fwdbwd``) from op to node, which are exact and go
first. An arrow or number may name a sub-op (``aten::addmm`` in ``aten::linear``): the op meant is
the instance around it.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.distinct import distinct_values, numbered
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.instances import has_role
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.events.trees import BLOCK, Flags, nearest_of

_MODEL_ROLES = (Role.OP, Role.WRAPPER, Role.EVALUATE, Role.COMPILED)


def backward_ranges(capture: Capture, nesting: Nesting, role: Int8s) -> Flags:
    """Places of ranges that are themselves the backward side of an op."""
    name, strings = capture.ranges.name, capture.strings
    of_name = np.zeros(len(strings), np.bool_)
    for text in distinct_values(name[nesting.row[has_role(role, *_MODEL_ROLES)]]).tolist():
        of_name[text] = names.is_backward(strings[text])
    backward: Flags = of_name[name][nesting.row]
    return backward & has_role(role, *_MODEL_ROLES)


def forward_of(capture: Capture, nesting: Nesting, role: Int8s, backward: Flags, in_backward: Flags) -> Int32s:
    """For each place the place of the forward range of the autograd node around it, -1 where unknown.

    Args:
        capture: The events.
        nesting: Their ranges.
        role: Roles by place.
        backward: ``backward_ranges``.
        in_backward: Places in one of them, themselves included.
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
    node = nearest_of(around, backward, nesting.parent, nesting.stop)
    hit = (forward >= 0) & (node >= 0)
    linked[node[hit]] = forward[hit]


def _link_by_sequence(
    capture: Capture, nesting: Nesting, model: Flags, backward: Flags, in_backward: Flags, linked: Int32s
) -> None:
    ranges, row = capture.ranges, nesting.row
    model &= (ranges.sequence >= 0)[row]
    nodes = np.flatnonzero(model & backward).astype(np.int32)
    ops = np.flatnonzero(model & ~backward).astype(np.int32)
    if not len(nodes) or not len(ops):
        return
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    process = np.unique(process_of_thread, return_inverse=True)[1].astype(np.int32)
    # Ops that the backward pass itself runs (recomputation) count, but only for threads that say so.
    main = ops[~in_backward[ops]]
    thread_of_op, thread_of_main = ranges.thread[row[ops]], ranges.thread[row[main]]
    for (owner, said), members in _groups(process[ranges.thread[row[nodes]]], ranges.forward_thread[row[nodes]], nodes):
        best: Int32s | None = None
        for candidate in distinct_values(thread_of_op).tolist():
            if process[candidate] != owner:
                continue
            pool, thread = (ops, thread_of_op) if said > 0 else (main, thread_of_main)
            found = _latest_before(nesting, ranges.sequence, pool[thread == candidate], members)
            if best is None or np.count_nonzero(found >= 0) > np.count_nonzero(best >= 0):
                best = found
        if best is not None:
            linked[members[best >= 0]] = best[best >= 0]


def _groups(process: Int32s, forward_thread: Int64s, places: Int32s) -> list[tuple[tuple[int, int], Int32s]]:
    """The places of each process and forward thread."""
    if (process == process[0]).all() and (forward_thread == forward_thread[0]).all():
        return [((int(process[0]), int(forward_thread[0])), places)]
    groups = []
    for _, members in rows_by_value(numbered(combine(process, forward_thread))[1].astype(np.int32)):
        groups.append(((int(process[members[0]]), int(forward_thread[members[0]])), places[members]))
    return groups


def _latest_before(nesting: Nesting, sequence: Int64s, ops: Int32s, nodes: Int32s) -> Int32s:
    """For each node the op with its number that started last before it, -1 where there is none.

    Args:
        nesting: The ranges.
        sequence: Numbers by row.
        ops: Places of one thread, ascending.
        nodes: Places.
    """
    number = sequence[nesting.row[ops]]
    order = np.argsort(number, kind="stable")  # mostly in order already
    number, ops = number[order], ops[order]
    found = np.full(len(nodes), -1, np.int32)
    for low in range(0, len(nodes), BLOCK):
        block = nodes[low : low + BLOCK]
        sought, time = sequence[nesting.row[block]], nesting.start_ns[block]
        first = np.searchsorted(number, sought, side="left")
        # Of the ops with the number those from ``first`` to ``last`` have started, those from ``late`` on have not.
        last, late = first - 1, np.searchsorted(number, sought, side="right")
        while len(pending := np.flatnonzero(late - last > 1)):
            middle = (last[pending] + late[pending]) // 2
            has_started = nesting.start_ns[ops[middle]] <= time[pending]
            last[pending[has_started]] = middle[has_started]
            late[pending[~has_started]] = middle[~has_started]
        there = np.flatnonzero(last >= first)
        found[low + there] = ops[last[there]]
    return found
