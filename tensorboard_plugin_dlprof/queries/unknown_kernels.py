"""Kernels whose Tensor Core use is unknown, and CUDA graphs that were recorded as a whole.

If there are any, numbers about Tensor Cores are lower bounds, and unknown instead of 0. NVIDIA's databases do not make
this distinction; their numbers are taken as complete.
"""

from __future__ import annotations

import sqlite3


def at_least(known: int | None, unknown: int | None) -> int | None:
    """``known`` as a lower bound; None if it is 0 but ``unknown``, by which it may be larger, is not."""
    return None if known == 0 and unknown else known


def at_least_sql(known: str, is_unknown: str) -> str:
    """``at_least`` as an SQL expression; ``is_unknown`` is the condition that the value may be larger."""
    return f"CASE WHEN {known} > 0 OR NOT ({is_unknown}) THEN {known} END"


def has_unknown_kernels(connection: sqlite3.Connection) -> bool:
    """Whether some aggregated iteration contains such kernels or graphs."""
    (result,) = connection.execute("SELECT EXISTS (SELECT 1 FROM ext_iteration_unknown)").fetchone()
    return bool(result)


def unknown_names(connection: sqlite3.Connection) -> frozenset[int]:
    """``dictionary.id`` of the long names of kernels whose Tensor Core use is unknown."""
    return frozenset(
        name for (name,) in connection.execute("SELECT name_id FROM ext_kernel_names WHERE matrix_unit = 2")
    )


OF_ITERATION = "LEFT JOIN ext_iteration_unknown AS unknown ON unknown.part_id = part.id"
"""Join to ``iteration_aggregation_list AS part``; has no row for iterations without unknown use."""

UNKNOWN_PART = "coalesce(unknown.unknown_part_ns, 0)"
"""The part of DLProf's ``non_tc_duration`` that may be on Tensor Cores; needs ``OF_ITERATION``."""

MAY_USE = (
    "(EXISTS (SELECT 1 FROM ext_op_kernels AS of_op WHERE of_op.aggr_id = {aggregation} "
    "AND of_op.read_only_ops_id = {op} AND of_op.unknown_kernels > 0) "
    "OR {op} IN (SELECT read_only_ops_id FROM ext_graph_launches))"
)
"""Condition that the Tensor Core use of some of an op's work is unknown."""
