"""Lets a connection to a database that is not ours read what was worked out about it (``measured.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    attach,
    open_untrusted,
    reading,
    require_tables,
)

MEASURED_TABLES = ("ext_device_peaks", "ext_op_efficiency", "ext_iteration_efficiency", "ext_precision_times")
"""Occupancy of kernels is not among them: NVIDIA's databases hold neither registers nor shared memory."""


def lay_over(con: UntrustedConnection, measured: Path, layout: Mapping[str, Sequence[str]]) -> None:
    """Make the tables of the file readable under their own names. Call it before ``seal``.

    Args:
        con: to a database that has none of these tables.
        measured: by ``measured.write_measured``.
        layout: ``MEASURED_TABLES`` -> columns.

    Raises:
        ProfileError: the file is no such one.
    """
    with (
        closing(open_untrusted(measured, UnfitDatabase, follow_links=False)) as checked,
        reading(checked.shown_name, UnfitDatabase),
    ):
        require_tables(checked, layout)
    attach(con, measured, "measured")
    for table, names in layout.items():
        con.execute(f"CREATE TEMP VIEW {table} AS SELECT {', '.join(names)} FROM measured.{table}")
