"""Data of the views besides tables: the tree of groups, findings, efficiency, bars of iterations."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tensorboard_plugin_dlprof.queries.efficiency import efficiency as efficiency_summary
from tensorboard_plugin_dlprof.queries.findings import findings as all_findings
from tensorboard_plugin_dlprof.queries.group_tree import DEFAULT_LIMIT, MAX_LIMIT, group_tree
from tensorboard_plugin_dlprof.queries.iteration_bins import DEFAULT_BINS, MAX_BINS, iteration_bars
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.throughput import MOST_PER_ITERATION, Given
from tensorboard_plugin_dlprof.queries.throughput import throughput as all_throughput
from tensorboard_plugin_dlprof.routes.requests import LARGEST_ITERATION, Parameters


def groups(connection: sqlite3.Connection, scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./groups``."""
    limit = parameters.integer("limit", DEFAULT_LIMIT, 1, MAX_LIMIT) or DEFAULT_LIMIT
    return group_tree(connection, scope, parameters.text("group"), limit)


def throughput(connection: sqlite3.Connection, scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./throughput``."""
    given = (parameters.integer(name, None, 1, MOST_PER_ITERATION) for name in ("samples", "tokens"))
    return all_throughput(connection, scope, Given(*given))


def findings(connection: sqlite3.Connection, scope: Scope, _parameters: Parameters) -> Any:
    """The body of ``./findings``."""
    return all_findings(connection, scope)


NO_DIAGNOSIS: Mapping[str, Any] = MappingProxyType(
    {
        "schema": "dlprof-diagnosis-1",
        "format": "",
        "marked": False,
        "clock": {"unit": "ns", "base_ns": "0"},
        "devices": [],
        "lead_in": {},
        "typical": {"start": 0, "stop": -1, "left_out": [], "why": [], "said": "", "labels": []},
        "iterations": [],
        "mean": {"iterations": 0, "chosen": [], "wall_ns": 0, "devices": {}},
        "lower_bound": [],
        "host_bound": False,
        "headline": "",
        "findings": [],
    }
)
"""The body of ``./diagnosis`` if it could not be worked out."""


def efficiency(connection: sqlite3.Connection, scope: Scope, _parameters: Parameters) -> Any:
    """The body of ``./efficiency``."""
    return efficiency_summary(connection, scope)


def iterations(connection: sqlite3.Connection, scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./iterations``."""
    return iteration_bars(
        connection,
        scope,
        parameters.integer("from", None, -LARGEST_ITERATION, LARGEST_ITERATION),
        parameters.integer("to", None, -LARGEST_ITERATION, LARGEST_ITERATION),
        parameters.integer("bins", DEFAULT_BINS, 1, MAX_BINS) or DEFAULT_BINS,
    )
