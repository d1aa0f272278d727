"""Rules about the use of the GPU's memory."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import kernel_evidence
from tensorboard_plugin_dlprof.analysis.program import CUDA_LINK, TENSORRT_LINK, Framework
from tensorboard_plugin_dlprof.analysis.rules.missing import understates
from tensorboard_plugin_dlprof.analysis.rules.start import is_cold_start
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Lacks, Severity


def _memory_used(signals: Signals) -> tuple[int, int, str] | None:
    """Bytes of the GPU's memory, the most bytes of it that were taken, and how: ``reserved``, ``allocated``, or by
    whomever (``in use``); None if one of the numbers is unknown."""
    profile, device = signals.profile, signals.device
    total, used = profile.gpu_memory_bytes
    if total > 0 and used > 0:
        return total, used, "in use"
    if device is None or device.memory_bytes <= 0:
        return None
    for history in profile.memory_histories:
        if history.device == device.device_id and history.measure != "driver" and not history.relative:
            reserved, in_use = int(history.reserved_bytes.max()), int(history.in_use_bytes.max())
            most = (reserved, "reserved") if reserved > 0 else (in_use, "allocated")
            return (device.memory_bytes, *most) if in_use > 0 else None
    return None


def small_batch(signals: Signals) -> Finding | Lacks | None:
    """Room for a larger batch."""
    if not signals.devices:
        return None
    memory = _memory_used(signals)
    if memory is None:
        hint = signals.advice(
            "PyTorch's profiler records it: profile(profile_memory=True).",
            torch_nsys="Nsight Systems records it: nsys profile --cuda-memory-usage=true.",
            tensorflow="No recording of TensorFlow contains it.",
            tensorflow_profiler="No allocation was recorded.",
            jax="No allocation was recorded; jax.profiler.save_device_memory_profile writes what is held.",
            tensorrt="No recording of TensorRT contains it.",
            cuda="No recording of CUDA alone contains it.",
        )
        return Lacks("how much of the GPU's memory is used", hint)
    total, used, how = memory
    fraction = used / total
    if fraction > thresholds.SMALL_MEMORY_FRACTION or not _fills_little(signals) or is_cold_start(signals):
        return None
    return Finding(
        "batch_size_detector",
        Severity.ADVICE,
        Confidence.LOW,
        "batch",
        "At most {used_bytes} of the GPU's {total_bytes} of memory are {how} ({used_fraction}), and half of the "
        "kernels have fewer blocks than the GPU runs at once.",
        "Try a larger batch: twice the size, then again while the time for a sample falls. It makes kernels longer, "
        "which fills the GPU and hides launching{training}.",
        {
            "used_bytes": used,
            "total_bytes": total,
            "used_fraction": fraction,
            "how": how,
            "training": "; adapt the learning rate" if signals.backward else "",
        },
        kernel_evidence(signals, _short_of_blocks(signals))[:5],
        cause="batch_size",
    )


def _short_of_blocks(signals: Signals) -> Bools:
    """Which aggregated kernels do not fill the GPU once: less than one wave of blocks, or, where their resources were
    not recorded, fewer blocks than multiprocessors."""
    blocks = signals.profile.kernels.grid[signals.kernel].astype(np.int64).prod(axis=1)
    waves = signals.efficiency.facts.waves[signals.kernel]
    few = blocks < (signals.device.sm_count if signals.device else 0)
    result: Bools = (blocks > 0) & np.where(np.isnan(waves), few, waves < 1)
    return result


def _fills_little(signals: Signals) -> bool:
    """Whether the median kernel fills less than the GPU, by number and by time, as far as what runs is recorded."""
    if understates(signals) or not len(signals.kernel):
        return False
    short = _short_of_blocks(signals)
    return 2 * np.count_nonzero(short) > len(short) and 2 * signals.time(short) > int(signals.duration.sum())


def full(signals: Signals) -> Finding | Lacks | None:
    """Hardly any memory left. Does not apply to TensorFlow, which reserves nearly all memory when it starts."""
    memory = _memory_used(signals)
    if memory is None or not signals.devices or signals.framework is Framework.TENSORFLOW:
        return None
    total, used, how = memory
    if used / total < thresholds.FULL_MEMORY_FRACTION:
        return None
    on_purpose = signals.serves and not signals.backward
    return Finding(
        "memory_limit_detector",
        Severity.INFO if on_purpose else Severity.ADVICE,
        Confidence.MEDIUM,
        "memory",
        "{used_bytes} of the GPU's {total_bytes} of memory are {how} ({used_fraction}), as servers of language models "
        "do on purpose, for their caches."
        if on_purpose
        else "{used_bytes} of the GPU's {total_bytes} of memory are {how} ({used_fraction}); the next larger "
        "allocation may fail or make the allocator free and search.",
        "If something else needs room, let the server hold less (vLLM: gpu_memory_utilization, SGLang: "
        "mem_fraction_static)."
        if on_purpose
        else signals.advice(
            "Use mixed precision, activation checkpointing or a smaller batch, and "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against fragmentation."
            if signals.backward
            else "Use narrower types or a smaller batch.",
            tensorflow="",
            jax="Use bfloat16, jax.checkpoint around the layers, donate_argnums for what a step replaces, or a smaller "
            "batch.",
            tensorrt="Use narrower types, smaller largest shapes or a smaller batch, and limit the workspace "
            "(--memPoolSize of trtexec).",
            cuda="Keep less on the GPU at once, in narrower types, and allocate from a pool (cudaMallocAsync).",
        ),
        {"used_bytes": used, "total_bytes": total, "used_fraction": min(used / total, 1.0), "how": how},
        (Evidence("device", str(signals.device.device_id if signals.device else 0)),),
        cause="memory",
        link=signals.advice(
            "https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
            tensorflow="",
            tensorrt=TENSORRT_LINK,
            cuda=CUDA_LINK,
        ),
    )
