"""Which parts of the efficiency are not known, and how to record what they need."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TypedDict

from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.queries.extension import info
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import framework, matrix_unit

IS_PRODUCT = f"family IN ({', '.join(map(repr, PRODUCT_FAMILIES))})"
"""SQL condition that most of an op's work is matrix multiplications, convolutions or attention."""

NEARLY_ALL = 0.995
"""Share of the time of products; the rest does not change the numbers on the page."""

RECORD_SHAPES = "Record the shapes: profile(record_shapes=True)."
RECORD_SHAPES_AS_RANGES = "Record the shapes: torch.autograd.profiler.emit_nvtx(record_shapes=True) around the steps."
RECORD_OPS = (
    "Record the ops, too, with their shapes: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], "
    "record_shapes=True)."
)
_NO_SHAPES = {
    "TensorFlow": "No recording of TensorFlow has all that counting needs: transposes, strides and paddings.",
    "JAX": "The profile lacks the HLO of the compiled modules, or the operands of library calls in it.",
    "TensorRT": "The ranges of TensorRT carry no shapes, without which operations cannot be counted.",
    "": "A recording of CUDA alone has no shapes, without which operations cannot be counted.",
}
UNDECIDED = (
    "Their shapes were not recorded, or are not enough: the lengths of groups and sequences may be values on the GPU, "
    "and convolutions also need strides. Kernel libraries often hide them."
)


class Missing(TypedDict):
    """Something that is not known about efficiency."""

    what: str
    hint: str
    """The recording option or the file that would provide it, or why nothing would."""


def missing(connection: sqlite3.Connection, scope: Scope) -> list[Missing]:
    """What is not known about an aggregation, the most important first; empty if it has no kernels."""
    kernels, occupancy, achieved = connection.execute(
        "SELECT sum(kernel_ns), count(occupancy_fraction), count(achieved_fraction) "
        "FROM ext_op_efficiency WHERE aggr_id = ?",
        (scope.aggregation,),
    ).fetchone()
    if not whole(kernels):
        return []
    of_dlprof, result = info(connection).get("format") == "dlprof", missing_of_gains(connection, scope)
    nvidia = matrix_unit(connection) == "Tensor Core"
    if not whole(occupancy):
        result.append(Missing(what="Theoretical occupancy, waves and tail", hint=_hint_of_occupancy(of_dlprof, nvidia)))
    if not whole(achieved) and nvidia:
        result.append(
            Missing(
                what="Achieved occupancy",
                hint="Measure it with Nsight Compute beside an export or trace: dlprof import --counters report.csv.",
            )
        )
    return result


def missing_of_gains(connection: sqlite3.Connection, scope: Scope) -> list[Missing]:
    """What is not known, without which nothing tells how much time ops could gain."""
    kernels, products, counted, described, peaks = connection.execute(
        f"SELECT sum(kernel_ns), sum(CASE WHEN {IS_PRODUCT} THEN kernel_ns END), "
        "sum(CASE WHEN product_flops > 0 THEN measured_ns END), "
        f"sum({IS_PRODUCT} AND size <> ''), count(peak_bytes_per_second) FROM ext_op_efficiency WHERE aggr_id = ?",
        (scope.aggregation,),
    ).fetchone()
    result = list[Missing]()
    if not whole(kernels):
        return result
    share = (whole(counted) or 0) / (whole(products) or 1)
    if whole(products) and share < NEARLY_ALL:
        result.append(Missing(what=_WORK[share > 0], hint=_hint_of_work(connection, bool(share or whole(described)))))
    if not whole(peaks):
        result.append(Missing(what="What the GPU could do", hint=_hint_of_peaks(_used_gpus(connection, scope))))
    return result


_WORK = {
    False: "FLOPs of matrix multiplications, convolutions and attention",
    True: "FLOPs of some matrix multiplications, convolutions or attention",
}


def shapes_hint(connection: sqlite3.Connection) -> str:
    """How to record the shapes of tensors, or why that is not possible with the framework of the program."""
    no_shapes = _NO_SHAPES.get(framework(connection) or "")
    if no_shapes is not None:
        return no_shapes
    if info(connection).get("format") == "nsight_systems":
        return RECORD_SHAPES_AS_RANGES
    # Shapes are facts of ops: without ops the option alone would bring nothing.
    (ops,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM read_only_ops WHERE instr(op_name, 'unassociated_') = 0)"
    ).fetchone()
    return RECORD_SHAPES if ops else RECORD_OPS


def _hint_of_work(connection: sqlite3.Connection, has_shapes: bool) -> str:
    if info(connection).get("format") == "dlprof":
        return (
            "This database lacks their shapes, or the strides and paddings of convolutions: record with the PyTorch "
            "profiler, profile(record_shapes=True)."
        )
    return UNDECIDED if has_shapes else shapes_hint(connection)


def _used_gpus(connection: sqlite3.Connection, scope: Scope) -> list[str]:
    """The names of the GPUs with work, sorted; the other GPUs of a machine may not even be described."""
    rows = connection.execute(
        "SELECT DISTINCT gpu.gpu_name FROM read_only_gpu_infos AS gpu JOIN ext_device_times AS time "
        "ON time.device_id = gpu.device_id AND time.aggr_id = ? AND time.domain_id = ? "
        "WHERE time.in_use AND gpu.gpu_name <> '' ORDER BY gpu.gpu_name",
        (scope.aggregation, scope.domain),
    )
    return [str(name) for (name,) in rows]


def _hint_of_peaks(names: Sequence[str]) -> str:
    if not names:
        return "This recording does not name the GPU; a newer version of the profiler does."
    if any("mig " in name.lower() for name in names):
        return "No rates are published for a slice of a GPU (MIG)."
    return f"{names[0]} is not in the table of published rates, or how much memory it has was not recorded."


def _hint_of_occupancy(of_dlprof: bool, nvidia: bool) -> str:
    if not nvidia:
        return "They are computed for NVIDIA's GPUs only."
    if of_dlprof:
        return (
            "DLProf stores neither registers nor shared memory of kernels: open the Nsight Systems export that it made "
            "the database from, or a trace of the PyTorch profiler."
        )
    return (
        "This recording lacks registers and shared memory of its kernels, or the compute capability of the GPU; a "
        "newer version of the profiler records them."
    )
