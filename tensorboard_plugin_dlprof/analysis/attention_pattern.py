"""Finds attention that is written out as a product, some ops including a softmax, and a second product.

Only forward ops are searched, in the order in which a thread called them in one iteration. Backward ops with the same
paths belong to the attention, too, if the paths name modules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.selection import iteration_of
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.events.tables import Int8s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Op

_PRODUCT = Expression(r"(?:matmul|bmm|baddbmm|einsum|__matmul__|__rmatmul__)\Z")
_SOFTMAX = Expression(r"(?:softmax|_softmax|exp|masked_softmax)\Z|computing softmax|softmax", re.IGNORECASE)
_FUSED = Expression(r"scaled_dot_product|flash|efficient_attention|fmha|linear|conv|norm\Z|log_softmax", re.IGNORECASE)

_FARTHEST = 16
"""Ops between the two products; scaling, masking, softmax and dropout by hand are about ten."""


class WrittenOut(msgspec.Struct):
    """The ops of attention that is written out."""

    between: Bools
    """Whether each op is between the products, by row of ``Profile.ops``."""
    products: Bools
    calls: int
    """Number of occurrences in all aggregated iterations."""


def written_out(signals: Signals) -> WrittenOut | None:
    """The ops of attention that is written out; None if there is none."""
    profile = signals.profile
    kinds = _kinds(profile.ops)
    if not ((kinds == 1).any() and (kinds == 2).any()):
        return None
    launching = np.zeros(len(profile.ops), np.bool_)
    launching[signals.aggregation.op_nodes.op] = signals.efficiency.ops.kernel_ns > 0
    instances = profile.instances
    rows = np.flatnonzero(launching[instances.op] & (kinds[instances.op] >= 0))
    first = int(signals.aggregation.iterations.iter_value[0])
    iteration = iteration_of(instances.start_ns[rows], signals.aggregation.candidate)
    values = np.where(iteration >= 0, signals.aggregation.candidate.values[iteration], first - 1)
    rows = rows[values == first]
    rows = rows[np.lexsort((instances.start_ns[rows], instances.thread_id[rows], instances.process_id[rows]))]
    ops, thread = instances.op[rows].tolist(), instances.thread_id[rows].tolist()
    between, products = set[int](), set[int]()
    calls = start = 0
    last_product, softmax = -1, False
    for at, op in enumerate(ops):
        kind = kinds[op]
        if kind == 3 or (at and thread[at] != thread[at - 1]):
            last_product, softmax = -1, False
        elif kind == 2:
            softmax = last_product >= 0
        elif kind == 1:
            if softmax and at - last_product <= _FARTHEST:
                calls += 1
                products.update((ops[last_product], op))
                between.update(ops[start:at])
            last_product, start, softmax = at, at + 1, False
    if not calls:
        return None
    return WrittenOut(_with_backward(signals, between), _with_backward(signals, products), calls * signals.iterations)


def _kinds(ops: Sequence[Op]) -> Int8s:
    """A number for each op: 1 product, 2 softmax, 3 ends the pattern, 0 any other forward op, -1 ignored."""
    types = {op.op_type for op in ops if op.direction == "fprop"}
    kinds = {text: _kind(text) for each in (_FUSED, _PRODUCT, _SOFTMAX) for text in each.possible(types)}
    return np.array([kinds.get(op.op_type, 0) if op.direction == "fprop" else -1 for op in ops], np.int8)


def _kind(op_type: str) -> int:
    if _FUSED.search(op_type):
        return 3
    if _PRODUCT.match(op_type):
        return 1
    return 2 if _SOFTMAX.match(op_type) else 0


def _with_backward(signals: Signals, rows: set[int]) -> Bools:
    """The ops ``rows``, and the backward ops with the same paths if these name a module."""
    ops = signals.profile.ops
    selected = np.zeros(len(ops), np.bool_)
    selected[list(rows)] = True
    names = {ops[row].name for row in rows if ops[row].name.count("/") > 1}
    for row, op in enumerate(ops if names else ()):
        selected[row] |= op.direction == "bprop" and op.name in names
    return selected
