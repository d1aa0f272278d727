"""Writes aggregations into the tables of DLProf 1.8."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import alike
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Categories, Metrics, Part, TimeMetrics
from tensorboard_plugin_dlprof.analysis.tables import Feedback
from tensorboard_plugin_dlprof.columns.rows import insert_columns, insert_integers, insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.database.raw_rows import DOMAIN
from tensorboard_plugin_dlprof.database.texts import Dictionary
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import percent


class MetricTable:
    """Collects metrics, each distinct one once, numbered in the order of first use.

    Args:
        last: largest id in use; new ids follow it.
    """

    def __init__(self, last: int = 0) -> None:
        self._last = last
        self._known: dict[tuple[int, int, int, int], int] = {}

    def ids(self, *columns: Metrics) -> list[Int64s]:
        """The ids of the metrics of a table: one array per column. Ids are assigned row by row, as DLProf does."""
        count, high, low, total = (
            np.stack([getattr(column, field) for column in columns], axis=1).reshape(-1)
            for field in ("count", "max", "min", "sum")
        )
        number, first = alike(count, high, low, total)
        keys = zip(*(column[first].tolist() for column in (count, high, low, total)), strict=True)
        new = np.array([self._known.setdefault(key, self._last + len(self._known) + 1) for key in keys], np.int64)
        ids = new[number].reshape(-1, len(columns))
        return [ids[:, column] for column in range(len(columns))]

    def write(self, con: sqlite3.Connection) -> None:
        """Store all metrics that were collected."""
        insert_rows(
            con,
            "metric",
            ("id", "count", "max", "min", "sum", "avg"),
            (
                (number, count, high, low, total, round(total / count, 6) if count else 0.0)
                for (count, high, low, total), number in self._known.items()
            ),
        )


def time_columns(times: TimeMetrics) -> list[Metrics]:
    """The metrics in the order of the columns of ``node_time_metrics``."""
    return [times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle]


class Numbering(msgspec.Struct, frozen=True):
    """Ids that the rows of an aggregation refer to, and the last ids in use, after which new rows are numbered."""

    ops: Int64s
    """``read_only_ops.id`` of each row of ``Profile.ops``."""
    kernels: Int64s
    """``read_only_kernels.id`` of each row of ``Profile.kernels``."""
    gpus: Int64s
    """``read_only_gpu_infos.id`` of each row of ``Profile.devices``."""
    domain: int = DOMAIN
    """``read_only_domains.id``."""
    metrics: int = 0
    """Last id of ``metric``."""
    node_times: int = 0
    """Last id of ``node_time_metrics``."""
    kernel_times: int = 0
    """Last id of ``kernel_time_metrics``."""
    categories: int = 0
    """Last id of ``category_summary``."""


def fresh_numbering(profile: Profile) -> Numbering:
    """The numbering of a new database, where all ids start at 1."""
    ops, kernels, gpus = (
        np.arange(1, count + 1) for count in (len(profile.ops), len(profile.kernels.op), len(profile.devices))
    )
    return Numbering(ops, kernels, gpus)


def write_feedback(con: sqlite3.Connection, aggr_id: int, feedback: Sequence[Feedback]) -> None:
    """Store what DLProf's detectors say about one aggregation."""
    insert_rows(
        con,
        "expert_systems_feedback",
        ("aggr_id", "exp_sys_id", "problem", "recommendation", "javascript_function", "javascript_args"),
        [(aggr_id, *map(storable, row)) for row in feedback],
    )


