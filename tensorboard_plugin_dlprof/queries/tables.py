"""Every table that can be asked for by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.efficiency_table import efficiency_table
from tensorboard_plugin_dlprof.queries.extension import is_extended, is_measured
from tensorboard_plugin_dlprof.queries.gpus import gpus
from tensorboard_plugin_dlprof.queries.groups import KERNELS_OF_GROUP
from tensorboard_plugin_dlprof.queries.iteration_list import iterations
from tensorboard_plugin_dlprof.queries.iteration_tables import (
    kernels_of_iteration,
    kernels_of_iteration_op,
    ops_of_iteration,
)
from tensorboard_plugin_dlprof.queries.kernels import kernels_of_op
from tensorboard_plugin_dlprof.queries.op_types import OP_TYPES
from tensorboard_plugin_dlprof.queries.ops import of_ours
from tensorboard_plugin_dlprof.queries.reasons import groups, ops, ops_of_group
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.whole_graphs import has_whole_graphs


def _of_ops(make: Callable[[bool], Table]) -> Callable[[bool], Table]:
    return lambda extended: of_ours(make(extended)) if extended else make(extended)


TABLES: Mapping[str, Callable[[bool], Table]] = MappingProxyType(
    {
        "ops": _of_ops(ops),
        "kernels_of_op": kernels_of_op,
        "op_types": lambda _extended: OP_TYPES,
        "groups": groups,
        "ops_of_group": _of_ops(ops_of_group),
        "kernels_of_group": lambda _extended: KERNELS_OF_GROUP,
        "iterations": iterations,
        "kernels_of_iteration": kernels_of_iteration,
        "ops_of_iteration": ops_of_iteration,
        "kernels_of_iteration_op": kernels_of_iteration_op,
        "gpus": gpus,
        "efficiency": _of_ops(efficiency_table),
    }
)
"""Name -> the table, given whether the database has our own tables."""

_MEASURED = {"ops": ops, "ops_of_group": ops_of_group, "groups": groups, "efficiency": efficiency_table}
"""Those that tell the efficiency of ops, from the tables of that alone."""


@cache
def find_table(name: str, extended: bool, measured: bool = False, graphs: bool = False) -> Table:
    """The table of this name.

    Args:
        name: of ``TABLES``.
        extended: the database has our own tables.
        measured: it has not, but the efficiency of its ops was worked out.
        graphs: it holds CUDA graphs that were recorded as a whole.

    Raises:
        NotFound: there is none.
    """
    make = TABLES.get(name)
    if make is None:
        raise NotFound(f"There is no table {name[:40]!r}; there are {', '.join(TABLES)}.")
    if measured and not extended and name in _MEASURED:
        return _MEASURED[name](True)
    return iterations(extended, graphs) if name == "iterations" else make(extended)


def table_of(connection: sqlite3.Connection, name: str) -> Table:
    """The table of this name, as this database can fill it.

    Raises:
        NotFound: there is none.
    """
    graphs = name == "iterations" and has_whole_graphs(connection)
    return find_table(name, is_extended(connection), is_measured(connection), graphs)
