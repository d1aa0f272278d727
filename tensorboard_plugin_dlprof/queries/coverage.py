"""Notes on what is missing from a profile, shown with its numbers."""

from __future__ import annotations

import sqlite3
from typing import Literal, TypedDict

from tensorboard_plugin_dlprof.diagnosis.headline import WHY_NO_GPU_WORK, how_to_record_kernels
from tensorboard_plugin_dlprof.queries.extension import has_older_rules, info, is_of_another_version, maker
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import matrix_unit
from tensorboard_plugin_dlprof.units import short_duration


class Note(TypedDict):
    """One sentence for the user."""

    severity: Literal["info", "warning"]
    message: str
    hint: str
    """What to do about it; may be empty."""


_HINTS = {
    "unrecorded_work": "Look at the profiler's messages. Another profiler may have held the GPU, the profiler's CUPTI "
    "may not fit the driver, WSL or a virtual GPU may not let it record, or the program was killed before all was "
    "written.",
    "unlaunched_work": "Start the profiler before the first step, and profile on the CPU side as well.",
    "migrations": "Prefetch what the GPU will use (cudaMemPrefetchAsync), or copy it: one large transfer takes "
    "less time than its pages one by one.",
    "unassociated_work": "Record NVTX ranges or PyTorch operators, so that kernels can be attributed to ops.",
}

_IMPORT_AGAIN = "Import its source again: dlprof import SOURCE."

_OPENING_GRAPHS = {
    True: "Turn command buffers off to see them: XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty).",
    False: "Record with --cuda-graph-trace=node to see them.",
}
"""By whether the profile is XLA's."""


def _note(message: str, hint: str = "", is_warning: bool = False) -> Note:
    return Note(severity="warning" if is_warning else "info", message=message, hint=hint)


def coverage_notes(connection: sqlite3.Connection, scope: Scope) -> list[Note]:
    """What the importer could not use or attribute, and what is outside the aggregated iterations; warnings first.

    Empty for NVIDIA's databases, which do not store this.
    """
    notes: list[Note] = []
    cursor = connection.execute("SELECT key, message FROM ext_coverage WHERE message <> '' ORDER BY key")
    reported = dict(cursor.fetchmany(200))
    source_format = info(connection).get("format", "")
    hints = _HINTS | {"no_gpu_work": how_to_record_kernels(source_format)}
    of_xla = source_format == "xplane"
    if of_xla:
        hints["unassociated_work"] = "Copies, and what runs outside of compiled functions and ops, name no op."
    if any(str(key).startswith(WHY_NO_GPU_WORK) for key in reported):
        del hints["no_gpu_work"]
    for key, message in reported.items():
        is_warning = str(key).startswith(("skipped", "broken"))
        notes.append(_note(str(message), hints.get(str(key), ""), is_warning))
    if has_older_rules(connection):
        told = "The kernels of this database were classified by another version of this plugin, whose rules may differ."
        notes.append(_note(told, _IMPORT_AGAIN))
    if is_of_another_version(connection):
        told = (
            f"{maker(connection)} made this database: only DLProf's own tables are read, without causes, efficiency "
            "and notes on what was skipped."
        )
        notes.append(_note(told, _IMPORT_AGAIN, is_warning=True))
    notes.extend(_aggregation_notes(connection, scope, of_xla))
    return sorted(notes, key=lambda note: note["severity"] != "warning")


def _aggregation_notes(connection: sqlite3.Connection, scope: Scope, of_xla: bool) -> list[Note]:
    row = connection.execute(
        "SELECT outside_kernels, outside_kernel_ns, outside_memory_ops, outside_memory_ns, "
        "unknown_launches, unknown_ns, graph_launches, graph_ns FROM ext_aggregations "
        "WHERE aggr_id = ? AND domain_id = ?",
        (scope.aggregation, scope.domain),
    ).fetchone()
    if row is None:
        return []
    kernels, kernel_ns, copies, copy_ns, unknown, unknown_ns, graphs, graph_ns = (whole(value) or 0 for value in row)
    notes = []
    outside = [
        f"{_count(number, noun)} ({short_duration(time_ns)})"
        for number, noun, time_ns in ((kernels, "kernel", kernel_ns), (copies, "memory operation", copy_ns))
        if number
    ]
    if outside:
        was, it = ("was", "it") if kernels + copies == 1 else ("were", "them")
        told = f"{' and '.join(outside)} {was} launched outside the aggregated iterations"
        notes.append(_note(f"{told}: sums of GPU work leave {it} out."))
    if unknown:
        unit = f"{matrix_unit(connection)}s"
        told = f"Whether {_count(unknown, 'kernel')} ({short_duration(unknown_ns)}) used {unit} is not known"
        notes.append(_note(f"{told}: this is shown as unknown, and numbers about {unit} are lower bounds."))
    if graphs:
        told = f"{_count(graphs, 'CUDA graph')} ({short_duration(graph_ns)}) recorded as a whole"
        notes.append(_note(f"{told}: the kernels inside are not known.", _OPENING_GRAPHS[of_xla]))
    return notes


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
