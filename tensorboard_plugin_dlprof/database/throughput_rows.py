"""Writes the tables of ``sql/throughput.sql``; ``queries.throughput`` reads them."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.columns.rows import insert_columns, insert_row, storable
from tensorboard_plugin_dlprof.database.unknown_values import positive_or_none
from tensorboard_plugin_dlprof.profile.tables import Batches


def write_batches(con: sqlite3.Connection, batches: Batches) -> None:
    """Store what the program works on."""
    columns = {
        "number": range(len(batches.time_ns)),
        "time_ns": batches.time_ns.tolist(),
        "samples": positive_or_none(batches.samples),
        "tokens": positive_or_none(batches.tokens),
    }
    insert_columns(con, "throughput_batches", columns)
    source = {
        "layer": storable(batches.layer),
        "samples_per_iteration": batches.samples_per_iteration,
        "tokens_per_iteration": batches.tokens_per_iteration,
    }
    insert_row(con, "throughput_source", source)
