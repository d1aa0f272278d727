"""What must hold in every database, as questions in SQL: each counts the rows that break a rule.

The texts are ours; they run on the hardened connection of ``database.connection``.
"""

from __future__ import annotations

import msgspec

_PARTS = "tensor_core_ns + other_kernel_ns + memory_ns + data_loader_ns + io_ns + cpu_ns + other_ns"
_SHARES = " + ".join(f"{part}_duration_pct" for part in ("tc", "non_tc", "memory", "dataloader", "io", "cpu", "other"))


class Invariant(msgspec.Struct, frozen=True):
    """A rule, and the query that counts what breaks it."""

    rule: str
    broken: str
    ours: bool = False
    """It is about our own tables."""


def _not_between_0_and_100(table: str, column: str) -> str:
    return f"SELECT count(*) FROM {table} WHERE {column} < 0 OR {column} > 100.000001"


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
        "SELECT count(*) FROM ext_aggregations AS whole WHERE (SELECT count(*) FROM kernel_iteration_node AS node "
        "WHERE node.aggr_id = whole.aggr_id) + outside_kernels <> (SELECT count(*) FROM read_only_kernels)",
        ours=True,
    ),
    Invariant(
        "Every copy and set is in an iteration or counted as outside",
        "SELECT count(*) FROM ext_aggregations WHERE memory_launches + outside_memory_ops <> "
        "(SELECT count(*) FROM read_only_memcpys) + (SELECT count(*) FROM read_only_memsets)",
        ours=True,
    ),
    Invariant(
        "Every call of an op is in an iteration or counted as outside",
        "SELECT count(*) FROM ext_aggregations AS whole WHERE (SELECT coalesce(sum(num_calls), 0) FROM op_nodes AS op "
        "WHERE op.aggr_id = whole.aggr_id) + outside_instances <> (SELECT count(*) FROM read_only_op_instances)",
        ours=True,
    ),
    Invariant(
        "Kernels by op are all aggregated kernels",
        "SELECT count(*) FROM ext_aggregations AS whole WHERE kernel_launches <> "
        "(SELECT coalesce(sum(kernel_calls), 0) FROM op_nodes AS op WHERE op.aggr_id = whole.aggr_id)",
        ours=True,
    ),
    Invariant(
        "Every kernel has its further facts",
        "SELECT (SELECT count(*) FROM ext_kernels WHERE launch_id NOT IN (SELECT id FROM ext_launches)) + "
        "(SELECT count(*) FROM ext_kernels WHERE kernel_id NOT IN (SELECT id FROM read_only_kernels)) + "
        "(SELECT coalesce(min(id), 0) <> 0 FROM read_only_kernels "
        "WHERE id < (SELECT coalesce(min(kernel_id), 1 << 62) FROM ext_kernels))",
        ours=True,
    ),
)
