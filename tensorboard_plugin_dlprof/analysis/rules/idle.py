"""Rules about time in which nothing computes, by what the host does then.

All of them read the exclusive parts of the typical iterations (``Signals.diagnosis``) and name the rows behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import MUCH
from tensorboard_plugin_dlprof.analysis.rules.missing import (
    needs_no_sooner_launch,
    says_nothing_of_the_host,
)
from tensorboard_plugin_dlprof.analysis.rules.naming import (
    compiles_kernels,
    is_compiling,
    runtime_advice,
)
from tensorboard_plugin_dlprof.analysis.rules.start import first_calls, gives_back, goes_on, is_cold_start
from tensorboard_plugin_dlprof.analysis.rules.waiting import finding_about, waiting
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import (
    Confidence,
    Finding,
    Lacks,
    Pool,
    Severity,
)
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Row
from tensorboard_plugin_dlprof.diagnosis.calls import frees, is_of_pool
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.expressions import Expression

_OUT: Final = "out of the loop, or do them every hundred steps; keep metrics on the GPU."

WAITS_OF_TORCH: Final = (
    "Take .item(), .cpu(), .numpy(), print(tensor), nonzero(), masks as indices, torch.cuda.synchronize() and the "
    "synchronize() of events " + _OUT
)

_JAX_MEMORY: Final = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"


def data_loader(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits for the next batch."""
    waits = waiting(signals, lambda cause: cause.part == Part.DATA_LOADER)
    if waits is None:
        return None
    names = " ".join(row.cause.path for row in waits.rows)
    single, several = "_SingleProcessDataLoaderIter" in names, "_MultiProcessingDataLoaderIter" in names
    how = ", which loads in the main process itself (num_workers=0)," if single else ""
    return finding_about(
        signals,
        "dataloader_detector",
        "data_loader",
        waits,
        "data_loader",
        "The data loader{how} holds up {time_ns} of each iteration ({share_fraction}).",
        signals.advice(
            "Give it more workers, or less to do: DataLoader(num_workers=..., pin_memory=True, "
            "persistent_workers=True, prefetch_factor=4); then make decoding and augmentation cheaper."
            if several
            else "Load in parallel: DataLoader(num_workers=4, pin_memory=True, persistent_workers=True).",
            tensorflow="Load in parallel: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE) and "
            ".prefetch(tf.data.AUTOTUNE) last.",
            jax="Load the next batches in other processes while the GPU works (grain, or any loader with workers), and "
            "put them on the GPU early: jax.device_put returns at once.",
            tensorrt="Load and prepare the next batch in other threads while the engine runs.",
            cuda="Load and prepare what comes next in other threads while the GPU works.",
        ),
        confidence=Confidence.HIGH,
        pool=Pool.DATA_LOADER,
        how="Workers that keep up hide all of it; half, where the CPU or the storage is what limits.",
        numbers={"how": how},
        link=signals.advice(
            "https://pytorch.org/docs/stable/data.html#multi-process-data-loading",
            tensorflow="https://www.tensorflow.org/guide/data_performance",
            jax="https://google-grain.readthedocs.io/",
            tensorrt="",
            cuda="",
        ),
    )


