"""Every table that can be asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.efficiency_table import efficiency_table
from tensorboard_plugin_dlprof.queries.gpus import gpus
from tensorboard_plugin_dlprof.queries.groups import KERNELS_OF_GROUP
from tensorboard_plugin_dlprof.queries.iteration_tables import (
    ITERATIONS,
    kernels_of_iteration,
    kernels_of_iteration_op,
    ops_of_iteration,
)
from tensorboard_plugin_dlprof.queries.kernels import kernels_of_op
from tensorboard_plugin_dlprof.queries.op_types import OP_TYPES
from tensorboard_plugin_dlprof.queries.reasons import groups, ops, ops_of_group
from tensorboard_plugin_dlprof.queries.table import Table

TABLES: Mapping[str, Callable[[bool], Table]] = MappingProxyType(
    {
        "ops": ops,
        "kernels_of_op": kernels_of_op,
        "op_types": lambda _extended: OP_TYPES,
        "groups": groups,
        "ops_of_group": ops_of_group,
        "kernels_of_group": lambda _extended: KERNELS_OF_GROUP,
        "iterations": lambda _extended: ITERATIONS,
        "kernels_of_iteration": kernels_of_iteration,
        "ops_of_iteration": ops_of_iteration,
        "kernels_of_iteration_op": kernels_of_iteration_op,
        "gpus": gpus,
        "efficiency": efficiency_table,
    }
)
"""Name -> the table, given whether the database has our own tables."""


def find_table(name: str, extended: bool) -> Table:
    """The table of this name.

    Raises:
        NotFound: there is none.
    """
    make = TABLES.get(name)
    if make is None:
        raise NotFound(f"There is no table {name[:40]!r}; there are {', '.join(TABLES)}.")
    return make(extended)
