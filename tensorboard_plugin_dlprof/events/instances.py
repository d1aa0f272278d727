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
* A range of the user's, or a module, owns what is launched in it and in no op. It is an instance itself if it contains
  no other; else each such launch is one, of an op named after the range, so that no CPU time is counted twice.
  Without GPU work the time of the host is all that is known: every range of the user's that contains no op is one.
* Ranges of libraries (NCCL, CCCL, cuDNN) own nothing: they never stand in place of the user's.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.calls import LIBRARY_DOMAIN
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import NESTABLE, Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, around, inside

USER = (Role.ANNOTATION, Role.OPTIMIZER, Role.MODULE)
"""Roles of the ranges that own the work launched in them and in no op."""


class OpInstances(msgspec.Struct):
    """The chosen instances, in columns with one value per place."""

    role: Int8s
    instance: Flags
    """Whether the range is an op instance."""
    owner: Int32s
    """Place of the innermost instance around the place, itself included; -1 for none."""
    holder: Int32s
    """Place of the innermost wrapper, user's range or module around the place, after which ops of its launches are
    named; -1 for none. It matters only for places without an owner."""


def roles(capture: Capture, nesting: Nesting) -> Int8s:
    """The role of the range at each place."""
    ranges, strings = capture.ranges, capture.strings
    of_row = np.zeros(len(ranges.kind), np.int8)
    for kind in NESTABLE:
        rows = ranges.kind == kind
        name = ranges.name[rows]
        texts = distinct_values(name)
        of_name = np.zeros(len(strings), np.int8)
        of_name[texts] = [names.role(kind, name) for name in strings.some(texts)]
        of_row[rows] = of_name[name]
    domains = distinct_values(ranges.domain).tolist()
    libraries = [text for text in domains if LIBRARY_DOMAIN.match(strings[text])]
    if libraries:
        of_row[are_among(ranges.domain, libraries) & (of_row == Role.ANNOTATION)] = Role.HIDDEN
    return of_row[nesting.row]


def has_role(role: Int8s, *roles: Role) -> Flags:
    """Whether each place has one of these roles."""
    return are_among(role, roles)


def choose(nesting: Nesting, role: Int8s, launching: Rows, *, of_host: bool = False) -> OpInstances:
    """Choose the op instances.

    Args:
        nesting: The nested ranges.
        launching: Place of the innermost range around each call that launched device work, -1 for none.
        of_host: Whether there is no device work.
    """
    wrapper = has_role(role, Role.WRAPPER, Role.EVALUATE, Role.COMPILED)
    # Ops are instances again inside modules and autograd nodes, so only the nearest of these ranges matters.
    scope = nesting.above(nesting.inherit(has_role(role, Role.OP, Role.COLLECTIVE, Role.MODULE, Role.EVALUATE)))
    open_scope = (scope < 0) | has_role(role[scope], Role.MODULE, Role.EVALUATE)
    del scope
    instance = (role == Role.OP) & open_scope
    collective = role == Role.COLLECTIVE
    instance |= collective & ~inside(collective, nesting.stop)
    leaf = wrapper & (role != Role.COMPILED) & open_scope & ~around(instance, nesting.stop)
    instance |= leaf & ~around(leaf, nesting.stop)
    instance |= role == Role.GRAPH_OP
    by_user = has_role(role, *USER)
    holder = nesting.inherit(wrapper | by_user)
    launching = launching[launching >= 0]
    outside = holder[launching[nesting.inherit(instance)[launching] < 0]]
    holds = np.zeros(len(role), np.bool_)
    holds[outside[outside >= 0]] = True
    holds |= of_host & (role == Role.ANNOTATION)
    instance |= holds & by_user & ~around(holds | instance, nesting.stop)
    return OpInstances(role, instance, nesting.inherit(instance), holder)
