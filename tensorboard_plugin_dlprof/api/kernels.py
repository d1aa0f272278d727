"""The table of kernel launches: of an aggregation, an op or an iteration."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.iteration_tables import KERNELS_OF_ITERATION, OF_DOMAIN
from tensorboard_plugin_dlprof.queries.table import Column, Table

_ITERATION = Column("iteration", "Iteration", "integer", "Number of the iteration.", "node.iteration")


def kernel_launches(of_op: bool, of_iteration: bool) -> Table:
    """The definition of the table, which takes the links ``op`` (id or name) and ``iteration`` if asked for.

    Rows are unique by iteration and position, so read them with ``pages.all_rows``.

    Args:
        of_op: Whether the launches of one op are wanted.
        of_iteration: Whether the launches of one iteration are wanted.
    """
    where, links = [f"node.aggr_id = :aggregation AND {OF_DOMAIN}"], []
    if of_op:
        where.append("node.read_only_ops_id IN (SELECT id FROM read_only_ops WHERE op_id = :op OR op_name = :op)")
        links.append("op")
    if of_iteration:
        where.append("node.iteration = :iteration")
        links.append("iteration")
    return msgspec.structs.replace(
        KERNELS_OF_ITERATION,
        name="kernels",
        where=" AND ".join(where),
        links=tuple(links),
        columns=(_ITERATION, *KERNELS_OF_ITERATION.columns),
        default_sort="iteration",
    )
