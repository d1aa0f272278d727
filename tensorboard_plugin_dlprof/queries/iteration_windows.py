"""The iterations of the capture as windows of time, whatever is aggregated."""

from __future__ import annotations

import sqlite3


def iteration_windows(con: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Number, start and stop (ns since the start of the capture) of every iteration, by start: those of the best way to
    divide the capture; of NVIDIA's databases, those of the first aggregation."""
    # What is no number in a damaged database counts as 0.
    columns = ", ".join(
        f"CAST(ifnull({name}, 0) AS INTEGER) AS {name}" for name in ("iter_value", "start_ns", "stop_ns")
    )
    return con.execute(f"SELECT {columns} FROM ext_iterations WHERE position = 0 ORDER BY start_ns").fetchall()
