"""The rule about programs that compile while they train: XLA compiles for each new shape, type or static value."""

from __future__ import annotations

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.naming import evidence_of, is_compiling
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Severity
from tensorboard_plugin_dlprof.diagnosis.answer import rows_of, working


def recompilation(signals: Signals) -> Finding | None:
    """The GPU waits for XLA in iterations after the first, in which it is expected.

    Iterations that compile are longer than the typical ones, and are left out of them: the time is that of all.
    """
    windows = range(1, len(signals.diagnosis.start_ns))
    if not windows:
        return None
    best = None
    for device in working(signals.diagnosis):
        slow = {}
        for window in windows:
            rows = [row for row in rows_of(signals.diagnosis, device, [window]) if is_compiling(row.cause)]
            if rows:
                slow[window] = rows
        time = sum(row.time_ns for rows in slow.values() for row in rows)
        if best is None or time > best[0]:
            best = time, device.device, slow
    wall = int(signals.diagnosis.wall_ns[1:].sum())
    if best is None or best[0] < thresholds.MIN_GAIN_FRACTION * wall:
        return None
    time, device_id, slow = best
    rows = sorted((row for rows in slow.values() for row in rows), key=lambda row: -row.time_ns)
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
        {"count": len(slow), "all": len(windows), "time_ns": time, "share_fraction": share},
        evidence_of(signals, rows, device_id),
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
