"""Names the rows of a diagnosis in sentences, and makes evidence of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import source_line
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Evidence
from tensorboard_plugin_dlprof.diagnosis.answer import Row
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.places import by_place, place_of
from tensorboard_plugin_dlprof.diagnosis.segments import Cause

_MOST_PLACES = 3
"""Places that a sentence names."""

_COMPILING = re.compile(
    r"\b(?:backend_compile|compile_or_get_cached|XlaCompile|xla_compile|GpuCompiler|HloPassPipeline|RunBackend)|"
    r"::Compile(?:AndLoad|AndLoadInternal)?\b|\bXlaCompile"
)


def subject_of(row: Row) -> str:
    """What takes the time of a row, where a sentence says only that: of time in which nothing is recorded, the next
    call is not the cause."""
    place = place_of(row)
    return f"what was not recorded before {place}" if row.cause.part == Part.UNRECORDED else place


def places_of(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """The three places with the most time, with their time: rows of one place are added."""
    return [(place_of(row), time) for row, time in by_place(rows)[:_MOST_PLACES]]


NOTHING_RECORDED: Final = "while nothing was recorded on the host"
"""Where time is that no row names."""


def is_nowhere(row: Row) -> bool:
    """Whether nobody knows what the host was in."""
    return not (row.cause.path or row.cause.call or row.cause.detail)


def evidence_of(signals: Signals, rows: Sequence[Row], device: int, *, nowhere: bool = False) -> tuple[Evidence, ...]:
    """The rows that name somebody, as evidence; times and counts are of all iterations together.

    Rows of one path and call are one, whatever else tells their causes apart. ``nowhere``: so are those that name
    nobody, where a sentence tells of them.
    """
    result: dict[tuple[str, str], Evidence] = {}
    for row in rows:
        if not (row.cause.path or row.cause.call) and not (nowhere and is_nowhere(row)):
            continue
        each = _evidence(signals, row, device)
        first = result.get((each.path, each.call))
        result[each.path, each.call] = each if first is None else _together(first, each)
    return tuple(sorted(result.values(), key=lambda each: -(each.time_ns or 0))[: thresholds.EVIDENCE_ROWS])


def _together(first: Evidence, other: Evidence) -> Evidence:
    """Two rows as one, which opens what the first opens."""
    return msgspec.structs.replace(
        first,
        time_ns=(first.time_ns or 0) + (other.time_ns or 0),
        count=(first.count or 0) + (other.count or 0),
    )


def _evidence(signals: Signals, row: Row, device: int) -> Evidence:
    cause = row.cause
    if cause.op_id:
        kind, key = "op", cause.op_id
    elif cause.path:
        kind, key = "function" if cause.kind == "frame" else "range", cause.path
    else:
        kind, key = "call", cause.call or NOTHING_RECORDED
    start, stop = row.longest
    op = signals.ops_by_id.get(cause.op_id) if cause.op_id else None
    line = source_line(op) if op is not None else ""
    return Evidence(
        kind,
        key,
        row.time_ns * signals.iterations,
        row.count * signals.iterations,
        ", ".join(filter(None, (cause.call if kind != "call" else "", line))),
        path=cause.path,
        call=cause.call,
        device=device,
        iteration=row.worst,
        from_ns=start,
        to_ns=stop,
    )


def is_compiling(cause: Cause) -> bool:
    """Whether the host compiles with XLA: JAX's function for it, or what the compiler calls its own parts."""
    return bool(_COMPILING.search(cause.path))


def compiles_kernels(cause: Cause) -> bool:
    """Whether the host makes kernels in a range or function: by NVRTC, or by PyTorch's or Triton's compiler."""
    return cause.part == Part.HOST_CODE and bool(_COMPILING_KERNELS.search(cause.path))


_COMPILING_KERNELS = re.compile(
    r"\b(?:nvrtc|compile_?fx|compile_?program|compile_?fusion|codecache|convert_frame|make_cubin|make_ptx)",
    re.IGNORECASE,
)

_MOST_LETTERS = 1_000
"""Of a path that is looked at."""

_TRANSFERS = re.compile(
    r"/?(?:BufferSequencingEvent::|(?:batched_)?device_put\b|cpp_pjit_shard_arg|shard_args?\b|"
    r"\w*::\w*(?:BufferFromHost|CopyTo|CopyRaw|TransferTo|TransferFrom|ToLiteral))"
)
_ALLOCATES = ("Build buffer allocations", "AllocateOutputBuffers", "MakeOutputBuffers")
_DISPATCH = re.compile(
    r"PjitFunction\(|PJRT_|\w*(?:Executable|PjRt|Pjrt|IfRt)\w*::|ThenExecuteCallback|\S+:XLA GPU module"
)
_EXECUTOR = re.compile(
    r"(?:ExecutorState::|ExecutorPropagateOutputs|ExecutorDoneCallback|FunctionRun|EagerExecute|EagerLocalExecute|"
    r"RunGraph|SessionRun|RemoteCallOp)"
)


def runtime_advice(cause: Cause) -> str:
    """What to do about time in a range of JAX's or TensorFlow's runtime, ``{where}`` of a text; empty for others."""
    if cause.kind == "frame":
        return ""
    path = cause.path[:_MOST_LETTERS]
    if _TRANSFERS.match(path):
        return (
            "Put arrays on the GPU before the loop, or a batch ahead: jax.device_put with the sharding that the "
            "function wants; no NumPy arrays, Python numbers or arrays of another GPU as arguments. {where} is JAX's "
            "runtime, which moves arrays to a GPU."
        )
    if path.startswith(_ALLOCATES):
        return (
            "Donate arrays that are not used again (jax.jit with donate_argnums), keep shapes the same, and leave "
            "preallocation on (XLA_PYTHON_CLIENT_PREALLOCATE). {where} is XLA allocating the memory of a program's run."
        )
    if _DISPATCH.match(path):
        return (
            "Call fewer and larger functions: one jax.jit around the whole step, jax.lax.scan over several; give them "
            "arrays that are on the GPU, and keep shapes and types the same. {where} is JAX on its way to a launch."
        )
    if _EXECUTOR.match(path):
        return (
            "Give TensorFlow's executor fewer and larger ops: tf.function(jit_compile=True) around the whole step, or "
            "several steps in one call (steps_per_execution). {where} is the executor, which starts op by op."
        )
    return ""
