"""Data of the views: pages of tables, the tree of groups, findings, efficiency, bars of iterations, memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sqlite3 import Connection
from typing import Any

from tensorboard_plugin_dlprof.queries import memory
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.findings import findings
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_bars
from tensorboard_plugin_dlprof.queries.memory_segments import memory_segments, segment_block
from tensorboard_plugin_dlprof.queries.page_answer import TablePage, page_of
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.queries.throughput import Given, throughput
from tensorboard_plugin_dlprof.routes.comparisons import SCOPE, CachedComparison, table_of_comparison, tables_of
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.parameters import TableRequest
from tensorboard_plugin_dlprof.routes.timeline import with_computed

NO_DIAGNOSIS: Mapping[str, Any] = {
    "schema": "dlprof-diagnosis-1",
    "format": "",
    "marked": False,
    "clock": {"unit": "ns", "base_ns": "0"},
    "devices": [],
    "lead_in": {},
    "typical": {"start": 0, "stop": -1, "left_out": [], "why": [], "said": "", "mean_said": "", "labels": []},
    "iterations": [],
    "mean": {"iterations": 0, "selected": [], "wall_ns": 0, "devices": {}},
    "lower_bound": [],
    "host_bound": False,
    "headline": "",
    "matrix_unit": "Tensor Core",
    "findings": [],
}
"""The body of ``./diagnosis`` if it could not be worked out."""

VIEWS: Mapping[str, Callable[[Connection, Scope, Any], Any]] = {
    "/groups": lambda con, scope, asked: group_tree(con, scope, asked.group, asked.limit),
    "/iterations": lambda con, scope, asked: iteration_bars(con, scope, asked.start, asked.stop, asked.bins),
    "/findings": lambda con, scope, _: findings(con, scope),
    "/efficiency": lambda con, scope, _: efficiency(con, scope),
    "/throughput": lambda con, scope, asked: throughput(con, scope, Given(asked.samples, asked.tokens)),
    "/memory": lambda con, _scope, _asked: memory.memory(con),
    "/memory_curve": lambda con, _, asked: memory.memory_curve(con, asked.device, asked.start, asked.stop, asked.bins),
    "/memory_segments": lambda con, _, asked: memory_segments(con, asked.device),
    "/memory_block": lambda con, _, asked: segment_block(con, asked.device, asked.segment, asked.block),
    "/memory_at": lambda con, scope, asked: memory.memory_at(
        con, scope, asked.device, asked.time, (asked.start, asked.stop)
    ),
}
"""What each route answers about an aggregation."""


def table(borrowed: Borrowed, asked: TableRequest) -> TablePage:
    """The body of ``./table``."""
    scope = find_scope(borrowed.connection, asked.aggregation, asked.domain)
    result = table_of(borrowed.connection, asked.table)
    with with_computed(borrowed, asked) as rows:
        return page_of(rows.connection, result, scope, asked, rows.counts)


def compared(cached: CachedComparison, asked: TableRequest) -> TablePage:
    """The body of ``./table`` for a table of a comparison."""
    with tables_of(cached) as connection:
        return page_of(connection, table_of_comparison(asked.table), SCOPE, asked, cached.counts)
