"""Invariants of every database, as SQL queries that count the rows that violate them.

The queries run on the hardened connection of ``database.connection``.
"""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.unknown_kernels import MAY_USE

_PARTS = "tensor_core_ns + other_kernel_ns + memory_ns + data_loader_ns + io_ns + cpu_ns + other_ns"
_SHARES = " + ".join(f"{part}_duration_pct" for part in ("tc", "non_tc", "memory", "dataloader", "io", "cpu", "other"))


class Invariant(msgspec.Struct, frozen=True):
    """An invariant, as a sentence for users, and the query that counts the rows that violate it."""

    rule: str
    broken: str
    ours: bool = False
    """Whether the query reads our own tables."""


def _not_between_0_and_100(table: str, column: str) -> str:
    return f"SELECT count(*) FROM {table} WHERE {column} < 0 OR {column} > 100.000001"


def _outside(table: str, *conditions: str) -> str:
    return f"(SELECT count(*) FROM {table} WHERE {' OR '.join(conditions)})"


def _sums_differ(parts: str, *columns: tuple[str, str], where: str = "1") -> str:
    """A query for the number of aggregations that are not the sums of their parts.

    Args:
        parts: The table of the parts.
        columns: Pairs of a column of ``ext_aggregations`` and the column of ``parts`` that adds up to it.
        where: Condition for the aggregations to check.
    """
    sums = ", ".join(f"coalesce(sum(part.{of_part}), 0)" for _, of_part in columns)
    return (
        f"(SELECT count(*) FROM ext_aggregations AS whole WHERE {where} AND "
        f"({', '.join(f'whole.{of_whole}' for of_whole, _ in columns)}) <> "
        f"(SELECT {sums} FROM {parts} AS part WHERE part.aggr_id = whole.aggr_id))"
    )


_UNKNOWN_BEYOND_WHOLE = " + ".join(
    (
        _outside(
            "ext_aggregations",
            "unknown_part_ns NOT BETWEEN 0 AND other_kernel_ns",
            "unknown_launches NOT BETWEEN 0 AND kernel_launches - tensor_core_launches",
            "eligible_ops_unknown NOT BETWEEN 0 AND eligible_ops - eligible_ops_using",
            "eligible_unknown_ns NOT BETWEEN 0 AND eligible_kernel_ns - eligible_tensor_core_ns",
        ),
        _outside("ext_device_times", "unknown_part_ns NOT BETWEEN 0 AND other_kernel_ns"),
        _outside("ext_iteration_blocks", "unknown_part_ns NOT BETWEEN 0 AND other_kernel_ns"),
        _outside("ext_op_kernels", "unknown_ns NOT BETWEEN 0 AND kernel_ns - tc_kernel_ns"),
        _outside(
            "ext_iteration_unknown AS unknown JOIN iteration_aggregation_list AS part ON part.id = unknown.part_id "
            "LEFT JOIN kernel_iteration_stats AS kernels "
            "ON kernels.aggr_id = part.aggr_id AND kernels.iter_value = part.iter_value",
            "unknown_part_ns NOT BETWEEN 0 AND non_tc_duration",
            "unknown_kernels NOT BETWEEN 0 AND coalesce(total_count - uses_tc_count, 0)",
        ),
    )
)

_UNKNOWN_LOST = " + ".join(
    (
        _sums_differ("ext_op_kernels", ("unknown_launches", "unknown_kernels"), ("unknown_ns", "unknown_ns")),
        _sums_differ(
            "ext_iteration_unknown",
            ("unknown_launches", "unknown_kernels"),
            ("unknown_ns", "unknown_kernel_ns"),
            ("unknown_part_ns", "unknown_part_ns"),
            ("graph_launches", "graphs"),
        ),
        _sums_differ(
            "ext_iteration_blocks",
            ("unknown_part_ns", "unknown_part_ns"),
            where="whole.aggr_id IN (SELECT aggr_id FROM ext_iteration_blocks)",
        ),
        "(SELECT count(*) FROM ext_aggregations AS whole WHERE eligible_ops_unknown <> (SELECT count(*) "
        "FROM op_nodes AS op WHERE op.aggr_id = whole.aggr_id AND op.tc_eligible AND NOT op.using_tc AND "
        f"{MAY_USE.format(aggregation='op.aggr_id', op='op.read_only_ops_id')}))",
    )
)

