"""A rule about one process that drives several GPUs."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Lacks, Severity
from tensorboard_plugin_dlprof.expressions import Expression

_PARALLEL = Expression(r"(?<!Distributed)DataParallel|parallel_apply|\breplicate\b")


def data_parallel(signals: Signals) -> Finding | Lacks | None:
    """One process that drives several GPUs with DataParallel."""
    if signals.devices < 2:
        return None
    result = signals.ops_where(_PARALLEL) | signals.ops_where(_PARALLEL, of="stack_trace")
    if not result.any():
        return None
    shown = np.flatnonzero(result & signals.has_page)[: thresholds.EVIDENCE_ROWS]
    return Finding(
        "data_parallel_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "parallel",
        "One process drives {devices} GPUs by DataParallel, which copies the model and the batch in every step and "
        "launches for all of them from one interpreter.",
        "Use DistributedDataParallel with one process for each GPU (torchrun).",
        {"devices": signals.devices},
        tuple(Evidence("op", signals.profile.ops[row].op_id) for row in shown.tolist()),
        None,
        "https://pytorch.org/docs/stable/notes/ddp.html",
    )
