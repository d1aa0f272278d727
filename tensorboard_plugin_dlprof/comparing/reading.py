"""Reads a recording from a database, ours or NVIDIA's: the only part of the comparison that knows tables.

Only aggregated tables are read, and the first call of each op; never the kernels.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.comparing.recording import (
    FEWEST_SAMPLES,
    MOST_OP_SAMPLES,
    MOST_OPS,
    MOST_SAMPLES,
    Kernel,
    Op,
    Recording,
)
from tensorboard_plugin_dlprof.diagnosis.clip import Clipped
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.stored import read_activity
from tensorboard_plugin_dlprof.queries.extension import info, recorded
from tensorboard_plugin_dlprof.queries.headline import source_facts
from tensorboard_plugin_dlprof.queries.memory import memory, owners_at_peak
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.summary import (
    gpu_utilization,
    performance,
    resource_times,
    tensor_core_efficiency,
)
from tensorboard_plugin_dlprof.queries.system import system_facts
from tensorboard_plugin_dlprof.queries.throughput import throughput
from tensorboard_plugin_dlprof.units import NS_PER_S

_MOST_LETTERS = 2_000
"""Of a path or name; longer ones are cut."""

_COMPARED_FACTS = ("framework", "cuda_version", "driver_version", "cudnn_version")


def read_recording(connection: sqlite3.Connection, name: str, aggregation: int | None = None) -> Recording:
    """Everything that is compared of one aggregation, by default the first.

    Args:
        connection: from ``database.connection.open_database``.
        name: how the profile is called in sentences.
        aggregation: ``aggregations.id``.

    Raises:
        NotFound: there is no such aggregation.
    """
    scope = find_scope(connection, aggregation)
    facts, reported, times = source_facts(connection), info(connection), performance(connection, scope)
    devices = _devices(connection, scope)
    iterations = max(times["profiled_iterations"] or 1, 1)
    first, last = times["iter_start"], times["iter_stop"]
    label, marked = _marks(connection, scope, iterations)
    eligible = tensor_core_efficiency(connection, scope)
    source = facts["source_name"] and reported.get("source_fingerprint", "")
    values, samples = _samples(connection, scope)
    ops, beyond = _ops(connection, scope)
    rates, held = throughput(connection, scope), _memory(connection)
    return Recording(
        name=name,
        fingerprint=f"{source} {label} {first} {last}" if source else "",
        source_fingerprint=source,
        format=facts["format"],
        facts={
            fact["label"]: fact["value"][:200] for fact in system_facts(connection) if fact["key"] in _COMPARED_FACTS
        },
        devices=devices,
        recorded=recorded(connection),
        rank=facts["rank"],
        world_size=facts["world_size"],
        started_ns=round(facts["captured_at"] * NS_PER_S) if facts["captured_at"] else None,
        aggregation=scope.aggregation,
        marked=marked,
        iterations_label=label,
        first_iteration=first,
        last_iteration=last,
        iterations=iterations,
        devices_in_use=len(devices),
        parts=_parts(connection, scope, len(devices)),
        ops=ops,
        ops_beyond=beyond,
        kernel_launches=sum(kernel.launches for op in ops for kernel in op.kernels),
        eligible_kernel_ns=eligible["kernel_ns"],
        eligible_tensor_core_ns=eligible["tensor_core_ns"],
        eligible_unknown_ns=eligible["unknown_ns"],
        gpu_utilization_fraction=gpu_utilization(connection, scope)["fraction"],
        memory_peak_bytes=held["peak_bytes"] if held else None,
        memory_reserved_bytes=held["peak_reserved_bytes"] if held else None,
        memory_at_peak={row["category"]: int(row["bytes"]) for row in held["at_peak"]} if held else {},
        memory_by_op=owners_at_peak(connection, held["device"], held) if held else {},
        samples_per_s=rates["samples_per_s"],
        tokens_per_s=rates["tokens_per_s"],
        iteration_values=values,
        iteration_time=samples["iteration_time"],
        idle_time=samples["idle_time"],
        gpu_utilization=[busy / 1e8 for busy in samples["gpu_utilization"]],
        kernel_time=samples["kernel_time"],
        tensor_core_time=samples["tensor_core_time"],
    )


def _parts(connection: sqlite3.Connection, scope: Scope, devices: int) -> dict[str, int]:
    """The exclusive parts of the wall time, summed over the GPUs in use: those of the diagnosis, which tells why each
    was idle; DLProf's if it knows nothing."""
    reported = _diagnosed(connection, scope, devices)
    if reported is not None:
        return reported
    return {part: (time_ns or 0) * devices for part, time_ns in resource_times(connection, scope).items()}


