"""Advice on memory: what is near its limit, what holds most, what is lost to fragmentation and churn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, History
from tensorboard_plugin_dlprof.memory.leak import Leak
from tensorboard_plugin_dlprof.memory.peak import by_category, by_owner, open_blocks, peak_of
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import percentage, short_duration, size

NEAR_FRACTION = 0.9
"""Of the GPU's memory: the next larger allocation may fail."""

ROOM_FRACTION = 0.4
"""Less than this in use leaves room for twice the batch."""

HOT_FRACTION = 0.3
FREE_FRACTION = 0.2

_ACTIVATION = CATEGORIES.index("activation")
_KEPT = CATEGORIES.index("activation or output")
_EXPANDABLE = "expandable_segments:True"


def findings_of(
    profile: Profile, history: History, leak: Leak, iterations: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings about one GPU, the gravest first, as ``dlprof diagnose`` lists them."""
    found = [
        *_out_of_memory(history),
        *_leak(history, leak),
        *_limit(history),
        *_activations(profile, history),
        *_fragmentation(history),
        *_churn(history, iterations),
        *_room(history),
    ]
    for each in found:
        each["evidence"] = [{**row, "device": str(history.device)} for row in each["evidence"]]
    return found


def _finding(
    rule: str, severity: str, confidence: str, title: str, action: str, evidence: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    return {
        "rule": rule,
        "cause": "memory",
        "title": title,
        "action": action,
        "severity": severity,
        "confidence": confidence,
        "part": None,
        "time_ns": None,
        "share": None,
        "gain": None,
        "evidence": list(evidence),
        "overlaps_with": [],
    }


def _held_rows(history: History, state: int) -> list[dict[str, Any]]:
    return [
        {"path": held.name, "call": "", "kind": "memory", "count": held.blocks, "bytes": held.num_bytes}
        for held in by_owner(history, state)[:5]
    ]


def _out_of_memory(history: History) -> list[dict[str, Any]]:
    found = []
    for event, asked, _ in history.out_of_memory[:1]:
        in_use, reserved = int(history.in_use_bytes[event]), int(history.reserved_bytes[event])
        free = [size for segment in history.segments for size, state in segment.blocks if state == "inactive"]
        cached = reserved - in_use
        if cached > asked and max(free, default=0) < asked:
            why = f"{size(cached)} were cached, but no piece was as large: fragmentation"
            action = f"PYTORCH_CUDA_ALLOC_CONF={_EXPANDABLE}" if _EXPANDABLE not in history.settings else ""
        else:
            why = f"{size(in_use)} were in use: the GPU is truly full"
            action = "Use a smaller batch, activation checkpointing or mixed precision."
        title = f"An allocation of {size(asked)} failed; {why}"
        found.append(_finding("oom_detector", "warning", "high", title, action, _held_rows(history, event)))
    return found


def _leak(history: History, leak: Leak) -> list[dict[str, Any]]:
    if leak.verdict != "leak" or leak.bytes_per_iteration is None:
        return []
    until = (
        f"; in {leak.iterations_until_full:,} iterations the GPU is full"
        if leak.iterations_until_full is not None
        else ""
    )
    title = f"Memory in use grows by {size(leak.bytes_per_iteration)} in each iteration{until}"
    action = "Keep numbers, not tensors: a list of losses keeps their graphs alive; use .item() or .detach()."
    return [_finding("leak_detector", "warning", "high", title, action, _held_rows(history, len(history.time_ns)))]


def _limit(history: History) -> list[dict[str, Any]]:
    most = int(history.reserved_bytes.max())
    if not history.capacity_bytes or most <= NEAR_FRACTION * history.capacity_bytes:
        return []
    peak = peak_of(history)
    largest = by_category(history, peak.state)[0].name
    actions = {
        "activation": "Checkpoint the activations of the module that holds most, or use a smaller batch.",
        "activation or output": "Checkpoint the activations of the module that holds most, or use a smaller batch.",
        "optimizer state": "Use an optimizer with 8-bit states, or shard them (ZeRO, FSDP).",
        "gradient": "Set gradients to None after the step (zero_grad(set_to_none=True)), or shard them.",
    }
    action = actions.get(largest, "Use mixed precision, a smaller batch, or work on smaller pieces.")
    title = (
        f"{size(most)} of the GPU's {size(history.capacity_bytes)} are reserved "
        f"({percentage(most / history.capacity_bytes)}); most of the peak is {largest}"
    )
    return [_finding("memory_limit_detector", "warning", "high", title, action, _held_rows(history, peak.state))]


def _activations(profile: Profile, history: History) -> list[dict[str, Any]]:
    """One module whose activations are a large part of the peak, and what recomputing them would cost."""
    peak = peak_of(history)
    rows = open_blocks(history, peak.state)
    blocks = history.blocks
    rows = rows[are_among(blocks.category[rows], (_ACTIVATION, _KEPT))]
    if not len(rows) or peak.in_use_bytes <= 0 or not any(op.direction == "bprop" for op in profile.ops):
        return []
    module_of = [owner.rpartition("/")[0] for owner in history.owners]
    held: dict[str, int] = {}
    for owner, num_bytes in zip(blocks.owner[rows].tolist(), blocks.num_bytes[rows].tolist(), strict=True):
        held[module_of[owner]] = held.get(module_of[owner], 0) + num_bytes
    module, num_bytes = max(held.items(), key=lambda item: item[1])
    if not module or num_bytes < HOT_FRACTION * peak.in_use_bytes:
        return []
    forward = [
        row for row, op in enumerate(profile.ops) if op.name.startswith(f"{module}/") and op.direction == "fprop"
    ]
    kernels = profile.kernels
    own = are_among(kernels.op, forward)
    total_ns = int((kernels.gpu_stop[own] - kernels.gpu_start[own]).sum())
    cost_ns = total_ns // max(len(profile.iterations[0].values), 1)
    if not cost_ns:
        return []
    title = (
        f"{module} holds {size(num_bytes)} of activations at the peak "
        f"({percentage(num_bytes / peak.in_use_bytes)} of it)"
    )
    action = (
        f"Checkpointing it (torch.utils.checkpoint) saves up to {size(num_bytes)}, and costs its forward pass "
        f"once more: {short_duration(cost_ns)} of GPU time in each iteration."
    )
    row = {"path": module, "call": "", "kind": "module", "count": len(rows), "bytes": num_bytes, "time_ns": cost_ns}
    return [_finding("activation_detector", "advice", "medium", title, action, [row])]


def _fragmentation(history: History) -> list[dict[str, Any]]:
    free = [size for segment in history.segments for size, state in segment.blocks if state == "inactive"]
    reserved = int(history.reserved_bytes[-1])
    largest_request = int(history.blocks.num_bytes.max(initial=0))
    if _EXPANDABLE in history.settings or reserved <= 0 or sum(free) <= FREE_FRACTION * reserved:
        return []
    if max(free, default=0) >= largest_request or not largest_request:
        return []
    title = (
        f"{size(sum(free))} of {size(reserved)} reserved are free in pieces of at most "
        f"{size(max(free))}; the largest allocation is {size(largest_request)}"
    )
    action = f"PYTORCH_CUDA_ALLOC_CONF={_EXPANDABLE}, and inputs of equal shapes."
    return [_finding("fragmentation_detector", "advice", "medium", title, action)]


def _churn(history: History, iterations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Memory taken from the driver in most iterations, not only in the first."""
    if len(iterations) < 3 or not len(history.time_ns) or not len(history.segment_events):
        return []
    peaks = [each["peak_ns"] for each in iterations if each["peak_ns"] is not None]
    if not peaks:
        return []
    times = history.time_ns[history.segment_events]
    after = int(np.count_nonzero(times > peaks[0]))
    if after < len(iterations) - 1:
        return []
    title = f"The allocator took memory from the driver {after:,} times after the first iteration"
    action = "Give the inputs of all iterations the same shapes, and do not call empty_cache in the loop."
    return [_finding("allocator_churn_detector", "advice", "medium", title, action)]


def _room(history: History) -> list[dict[str, Any]]:
    most = max(int(history.reserved_bytes.max()), int(history.in_use_bytes.max()))
    if not history.capacity_bytes or history.relative or most > ROOM_FRACTION * history.capacity_bytes:
        return []
    title = (
        f"At most {size(most)} of the GPU's {size(history.capacity_bytes)} are in use "
        f"({percentage(most / history.capacity_bytes)}): there is room for a larger batch"
    )
    return [_finding("memory_room_detector", "info", "low", title, "Try twice the batch size.")]
