"""Writes the diagnosis of the typical iterations, so that the first page need not wait for it."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any

from tensorboard_plugin_dlprof.columns.rows import insert_row


def write_diagnosis(con: sqlite3.Connection, diagnosis: dict[str, Any]) -> None:
    """Store a diagnosis (``diagnosis.as_data.as_data``); ``queries.diagnosed`` reads it."""
    insert_row(con, "ext_diagnosis", {"data": zlib.compress(json.dumps(diagnosis).encode())})
