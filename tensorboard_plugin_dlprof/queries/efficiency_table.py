"""The table of ops ordered by possible gain, with their work, rates, bounds and causes."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.kernels import ACHIEVED_OCCUPANCY, OCCUPANCY, TAIL, WAVES
from tensorboard_plugin_dlprof.queries.ops import OPS
from tensorboard_plugin_dlprof.queries.reasons import CAUSE, DIMENSION, ELIGIBILITY
from tensorboard_plugin_dlprof.queries.table import Column, Table

_OP = {column.key: column for column in OPS.columns}


def _of_peak(rate: str, peak: str) -> str:
    """A rate as share of the published peak, at most 1: a GPU may clock above the boost clock of its publication."""
    return f"min({rate} / {peak}, 1.0)"


_FLOPS_RATE = "rate.flops * 1e9 / nullif(rate.measured_ns, 0)"
_BYTES_RATE = "rate.min_bytes * 1e9 / nullif(rate.measured_ns, 0)"

EFFICIENCY = Table(
    name="efficiency",
    key="op_id",
    base=OPS.base,
    row_id=OPS.row_id,
    where=f"{OPS.where} AND EXISTS (SELECT 1 FROM ext_op_efficiency AS known "
    "WHERE known.aggr_id = node.aggr_id AND known.read_only_ops_id = op.id AND known.kernel_ns > 0)",
    default_sort="-gain_ns",
    default_then="kernel_ns",
    joins=OPS.joins,
    columns=(
        _OP["name"],
        _OP["gain_ns"],
        _OP["unrated_time_ns"],
        Column("kernel_ns", "Kernel Time", "duration_ns", "Sum of the durations of the op's kernels.",
               "rate.kernel_ns"),
        _OP["op_id"],
        msgspec.structs.replace(_OP["direction"], tier=1),
        _OP["op_type"],
        Column("family", "Kind", "text", "What most of its work is: gemm, convolution, attention, ...",
               "nullif(rate.family, '')", nullable=True, tier=1),
        _OP["tensor_core_fraction"],
        Column("precision", "Precision", "text", "Precision in which its kernels compute.",
               "nullif(rate.precision, '')", nullable=True),
        msgspec.structs.replace(_OP["bound"], tier=1),
        Column("eligibility", "Eligibility", "text",
               "Whether the op could use Tensor Cores: eligible, not eligible, or unknown where nothing tells.",
               ELIGIBILITY, tier=1),
        Column("matrix_unit", "Mostly on TC", "boolean",
               "Whether most time of its kernels that multiply matrices is on Tensor Cores.",
               "CASE rate.matrix_unit WHEN 1 THEN 1 WHEN 0 THEN 0 END", nullable=True),
        CAUSE,
        msgspec.structs.replace(DIMENSION, tier=1),
        Column("size", "Size", "text",
               "Lengths of its largest matrix multiplication: M, N and K; channels, filter and images; heads and "
               "sequences.", "nullif(rate.size, '')", nullable=True, tier=1),
        Column("flops", "FLOPs", "number",
               "Floating-point operations of all its calls; approximate unless it multiplies matrices.", "rate.flops",
               nullable=True),
        Column("min_bytes", "Minimum Bytes", "bytes",
               "Bytes moved if every input is read once and every output is written once.", "rate.min_bytes",
               nullable=True),
        Column("flops_per_second", "FLOP/s", "number", "FLOPs over kernel time.", _FLOPS_RATE, nullable=True),
        Column("bytes_per_second", "Bytes/s", "number", "Minimum bytes over kernel time.", _BYTES_RATE, nullable=True),
        Column("peak_fraction", "Of Peak FLOP/s", "fraction",
               "Share of the GPU's published rate: that of matrix units for its precision if the op uses them, else "
               "that of its ordinary units for the accumulator's type, which is FP32 for 16-bit tensors too, except "
               "in kernels such as hgemm.", _of_peak(_FLOPS_RATE, "rate.peak_flops_per_second"), nullable=True),
        Column("memory_fraction", "Of Peak Bandwidth", "fraction", "Share of the GPU's published memory bandwidth.",
               _of_peak(_BYTES_RATE, "rate.peak_bytes_per_second"), nullable=True),
        Column("intensity", "FLOPs per Byte", "number", "Operations for each byte that must be moved.",
               "rate.flops * 1.0 / nullif(rate.min_bytes, 0)", nullable=True, tier=1),
        *(msgspec.structs.replace(column, tier=1) for column in (OCCUPANCY, ACHIEVED_OCCUPANCY, WAVES, TAIL)),
        _OP["calls"],
        _OP["kernel_calls"],
        _OP["data_type"],
        _OP["input_shapes"],
        _OP["stack_trace"],
    ),
)  # fmt: skip
