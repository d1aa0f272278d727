"""Finds tables by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import cache

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.efficiency_table import EFFICIENCY
from tensorboard_plugin_dlprof.queries.gaps import GAP_GROUPS, GAPS
from tensorboard_plugin_dlprof.queries.gpus import GPUS
from tensorboard_plugin_dlprof.queries.groups import GROUPS, KERNELS_OF_GROUP, OPS_OF_GROUP
from tensorboard_plugin_dlprof.queries.iteration_tables import (
    ITERATIONS,
    KERNEL_NAMES_OF_ITERATION,
    KERNELS_OF_DOMAIN,
    KERNELS_OF_ITERATION,
    KERNELS_OF_ITERATION_OP,
    OP_PATHS_OF_ITERATION,
    OPS_OF_ITERATION,
    iterations,
)
from tensorboard_plugin_dlprof.queries.kernels import KERNELS_OF_OP
from tensorboard_plugin_dlprof.queries.memory_groups import MEMORY_BLOCK_GROUPS
from tensorboard_plugin_dlprof.queries.memory_table import MEMORY_BLOCKS
from tensorboard_plugin_dlprof.queries.op_groups import OP_NAMES, OP_PATHS, kernels_of_members, launchers, members
from tensorboard_plugin_dlprof.queries.ops import OP_TYPES, OPS
from tensorboard_plugin_dlprof.queries.resources import unrecorded_resources
from tensorboard_plugin_dlprof.queries.table import Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import has_unknown_kernels

TABLES: Mapping[str, Table] = {
    "ops": OPS,
    "kernels_of_op": KERNELS_OF_OP,
    "op_paths": OP_PATHS,
    "op_names": OP_NAMES,
    **members(OPS),
    "ops_of_kernel": launchers(OPS),
    "op_types": OP_TYPES,
    "groups": GROUPS,
    "ops_of_group": OPS_OF_GROUP,
    "kernels_of_group": KERNELS_OF_GROUP,
    **kernels_of_members(),
    "iterations": ITERATIONS,
    "kernels_of_iteration": KERNELS_OF_ITERATION,
    "ops_of_iteration": OPS_OF_ITERATION,
    "op_paths_of_iteration": OP_PATHS_OF_ITERATION,
    "kernel_names_of_iteration": KERNEL_NAMES_OF_ITERATION,
    "kernels_of_iteration_op": KERNELS_OF_ITERATION_OP,
    "gpus": GPUS,
    "efficiency": EFFICIENCY,
    "memory_blocks": MEMORY_BLOCKS,
    "memory_block_groups": MEMORY_BLOCK_GROUPS,
    "gaps": GAPS,
    "gap_groups": GAP_GROUPS,
}
"""The tables by name."""

_iterations = cache(iterations)


def find_table(name: str) -> Table:
    """The table with this name.

    Raises:
        NotFound: there is no such table.
    """
    if name not in TABLES:
        raise NotFound(f"There is no table {name[:40]!r}; there are {', '.join(TABLES)}.")
    return TABLES[name]


def table_of(connection: sqlite3.Connection, name: str) -> Table:
    """The table with this name, with the columns that this database can fill.

    Raises:
        NotFound: there is no such table.
    """
    if name == "kernels_of_iteration":
        (domains,) = connection.execute("SELECT count(*) FROM read_only_domains").fetchone()
        return KERNELS_OF_DOMAIN if domains > 1 else KERNELS_OF_ITERATION
    if name != "iterations":
        return find_table(name)
    return _iterations(has_unknown_kernels(connection), unrecorded_resources(connection))
