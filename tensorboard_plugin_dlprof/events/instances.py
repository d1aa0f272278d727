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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import numbered
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s

Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Chosen:
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
    kind = capture.ranges.kind[nesting.row].astype(np.int64)
    combined = kind * len(capture.strings) + capture.ranges.name[nesting.row]
    distinct, inverse = numbered(combined)
    found = [names.role(*_kind_and_name(capture, value)) for value in distinct.tolist()]
    return np.array(found, np.int8)[inverse] if found else np.zeros(0, np.int8)


def _kind_and_name(capture: Capture, combined: int) -> tuple[int, str]:
    kind, name = divmod(combined, len(capture.strings))
    return kind, capture.strings[name]


def choose(nesting: Nesting, role: Int8s, launching: Int64s) -> Chosen:
    """Chooses the op instances.

    Args:
        nesting: The ranges.
        role: Their roles, by place.
        launching: Places of the innermost ranges around calls that launched device work, -1 for none.
    """
    wrapper = np.isin(role, (Role.WRAPPER, Role.EVALUATE, Role.COMPILED))
    if not (role == Role.OP).any():
        named = wrapper | np.isin(role, (Role.ANNOTATION, Role.OPTIMIZER, Role.MODULE, Role.COLLECTIVE))
        return _choose_by_work(nesting, role, named, launching)
    op = role == Role.OP
    collective = role == Role.COLLECTIVE
    around = nesting.above(nesting.inherit(op | collective))
    restart = nesting.above(nesting.inherit(np.isin(role, (Role.MODULE, Role.EVALUATE))))
    open_scope = (around < 0) | (nesting.depth[restart] > nesting.depth[around]) & (restart >= 0)
    instance = op & open_scope
    instance |= collective & (nesting.above(nesting.inherit(collective)) < 0)
    leaf = wrapper & (role != Role.COMPILED) & open_scope & ~_around(nesting, instance)
    instance |= leaf & ~_around(nesting, leaf)
    return Chosen(role, instance, nesting.inherit(instance), nesting.inherit(wrapper))


def _choose_by_work(nesting: Nesting, role: Int8s, named: Flags, launching: Int64s) -> Chosen:
    holder = nesting.inherit(named)
    holds = np.zeros(len(named), np.bool_)
    direct = holder[launching[launching >= 0]]
    holds[direct[direct >= 0]] = True
    instance = holds & ~_around(nesting, holds) & (role != Role.COMPILED)
    return Chosen(role, instance, nesting.inherit(instance), holder)


def _around(nesting: Nesting, flags: Flags) -> Flags:
    """Places with a flagged place somewhere inside them."""
    inside = flags.copy()
    around = np.zeros(len(flags), np.bool_)
    for places in reversed(nesting.places_by_depth()[1:]):
        parents = nesting.parent[places[inside[places]]]
        around[parents] = inside[parents] = True
    return around
