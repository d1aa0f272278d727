"""Reads samples of Tensor Core use, as recorded by ``nsys profile --gpu-metrics-devices``.

``TARGET_INFO_GPU_METRICS`` names the metrics of each type of event; the lowest byte of a type is the GPU's id.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.events.tables import TensorSamples
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Export

_TENSOR_ACTIVE: Final = re.compile(r"Tensor Active(?: \[|\Z)")
"""Does not match ``Tensor Active / FP16 Active``, in which Turing counts its FP16 units with its Tensor Cores."""

_GPU: Final = 0xFF


def read_tensor_samples(export: Export) -> TensorSamples:
    """The samples ordered by device and time; empty if the export has none."""
    metrics = [
        (kind, metric)
        for row in export.rows("TARGET_INFO_GPU_METRICS", ("typeId", "metricId", "metricName"))
        if isinstance(row["metricName"], str) and _TENSOR_ACTIVE.match(row["metricName"])
        if isinstance(kind := row["typeId"], int) and isinstance(metric := row["metricId"], int)
    ]
    where = " OR ".join(f'("typeId" = {kind} AND "metricId" = {metric})' for kind, metric in metrics) or "NULL"
    needed = ("timestamp", "typeId", "metricId", "value")
    samples = GrowingTable(export.store)
    for batch in export.batches("GPU_METRICS", needed, needed=needed, doing="Reading GPU metrics", where=where):
        rows = batch.only((batch["timestamp"] != NO_TIME) & (batch["value"] >= 0) & (batch["value"] <= 100))
        samples.add(
            device=(rows["typeId"] & _GPU).astype(np.int32), time_ns=rows["timestamp"], active_percent=rows["value"]
        )
    table = samples.table(TensorSamples)
    order = np.lexsort((table.time_ns, table.device))
    return TensorSamples(table.device[order], table.time_ns[order], table.active_percent[order])
