"""Writes the tables of ``sql/throughput.sql``; ``queries.throughput`` reads them."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.columns.rows import insert_rows, storable
from tensorboard_plugin_dlprof.profile.tables import Batches


def write_batches(con: sqlite3.Connection, batches: Batches) -> None:
    """Store what the program works on."""
    columns = (batches.time_ns.tolist(), batches.samples.tolist(), batches.tokens.tolist())
    rows = [
        (number, time, samples if samples >= 0 else None, tokens if tokens >= 0 else None)
        for number, (time, samples, tokens) in enumerate(zip(*columns, strict=True))
    ]
    insert_rows(con, "throughput_batches", ("number", "time_ns", "samples", "tokens"), rows)
    insert_rows(
        con,
        "throughput_source",
        ("layer", "samples_per_iteration", "tokens_per_iteration"),
        [(storable(batches.layer), batches.samples_per_iteration, batches.tokens_per_iteration)],
    )
