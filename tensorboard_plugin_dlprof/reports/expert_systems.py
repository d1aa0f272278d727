"""DLProf's expert systems report: the findings in its table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind
from tensorboard_plugin_dlprof.reports.cursors import stream

_COLUMNS = (Column("Problem", Kind.TEXT), Column("Recommendation", Kind.TEXT))


def expert_systems_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per finding, in the order of the detectors."""
    sql = "SELECT problem, recommendation FROM expert_systems_feedback WHERE aggr_id = :aggregation ORDER BY id"
    values = {"aggregation": scope.aggregation}
    rows = stream(connection, sql, values, _COLUMNS)
    yield Block("Expert Systems Feedback", _COLUMNS, rows, about="What DLProf recommends")
