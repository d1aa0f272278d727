"""Kinds of host ranges and of device work."""

from __future__ import annotations

import enum


class RangeKind(enum.IntEnum):
    """Kind of a host range (event model, section 2)."""

    OP = 0
    """A framework operator: PyTorch ``cpu_op``, ``aten::*`` of ``emit_nvtx``, a TensorRT layer."""
    MODULE = 1
    """A call of an ``nn.Module`` or a ``layer:`` range."""
    ANNOTATION = 2
    """A range that the user or a library named: ``record_function``, plain NVTX push/pop."""
    ITERATION = 3
    """``ProfilerStep#N``: an interval of the process, never a parent of other ranges."""
    FRAME = 4
    """A Python function on the stack."""
    SPAN = 5
    """An NVTX start/end range: may cross threads and overlap, so it is never a parent."""
    DLPROF_TRACE = 6
    """DLProf's marker with ``traceMarker`` and ``funcStack``, as a Python literal."""
    DLPROF_OP = 7
    """DLProf's marker with ``mod``, ``op`` and ``args``, as a Python literal."""
    DLPROF_CONFIG = 8
    """DLProf's marker with ``model_config``, as JSON."""
    GRAPH_OP = 9
    """One execution of an op of a compiled program, which the source describes (``GraphOp``)."""


class WorkKind(enum.IntEnum):
    """Kind of device work."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3
    """A CUDA graph that was launched and recorded as a whole: its kernels are not recorded individually."""
