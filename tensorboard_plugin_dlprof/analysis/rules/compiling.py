"""The rule about programs that compile while they train: XLA compiles for each new shape, type or static value."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.naming import evidence_of, is_compiling
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Severity
from tensorboard_plugin_dlprof.diagnosis.answer import rows_of, working
from tensorboard_plugin_dlprof.diagnosis.parts import Part


def recompilation(signals: Signals) -> Finding | None:
    """The GPU waits for XLA in iterations after the first, in which it is expected.

    Iterations that compile are longer than the typical ones, and are left out of them: the time is that of all.
    """
    diagnosis = signals.diagnosis
    others = len(diagnosis.start_ns) - 1
    devices = working(diagnosis)
    if others < 1 or not devices:
        return None
    is_wait = [cause.part >= Part.QUEUED and is_compiling(cause) for cause in diagnosis.causes]
    of_cause = [is_wait[cause] for cause in diagnosis.merged.tolist()]
    waited = [device.clipped.sums_ns(of_cause)[1:] for device in devices]
    most = max(range(len(devices)), key=lambda number: int(waited[number].sum()))
    time, wall = int(waited[most].sum()), int(diagnosis.wall_ns[1:].sum())
    if time < thresholds.MIN_GAIN_FRACTION * wall or not time:
        return None
    slow = (1 + np.flatnonzero(waited[most])).tolist()
    rows = [row for row in rows_of(diagnosis, devices[most], slow) if is_compiling(row.cause)]
    share = time / wall
    return Finding(
        "recompilation",
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        Confidence.HIGH,
        "recompilation",
        "XLA compiles in {count} of the {all} iterations after the first, while the GPU waits {time_ns} "
        "({share_fraction} of them).",
        signals.advice(
            "Let shapes stay the same: pad batches, or sort them into a few lengths.",
            tensorflow="Let shapes stay the same: pad batches, drop_remainder=True, input_signature of tf.function.",
            tensorrt="",
            jax="Let shapes, types and static arguments stay the same: pad batches or sort them into a few lengths, "
            'and make functions once, outside of the loop. jax.config.update("jax_explain_cache_misses", True) says '
            "what differed, jax_compilation_cache_dir keeps what was compiled for the next start.",
            cuda="",
        ),
        {"count": len(slow), "all": others, "time_ns": time, "share_fraction": share},
        evidence_of(signals, rows, devices[most].device),
        link=signals.advice(
            "",
            tensorflow="https://www.tensorflow.org/guide/function#controlling_retracing",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
            cuda="",
        ),
        cause="recompilation",
        part="host_code",
        time_ns=time,
        cannot_tell="how many of the compilations are needed",
        once=True,
    )