def _diagnosed(connection: sqlite3.Connection, scope: Scope, devices: int) -> dict[str, int] | None:
    """The parts of the diagnosis; None without GPU work."""
    windows = np.array(
        connection.execute(
            "SELECT iteration.start_time, iteration.stop_time FROM iteration_list AS iteration "
            "JOIN iteration_aggregation_list AS part ON part.aggr_id = iteration.aggr_id "
            "AND part.iter_value = iteration.iter_value WHERE iteration.aggr_id = ? ORDER BY 1",
            (scope.aggregation,),
        ).fetchall(),
        np.int64,
    ).reshape(-1, 2)
    if not len(windows):
        return None
    start, stop = windows.T.copy()
    activity = read_activity(connection, int(start[0]), int(stop.max()))
    sums = [Clipped(activity, device, start, stop).parts_ns().sum(0) for device in activity.devices]
    result = {part.label: int(sum(one[part] for one in sums)) for part in Part}
    return result if sum(result.values()) == devices * int((stop - start).sum()) else None


def _devices(connection: sqlite3.Connection, scope: Scope) -> list[str]:
    """Names of the GPUs in use; at least one, because numbers are divided by how many there are."""
    result = [device["name"][:200] for device in gpu_utilization(connection, scope)["devices"] if device["in_use"]]
    return result or [""]


