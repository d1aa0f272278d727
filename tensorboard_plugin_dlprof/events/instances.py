"""Which ranges are op instances (event model, section 4).

* An op instance is an outermost range of kind op. Wrappers are transparent: ``evaluate_function``,
  compiled regions, ``torch::autograd::...``, annotations. What lies deeper is a sub-op.
* A module call or an autograd node inside an op starts anew: activation checkpointing runs whole
  layers again inside one backward node, and they are not pieces of that node.
* A collective is an instance of its own wherever it lies.
* A wrapper that holds no instance is one itself (the inner one of two), but compiled regions are
  not: their kernels have telling names, so each launch becomes an instance of the op named for its
  kernel. The same holds for launches of a wrapper beside the instances in it.
* A capture without any op range (a program with NVTX ranges of its own) is read as if its
  annotations and modules were wrappers: those that hold work and no other that does become ops.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.distinct import are_among, distinct_values
from tensorboard_plugin_dlprof.events import many_names
from tensorboard_plugin_dlprof.events.many_names import ManyNames
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import NESTABLE, Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, around


class Chosen(msgspec.Struct):
    """The choice, by place."""

    role: Int8s
    instance: Flags
    """Ranges that are op instances."""
    owner: Int32s
    """Place of the innermost instance around each place, itself included; -1 for none."""
    named_wrapper: Int32s
    """Place of the innermost wrapper around each place whose launches deserve an op, where it has no owner."""


def roles(capture: Capture, nesting: Nesting) -> Int8s:
    """The role of the range at each place."""
    ranges, strings = capture.ranges, capture.strings
    of_row = np.zeros(len(ranges.kind), np.int8)
    for kind in NESTABLE:
        rows = ranges.kind == kind
        name = ranges.name[rows]
        texts = distinct_values(name)
        of_name = np.zeros(len(strings), np.int8)
        of_name[texts] = many_names.roles(kind, ManyNames(strings.some(texts)))
        of_row[rows] = of_name[name]
    return of_row[nesting.row]


def has_role(role: Int8s, *roles: Role) -> Flags:
    """Which places have one of these roles."""
    return are_among(role, roles)


def choose(nesting: Nesting, role: Int8s, launching: Rows) -> Chosen:
    """Chooses the op instances.

    Args:
        nesting: The ranges.
        role: Their roles, by place.
        launching: Places of the innermost ranges around calls that launched device work, -1 for none.
    """
    wrapper = has_role(role, Role.WRAPPER, Role.EVALUATE, Role.COMPILED)
    if not (role == Role.OP).any():
        named = wrapper | has_role(role, Role.ANNOTATION, Role.OPTIMIZER, Role.MODULE, Role.COLLECTIVE)
        return _choose_by_work(nesting, role, named, launching)
    # Modules and autograd nodes start anew, so what is around an op does not count beyond the nearest of them.
    scope = nesting.above(nesting.inherit(has_role(role, Role.OP, Role.COLLECTIVE, Role.MODULE, Role.EVALUATE)))
    open_scope = (scope < 0) | has_role(role[scope], Role.MODULE, Role.EVALUATE)
    del scope
    instance = (role == Role.OP) & open_scope
    collective = role == Role.COLLECTIVE
    instance |= collective & (nesting.above(nesting.inherit(collective)) < 0)
    leaf = wrapper & (role != Role.COMPILED) & open_scope & ~around(instance, nesting.stop)
    instance |= leaf & ~around(leaf, nesting.stop)
    return Chosen(role, instance, nesting.inherit(instance), nesting.inherit(wrapper))


def _choose_by_work(nesting: Nesting, role: Int8s, named: Flags, launching: Rows) -> Chosen:
    holder = nesting.inherit(named)
    holds = np.zeros(len(named), np.bool_)
    direct = holder[launching[launching >= 0]]
    holds[direct[direct >= 0]] = True
    instance = holds & ~around(holds, nesting.stop) & (role != Role.COMPILED)
    return Chosen(role, instance, nesting.inherit(instance), holder)
