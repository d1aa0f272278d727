"""What a capture may hold that no profile can: dropped and counted before anything is built."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Capture

_Table = TypeVar("_Table")


def cleaned(capture: Capture) -> Capture:
    """The capture without events that end before they start. Strings and counts are copied, tables shared."""
    skipped = dict(capture.skipped)

    def forward(table: Any, what: str) -> Any:
        backwards = table.end_ns < table.start_ns
        if not backwards.any():
            return table
        skipped[f"{what} that ends before it starts"] = int(np.count_nonzero(backwards))
        return rows_of(table, ~backwards)

    return replace(
        capture,
        ranges=forward(capture.ranges, "host range"),
        calls=forward(capture.calls, "API call"),
        work=forward(capture.work, "device work"),
        syncs=forward(capture.syncs, "synchronisation"),
        os_calls=forward(capture.os_calls, "system call"),
        skipped=skipped,
    )


def rows_of(table: _Table, rows: Any) -> _Table:
    """A table with these rows only."""
    columns = {item.name: getattr(table, item.name)[rows] for item in fields(table)}  # type: ignore[arg-type]
    return type(table)(**columns)
