"""Stores which ops do the same in the repetitions of a model, and their sums in each aggregation."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.database.sql_files import statements

_TABLES = ("op_patterns", "op_pattern_sums")


def write_op_patterns(con: sqlite3.Connection) -> None:
    """Store the rows of ``sql/op_patterns.sql``, in place of earlier ones; all else and the indexes come before."""
    con.create_function("path_pattern", 2, path_pattern, deterministic=True)
    for table, statement in zip(_TABLES, statements("op_patterns"), strict=True):
        con.execute(f"DELETE FROM {table}")
        con.execute(statement.replace(f"CREATE VIEW {table} AS", f"INSERT INTO {table}", 1))