INVARIANTS: tuple[Invariant, ...] = (
    *(
        Invariant(f"Every {column} of {table} is from 0 to 100 %", _not_between_0_and_100(table, column))
        for table, column in (
            ("model_summary", "gpu_utilization"),
            ("model_summary", "tc_utilization"),
            ("device_gpu_utilizations", "gpu_utilization"),
        )
    ),
    Invariant(
        "The shares of the wall time add up to 100 %",
        f"SELECT count(*) FROM model_summary WHERE wall_time > 0 AND abs({_SHARES} - 100) > 0.01",
    ),
    *(
        Invariant(f"No row of {table} ends before it starts", f"SELECT count(*) FROM {table} WHERE {stop} < {start}")
        for table, start, stop in (
            ("read_only_kernels", "gpu_start", "gpu_stop"),
            ("read_only_memcpys", "gpu_start", "gpu_stop"),
            ("read_only_memsets", "gpu_start", "gpu_stop"),
        )
    ),
    *(
        Invariant(
            f"Every {column} of {table} leads to a row of {target}",
            f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {target})",
        )
        for table, column, target in (
            ("model_summary", "aggr_id", "aggregations"),
            ("op_nodes", "aggr_id", "aggregations"),
            ("op_nodes", "read_only_ops_id", "read_only_ops"),
            ("op_nodes", "node_time_metrics_id", "node_time_metrics"),
            ("op_nodes", "kernel_time_metrics_id", "kernel_time_metrics"),
            ("kernel_summaries", "read_only_ops_id", "read_only_ops"),
            ("kernel_summaries", "kernel_name_id", "dictionary"),
        )
    ),
    Invariant(
        "The parts of the wall time add up",
        f"SELECT (SELECT count(*) FROM ext_aggregations WHERE {_PARTS} <> wall_ns) + "
        "(SELECT count(*) FROM ext_device_times AS device JOIN ext_aggregations AS whole "
        f"ON whole.aggr_id = device.aggr_id WHERE device.{_PARTS.replace(' + ', ' + device.')} <> whole.wall_ns)",
        ours=True,
    ),
    Invariant(
        "The GPU is not busy for longer than the wall time",
        "SELECT count(*) FROM ext_aggregations WHERE gpu_busy_ns < 0 OR gpu_busy_ns > wall_ns * max(1, devices_in_use)",
        ours=True,
    ),
    Invariant(
        "Every kernel is in an iteration or counted as outside",
        "SELECT count(*) FROM ext_aggregations AS whole WHERE (SELECT count(*) FROM iteration_kernels AS node "
        "WHERE node.aggr_id = whole.aggr_id) + outside_kernels <> (SELECT count(*) FROM kernels)",
        ours=True,
    ),
    Invariant(
        "Every copy and memset is in an iteration or counted as outside",
        "SELECT count(*) FROM ext_aggregations WHERE memory_launches + outside_memory_ops <> "
        "(SELECT count(*) FROM read_only_memcpys) + (SELECT count(*) FROM read_only_memsets)",
        ours=True,
    ),
    Invariant(
        "Every call of an op is in an iteration or counted as outside",
        "SELECT count(*) FROM ext_aggregations AS whole WHERE (SELECT coalesce(sum(num_calls), 0) FROM op_nodes AS op "
        "WHERE op.aggr_id = whole.aggr_id) + outside_instances <> (SELECT count(*) FROM op_calls)",
        ours=True,
    ),
    Invariant(
        "Kernels by op are all aggregated kernels",
        "SELECT count(*) FROM ext_aggregations AS whole WHERE kernel_launches <> "
        "(SELECT coalesce(sum(kernel_calls), 0) FROM op_nodes AS op WHERE op.aggr_id = whole.aggr_id)",
        ours=True,
    ),
    Invariant(
        "What is unknown of Tensor Cores is no more than what there is beside them",
        f"SELECT {_UNKNOWN_BEYOND_WHOLE}",
        ours=True,
    ),
    Invariant(
        "What is unknown of the whole is unknown of its ops and iterations",
        f"SELECT {_UNKNOWN_LOST}",
        ours=True,
    ),
    Invariant(
        "Every kernel has a launch, and every row of an iteration the launch of its kernel",
        "SELECT (SELECT count(*) FROM kernels WHERE launch_id NOT IN (SELECT id FROM launches)) + "
        "(SELECT count(*) FROM iteration_kernels AS node LEFT JOIN kernels AS kernel ON kernel.id = node.kernel_id "
        "WHERE node.launch_id IS NOT kernel.launch_id OR node.gpu_start_ns IS NOT kernel.gpu_start_ns "
        "OR node.gpu_time_ns IS NOT kernel.gpu_time_ns)",
        ours=True,
    ),
)
