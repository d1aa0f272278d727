"""Chooses the ranges that are op instances (event model, section 4).

* An op instance is an outermost range of kind op. Wrappers are transparent: ``evaluate_function``, compiled regions,
  ``torch::autograd::...``, annotations. Ops inside an instance are sub-ops.
* Inside a module call or an autograd node, ops are instances again even if an op is around it: activation checkpointing
  reruns whole layers inside one backward node, and they are not sub-ops of that node.
* A collective is always an instance of its own, even inside an op; so is an op that the source describes
  (``RangeKind.GRAPH_OP``), to which it also assigns the device work.
* A wrapper that contains no instance is one itself (the inner of two), except for compiled regions: their kernels have
  informative names, so each launch becomes an instance of an op named after its kernel. The same applies to launches
  directly inside a wrapper that contains instances.
* In a capture without op ranges (a program with NVTX ranges of its own), annotations and modules are treated as
  wrappers: those that contain work, but no other range that does, become ops.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events import many_names
from tensorboard_plugin_dlprof.events.many_names import ManyNames
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import NESTABLE, Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, around


class Chosen(msgspec.Struct):
    """The chosen instances, in columns with one value per place."""

    role: Int8s
    instance: Flags
    """Whether the range is an op instance."""
    owner: Int32s
    """Place of the innermost instance around the place, itself included; -1 for none."""
    named_wrapper: Int32s
    """Place of the innermost wrapper around the place, after which ops of its launches are named; -1 for none. It
    matters only for places without an owner."""


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
    """Whether each place has one of these roles."""
    return are_among(role, roles)


def choose(nesting: Nesting, role: Int8s, launching: Rows) -> Chosen:
    """Choose the op instances.

    Args:
        nesting: The nested ranges.
        role: The role of the range at each place.
        launching: Place of the innermost range around each call that launched device work, -1 for none.
    """
    wrapper = has_role(role, Role.WRAPPER, Role.EVALUATE, Role.COMPILED)
    described = role == Role.GRAPH_OP
    if not (described | (role == Role.OP)).any():
        named = wrapper | has_role(role, Role.ANNOTATION, Role.OPTIMIZER, Role.MODULE, Role.COLLECTIVE)
        return _choose_by_work(nesting, role, named, launching)
    # Ops are instances again inside modules and autograd nodes, so only the nearest of these ranges matters.
    scope = nesting.above(nesting.inherit(has_role(role, Role.OP, Role.COLLECTIVE, Role.MODULE, Role.EVALUATE)))
    open_scope = (scope < 0) | has_role(role[scope], Role.MODULE, Role.EVALUATE)
    del scope
    instance = (role == Role.OP) & open_scope
    collective = role == Role.COLLECTIVE
    instance |= collective & (nesting.above(nesting.inherit(collective)) < 0)
    leaf = wrapper & (role != Role.COMPILED) & open_scope & ~around(instance, nesting.stop)
    instance |= leaf & ~around(leaf, nesting.stop)
    instance |= described
    return Chosen(role, instance, nesting.inherit(instance), nesting.inherit(wrapper))


def _choose_by_work(nesting: Nesting, role: Int8s, named: Flags, launching: Rows) -> Chosen:
    holder = nesting.inherit(named)
    holds = np.zeros(len(named), np.bool_)
    direct = holder[launching[launching >= 0]]
    holds[direct[direct >= 0]] = True
    instance = holds & ~around(holds, nesting.stop) & (role != Role.COMPILED)
    return Chosen(role, instance, nesting.inherit(instance), holder)
