"""A diagnosis as the JSON object of ``dlprof diagnose``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import (
    MISSING_FRACTION,
    QUEUED,
    USED_FRACTION,
    DeviceDiagnosis,
    Diagnosis,
    Row,
    host_bound,
    lead_in,
    middle,
    rows_of,
)
from tensorboard_plugin_dlprof.diagnosis.culprit import headline_of
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Int64s
from tensorboard_plugin_dlprof.diagnosis.windows import mean_said, said
from tensorboard_plugin_dlprof.units import short_duration

SCHEMA: Final = "dlprof-diagnosis-1"

_ROWS = 20

_MOST_ITERATIONS_WITH_ROWS = 200
"""Beyond, rows are given for the mean only."""

MOST_DRAWN = 1_000
"""Iterations that pages get one by one, with the parts of each."""

_COMPUTE = tuple(part.label for part in COMPUTE)
_BUSY = tuple(part.label for part in Part if part < Part.QUEUED)

_FORMATS = {"pytorch": "torch", "nsight_systems": "nsight", "xplane": "xplane"}


def as_data(
    diagnosis: Diagnosis, source: str, findings: Sequence[dict[str, Any]] = (), *, of_page: bool = False
) -> dict[str, Any]:
    """The diagnosis as the JSON object of ``dlprof diagnose``; times are relative to ``clock.base_ns``.

    Args:
        diagnosis: from ``diagnose``.
        source: name of the file.
        findings: what the rules say, in their order.
        of_page: whether iterations are left out where they are more than a page draws one by one: 100,000 have 100 MB.
    """
    profile, info = diagnosis.profile, diagnosis.profile.info
    is_nsight = info.source_format == "nsight_systems"
    shift = info.base_time_ns if is_nsight else 0
    base = 0 if is_nsight else info.base_time_ns - info.base_offset_ns
    typical, wall = diagnosis.typical, diagnosis.wall_ns.tolist()
    is_typical = set(typical.selected)
    is_drawn = not of_page or len(wall) <= MOST_DRAWN
    numbers = [str(number) for number in diagnosis.candidate.values.tolist()]
    used = {device.device for device in diagnosis.devices}
    rows = {device.device: rows_of(diagnosis, device) for device in diagnosis.devices}
    return {
        "schema": SCHEMA,
        "source": source,
        "format": _FORMATS.get(info.source_format, "dlprof"),
        "marked": diagnosis.marked,
        "clock": {"unit": "ns", "base_ns": str(base)},
        "devices": [
            {
                "id": str(device.device_id),
                "name": device.name or None,
                "process": _process(diagnosis, device.device_id),
                "rank": info.rank if info.rank >= 0 else None,
            }
            for device in profile.devices
            if device.device_id in used
        ],
        "lead_in": lead_in(diagnosis),
        "typical": {
            "start": typical.start,
            "stop": typical.stop,
            "left_out": list(typical.left_out),
            "why": list(typical.why),
            "said": said(typical, wall, numbers, _outside(diagnosis)),
            "mean_said": mean_said(typical, wall, numbers),
            "labels": [diagnosis.labels[typical.start], diagnosis.labels[typical.stop]] if wall else [],
        },
        "iterations": [
            {
                "index": position,
                "label": diagnosis.labels[position],
                "start_ns": int(diagnosis.start_ns[position]) + shift,
                "stop_ns": int(diagnosis.stop_ns[position]) + shift,
                "wall_ns": wall[position],
                "typical": position in is_typical,
                "devices": {
                    str(device.device): _device_data(diagnosis, device, position) for device in diagnosis.devices
                },
            }
            for position in range(len(wall) if is_drawn else 0)
        ],
        "mean": {
            "iterations": len(diagnosis.selected),
            "selected": diagnosis.selected if is_drawn else [],
            "wall_ns": diagnosis.mean_wall_ns,
            "devices": {
                str(device.device): _mean_data(diagnosis, device, rows[device.device]) for device in diagnosis.devices
            },
        },
        "matrix_unit": diagnosis.matrix_unit,
        "lower_bound": diagnosis.lower_bound,
        "host_bound": host_bound(diagnosis),
        "headline": headline_of(
            diagnosis,
            rows,
            {
                each["evidence"][0]["device"]: each["time_ns"]
                for each in findings
                if each["rule"] == "cold_start" and each["part"] == "blocked"
            },
            next((each["missing_work"] for each in findings if each["missing_work"]), ""),
        ),
        "findings": list(findings),
    }


def _outside(diagnosis: Diagnosis) -> str:
    """What is said of GPU work in no iteration; how long it is after them tells what share it is of all, too."""
    after, outside = _after_marks(diagnosis), diagnosis.outside
    return after if after and outside.endswith("after the last.") else f"{outside} {after}".strip()


def _after_marks(diagnosis: Diagnosis) -> str:
    """How long the GPU works on after the last mark, where that is much of the time and no work of before the first one
    makes up for it."""
    if not diagnosis.marked or diagnosis.selected[-1:] != [len(diagnosis.start_ns) - 1]:
        return ""  # Or the next iteration shows it.
    first, last = diagnosis.selected[0], diagnosis.selected[-1]
    least = MISSING_FRACTION * int(diagnosis.wall_ns[diagnosis.selected].sum())
    lags = [each.queue.lag_ns for each in diagnosis.devices]
    after = max((int(lag[last]) for lag in lags if lag[last] - (lag[first - 1] if first else 0) >= least), default=0)
    return f"GPU work goes on for {short_duration(after)} after the last mark, which is not counted." if after else ""


def least_computing(data: Mapping[str, Any]) -> str | None:
    """The GPU that the headline is about: none that only copies, or works now and then, beside one that computes."""
    devices = data["mean"]["devices"]
    busy = {each: sum(device["parts"][part] for part in _BUSY) for each, device in devices.items()}
    kernels = {each: busy[each] - device["parts"][Part.COPY.label] for each, device in devices.items()}
    least, computes = USED_FRACTION * max(busy.values(), default=0), any(kernels.values())
    working = [each for each in devices if busy[each] >= least and (kernels[each] or not computes)]
    return min(working, key=lambda each: _computing_ns(data, each), default=None)


def computing(data: Mapping[str, Any]) -> float | None:
    """The share of a mean iteration in which that GPU computes; None without GPU work."""
    device, wall_ns = least_computing(data), data["mean"]["wall_ns"]
    return None if device is None or not wall_ns else _computing_ns(data, device) / wall_ns


def _computing_ns(data: Mapping[str, Any], device: str) -> int:
    parts = data["mean"]["devices"][device]["parts"]
    return sum(int(parts[part]) for part in _COMPUTE)


def _process(diagnosis: Diagnosis, device: int) -> str | None:
    """The id of the process that gave a GPU its work; None if several did, or none that was recorded."""
    profile = diagnosis.profile
    processes: set[int] = set()
    for table in (profile.kernels, profile.memcpys, profile.memsets):
        launched = (table.device == device) & (table.launched != 0)
        processes.update(distinct_values(table.process_id[launched]).tolist())
    return str(processes.pop()) if len(processes) == 1 else None


def _device_data(diagnosis: Diagnosis, device: DeviceDiagnosis, position: int) -> dict[str, Any]:
    with_rows = len(diagnosis.start_ns) <= _MOST_ITERATIONS_WITH_ROWS
    rows = rows_of(diagnosis, device, [position]) if with_rows else []
    queue = device.queue
    wall = int(device.parts_ns[position].sum())
    return {
        "parts": _parts(device.parts_ns[position]),
        "queued": _queued(device.queued_ns[position]),
        "overlap": {
            "communication_all_ns": int(device.communication_ns[position]),
            "copy_all_ns": int(device.copy_ns[position]),
        },
        "of_which_graph_ns": int(device.graph_ns[position]),
        "rows": _row_data(rows),
        "queue": {
            "median": _known(queue.median[position]),
            "empty_share": int(queue.empty_ns[position]) / wall if wall else None,
            "start_delay_median_ns": _known(queue.delay_ns[position]),
            "launches": int(queue.launches[position]),
            "lag_ns": int(queue.lag_ns[position]),
        },
    }


def _mean_data(diagnosis: Diagnosis, device: DeviceDiagnosis, rows: Sequence[Row]) -> dict[str, Any]:
    queue, selected = device.queue, diagnosis.selected
    wall = int(diagnosis.wall_ns[selected].sum())
    medians, delays = queue.median[selected], queue.delay_ns[selected]
    return {
        "parts": _parts(diagnosis.mean(device.parts_ns)),
        "queued": _queued(diagnosis.mean(device.queued_ns)),
        "overlap": {
            "communication_all_ns": int(diagnosis.mean(device.communication_ns)),
            "copy_all_ns": int(diagnosis.mean(device.copy_ns)),
        },
        "of_which_graph_ns": int(diagnosis.mean(device.graph_ns)),
        "rows": _row_data(rows),
        "queue": {
            "median": middle(medians[medians >= 0]),
            "empty_share": int(queue.empty_ns[selected].sum()) / wall if wall else None,
            "start_delay_median_ns": middle(delays[delays >= 0]),
            "launches": int(diagnosis.mean(queue.launches)),
            "lag_ns": int(diagnosis.mean(queue.lag_ns)),
        },
    }


def _parts(parts_ns: Int64s) -> dict[str, int]:
    return {part.label: int(parts_ns[part]) for part in Part}


def _queued(queued_ns: Int64s) -> dict[str, int]:
    return dict(zip(QUEUED, queued_ns.tolist(), strict=True))


def _known(number: int) -> int | None:
    return int(number) if number >= 0 else None


def _row_data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """At most 20 rows; what is left of each part is one more row."""
    shown, rest = rows[:_ROWS], rows[_ROWS:]
    left: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in rest:
        left[row.cause.part][0] += row.count
        left[row.cause.part][1] += row.time_ns
    result: list[dict[str, Any]] = [
        {
            "part": Part(row.cause.part).label,
            "class": row.cause.detail or None,
            "call": row.cause.call or None,
            "path": row.cause.path or None,
            "kind": row.cause.kind or None,
            "op": row.cause.op_id or None,
            "thread": row.cause.thread or None,
            "count": row.count,
            "time_ns": row.time_ns,
        }
        for row in shown
    ]
    result += [
        {"part": Part(part).label, "class": None, "call": None, "path": "(rest)", "kind": None, "op": None,
         "thread": None, "count": count, "time_ns": time}
        for part, (count, time) in left.items()
    ]  # fmt: skip
    return result
