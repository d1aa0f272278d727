"""Reads samples of Tensor Core use, as recorded by ``nsys profile --gpu-metrics-devices``.

``TARGET_INFO_GPU_METRICS`` names the metrics of each type of event; the lowest byte of a type is the GPU's id.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import TensorSamples
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Column, Export

_TENSOR_ACTIVE: Final = re.compile(r"Tensor Active(?: \[|\Z)")
"""Does not match ``Tensor Active / FP16 Active``, in which Turing counts its FP16 units with its Tensor Cores."""

_GPU: Final = 0xFF


def read_tensor_samples(export: Export) -> TensorSamples:
    """The samples ordered by device and time; empty if the export has none."""
    table = export.table("GPU_METRICS", ("timestamp", "typeId", "metricId", "value"))
    metrics = [
        (kind, metric)
        for row in export.rows("TARGET_INFO_GPU_METRICS", ("typeId", "metricId", "metricName"))
        if isinstance(row["metricName"], str) and _TENSOR_ACTIVE.match(row["metricName"])
        if isinstance(kind := row["typeId"], int) and isinstance(metric := row["metricId"], int)
    ]
    if table is None or not metrics:
        return empty(TensorSamples)
    wanted = [Column("timestamp", NO_TIME), Column("typeId"), Column("value")]
    where = " OR ".join(f'("typeId" = {kind} AND "metricId" = {metric})' for kind, metric in metrics)
    batches = [
        batch.integers
        for batch in export.batches(table, wanted, doing="Reading GPU metrics", where=where)
        if batch.rows
    ]
    if not batches:
        return empty(TensorSamples)
    time, kind, value = (np.concatenate([batch[place] for batch in batches]) for place in range(len(wanted)))
    sound = (time != NO_TIME) & (value >= 0) & (value <= 100)
    order = np.lexsort((time, kind & _GPU))
    order = order[sound[order]]
    return TensorSamples((kind[order] & _GPU).astype(np.int32), time[order], value[order])
