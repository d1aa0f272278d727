"""Backward ranges, and the forward op that each belongs to.

PyTorch numbers the autograd nodes of each thread: a forward op carries the number that the node
it makes will get, and the node carries it again when it runs, with a number of PyTorch's own for
the forward thread. Newer traces add arrows (``fwdbwd``) from op to node, which are exact and go
first. An arrow or number may name a sub-op (``aten::addmm`` in ``aten::linear``): the op meant is
the instance around it.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import distinct_values
from tensorboard_plugin_dlprof.events.instances import has_role
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.events.trees import Flags, nearest_of

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
    node = nearest_of(around, backward, nesting.parent)
    hit = (forward >= 0) & (node >= 0)
    linked[node[hit]] = forward[hit]


def _link_by_sequence(
    capture: Capture, nesting: Nesting, model: Flags, backward: Flags, in_backward: Flags, linked: Int32s
) -> None:
    ranges, row = capture.ranges, nesting.row
    model &= (ranges.sequence >= 0)[row]
    nodes = np.flatnonzero(model & backward)
    ops = np.flatnonzero(model & ~backward)
    if not len(nodes) or not len(ops):
        return
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    _, process = np.unique(process_of_thread, return_inverse=True)
    # Ops that the backward pass itself runs (recomputation) count, but only for threads that say so.
    main = ops[~in_backward[ops]]
    thread_of_op, thread_of_main = ranges.thread[row[ops]], ranges.thread[row[main]]
    row_of_node = row[nodes]
    for (owner, said), members in _groups(
        process[ranges.thread[row_of_node]], ranges.forward_thread[row_of_node], nodes
    ):
        best: Int64s | None = None
        for candidate in distinct_values(thread_of_op[process[thread_of_op] == owner]).tolist():
            pool, thread = (ops, thread_of_op) if said > 0 else (main, thread_of_main)
            found = _latest_before(nesting, ranges.sequence, pool[thread == candidate], members)
            if best is None or np.count_nonzero(found >= 0) > np.count_nonzero(best >= 0):
                best = found
        if best is not None:
            linked[members[best >= 0]] = best[best >= 0]


def _groups(process: Int64s, forward_thread: Int64s, rows: Int64s) -> list[tuple[tuple[int, int], Int64s]]:
    pairs, inverse = np.unique(np.stack((process, forward_thread)), axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    return [((int(pairs[0, i]), int(pairs[1, i])), rows[inverse == i]) for i in range(pairs.shape[1])]


def _latest_before(nesting: Nesting, sequence: Int64s, ops: Int64s, nodes: Int64s) -> Int64s:
    """For each node the op with its number that started last before it, -1 where there is none."""
    both = np.concatenate((ops, nodes))
    number = sequence[nesting.row[both]]
    is_node = np.arange(len(both)) >= len(ops)
    order = np.lexsort((is_node, nesting.start_ns[both], number))
    latest = np.maximum.accumulate(np.where(is_node[order], -1, np.arange(len(both))))
    candidates = order[latest]
    valid = (latest >= 0) & (number[candidates] == number[order])
    found = np.full(len(both), -1, np.int64)
    found[order] = np.where(valid, both[candidates], -1)
    return found[len(ops) :]
