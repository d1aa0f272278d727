"""The rule about time in which the GPU waits for the next launch."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.idle import WAITS_OF_TORCH
from tensorboard_plugin_dlprof.analysis.rules.missing import needs_no_sooner_launch, understates
from tensorboard_plugin_dlprof.analysis.rules.naming import NOTHING_RECORDED, is_nowhere, places_of
from tensorboard_plugin_dlprof.analysis.rules.start import is_cold_start
from tensorboard_plugin_dlprof.analysis.rules.waiting import finding_about, waiting
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks, Pool
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Row
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.places import place_of
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.units import short_duration

_TO_GPU: Final = 1
"""CUPTI's number of copies from the host to the GPU."""


def launching(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits for the next launch: many short kernels, or slow code between them."""
    diagnosis = signals.diagnosis
    if needs_no_sooner_launch(signals) or "graphs_whole" in diagnosis.lower_bound:
        return None
    if is_cold_start(signals, thresholds.ONLY_COLD_FRACTION):
        return None
    waits = waiting(signals, lambda cause: cause.part == Part.LAUNCHING or _launches_a_graph(signals, cause))
    calls_ns = 0 if waits is None else sum(row.time_ns for row in waits.rows if row.cause.part == Part.BLOCKED)
    if waits is not None and 0 < calls_ns < thresholds.GRAPH_CALLS_FRACTION * waits.time_ns:
        # So that it is the number of the bar, where no more is to be told.
        waits, calls_ns = waiting(signals, lambda cause: cause.part == Part.LAUNCHING), 0
    if waits is None or (not signals.marked and len(waits.device.launches.begun_ns) < thresholds.FEW_LAUNCHES):
        return None
    named = [(f"in {place}", time_ns) for place, time_ns in places_of(waits.rows)]
    nowhere_ns = sum(row.time_ns for row in waits.rows if is_nowhere(row))
    tells_nowhere = bool(named) and nowhere_ns > named[0][1]
    if tells_nowhere:
        named = [(NOTHING_RECORDED, nowhere_ns), *named]
    listed = ", ".join(f"{{n{number}_ns}} {place}" for number, (place, _) in enumerate(named))
    after_ns, waiter = _after_waiting(signals, waits.device)
    runs_dry = 2 * after_ns > waits.time_ns
    calls = "all" if short_duration(calls_ns) == short_duration(waits.time_ns) else "{calls_ns}"
    after = "all" if short_duration(after_ns) == short_duration(waits.time_ns) else "{after_ns}"
    return finding_about(
        signals,
        "launch_detector",
        "launching",
        waits,
        "launching",
        "The GPU waits {time_ns} of each iteration ({share_fraction}) for launches"
        + (f", {calls} of it in calls that launch graphs: " if calls_ns else ": ")
        + (listed or "{where}")
        + (f"; {after} of it right after the host waited for it ({{waiter}})." if runs_dry else "."),
        _advice(signals, waits.device, runs_dry),
        gain=(0.5, 0.9),
        nowhere=tells_nowhere,
        pool=Pool.LAUNCH,
        how="What was launched before begins at once."
        if runs_dry
        else "A replayed graph launches everything in one call; what the host does besides stays.",
        numbers={
            **{f"n{number}_ns": time for number, (_, time) in enumerate(named)},
            "calls_ns": calls_ns,
            "after_ns": after_ns,
            "waiter": waiter,
        },
        link=signals.advice(
            "https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/",
            tensorflow="",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/gpu_performance_tips.html",
            cuda="",
        ),
    )


def _advice(signals: Signals, device: DeviceDiagnosis, runs_dry: bool) -> str:
    """How the GPU gets work sooner."""
    if signals.replays:
        return "Capture in the graph what is launched between its replays, too; prepare the next replay while one runs."
    if signals.serves and not signals.backward:
        return (
            "Let the server replay CUDA graphs, captured for the batches that it serves: vLLM without enforce_eager "
            "and with cudagraph_capture_sizes that reach them, SGLang without disable_cuda_graph and with "
            "cuda_graph_max_bs; or serve more requests at once."
        )
    if runs_dry:
        return (
            "Wait for the GPU less often: launch the next work first, and wait only where the host needs a result. "
            "Work of one stream runs in its order anyway."
            + signals.advice(f" {WAITS_OF_TORCH}", tensorflow="", tensorrt="", cuda="")
        )
    if _waits_for_batches(signals, device):
        return "Ask for the copies sooner, as for the next batch while the GPU works on this one: " + signals.advice(
            "on a stream of their own, from pinned memory, with non_blocking=True.",
            tensorflow="tf.data with prefetch_to_device.",
            tensorrt="cudaMemcpyAsync from pinned memory on a stream of their own.",
            jax="jax.device_put of the next batch before the step that works on this one.",
            cuda="cudaMemcpyAsync from pinned memory on a stream of their own.",
        )
    is_lower_bound = understates(signals)
    return signals.advice(
        'Launch less: torch.compile(model, mode="reduce-overhead") or torch.cuda.graph'
        + (", fused or foreach optimizers" if signals.optimizer.any() else "")
        + ("." if is_lower_bound else "; or give each kernel more work with a larger batch."),
        tensorflow="Launch fewer and larger kernels: tf.function(jit_compile=True) around the whole step"
        + ("." if is_lower_bound else ", or a larger batch."),
        tensorrt="Capture the enqueue in a CUDA graph (--useCudaGraph of trtexec).",
        jax="Launch less: one jax.jit around the whole step in place of many small ones, jax.lax.scan over several "
        "steps, command buffers left on (XLA_FLAGS)" + ("." if is_lower_bound else ", or a larger batch."),
        cuda="Capture the launches in a CUDA graph, or do in one kernel what several in a row do.",
    )


def _waits_for_batches(signals: Signals, device: DeviceDiagnosis) -> bool:
    """Whether most of the time of launching ends as a copy from the host begins: a graph has no use for those."""
    pieces, copies = device.clipped, signals.profile.memcpys
    starts = np.sort(copies.start_ns[(copies.copy_kind == _TO_GPU) & (copies.device == device.device)])
    if not len(starts):
        return False
    selected = np.zeros(pieces.windows, np.bool_)
    selected[signals.diagnosis.selected] = True
    rows = np.flatnonzero((pieces.part == Part.LAUNCHING) & selected[pieces.window])
    busy = np.flatnonzero(pieces.part < Part.QUEUED)
    following = np.searchsorted(busy, rows)
    known = following < len(busy)
    begins = pieces.start_ns[busy[following[known]]]
    is_copy = np.searchsorted(starts, begins, side="right") > np.searchsorted(starts, begins, side="left")
    length = pieces.stop_ns[rows] - pieces.start_ns[rows]
    return 2 * int(length[known][is_copy].sum()) > int(length.sum())


def _after_waiting(signals: Signals, device: DeviceDiagnosis) -> tuple[int, str]:
    """Time of launching (ns, mean of the iterations) in gaps that begin while the host waits for the GPU, so that it
    could not launch ahead, and where it waits before most of it."""
    pieces, causes, selected = device.clipped, signals.profile.activity.causes, signals.diagnosis.selected
    waits = np.array([each.part == Part.BLOCKED and each.detail in ("sync", "copy") for each in causes] or [False])
    idle = pieces.part > Part.QUEUED
    begins = idle.copy()
    begins[1:] &= ~idle[:-1] | (pieces.start_ns[1:] != pieces.stop_ns[:-1])
    first = np.flatnonzero(begins)
    rows = np.flatnonzero((pieces.part == Part.LAUNCHING) & are_among(pieces.window, selected))
    opening = pieces.cause[first[np.searchsorted(first, rows, side="right") - 1]]
    after = waits[opening]
    if not after.any():
        return 0, ""
    rows = rows[after]
    times = np.bincount(opening[after], weights=pieces.stop_ns[rows] - pieces.start_ns[rows])
    most = Row(causes[int(times.argmax())], 1, 0, 0, (0, 0))
    return int(times.sum()) // max(len(selected), 1), place_of(most)


def _launches_a_graph(signals: Signals, cause: Cause) -> bool:
    """Whether the GPU waits inside of a call that launches a graph, which takes longer the more is in it."""
    is_first = not signals.marked and cause.long
    return cause.part == Part.BLOCKED and cause.detail == "launch" and "GraphLaunch" in cause.call and not is_first
