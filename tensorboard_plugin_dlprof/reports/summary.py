"""DLProf's summary report: the system, wall time and its parts, iterations, ops and kernels by Tensor Core use.

Blocks, names and order are those of DLProf 1.8. Times are in nanoseconds, utilisations and shares in percent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from tensorboard_plugin_dlprof.queries.memory import known_peak
from tensorboard_plugin_dlprof.queries.numbers import plus, whole
from tensorboard_plugin_dlprof.queries.resources import RESOURCE_COLUMNS
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import (
    gpu_utilization,
    kernel_time,
    model_summary,
    resource_breakdown,
    tensor_core_efficiency,
)
from tensorboard_plugin_dlprof.queries.system import gpu_names
from tensorboard_plugin_dlprof.queries.throughput import Given, throughput
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Ours, Unknown, Value, fit

_SYSTEM = (
    ("CPU Model", "cpu_model"),
    ("GPU Driver Version", "driver_version"),
    ("Framework", "framework"),
    ("CUDA Version", "cuda_version"),
    ("cuDNN Version", "cudnn_version"),
    ("NSys Version", "nsys_version"),
    ("DLProf Version", "dlprof_version"),
    ("DLProf Build", "dlprof_build"),
)

_Names = tuple[tuple[str, str, Kind], ...]
"""DLProf's name of each value, its column in ``model_summary``, and its kind."""

_TIMES: _Names = (
    ("Wall Clock Time (ns)", "wall_time", Kind.INTEGER),
    ("Tensor Core Kernel Utilization %", "tc_utilization", Kind.DECIMAL),
    ("GPU Utilization %", "gpu_utilization", Kind.DECIMAL),
    ("Tensor Core Kernel Duration %", "tc_duration_pct", Kind.DECIMAL),
    ("Non-Tensor Core Kernel Duration %", "non_tc_duration_pct", Kind.DECIMAL),
    ("Memory Duration %", "memory_duration_pct", Kind.DECIMAL),
    ("Dataloader Duration %", "dataloader_duration_pct", Kind.DECIMAL),
    ("IO Duration %", "io_duration_pct", Kind.DECIMAL),
    ("CPU Duration %", "cpu_duration_pct", Kind.DECIMAL),
    ("Other Duration %", "other_duration_pct", Kind.DECIMAL),
)

_ITERATIONS: _Names = (
    ("Total Iterations", "iter_total", Kind.INTEGER),
    ("Aggregated Iterations", "iter_aggregated", Kind.INTEGER),
    ("Start Iteration", "iter_start", Kind.INTEGER),
    ("Stop Iteration", "iter_stop", Kind.INTEGER),
    ("Average Iteration Time (ns)", "avg_iteration_time", Kind.DECIMAL),
    ("Iteration Time Standard Deviation", "iteration_time_std_dev", Kind.DECIMAL),
)


def summary_blocks(connection: sqlite3.Connection, scope: Scope, given: Given | None = None) -> Iterator[Block]:
    """The five blocks of the summary report.

    Args:
        given: What the user says that an iteration works on.
    """
    yield Block("System Config", (), _system(connection), about="GPU, driver, framework and versions")
    yield Block(
        "Summary Report",
        (),
        [*_times(connection, scope), *_memory(connection)],
        about="Wall clock time, utilization, efficiency",
    )
    values = _model_values(connection, scope, _ITERATIONS)
    yield Block(
        "Iterations",
        (),
        [*values, *_throughput(connection, scope, given)],
        about="How many were profiled, and how long they take",
    )
    yield Block(
        "All Ops", _category_columns("# Ops"), _ops(connection, scope), about="Ops by their use of Tensor Cores"
    )
    yield Block(
        "All Kernels",
        _category_columns("# Kernels"),
        _kernels(connection, scope),
        about="Kernels by their use of Tensor Cores",
    )


def _category_columns(counted: str) -> tuple[Column, ...]:
    numbers = ("GPU Time (ns)", "CPU Time (ns)", counted)
    return (Column("", Kind.WORD), *(Column(heading, Kind.INTEGER) for heading in numbers))


def _system(connection: sqlite3.Connection) -> list[tuple[Value, ...]]:
    """Facts about the system. An unknown cuDNN version is left out, as DLProf does; scripts rely on the other lines, so
    these are always there."""
    columns = ", ".join(column for _, column in _SYSTEM)
    result = connection.execute(f"SELECT num_gpus, {columns} FROM view_system_config").fetchone()
    config: tuple[object, ...] = result or (None,) * (1 + len(_SYSTEM))
    names = gpu_names(connection)
    # DLProf stores the number as text; SQLite's numeric affinity may have made it a number again.
    count = int(str(config[0])) if str(config[0]).isdecimal() else len(names)
    rows: list[tuple[Value, ...]] = [("GPU Count", count), ("GPU Name(s)", names)]
    for (name, column), value in zip(_SYSTEM, config[1:], strict=True):
        text = fit(value, Kind.TEXT) or None
        if text is not None or column != "cudnn_version":
            rows.append((name, text))
    return rows


