"""Where copies go, and what memory of the host they use."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Copies

KINDS: Final = {
    1: "to the GPU",
    2: "to the host",
    8: "within the GPU",
    10: "between GPUs",
    11: "of unified memory to the GPU",
    12: "of unified memory to the host",
    13: "of unified memory between GPUs",
}
"""By CUPTI's number of the kind of a copy."""

MEMORY: Final = {1: "pageable", 0: "pinned"}
"""Of the host, as ``Copies.pageable`` has it."""


def reported(table: Copies, rows: Int64s) -> Int64s:
    """What is known of the host's memory of some copies, as ``Copies.pageable`` has it."""
    return np.full(len(rows), -1) if table.pageable is None else table.pageable[rows].astype(np.int64)


def directions(table: Copies, rows: Int64s) -> Int64s:
    """A number for the direction of each of some copies and the host's memory that it uses."""
    return (table.copy_kind[rows].astype(np.int64) & 31) << 2 | (reported(table, rows) + 1)


def direction_said(number: int) -> str:
    """``to the GPU from pinned memory``, of one of ``directions``."""
    direction, memory = KINDS.get(number >> 2, "of unknown direction"), MEMORY.get((number & 3) - 1, "")
    between = {1: " from ", 2: " into "}.get(number >> 2, "")
    return f"{direction}{between}{memory} memory" if memory and between else direction