def io(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits while the program reads or writes files or sockets."""
    waits = waiting(signals, lambda cause: cause.part == Part.IO)
    if waits is None:
        return None
    return finding_about(
        signals,
        "io_detector",
        "io",
        waits,
        "io",
        "The GPU waits {time_ns} of each iteration ({share_fraction}) for files or sockets: {where} most, {most_ns}.",
        "Read ahead in other threads or processes, in large pieces; write checkpoints and logs less often or in a "
        "thread.",
        pool=Pool.IO,
        how="Reading ahead hides all of it; half, where the storage is what limits.",
    )


def allocation(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits while memory is allocated from the driver, or freed, in the loop."""
    if says_nothing_of_the_host(signals):
        return None
    cold = first_calls(signals) if is_cold_start(signals) else None

    def test(cause: Cause) -> bool:
        allocates = cause.detail == "allocation" or is_of_pool(cause.call)
        return cause.part == Part.BLOCKED and allocates and not (cold is not None and cold(cause))

    waits = waiting(signals, test)
    if waits is None or (len(signals.diagnosis.start_ns) == 1 and not goes_on(signals, waits.device, test)):
        return None
    if cold is not None and not gives_back(waits.rows):
        return None
    of_pool = 2 * sum(row.time_ns for row in waits.rows if is_of_pool(row.cause.call)) > waits.time_ns
    off = _keeps_nothing(waits.rows)
    return finding_about(
        signals,
        "allocation_detector",
        "allocation",
        waits,
        "blocked",
        "Allocating and freeing GPU memory holds up {time_ns} of each iteration ({share_fraction}): {where} most, "
        "{most_ns}; {calls} {calls:call|calls}.",
        "Let the pool keep what is freed: by default it gives everything back whenever the host waits for the GPU. "
        "cudaMemPoolSetAttribute with cudaMemPoolAttrReleaseThreshold says how much stays."
        if of_pool
        else signals.advice(
            "Let the allocator keep what is freed: so many places free memory that it seems to be switched off. Unset "
            "PYTORCH_NO_CUDA_MEMORY_CACHING, and see whether the program sets another allocator "
            "(torch.cuda.memory.change_current_allocator)."
            if off
            else "Let the allocator keep what is freed: no torch.cuda.empty_cache() in the loop, shapes that stay the "
            "same, "
            + ("" if signals.is_amd else "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, ")
            + "and no PYTORCH_NO_CUDA_MEMORY_CACHING.",
            tensorflow="Let TensorFlow take the memory at once: without set_memory_growth.",
            jax="Let JAX take the memory at once: without XLA_PYTHON_CLIENT_PREALLOCATE=false and "
            "XLA_PYTHON_CLIENT_ALLOCATOR=platform, and with donate_argnums for what a step replaces.",
            tensorrt="Allocate the buffers of the engine once, for its largest shapes.",
            cuda="Allocate once before the loop, or from a pool that keeps what is freed (cudaMallocAsync, "
            "cudaMemPoolAttrReleaseThreshold).",
        ),
        confidence=Confidence.HIGH,
        pool=Pool.SETUP,
        how="A loop that has warmed up makes no such calls.",
        link=signals.advice(
            "https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
            tensorflow="",
            tensorrt="",
            jax=_JAX_MEMORY,
            cuda="",
        ),
    )


def _keeps_nothing(rows: Sequence[Row]) -> bool:
    """Whether memory is given back to the driver in many places, none of which does most of it: a cache that is emptied
    gives it back in one."""
    freed: dict[str, int] = {}
    for row in rows:
        if frees(row.cause.call):
            freed[row.cause.path] = freed.get(row.cause.path, 0) + row.count
    return len(freed) >= thresholds.FREEING_PLACES and 2 * max(freed.values()) <= sum(freed.values())


def synchronisation(signals: Signals) -> Finding | Lacks | None:
    """The host waits in a call that blocks, and the GPU has nothing to do."""
    if needs_no_sooner_launch(signals):
        return None
    waits = waiting(signals, lambda cause: cause.part == Part.BLOCKED and cause.detail in ("sync", "copy"))
    if waits is None:
        return None
    late = sum(row.time_ns for row in waits.rows if "Async" in row.cause.call)
    searching = sum(row.time_ns for row in waits.rows if _searches(row.cause))
    others = int(signals.diagnosis.mean(waits.device.parts_ns)[Part.BLOCKED]) - waits.time_ns
    is_some = signals.share_of_iteration(others) >= thresholds.MIN_GAIN_FRACTION
    return finding_about(
        signals,
        "sync_detector",
        "sync",
        waits,
        "blocked",
        "The host waits in synchronisations or copies while the GPU idles: {time_ns} of each iteration "
        "({share_fraction}), {times}. Most: {where}, {most_ns}."
        # The bar shows all of them as one part.
        + (" Other calls that block take {others_ns}." if is_some else ""),
        "Pin what is copied, and record after a warm-up: asynchronous copies and memsets return late where host memory "
        "is pageable, the queue is full, or the call is the first of its kind."
        if 2 * late > waits.time_ns
        else "Record after a warm-up: the library tries its algorithms there and times each, once for each shape. If "
        "it goes on, the shapes change: pad them to a few, or turn the search off "
        "(torch.backends.cudnn.benchmark = False)."
        if 2 * searching > waits.time_ns
        else signals.advice(
            WAITS_OF_TORCH,
            tensorflow=f"Take .numpy(), float(tensor), print(tensor), tf.where and callbacks for every batch {_OUT}",
            jax=f"Take float(x), .item(), np.asarray(x), print(x), jax.device_get and block_until_ready {_OUT}",
            tensorrt="Enqueue the next inference before you wait for the last one, on a stream of its own.",
            cuda="Order the work by streams and events (cudaStreamWaitEvent) in place of calls that wait and copies "
            "without Async, and launch the next work before you wait for the last.",
        ),
        pool=Pool.SYNC,
        how="Half to all of the time in these calls in which the GPU is idle.",
        numbers={"others_ns": others} if is_some else None,
        link=signals.advice(
            "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
            tensorflow="",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/async_dispatch.html",
            cuda="",
        ),
    )


def _searches(cause: Cause) -> bool:
    """Whether a call waits for an event inside of a convolution, as the search for its fastest algorithm does."""
    return "EventSynchronize" in cause.call and "conv" in cause.path.rpartition("/")[2].lower()


def busy_host(signals: Signals) -> Finding | Lacks | None:
    """The host does its own work in long gaps: in an op, a range or a function that can be named."""
    if says_nothing_of_the_host(signals):
        return None
    waits = waiting(signals, lambda cause: cause.part in (Part.HOST_OP, Part.HOST_CODE) and not is_compiling(cause))
    if waits is None:
        return None
    in_ops = sum(row.time_ns for row in waits.rows if row.cause.part == Part.HOST_OP)
    top = waits.rows[0].cause
    of_runtime, first = runtime_advice(top), first_calls(signals)
    compiles = compiles_kernels(top)
    starts = is_cold_start(signals) and any(
        row.cause.path == top.path for own in signals.idle_rows for row in own if first(row.cause)
    )
    code = "outside of them" if of_runtime else "in other code"
    # Two parts of the bar: their sum alone would stand nowhere else.
    split = 0 < in_ops < waits.time_ns
    during = f"while the host is in ops for {{ops_ns}} and {code} for {{code_ns}}" if split else "for the host"
    once = compiles and not signals.marked
    finding = finding_about(
        signals,
        "host_detector",
        "host",
        waits,
        "host_op" if 2 * in_ops > waits.time_ns else "host_code",
        f"The GPU waits {{time_ns}} of each iteration ({{share_fraction}}) {during}: {{where}} most, {{most_ns}}.",
        of_runtime if of_runtime and not starts else _how_to_free(signals, top, starts),
        confidence=Confidence.MEDIUM if signals.marked else Confidence.LOW,
        gain=None if starts or once else (0.5, 1.0),
        pool=Pool.HOST,
        how="Half to all of it; times alone do not tell how much of the host's work can be avoided or moved.",
        numbers={"code_ns": waits.time_ns - in_ops, "ops_ns": in_ops} if split else None,
    )
    return finding and msgspec.structs.replace(finding, once=once)


def _how_to_free(signals: Signals, top: Cause, starts: bool) -> str:
    """What to do about the largest cause of host time: a function can be moved, an op cannot."""
    if compiles_kernels(top):
        return (
            "Let {where} compile before the recording: it does so once for each program and shape. If it goes on, "
            "shapes change: pad them to a few, or mark them as dynamic."
        )
    if starts:
        return (
            "Record later, and look again: it lies beside the first calls of the start-up, and most of it happens "
            "once, such as loading a library or choosing an algorithm."
        )
    if top.part == Part.HOST_OP:
        if _PLAIN_OP.search(top.path) and top.path not in _launching_paths(signals):
            return (
                "Keep the tensors of {where} on the GPU, do its work in another thread or process, or once before the "
                "loop: nothing is launched inside, so if it computes, it does so on the host."
            )
        return (
            "Find out what the host does inside {where} without a launch. What happens once (the first call for a "
            "shape, compiling, loading) belongs before the recording; what goes on: fewer and larger ops, a compiled "
            "model, or a graph."
        )
    if top.kind == "frame" and "run_backward" in top.path:
        return (
            "See on the timeline what the autograd thread does then, such as hooks of gradients and calls that block: "
            "the main thread waits for it."
        )
    if top.kind == "frame":
        return "Look at {where}: do its work on the GPU, in another thread or process, or once before the loop."
    return (
        "Find out what the host does in {where} between launches (a range around each part of it, or a recording with "
        "stacks), and do that on the GPU, in another thread or process, or once before the loop."
    )


def _launching_paths(signals: Signals) -> set[str]:
    """The paths of ops that give a GPU work, without the indices of layers."""
    profile = signals.profile
    tables = (profile.kernels, profile.memcpys, profile.memsets, profile.graphs)
    rows = distinct_values(np.concatenate([table.op for table in tables])).tolist()
    return {path_pattern(profile.ops[row].name) for row in rows}


_PLAIN_OP: Final = Expression(r"^/(?:.*/)?[a-z_]\w*$")
"""Paths that end with an op, not with a module or a range."""


def unrecorded(signals: Signals) -> Finding | Lacks | None:
    """The host does something in long gaps that was not recorded."""
    if says_nothing_of_the_host(signals):
        return None
    waits = waiting(signals, lambda cause: cause.part == Part.UNRECORDED)
    if waits is None:
        return None
    finding = finding_about(
        signals,
        "unrecorded_detector",
        "unrecorded",
        waits,
        "unrecorded",
        "Nothing that was recorded explains {time_ns} of each iteration ({share_fraction}) in which the GPU waits"
        + (
            ", most of it before {where} ({most_ns})."
            if 2 * waits.foremost[1] > waits.time_ns
            else ", {most_ns} of it before {where}."
            if waits.foremost[1] >= MUCH * waits.time_ns
            else "."
        ),
        "Find out what runs there: "
        + signals.advice(
            'torch.profiler.record_function("...") around parts of the loop, or with_stack=True.',
            torch_nsys='torch.cuda.nvtx.range("...") around parts of the loop, or nsys profile '
            "--sample=process-tree --python-sampling=true.",
            jax='jax.profiler.TraceAnnotation("...") around parts of the loop, or the Python tracer '
            "(ProfileOptions.python_tracer_level = 1).",
            tensorflow="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
            tensorflow_profiler='tf.profiler.experimental.Trace("...") around parts of the loop, or the Python tracer '
            "(ProfilerOptions(python_tracer_level=1)).",
            tensorrt="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
            cuda="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
        ),
        confidence=Confidence.LOW,
        gain=None,
    )
    return finding and msgspec.structs.replace(
        finding,
        cannot_tell="what the host did was not recorded",
        evidence=tuple(
            msgspec.structs.replace(each, detail=each.detail or "the next launch") for each in finding.evidence
        ),
    )


def profiler_overhead(signals: Signals) -> Finding | Lacks | None:
    """Recording stacks or modules slows the host; if it is the limit, the profile shows too much idle time."""
    recorded = sorted({"stacks", "modules"} & signals.recorded)
    if not recorded or signals.captures[0] or not signals.host_bound or signals.profile.info.source_format != "pytorch":
        return None
    if is_cold_start(signals, thresholds.ONLY_COLD_FRACTION):
        return None
    host = max(
        signals.share_of_iteration(int(signals.diagnosis.mean(device.parts_ns)[Part.BLOCKED :].sum()))
        for device in signals.diagnosis.devices
    )
    return Finding(
        "profiler_overhead_detector",
        Severity.INFO,
        Confidence.MEDIUM,
        "profiler",
        "The profiler recorded {what}, which slows the host; the GPU waits for the host in {share_fraction} of the "
        "time, and would wait less without the profiler.",
        "Record once more without stacks (with_stack=False, with_modules=False) before you act on host time.",
        {"what": " and ".join(recorded), "share_fraction": host},
        cause="profiler_overhead",
    )


def compute_ns(signals: Signals, device: DeviceDiagnosis) -> int:
    """Time of a typical iteration in which a GPU computes."""
    return int(sum(signals.diagnosis.mean(device.parts_ns)[part] for part in COMPUTE))