def _times(connection: sqlite3.Connection, scope: Scope) -> list[tuple[Value, ...]]:
    """The times of the summary.

    A utilisation is unknown if the profile has nothing that could be utilised, and a part of the wall time if it could
    not be recorded or no time passed. Both are unknown for Tensor Cores if no kernel is known to use them but some may.
    DLProf writes 0.0 in all these cases.
    """
    parts: dict[str, float | None] = {
        part["resource"]: part["fraction"] for part in resource_breakdown(connection, scope)
    }
    unknown = {f"{column}_duration_pct" for resource, column in RESOURCE_COLUMNS.items() if parts[resource] is None}
    if tensor_core_efficiency(connection, scope)["fraction"] is None:
        unknown.add("tc_utilization")
    if gpu_utilization(connection, scope)["fraction"] is None:
        unknown.add("gpu_utilization")
    rows: list[tuple[Value, ...]] = []
    for (name, column, _), (_, value) in zip(_TIMES, _model_values(connection, scope, _TIMES), strict=True):
        rows.append((name, Unknown(0.0) if column in unknown and not value else value))
        if column == "non_tc_duration_pct" and parts["unknown_kernel"]:
            rows.append(Ours(("Of It, Not Known Whether Tensor Core %", 100 * parts["unknown_kernel"])))
    return rows


def _memory(connection: sqlite3.Connection) -> Iterator[tuple[Value, ...]]:
    """The GPU that holds most, at its peak; nothing if no memory was recorded."""
    peak = known_peak(connection)
    if peak is not None:
        yield Ours((f"Peak Memory of GPU {peak['device']} (bytes)", peak["peak_bytes"]))
        yield Ours(("Peak Reserved Memory (bytes)", peak["peak_reserved_bytes"]))
        yield Ours(("At the Peak", ", ".join(f"{share} % {name}" for name, share in peak["shares"])))


def _throughput(connection: sqlite3.Connection, scope: Scope, given: Given | None) -> Iterator[tuple[Value, ...]]:
    """Samples and tokens a second, where they are known."""
    result: Mapping[str, Any] = throughput(connection, scope, given)
    for name in ("samples", "tokens"):
        if result[f"{name}_per_s"] is not None:
            yield Ours((f"{name.title()} Per Iteration", result[f"{name}_per_iteration"]))
            yield Ours((f"{name.title()} Per Second", result[f"{name}_per_s"]))
            if result["gpus"] > 1:
                yield Ours((f"{name.title()} Per Second and GPU", result[f"{name}_per_s_per_gpu"]))
    if result["samples_per_s"] is not None or result["tokens_per_s"] is not None:
        yield Ours(("Throughput From", result["basis"]))


def _model_values(connection: sqlite3.Connection, scope: Scope, names: _Names) -> list[tuple[Value, ...]]:
    columns = ", ".join(column for _, column, _ in names)
    row = connection.execute(
        f"SELECT {columns} FROM model_summary WHERE aggr_id = ? AND domain_id = ?", (scope.aggregation, scope.domain)
    ).fetchone()
    return [(name, fit(value, kind)) for (name, _, kind), value in zip(names, row, strict=True)]


def _ops(connection: sqlite3.Connection, scope: Scope) -> list[tuple[Value, ...]]:
    result: Iterator[tuple[Value, ...]] = (
        (name, *_category(connection, scope, "model_summary", column))
        for name, column in (
            ("All ops", "nodes_total_id"),
            ("Ops using TC", "nodes_using_tc_id"),
            ("Ops eligible for TC but not using", "nodes_tc_eligible_id"),
            ("All other ops", "nodes_other_id"),
        )
    )
    every, using, eligible, other = result
    model = model_summary(connection, scope)
    kernels = kernel_time(connection, scope)["tensor_core"]["launches"]
    if model["eligible_ops_using_tensor_cores"] is None or kernels is None:
        using = _nothing_known(using)
    untold = model["eligible_ops_unknown"]
    reported: list[tuple[Value, ...]] = [Ours((_UNTOLD, None, None, untold))] if untold else []
    return [every, using, eligible, *reported, other]


_UNTOLD = "Of these, not known whether using TC"


def _nothing_known(row: tuple[Value, ...]) -> tuple[Value, ...]:
    """A row with its zeros, which DLProf writes, marked as unknown."""
    return (row[0], *(Unknown(0) if value == 0 else value for value in row[1:]))


def _kernels(connection: sqlite3.Connection, scope: Scope) -> list[tuple[Value, ...]]:
    """The rows of kernels: times are plain sums, counts those of names; all kernels include memory operations."""
    kernels = _category(connection, scope, "kernel_summary_metrics", "kernels_total_id")
    using = _category(connection, scope, "kernel_summary_metrics", "kernels_using_tc_id")
    other = _category(connection, scope, "kernel_summary_metrics", "kernels_non_tc_id")
    memory = _category(connection, scope, "memory_summary_metrics", "memory_time_id")
    total = tuple(map(plus, kernels, memory))
    times = kernel_time(connection, scope)
    on_tensor_cores: tuple[Value, ...] = ("Kernels using TC", *using)
    if times["tensor_core"]["launches"] is None:
        on_tensor_cores = _nothing_known(on_tensor_cores)
    rows = [("All kernels", *total), on_tensor_cores, ("Memory", *memory), ("All other kernels", *other)]
    unknown, graphs = times["unknown"], times["graph"]
    if unknown["launches"]:
        rows.append(Ours((_UNTOLD, unknown["time_ns"], None, unknown["names"])))
    if graphs["launches"]:
        rows.append(Ours(("In CUDA graphs recorded as a whole", graphs["time_ns"], None, None)))
    return rows


def _category(
    connection: sqlite3.Connection, scope: Scope, table: str, column: str
) -> tuple[int | None, int | None, int | None]:
    """GPU time, CPU time and count of one row of ``category_summary``."""
    row = connection.execute(
        f"SELECT category.gpu_time, category.cpu_time, category.count FROM {table} AS owner "
        f"JOIN category_summary AS category ON category.id = owner.{column} "
        "WHERE owner.aggr_id = ? AND owner.domain_id = ?",
        (scope.aggregation, scope.domain),
    ).fetchone()
    return (None, None, None) if row is None else (whole(row[0]), whole(row[1]), whole(row[2]))
