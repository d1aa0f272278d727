"""Lets a connection to one of NVIDIA's databases read what lies in separate files: efficiency (``measured.py``),
tracks."""

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
"""Without ``ext_kernel_efficiency``, since NVIDIA's databases have neither registers nor shared memory of kernels."""


TRACK_TABLES = (
    *("ext_tracks", "ext_track_items", "ext_track_bins"),
    *("activity_causes", "activity_segments", "activity_totals"),
)


def lay_over(con: UntrustedConnection, beside: Path, layout: Mapping[str, Sequence[str]], schema: str) -> None:
    """Make the tables of the file readable as if they were part of the database. Call it before ``seal``.

    Args:
        con: to a database that has none of these tables.
        beside: a file from ``measured.write_measured`` or ``track_rows.write_track_file``.
        layout: the columns of each of ``MEASURED_TABLES`` or ``TRACK_TABLES``.
        schema: a name of our own for the file.

    Raises:
        ProfileError: the file cannot be read, or lacks one of the tables or columns.
    """
    with (
        closing(open_untrusted(beside, UnfitDatabase, follow_links=False)) as checked,
        reading(checked.shown_name, UnfitDatabase),
    ):
        require_tables(checked, layout)
    attach(con, beside, schema)
    for table, names in layout.items():
        con.execute(f"CREATE TEMP VIEW {table} AS SELECT {', '.join(names)} FROM {schema}.{table}")
