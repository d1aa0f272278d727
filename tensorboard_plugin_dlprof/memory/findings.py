"""Advice on memory: what is near its limit, what holds most, what is lost to fragmentation and churn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.calls import blocking_class
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, EXPANDABLE, FREE, STAYS, Blocks, History
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.memory.leak import Leak
from tensorboard_plugin_dlprof.memory.peak import Held, by_category, by_owner, open_blocks, owners_in, peak_of, repeated
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tensorboard_plugin_dlprof.units import percentage, short_duration, size

NEAR_FRACTION = 0.9
"""Of the GPU's memory: the next larger allocation may fail."""

ROOM_FRACTION = 0.4
"""Less than this in use leaves room for twice the batch."""

CACHED_FRACTION = 0.3
"""Of what is reserved: more than this is kept from everybody else for nothing."""

HOT_FRACTION = 0.3
FREE_FRACTION = 0.2

FORWARD, BACKWARD = "fprop", "bprop"

_ACTIVATION = CATEGORIES.index("activation")
_OUTPUT = CATEGORIES.index("activation or output")


def findings_of(
    profile: Profile, history: History, leak: Leak, iterations: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings about one GPU, the gravest first, as ``dlprof diagnose`` lists them."""
    of_torch = profile.info.source_format != "xplane" and history.measure != "driver"
    rows = [
        *_out_of_memory(history),
        *_leak(profile, history, leak, of_torch),
        *_limit(history, of_torch),
        *_activations(profile, history),
        *_wide_activations(profile, history),
        *_fragmentation(history),
        *_churn(profile, history, iterations),
        *(_cached(history) if of_torch else []),
        *_room(history),
    ]
    for each in rows:
        each["evidence"] = [{**row, "device": str(history.device)} for row in each["evidence"]]
    return rows


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


def _iteration_of(time_ns: Int64s, candidate: IterationCandidate) -> Int64s:
    """The row of the iteration around each time; -1 outside all."""
    if candidate.source == "whole_capture":
        return np.zeros(len(time_ns), np.int64)
    row = np.searchsorted(candidate.start_ns, time_ns, side="right") - 1
    return np.where(time_ns < candidate.stop_ns[row], row, -1)


def _held_rows(history: History, state: int) -> list[dict[str, Any]]:
    return _rows_of(by_owner(history, state))


def _rows_of(held: Sequence[Held]) -> list[dict[str, Any]]:
    return [
        {"path": each.name, "call": "", "kind": "memory", "count": each.blocks, "bytes": each.num_bytes}
        for each in held[:5]
    ]


def _out_of_memory(history: History) -> list[dict[str, Any]]:
    """The first allocation that failed. What is cached then is in pieces that do not fit: the allocator looks there
    first, and gives back whole free segments before it fails."""
    if not history.out_of_memory:
        return []
    event, asked, free = history.out_of_memory[0]
    in_use, reserved = int(history.in_use_bytes[event]), int(history.reserved_bytes[event])
    cached = reserved - in_use
    first = f" (the first of {len(history.out_of_memory):,})" if len(history.out_of_memory) > 1 else ""
    held = f"{size(in_use)} were in use"
    action = "Use a smaller batch, activation checkpointing or mixed precision."
    if reserved >= 0 and cached > asked:
        why = f"{size(cached)} were cached, but no piece was as large: fragmentation"
        action = _without_fragments(history)
    elif free >= asked:
        why = f"{held} and {size(free)} were free on the GPU: the process has a limit of its own, or the driver failed"
        action = "Look for torch.cuda.set_per_process_memory_fraction, and for what the driver says."
    elif free >= 0:
        why = f"{held} and {size(free)} were free on the GPU, which is full"
    else:
        why = held
    title = f"An allocation of {size(asked)} failed{first}; {why}"
    return [_finding("oom_detector", "warning", "high", title, action, _held_rows(history, event))]


def _without_fragments(history: History) -> str:
    """The setting that keeps segments whole, or what is left where it is set."""
    if EXPANDABLE in history.settings:
        return "Use inputs of equal shapes."
    return f"PYTORCH_CUDA_ALLOC_CONF={EXPANDABLE}"


def _leak(profile: Profile, history: History, leak: Leak, of_torch: bool) -> list[dict[str, Any]]:
    if leak.verdict != "leak" or leak.bytes_per_iteration is None:
        return []
    until = (
        f"; in at most {leak.iterations_until_full:,} iterations the GPU is full"
        if leak.iterations_until_full is not None
        else ""
    )
    title = f"Memory in use grows by {size(leak.bytes_per_iteration)} in each iteration{until}"
    action = "Look for what the program keeps of each iteration, such as a list of results."
    if of_torch:
        action = "Keep numbers, not tensors: a list of losses keeps their graphs alive; use .item() or .detach()."
    return [_finding("leak_detector", "warning", "high", title, action, _outliving_rows(profile, history))]


def _outliving_rows(profile: Profile, history: History) -> list[dict[str, Any]]:
    """Who allocated the blocks that outlive their iteration and all that follow, those of the first left out: it
    allocates what stays."""
    blocks, candidate = history.blocks, profile.iterations[0]
    seen = np.flatnonzero((blocks.allocated >= 0) & (blocks.freed == STAYS))
    outliving = seen[_iteration_of(history.time_ns[blocks.allocated[seen]], candidate) > 0]
    left = Blocks(*(getattr(blocks, name)[outliving] for name in Blocks.__struct_fields__))
    return _rows_of(owners_in(left, history.owners, int(left.num_bytes.sum()), relative=False))


def _limit(history: History, of_torch: bool) -> list[dict[str, Any]]:
    most = int(history.reserved_bytes.max())
    if not history.capacity_bytes or most <= NEAR_FRACTION * history.capacity_bytes:
        return []
    peak = peak_of(history)
    held = by_category(history, peak.state)[0]
    largest = held.name
    actions = {
        "activation": "Checkpoint the activations of the module that holds most, or use a smaller batch.",
        "activation or output": "Checkpoint the activations of the module that holds most, or use a smaller batch.",
        "optimizer state": "Use an optimizer with 8-bit states, or shard them (ZeRO, FSDP).",
        "gradient": "Set gradients to None after the step (zero_grad(set_to_none=True)), or shard them.",
    }
    action = "Use mixed precision, a smaller batch, or work on smaller pieces."
    action = actions.get(largest, action) if of_torch else action
    title = (
        f"{size(most)} of the GPU's {size(history.capacity_bytes)} are reserved "
        f"({percentage(most / history.capacity_bytes)}); the largest part of the peak is {largest} "
        f"({size(held.num_bytes)} of {size(peak.in_use_bytes)})"
    )
    return [_finding("memory_full_detector", "warning", "high", title, action, _held_rows(history, peak.state))]


def _activations(profile: Profile, history: History) -> list[dict[str, Any]]:
    """One type of module whose activations are a large part of the peak, and what recomputing them would cost."""
    peak = peak_of(history)
    held = _activations_by_owner(history, peak.state)
    if peak.in_use_bytes <= 0 or not any(op.direction == BACKWARD for op in profile.ops):
        return []
    of_module: dict[str, int] = {}
    for path, num_bytes in held.items():
        module = repeated(path.rpartition("/")[0])
        of_module[module] = of_module.get(module, 0) + num_bytes
    module, num_bytes = max(of_module.items(), key=lambda item: item[1], default=("", 0))
    if not module or num_bytes <= HOT_FRACTION * peak.in_use_bytes:
        return []
    forward = [
        row
        for row, op in enumerate(profile.ops)
        if op.direction == FORWARD and f"{repeated(op.name)}/".startswith(f"{module}/")
    ]
    kernels, candidate = profile.kernels, profile.iterations[0]
    own = are_among(kernels.op, forward) & (_iteration_of(kernels.api_start, candidate) >= 0)
    count = max(len(candidate.values), 1)
    cost_ns = int((kernels.gpu_stop[own] - kernels.gpu_start[own]).sum()) // count
    if not cost_ns:
        return []
    share = cost_ns / max(int((candidate.stop_ns - candidate.start_ns).sum()) // count, 1)
    of_iteration = "of each iteration" if candidate.source != "whole_capture" else "of the capture"
    title = (
        f"{module} holds {size(num_bytes)} of activations at the peak "
        f"({percentage(num_bytes / peak.in_use_bytes)} of it)"
    )
    action = (
        f"Checkpointing it (torch.utils.checkpoint) saves up to {size(num_bytes)}, and costs its forward pass "
        f"once more: {short_duration(cost_ns)} of GPU time ({percentage(share)} {of_iteration})."
    )
    row = {"path": module, "call": "", "kind": "module", "count": None, "bytes": num_bytes, "time_ns": cost_ns}
    return [_finding("activation_detector", "advice", "medium", title, action, [row])]


def _activations_by_owner(history: History, state: int) -> dict[str, int]:
    """The bytes of activations in a state by the path of the op that allocated them."""
    rows = open_blocks(history, state)
    blocks = history.blocks
    rows = rows[are_among(blocks.category[rows], (_ACTIVATION, _OUTPUT))]
    sums = np.bincount(blocks.owner[rows], weights=blocks.num_bytes[rows], minlength=len(history.owners))
    return {path: int(sums[number]) for number, path in enumerate(history.owners) if sums[number] > 0}


def _wide_activations(profile: Profile, history: History) -> list[dict[str, Any]]:
    """Activations of ops that could compute in 16 bits, but do in 32."""
    peak = peak_of(history)
    held = _activations_by_owner(history, peak.state)
    if not any(op.direction == BACKWARD for op in profile.ops):
        return []
    wide = {op.name for op in profile.ops if op.eligibility == Eligibility.ELIGIBLE and op.data_type == "float32"}
    wide -= {op.name for op in profile.ops if op.name in wide and op.data_type not in ("float32", "")}
    own: dict[str, int] = {}
    for path, num_bytes in held.items():
        if path in wide:
            own[repeated(path)] = own.get(repeated(path), 0) + num_bytes
    total = sum(own.values())
    if peak.in_use_bytes <= 0 or total <= HOT_FRACTION * peak.in_use_bytes:
        return []
    title = (
        f"{size(total)} of the peak ({percentage(total / peak.in_use_bytes)}) are activations in FP32 of ops that "
        "could compute in 16 bits"
    )
    action = f"torch.autocast halves them at most: {size(total / 2)} less."
    largest = sorted(own, key=lambda path: -own[path])[:5]
    rows = [{"path": path, "call": "", "kind": "memory", "count": None, "bytes": own[path]} for path in largest]
    return [_finding("wide_activation_detector", "advice", "medium", title, action, rows)]


def _fragmentation(history: History) -> list[dict[str, Any]]:
    free = [size for segment in history.segments for size, state, _ in segment.blocks if state == FREE]
    reserved = int(history.reserved_bytes[-1])
    largest_request = int(history.blocks.num_bytes.max(initial=0))
    if EXPANDABLE in history.settings or reserved <= 0 or sum(free) <= FREE_FRACTION * reserved:
        return []
    if max(free, default=0) >= largest_request or not largest_request:
        return []
    title = (
        f"{size(sum(free))} of {size(reserved)} reserved are free in pieces of at most "
        f"{size(max(free))}; the largest allocation is {size(largest_request)}"
    )
    action = f"PYTORCH_CUDA_ALLOC_CONF={EXPANDABLE}, and inputs of equal shapes."
    return [_finding("fragmentation_detector", "advice", "medium", title, action)]


_NEARLY_MOST = 0.95
"""Of the most that is reserved."""


def cached_bytes(history: History) -> int:
    """What is reserved and not in use while most is reserved: it is needed neither before nor after. Memory stays
    reserved long before and after the peak, so only the highest use meanwhile counts, also while a little less is
    reserved: a last small segment says nothing of the others. Reserved memory must be known."""
    most = int(history.reserved_bytes.max())
    nearly = history.reserved_bytes >= _NEARLY_MOST * most
    return max(most - int(history.in_use_bytes[nearly].max()), 0)


def _cached(history: History) -> list[dict[str, Any]]:
    most, cached = int(history.reserved_bytes.max()), 0
    if (history.reserved_bytes >= 0).all() and not history.relative:
        cached = cached_bytes(history)
    if cached <= CACHED_FRACTION * most or most <= 0:
        return []
    title = f"{size(cached)} of the {size(most)} that are reserved are cached, not in use"
    action = (
        "It does no harm unless another process or NCCL needs the room: then call torch.cuda.empty_cache() once after "
        "the warm-up, not in the loop."
    )
    return [_finding("cached_memory_detector", "info", "high", title, action)]


def _churn(profile: Profile, history: History, iterations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Memory taken from the driver in most iterations, not only in the first."""
    if len(iterations) < 3 or not len(history.time_ns) or not len(history.segment_events):
        return []
    candidate = profile.iterations[0]
    of = _iteration_of(history.time_ns[history.segment_events], candidate)
    after = int(np.count_nonzero(of > 0))
    if 2 * len(distinct_values(of[of > 0])) <= len(iterations) - 1:
        return []
    calls = profile.calls
    names = distinct_values(calls.name).tolist()
    allocates = [name for name in names if blocking_class(profile.strings[name]) == "allocation"]
    rows = are_among(calls.name, allocates) & (_iteration_of(calls.api_start, candidate) > 0)
    cost_ns = int((calls.api_stop[rows] - calls.api_start[rows]).sum())
    cost = f"; calls that allocate and free took {short_duration(cost_ns)} of the host's time there" if cost_ns else ""
    title = f"The allocator took memory from the driver {after:,} times after the first iteration{cost}"
    action = "Give the inputs of all iterations the same shapes, and do not call empty_cache in the loop."
    return [_finding("allocator_churn_detector", "advice", "medium", title, action)]


def _room(history: History) -> list[dict[str, Any]]:
    most = max(int(history.reserved_bytes.max()), int(history.in_use_bytes.max()))
    if not history.capacity_bytes or history.relative or most > ROOM_FRACTION * history.capacity_bytes:
        return []
    holder = "the program takes from the driver" if history.measure == "driver" else "this process's allocator holds"
    title = (
        f"At most {size(most)} of the GPU's {size(history.capacity_bytes)} are what {holder} "
        f"({percentage(most / history.capacity_bytes)}): as far as it shows, there is room for a larger batch"
    )
    return [_finding("batch_size_detector", "info", "low", title, "Try twice the batch size.")]
