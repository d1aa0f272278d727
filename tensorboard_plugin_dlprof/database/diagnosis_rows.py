"""Writes what each GPU did at every moment and why it was idle, which ``diagnosis.stored`` reads, and the diagnosis."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any

from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.diagnosis.as_data import computing
from tensorboard_plugin_dlprof.diagnosis.segments import Activity
from tensorboard_plugin_dlprof.diagnosis.stored import SEGMENTS_A_ROW, packed


def write_activity(con: sqlite3.Connection, activity: Activity) -> None:
    """Store the complete activity (``diagnosis.activity.with_busy_time``)."""
    texts = ("detail", "call", "path", "kind", "op_id", "thread")
    insert_rows(
        con,
        "activity_causes",
        ("part", *texts, "is_long", "overlaps"),
        (
            (cause.part, *(storable(getattr(cause, name)) for name in texts), int(cause.long), cause.overlaps)
            for cause in activity.causes
        ),
    )
    insert_rows(
        con,
        "activity_segments",
        ("device_id", "start_ns", "stop_ns", "data"),
        (
            (
                device.device,
                int(device.start_ns[begin]),
                int(device.stop_ns[min(begin + SEGMENTS_A_ROW, len(device.stop_ns)) - 1]),
                packed(device, begin),
            )
            for device in activity.devices
            for begin in range(0, len(device.start_ns), SEGMENTS_A_ROW)
        ),
    )
    insert_rows(
        con,
        "activity_totals",
        ("launch_calls", "launch_calls_without_work"),
        [(activity.launch_calls, activity.launch_calls_without_work)],
    )


def write_diagnosis(con: sqlite3.Connection, diagnosis: dict[str, Any]) -> None:
    """Store a diagnosis (``diagnosis.as_data.as_data``); ``queries.diagnosed`` reads it."""
    data = zlib.compress(json.dumps(diagnosis).encode())
    insert_row(con, "ext_diagnosis", {"data": data, "computing_fraction": computing(diagnosis)})
