"""Finds tables by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.efficiency_table import efficiency_table
from tensorboard_plugin_dlprof.queries.extension import is_extended, is_measured
from tensorboard_plugin_dlprof.queries.gaps import GAP_GROUPS, GAPS
from tensorboard_plugin_dlprof.queries.gpus import gpus
from tensorboard_plugin_dlprof.queries.groups import kernels_of_group, with_unknown
from tensorboard_plugin_dlprof.queries.iteration_list import iterations
from tensorboard_plugin_dlprof.queries.iteration_tables import (
    kernels_of_iteration,
    kernels_of_iteration_op,
    ops_of_iteration,
)
from tensorboard_plugin_dlprof.queries.kernels import kernels_of_op
from tensorboard_plugin_dlprof.queries.memory_table import memory_blocks
from tensorboard_plugin_dlprof.queries.op_groups import members, op_names, op_paths
from tensorboard_plugin_dlprof.queries.op_types import OP_TYPES
from tensorboard_plugin_dlprof.queries.ops import of_ours
from tensorboard_plugin_dlprof.queries.reasons import groups, ops, ops_of_group
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import has_unknown_kernels
from tensorboard_plugin_dlprof.queries.unrecorded import unrecorded_resources


def _of_ops(make: Callable[[bool], Table]) -> Callable[[bool], Table]:
    return lambda extended: of_ours(make(extended)) if extended else make(extended)


def _members(name: str) -> Callable[[bool], Table]:
    return lambda extended: members(name, TABLES["ops"](extended))


def _groups(extended: bool) -> Table:
    return with_unknown(groups(True)) if extended else groups(False)


TABLES: Mapping[str, Callable[[bool], Table]] = MappingProxyType(
    {
        "ops": _of_ops(ops),
        "kernels_of_op": kernels_of_op,
        "op_paths": op_paths,
        "op_names": op_names,
        "ops_of_path": _members("ops_of_path"),
        "ops_of_name": _members("ops_of_name"),
        "ops_of_type": _members("ops_of_type"),
        "op_types": lambda _extended: OP_TYPES,
        "groups": _groups,
        "ops_of_group": _of_ops(ops_of_group),
        "kernels_of_group": kernels_of_group,
        "iterations": iterations,
        "kernels_of_iteration": kernels_of_iteration,
        "ops_of_iteration": ops_of_iteration,
        "kernels_of_iteration_op": kernels_of_iteration_op,
        "gpus": gpus,
        "efficiency": _of_ops(efficiency_table),
        "memory_blocks": memory_blocks,
        "gaps": lambda _extended: GAPS,
        "gap_groups": lambda _extended: GAP_GROUPS,
    }
)
"""Name -> function that returns the table, given whether the database has our own tables."""

_MEASURED = {"ops": ops, "ops_of_group": ops_of_group, "groups": groups, "efficiency": efficiency_table}
"""The tables that need only the efficiency of ops, not all of our own tables."""


@cache
def find_table(
    name: str,
    extended: bool,
    measured: bool = False,
    unknown: bool = False,
    unrecorded: frozenset[str] = frozenset(),
) -> Table:
    """The table with this name.

    Args:
        name: one of ``TABLES``.
        extended: whether the database has our own tables.
        measured: whether it has only the efficiency of ops, from the separate file.
        unknown: whether some kernels may use Tensor Cores, or there are CUDA graphs recorded as a whole.
        unrecorded: parts of the wall time that the recording could not contain.

    Raises:
        NotFound: there is no such table.
    """
    make = TABLES.get(name)
    if make is None:
        raise NotFound(f"There is no table {name[:40]!r}; there are {', '.join(TABLES)}.")
    if measured and not extended and name in _MEASURED:
        return _MEASURED[name](True)
    return iterations(extended, unknown, unrecorded) if name == "iterations" else make(extended)


def table_of(connection: sqlite3.Connection, name: str) -> Table:
    """The table with this name, with the columns that this database can fill.

    Raises:
        NotFound: there is no such table.
    """
    extended, measured = is_extended(connection), is_measured(connection)
    if name != "iterations":
        return find_table(name, extended, measured)
    return find_table(name, extended, measured, has_unknown_kernels(connection), unrecorded_resources(connection))
