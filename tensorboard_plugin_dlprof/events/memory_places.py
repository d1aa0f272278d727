"""Finds in which op and in which part of a training step the allocator of the framework was called."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.drafts import BACKWARD, Drafts
from tensorboard_plugin_dlprof.events.memory_tables import Phase
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_tables import OpTables
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, MemoryEvents, RangeKind


def with_places(capture: Capture, nesting: Nesting, drafts: Drafts, tables: OpTables) -> MemoryEvents:
    """The memory events of a capture, each with the op around it and the phase of the step.

    The op is the instance around the innermost range of the thread; the phase is told by the names of the ranges
    around: autograd's evaluation of a node, ``Optimizer.zero_grad`` and ``Optimizer.step``.
    """
    memory = capture.memory
    if not len(memory.time_ns):
        return memory
    if not len(nesting.row):
        return memory
    place = nesting.innermost(memory.thread, memory.time_ns)
    inside = np.flatnonzero(place >= 0)
    op = np.full(len(place), -1, np.int64)
    of_place = np.full(len(nesting.row), -1, np.int32)
    placed = np.flatnonzero(drafts.place >= 0)
    of_place[drafts.place[placed]] = tables.op_of_draft[placed]
    op[inside] = nesting.inherit(of_place >= 0, of_place)[place[inside]]
    phase = np.zeros(len(place), np.int8)
    if capture.info.source_format == "xplane":
        # A compiled program allocates for all of it at once.
        return msgspec.structs.replace(memory, op=op.astype(np.int32), phase=phase)
    phase[inside] = _phases(capture, nesting)[place[inside]]
    backward = np.array([each.direction == BACKWARD for each in tables.ops], np.bool_)
    in_op = np.flatnonzero(op >= 0)
    phase[in_op[backward[op[in_op]] & (phase[in_op] == Phase.FORWARD)]] = Phase.BACKWARD
    return msgspec.structs.replace(memory, op=op.astype(np.int32), phase=phase)


def _phases(capture: Capture, nesting: Nesting) -> Int8s:
    """The phase at each place: that of the innermost range around it whose name tells one, else forward."""
    of_text = np.zeros(len(capture.strings), np.int8)
    name = capture.ranges.name
    for text in distinct_values(name[capture.ranges.kind != RangeKind.FRAME]).tolist():
        of_text[text] = _phase(capture.strings[text])
    own: Int32s = of_text[name[nesting.row]].astype(np.int32)
    result = nesting.inherit(own > 0, own)
    return np.where(result > 0, result, Phase.FORWARD).astype(np.int8)


def _phase(name: str) -> int:
    if name.startswith("Optimizer.zero_grad"):
        return Phase.ZERO_GRAD
    if name.startswith("Optimizer.step"):
        return Phase.OPTIMIZER
    return Phase.BACKWARD if name.startswith(names.EVALUATE) else Phase.UNKNOWN
