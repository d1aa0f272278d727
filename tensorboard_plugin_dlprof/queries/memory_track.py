"""The memory of GPUs as tracks of the timeline, where recorded with times; their ids follow those of the rest."""

from __future__ import annotations

import sqlite3
from typing import Any

from tensorboard_plugin_dlprof.memory.stored import Facts
from tensorboard_plugin_dlprof.queries.memory import memory_curve, timed_devices

BINS = 1_000
"""Most bins in one answer."""


def memory_tracks(con: sqlite3.Connection, last_id: int) -> dict[int, Facts]:
    """What is recorded of each GPU's memory, by the id of its track."""
    return dict(enumerate(timed_devices(con), last_id + 1))


def described(number: int, facts: Facts) -> dict[str, Any]:
    """What is told of a track in the list of all."""
    name = "memory since start" if facts.relative else "memory"
    return {
        "id": number, "kind": "memory", "name": name, "items": facts.states, "sum_ns": 0, "launches": 0, "level": 0,
        "device": facts.device,
    }  # fmt: skip


def window(con: sqlite3.Connection, facts: Facts, start_ns: int, stop_ns: int, bins: int) -> dict[str, Any]:
    """The most that is in use in each bin of a window."""
    curve = memory_curve(con, facts.device, start_ns, stop_ns, min(bins, BINS))
    return {
        "count": facts.states,
        "bins_from": 0,
        "bins_to": stop_ns - start_ns,
        "in_use_bytes": curve["in_use_max_bytes"],
        "capacity_bytes": curve["capacity_bytes"],
    }
