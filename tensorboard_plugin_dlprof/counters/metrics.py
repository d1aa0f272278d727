"""Interprets Nsight Compute's metrics of a launch.

Names as in the Kernel Profiling Guide of Nsight Compute (Metrics Reference; Metrics Structure).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit

ALL_TENSOR: Final = re.compile(
    r"(?:sm|smsp)__(?:inst_executed_pipe_tensor|pipe_tensor_cycles_active|inst_executed_pipe_tensor_op)"
    r"\.(?:sum|avg|max)[\w.]*\Z"
)
"""Counters of every instruction of the Tensor Cores: zero proves that there was none."""

SOME_TENSOR: Final = re.compile(
    r"(?:sm|smsp)__(?:inst_executed_pipe_tensor_\w+|pipe_tensor_(?!cycles_active)\w+_cycles_active|ops_path_tensor_\w+"
    r"|sass_inst_executed_op_\w*mma\w*|inst_executed_pipe_uniform_tensor\w*)\.(?:sum|avg|max)[\w.]*\Z"
)
"""Counters of some of them: more than zero proves use, zero proves nothing alone."""

_OPERATION: Final = re.compile(r"tensor_op_(\w+?)(?:_cycles_active)?\.")
_COMPLETE: Final[dict[int, frozenset[str]]] = {
    7: frozenset(("hmma", "imma")),
    8: frozenset(("hmma", "imma", "dmma")),
}
"""By major capability: the parts that make up the whole. Volta and Turing have no others; Ampere has FP64."""

OCCUPANCY: Final = ("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy")
DRAM: Final = ("dram__bytes.sum",)
DRAM_PARTS: Final = ("dram__bytes_read.sum", "dram__bytes_write.sum")

_BYTES: Final = re.compile(r"([KMGT]?)(i?)(?:byte|B)s?\Z", re.IGNORECASE)
_PREFIXES: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def is_wanted(metric: str) -> bool:
    """Whether the metric is used."""
    return (
        metric in OCCUPANCY
        or metric in DRAM
        or metric in DRAM_PARTS
        or metric.startswith(("launch__grid_dim_", "launch__block_dim_"))
        or bool(ALL_TENSOR.match(metric) or SOME_TENSOR.match(metric))
    )


def proof(values: Mapping[str, float], capability_major: int) -> tuple[MatrixUnit, str]:
    """What the counters of one launch prove, and which counter does; ``UNKNOWN`` if they prove nothing."""
    for metric, value in values.items():
        if value > 0 and (ALL_TENSOR.match(metric) or SOME_TENSOR.match(metric)):
            return MatrixUnit.YES, metric
    whole = next((metric for metric in values if ALL_TENSOR.match(metric)), "")
    if whole:
        return MatrixUnit.NO, whole
    parts = {match[1]: metric for metric in values if (match := _OPERATION.search(metric))}
    needed = _COMPLETE.get(capability_major)
    if needed and needed <= parts.keys():
        return MatrixUnit.NO, parts["hmma"]
    return MatrixUnit.UNKNOWN, ""


def has_tensor_counter(values: Mapping[str, float]) -> bool:
    """Whether any counter of the Tensor Cores was measured."""
    return any(ALL_TENSOR.match(metric) or SOME_TENSOR.match(metric) for metric in values)


def occupancy(values: Mapping[str, float]) -> float | None:
    """Achieved occupancy as a fraction."""
    percent = next((values[metric] for metric in OCCUPANCY if metric in values), None)
    return None if percent is None or not 0 <= percent <= 100 else percent / 100


def dram_bytes(values: Mapping[str, float]) -> int | None:
    """Bytes read from and written to device memory."""
    total = next((values[metric] for metric in DRAM if metric in values), None)
    if total is None and all(metric in values for metric in DRAM_PARTS):
        total = sum(values[metric] for metric in DRAM_PARTS)
    return None if total is None or total < 0 else round(total)


def scaled(value: float, unit: str) -> float:
    """The value in bytes where the unit is one of bytes; Nsight Compute scales them to be read."""
    match = _BYTES.match(unit.strip())
    if not match:
        return value
    return value * float((1024 if match[2] else 1000) ** _PREFIXES[match[1].upper()])
