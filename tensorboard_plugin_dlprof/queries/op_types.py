"""Ops summed by type: DLProf's "Op Type Summary"."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.ops import on_host, time_joins
from tensorboard_plugin_dlprof.queries.table import Column, Table

_TIMES = (
    ("cpu_time", "CPU Time", "time from the start to the end of an op on the host"),
    ("gpu_time", "GPU Time", "time during which work of an op ran on a GPU"),
    ("cpu_overhead", "CPU Overhead", "time of an op on the host outside of API calls"),
    ("gpu_idle", "GPU Idle", "gaps between the first and the last GPU work of an op"),
)

_STATISTICS = (
    ("", "sum", "Total", "Sum over all calls"),
    ("_average", "avg", "Avg.", "Mean over all calls"),
    ("_minimum", "min", "Min", "Smallest of all calls"),
    ("_maximum", "max", "Max", "Largest of all calls"),
)


def _time_columns() -> tuple[Column, ...]:
    """Total, mean, minimum and maximum of each time, in the order of DLProf's user guide."""
    columns = {
        (time, suffix): Column(
            f"{time}{suffix}_ns",
            f"{statistic} {label}",
            "duration_ns",
            f"{meaning}: {explanation}.",
            f"{time}.{field}",
            tier=1 if suffix else 0,
        )
        for time, label, explanation in _TIMES
        for suffix, field, statistic, meaning in _STATISTICS
    }
    return tuple(on_host(column) if time.startswith("cpu") else column for (time, _), column in columns.items())


OP_TYPES = Table(
    name="op_types",
    key="op_type",
    base="op_type_metrics AS type",
    row_id="type.id",
    where="type.aggr_id = :aggregation AND type.domain_id = :domain",
    default_sort="-gpu_time_ns",
    joins=("JOIN dictionary AS name ON name.id = type.op_node_type_id", *time_joins("type.op_type_metrics_id")),
    columns=(
        Column("op_type", "Op Type", "text", "What the ops do.", "name.string", text_id="type.op_node_type_id",
               searchable=True),
        Column("gpu_time_fraction", "Share", "fraction",
               "GPU time of the type over the sum of the GPU times of all ops.",
               "gpu_time.sum * 1.0 / nullif((SELECT all_ops.gpu_time FROM model_summary AS summary JOIN "
               "category_summary AS all_ops ON all_ops.id = summary.nodes_total_id WHERE summary.aggr_id = "
               "type.aggr_id AND summary.domain_id = type.domain_id), 0)", nullable=True),
        Column("ops", "No. Ops", "integer", "How many ops are of this type.", "type.num_nodes"),
        Column("calls", "No. Calls", "integer", "How often ops of this type were called.", "type.num_calls"),
        *_time_columns(),
    ),
)  # fmt: skip