def _marks(connection: sqlite3.Connection, scope: Scope, iterations: int) -> tuple[str, bool]:
    """How the iterations were found, and whether they are marked in the program."""
    row = connection.execute(
        "SELECT candidate_source, candidate_label FROM ext_aggregations WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    source, label = (str(row[0]), str(row[1])[:200]) if row else ("", "")
    # DLProf does not say how it found iterations other than by a key op.
    return label, source != "whole_capture" if source else iterations > 1


def _memory(connection: sqlite3.Connection) -> dict[str, Any] | None:
    """What is answered about the GPU that holds most memory, of those whose memory is known from its beginning, and
    over time: a snapshot without events tells its end alone."""
    answers = memory(connection)["devices"].items()
    devices = [
        {**answer, "device": int(number)} for number, answer in answers if answer["events"] and not answer["relative"]
    ]
    return max(devices, key=lambda device: int(device["peak_bytes"]), default=None)


_ITERATIONS = (
    "SELECT part.iter_value, part.tc_duration + part.non_tc_duration + part.memory_duration "
    "+ part.dataloader_duration + part.io_duration + part.cpu_duration + part.other_duration, "
    "part.dataloader_duration + part.io_duration + part.cpu_duration + part.other_duration, part.gpu_utilization, "
    "kernel.total_gpu_time, kernel.tc_gpu_time FROM iteration_aggregation_list AS part "
    "LEFT JOIN kernel_iteration_stats AS kernel ON kernel.aggr_id = part.aggr_id "
    "AND kernel.iter_value = part.iter_value AND kernel.domain_id = ? "
    "WHERE part.aggr_id = ? ORDER BY part.iter_value"
)


def _samples(connection: sqlite3.Connection, scope: Scope) -> tuple[list[int], dict[str, list[int]]]:
    """The numbers of up to ``MOST_SAMPLES`` iterations, and their times (ns); utilisation is in 1e-8."""
    rows = connection.execute(_ITERATIONS, (scope.domain, scope.aggregation)).fetchall()
    names = ("iteration_time", "idle_time", "gpu_utilization", "kernel_time", "tensor_core_time")
    retained = [rows[place] for place in _evenly(len(rows), MOST_SAMPLES)]
    result: dict[str, list[int]] = {name: [] for name in names}
    for _, wall, idle, busy, kernel, tensor in retained:
        for name, value in zip(names, (wall, idle, float(busy or 0) * 1e6, kernel, tensor), strict=True):
            result[name].append(whole(value) or 0)
    return [int(row[0]) for row in retained], result


def _evenly(count: int, most: int) -> list[int]:
    """Up to ``most`` places among ``count``, evenly spaced."""
    return list(range(count)) if count <= most else [place * count // most for place in range(most)]


def _ops(connection: sqlite3.Connection, scope: Scope) -> tuple[list[Op], int]:
    """The ops, and how many are summed to one because there are too many."""
    kernels = _kernels(connection, scope)
    result = dict(_bare_ops(connection, scope))
    beyond = len(result) - MOST_OPS
    for number, op in result.items():
        op.kernels = [kernel for kernel, _ in kernels.get(number, ())]
        op.kernel_ns = sum(kernel.time_ns for kernel in op.kernels)
        op.tensor_core_ns = sum(kernel.time_ns for kernel, uses in kernels.get(number, ()) if uses)
    _add_sums(connection, scope, result)
    if beyond > 0:
        retained = set(heapq.nlargest(MOST_OPS, result, key=lambda number: (result[number].kernel_ns, -number)))
        rest = _summed([op for number, op in result.items() if number not in retained])
        result = {number: op for number, op in result.items() if number in retained}
    _add_calls(connection, result)
    _add_samples(connection, scope, result)
    ops = sorted(result.values(), key=lambda op: (op.start_ns, op.op_id))
    return ([*ops, rest], beyond) if beyond > 0 else (ops, 0)


_OPS = (
    "SELECT op.id, op.op_id, op.op_name, type.string, direction.string, op.tc_support_status, node.num_calls "
    "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    "LEFT JOIN dictionary AS type ON type.id = op.op_type_id "
    "LEFT JOIN dictionary AS direction ON direction.id = op.direction_id "
    "WHERE node.aggr_id = ? AND op.domain_id = ?"
)

_UNASSOCIATED = 2


def _bare_ops(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[int, Op]]:
    for number, op_id, path, op_type, direction, status, calls in connection.execute(
        _OPS, (scope.aggregation, scope.domain)
    ):
        yield (
            int(number),
            Op(
                op_id=_text(op_id),
                path=_text(path),
                op_type=_text(op_type),
                direction=_text(direction),
                shapes="",
                associated=status != _UNASSOCIATED,
                start_ns=0,
                calls=whole(calls) or 0,
                kernel_ns=0,
                tensor_core_ns=0,
                unknown_ns=0,
                graph_ns=0,
                kernels=[],
                samples=[],
            ),
        )


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, bytes) else str(value)[:_MOST_LETTERS]


def _summed(ops: Sequence[Op]) -> Op:
    """One op for the many with the least kernel time."""
    return Op(
        op_id="",
        path=f"({len(ops):,} ops with little time)",
        op_type="",
        direction="",
        shapes="",
        associated=True,
        start_ns=max((op.start_ns for op in ops), default=0),
        calls=sum(op.calls for op in ops),
        kernel_ns=sum(op.kernel_ns for op in ops),
        tensor_core_ns=sum(op.tensor_core_ns for op in ops),
        unknown_ns=sum(op.unknown_ns for op in ops),
        graph_ns=sum(op.graph_ns for op in ops),
        kernels=[],
        samples=[],
    )


def _kernels(connection: sqlite3.Connection, scope: Scope) -> dict[int, list[tuple[Kernel, bool]]]:
    """The kernels of each op (``read_only_ops.id``), each with whether it is known to use Tensor Cores."""
    longer = _long_names(connection)
    result: dict[int, list[tuple[Kernel, bool]]] = defaultdict(list)
    for op, short, name, uses, launches, time_ns in connection.execute(
        "SELECT kernel.read_only_ops_id, kernel.kernel_name_id, name.string, kernel.uses_tc, time.count, time.sum "
        "FROM kernel_summaries AS kernel JOIN metric AS time ON time.id = kernel.gpu_time_metric_id "
        "LEFT JOIN dictionary AS name ON name.id = kernel.kernel_name_id "
        "WHERE kernel.aggr_id = ? AND kernel.domain_id = ?",
        (scope.aggregation, scope.domain),
    ):
        long, unit, precision, family = longer.get((op, short), ("", None, "", ""))
        known = bool(uses)
        result[op].append(
            (
                Kernel(
                    name=long or _text(name),
                    short_name=_text(name),
                    launches=whole(launches) or 0,
                    time_ns=whole(time_ns) or 0,
                    tensor_core=True if known else None if unit == _UNKNOWN_UNIT else False,
                    precision=precision,
                    family=family,
                ),
                known,
            )
        )
    return result


_UNKNOWN_UNIT = 2

_LongName = tuple[str, "int | None", str, str]
"""The long name, or empty if there are several; use of the matrix unit, precision and family, if all agree."""


def _long_names(connection: sqlite3.Connection) -> dict[tuple[int, int], _LongName]:
    """By op and short name (``dictionary.id``)."""
    classes: dict[int, tuple[str, int, str, str]] = {
        number: (_text(name), whole(unit) or 0, _text(precision), _text(family))
        for number, name, unit, precision, family in connection.execute(
            "SELECT class.name_id, name.string, class.matrix_unit, class.precision, class.family "
            "FROM ext_kernel_names AS class JOIN dictionary AS name ON name.id = class.name_id"
        )
    }
    result: dict[tuple[int, int], _LongName] = {}
    for op, short, long in connection.execute("SELECT DISTINCT read_only_ops_id, name_id, long_name_id FROM launches"):
        name, unit, precision, family = classes.get(long, ("", 0, "", ""))
        before = result.get((op, short))
        if before is None:
            result[op, short] = name, unit, precision, family
        else:
            result[op, short] = (
                "",
                max(before[1] or 0, unit),
                precision if precision == before[2] else "",
                family if family == before[3] else "",
            )
    return result


def _add_sums(connection: sqlite3.Connection, scope: Scope, ops: Mapping[int, Op]) -> None:
    """The sums over the kernels of each op, with what is unknown, and its graphs."""
    for number, kernel_ns, tensor_core_ns, unknown_ns in connection.execute(
        "SELECT read_only_ops_id, kernel_ns, tc_kernel_ns, unknown_ns FROM ext_op_kernels WHERE aggr_id = ?",
        (scope.aggregation,),
    ):
        if number in ops:
            op = ops[number]
            op.kernel_ns, op.tensor_core_ns, op.unknown_ns = int(kernel_ns), int(tensor_core_ns), int(unknown_ns)
    # Launches of graphs belong to the call of their op, which the iterations choose.
    windows = connection.execute(
        "SELECT iteration.start_time, iteration.stop_time FROM iteration_list AS iteration "
        "JOIN iteration_aggregation_list AS part ON part.aggr_id = ?1 AND part.iter_value = iteration.iter_value "
        "WHERE iteration.aggr_id = ?1",
        (scope.aggregation,),
    ).fetchall()
    begins, ends = (np.sort(np.array([window[end] for window in windows], np.int64)) for end in (0, 1))
    for number, time_ns, called_ns in connection.execute(
        "SELECT graph.read_only_ops_id, graph.gpu_stop - graph.gpu_start, instance.cpu_start "
        "FROM ext_graph_launches AS graph "
        "JOIN ext_op_ranges AS range ON range.read_only_ops_id = graph.read_only_ops_id "
        "JOIN read_only_op_instances AS instance ON instance.id = range.first_instance_id + graph.op_instance"
    ):
        if number in ops:
            inside = np.searchsorted(begins, called_ns, "right") - np.searchsorted(ends, called_ns, "right")
            ops[number].graph_ns += int(inside) * int(time_ns)


_FIRST_CALLS = (
    "SELECT range.read_only_ops_id, first.cpu_start, shapes.string FROM ext_op_ranges AS range "
    "JOIN read_only_op_instances AS first ON first.id = range.first_instance_id "
    "LEFT JOIN dictionary AS shapes ON shapes.id = (SELECT kind.input_shapes_id FROM op_call_kinds AS kind "
    "WHERE kind.read_only_ops_id = range.read_only_ops_id GROUP BY kind.input_names_id, kind.input_shapes_id, "
    "kind.output_names_id, kind.output_shapes_id, kind.parameters_id "
    "ORDER BY sum(kind.calls) DESC, min(kind.first_call_id) LIMIT 1)"
)


def _add_calls(connection: sqlite3.Connection, ops: Mapping[int, Op]) -> None:
    """The start of the first call of each op, and the shapes of its most frequent kind of call."""
    for number, start_ns, shapes in connection.execute(_FIRST_CALLS):
        if number in ops:
            text = _text(shapes).strip()
            ops[number].start_ns, ops[number].shapes = int(start_ns), "" if text in ("null", "[]") else text


def _add_samples(connection: sqlite3.Connection, scope: Scope, ops: Mapping[int, Op]) -> None:
    """The kernel time of each op in up to ``MOST_OP_SAMPLES`` iterations, evenly spaced, if there are four or more."""
    values = np.array(
        connection.execute(
            "SELECT iter_value FROM iteration_aggregation_list WHERE aggr_id = ? ORDER BY iter_value",
            (scope.aggregation,),
        ).fetchall(),
        np.int64,
    ).reshape(-1)
    if len(values) < FEWEST_SAMPLES:
        return
    values = values[_evenly(len(values), MOST_OP_SAMPLES)]
    for sample, iteration in enumerate(values.tolist()):
        for number, time_ns in connection.execute(
            "SELECT read_only_ops_id, kernel_ns FROM iteration_ops WHERE aggr_id = ? AND iteration = ?",
            (scope.aggregation, iteration),
        ):
            if number in ops:
                op_ = ops[number]
                op_.samples = op_.samples or [0] * len(values)
                op_.samples[sample] = whole(time_ns) or 0