class AggregationWriter:
    """Writes an aggregation.

    Args:
        dictionary: assigns ids to texts; the caller stores it afterwards.
        text: ``dictionary.id`` of each id in ``Profile.strings`` that is the name of a kernel.
        numbering: of the rows that are in the database already.
    """

    def __init__(self, con: sqlite3.Connection, dictionary: Dictionary, text: Int64s, numbering: Numbering) -> None:
        self._con = con
        self._dictionary = dictionary
        self._text = text
        self._ids = numbering
        self._metrics = MetricTable(numbering.metrics)
        self._node_times = numbering.node_times
        self._kernel_times = numbering.kernel_times
        self._categories = numbering.categories

    def write(self, aggr_id: int, aggregation: Aggregation) -> None:
        """Store one aggregation, whose row in ``aggregations`` the caller has written."""
        same = {"aggr_id": aggr_id, "domain_id": self._ids.domain}
        self._write_iterations(aggr_id, aggregation)
        self._write_summary(same, aggregation)
        self._write_op_nodes(aggr_id, aggregation)
        self._write_groups(same, aggregation)
        self._write_kernels(same, aggregation)
        self._write_op_types(same, aggregation)
        self._metrics.write(self._con)

    def _write_iterations(self, aggr_id: int, aggregation: Aggregation) -> None:
        candidate, iterations = aggregation.candidate, aggregation.iterations
        key = self._dictionary.id(aggregation.key_op)
        insert_row(self._con, "iteration_key", {"aggr_id": aggr_id, "key_node_id": key})
        insert_integers(
            self._con,
            "iteration_list",
            {
                "aggr_id": aggr_id,
                "iter_value": candidate.values,
                "start_time": candidate.start_ns,
                "stop_time": candidate.stop_ns,
            },
        )
        parts = iterations.parts_ns
        busy, whole = parts[:, : Part.DATA_LOADER].sum(axis=1).tolist(), parts.sum(axis=1).tolist()
        insert_columns(
            self._con,
            "iteration_aggregation_list",
            {
                "aggr_id": aggr_id,
                "iter_value": iterations.iter_value.tolist(),
                "gpu_utilization": map(percent, busy, whole),
                **{f"{name}_duration": part.tolist() for name, part in zip(PART_NAMES, parts.T, strict=True)},
            },
        )
        insert_integers(
            self._con,
            "kernel_iteration_stats",
            {
                "aggr_id": aggr_id,
                "domain_id": self._ids.domain,
                "iter_value": iterations.iter_value,
                "total_count": iterations.kernels,
                "uses_tc_count": iterations.tc_kernels,
                "total_gpu_time": iterations.kernel_ns,
                "tc_gpu_time": iterations.tc_kernel_ns,
            },
        )

    def _write_summary(self, same: dict[str, int], aggregation: Aggregation) -> None:
        category = self._write_categories(aggregation.categories)
        iterations = aggregation.iterations
        duration = (iterations.stop_ns - iterations.start_ns).astype(np.float64)
        wall = aggregation.wall_ns
        summary = {
            **same,
            "is_custom_domain": 1,
            "wall_time": wall,
            "nodes_total_id": category["every_op"],
            "nodes_tc_eligible_id": category["eligible_ops"],
            "nodes_using_tc_id": category["using_ops"],
            "nodes_other_id": category["other_ops"],
            "gpu_utilization": aggregation.gpu_utilization,
            "tc_utilization": aggregation.efficiency.percent(),
            **{
                f"{name}_duration_pct": percent(part, wall)
                for name, part in zip(PART_NAMES, aggregation.parts_ns.tolist(), strict=True)
            },
            "avg_iteration_time": round(float(duration.mean()), 6),
            "iteration_time_std_dev": round(float(duration.std()), 6),
            "iter_total": len(aggregation.candidate.values),
            "iter_aggregated": len(duration),
            "iter_start": int(iterations.iter_value[0]),
            "iter_stop": int(iterations.iter_value[-1]),
            "key_node_id": self._dictionary.id(aggregation.key_op),
        }
        insert_row(self._con, "model_summary", summary)
        kernels = {
            "kernels_total_id": category["every_kernel"],
            "kernels_using_tc_id": category["using_kernels"],
            "kernels_non_tc_id": category["other_kernels"],
        }
        insert_row(self._con, "kernel_summary_metrics", {**same, **kernels})
        insert_row(self._con, "memory_summary_metrics", {**same, "memory_time_id": category["memory"]})
        # A foreign database may have kernels on GPUs that it does not list; these devices come last.
        used = [percent(busy, wall) for busy in aggregation.devices.busy_ns().tolist()]
        devices = {"gpu_info_id": self._ids.gpus.tolist(), "gpu_utilization": used}
        insert_columns(self._con, "device_gpu_utilizations", {**same, **devices})

    def _write_categories(self, categories: Categories) -> dict[str, int]:
        """Store the eight rows of ``category_summary``; returns the id of each by its field in ``Categories``."""
        ids = {}
        for name in Categories.__struct_fields__:
            self._categories += 1
            ids[name] = self._categories
            values = (ids[name], *msgspec.structs.astuple(getattr(categories, name)))
            columns = ("id", "cpu_time", "gpu_time", "cpu_overhead", "gpu_idle", "count")
            insert_row(self._con, "category_summary", dict(zip(columns, values, strict=True)))
        return ids

    def _write_op_nodes(self, aggr_id: int, aggregation: Aggregation) -> None:
        nodes = aggregation.op_nodes
        ids = self._metrics.ids(*time_columns(nodes.times), nodes.kernel_api, nodes.kernel_gpu)
        times = self._write_node_times(ids[:5])
        first = self._kernel_times + 1
        self._kernel_times += len(nodes.op)
        of_kernels = {"api_time_metric_id": ids[5], "gpu_time_metric_id": ids[6]}
        insert_integers(self._con, "kernel_time_metrics", of_kernels)
        insert_integers(
            self._con,
            "op_nodes",
            {
                "aggr_id": aggr_id,
                "read_only_ops_id": self._ids.ops[nodes.op],
                "node_time_metrics_id": times,
                "kernel_time_metrics_id": np.arange(first, first + len(nodes.op)),
                "num_calls": nodes.num_calls,
                "kernel_calls": nodes.kernel_calls,
                "tc_eligible": nodes.eligible.astype(np.int64),
                "using_tc": nodes.using_tensor_cores.astype(np.int64),
                "is_bad_data_type": nodes.bad_data_type.astype(np.int64),
            },
        )

    def _write_groups(self, same: dict[str, int], aggregation: Aggregation) -> None:
        groups = aggregation.group_ops
        insert_integers(
            self._con,
            "group_ops",
            {
                **same,
                "row_type": np.where(groups.is_group, 1, 2),
                "group_op_full_id_id": self._dictionary.ids(groups.full_id),
                "group_op_full_name_id": self._dictionary.ids(groups.full_name),
                "level": groups.level,
                "num_op_instances": groups.num_op_instances,
                "num_supported_leaf_ops": groups.num_supported_leaf_ops,
                "num_tc_leaf_ops": groups.num_tc_leaf_ops,
                "group_op_time_metrics_id": self._write_times(groups.times),
            },
        )

    def _write_kernels(self, same: dict[str, int], aggregation: Aggregation) -> None:
        summaries = aggregation.kernel_summaries
        api, gpu = self._metrics.ids(summaries.api, summaries.gpu)
        insert_integers(
            self._con,
            "kernel_summaries",
            {
                **same,
                "read_only_ops_id": self._ids.ops[summaries.op],
                "kernel_name_id": self._text[summaries.name],
                "api_time_metric_id": api,
                "gpu_time_metric_id": gpu,
                "uses_tc": summaries.uses_tensor_cores.astype(np.int64),
            },
        )

    def _write_op_types(self, same: dict[str, int], aggregation: Aggregation) -> None:
        types = aggregation.op_types
        insert_integers(
            self._con,
            "op_type_metrics",
            {
                **same,
                "op_node_type_id": self._dictionary.ids(types.op_type),
                "op_type_metrics_id": self._write_times(types.times),
                "num_nodes": types.num_nodes,
                "num_calls": types.num_calls,
            },
        )

    def _write_times(self, times: TimeMetrics) -> Int64s:
        return self._write_node_times(self._metrics.ids(*time_columns(times)))

    def _write_node_times(self, metric_ids: Sequence[Int64s]) -> Int64s:
        """Store rows of ``node_time_metrics``, given the metric ids of its five columns; returns the new ids."""
        rows = len(metric_ids[0])
        times = ("cpu_time", "gpu_time", "api_time", "cpu_overhead_time", "gpu_idle_time")
        columns = {f"{time}_metric_id": ids for time, ids in zip(times, metric_ids, strict=True)}
        insert_integers(self._con, "node_time_metrics", columns)
        first = self._node_times + 1
        self._node_times += rows
        return np.arange(first, first + rows)


PART_NAMES = ("tc", "non_tc", "memory", "dataloader", "io", "cpu", "other")
"""DLProf's names for the parts of the wall time, in the order of ``Part``."""
