"""Drops and counts events that a capture may contain but a profile cannot."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_pages
from tensorboard_plugin_dlprof.events.tables import Capture

_Table = TypeVar("_Table", bound=msgspec.Struct)


OF_LAUNCHES: Final = (
    *("short_name", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes", "occupancy_percent"),
    *("num_bytes", "copy_kind", "graph_node", "correlation"),
)
"""Columns of ``DeviceWork`` that nobody needs any more once a profile has them in its tables."""


def cleaned(capture: Capture) -> Capture:
    """A copy of the capture without events that end before they start, which are counted in ``skipped``.

    Strings and unchanged tables are shared with the original.
    """
    skipped = dict(capture.skipped)

    def forward(table: Any, what: str) -> Any:
        backwards = table.end_ns < table.start_ns
        if not backwards.any():
            return table
        skipped[f"{what} that end before they start"] = int(np.count_nonzero(backwards))
        return rows_of(table, ~backwards, capture.store)

    return msgspec.structs.replace(
        capture,
        ranges=forward(capture.ranges, "host ranges"),
        calls=forward(capture.calls, "API calls"),
        work=forward(capture.work, "pieces of device work"),
        syncs=forward(capture.syncs, "synchronisations"),
        os_calls=forward(capture.os_calls, "system calls"),
        skipped=skipped,
    )


def without(table: _Table, *columns: str) -> _Table:
    """A table whose named columns are empty, so that their memory is freed; it shares the others."""
    return msgspec.structs.replace(table, **{name: getattr(table, name)[:0].copy() for name in columns})


def rows_of(table: _Table, selected: npt.NDArray[np.bool_], store: ColumnStore) -> _Table:
    """A table with the chosen rows only.

    Args:
        table: Columns of n rows.
        selected: n flags.
        store: Stores the new columns. Columns in files are read into memory one at a time.
    """
    count = int(np.count_nonzero(selected))

    def rows(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if column.ndim > 1:
            return column[selected]
        retained = np.compress(selected, column, out=store.empty(count, column.dtype))
        release_pages()
        return retained

    columns = {name: rows(getattr(table, name)) for name in table.__struct_fields__}
    return type(table)(**columns)
