"""Advice on memory: what is near its limit, what holds most, what is lost to fragmentation and churn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.aggregation.selection import Selection, choose_range, iteration_of
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.calls import blocking_class
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, EXPANDABLE, FREE, STAYS, History
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.memory.leak import Leak
from tensorboard_plugin_dlprof.memory.peak import Held, by_category, by_owner, open_blocks, owners_in, peak_of, repeated
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import percentage, short_duration, size

NEAR_FRACTION = 0.9
"""Of the GPU's memory: the next larger allocation may fail."""

ROOM_FRACTION = 0.4
"""Of the GPU's memory: where no more is ever held, there is room for a larger batch."""

CACHED_FRACTION = 0.3
"""Of what is reserved: more than this is kept from everybody else for nothing."""

HOT_FRACTION = 0.3
FREE_FRACTION = 0.2

WORTH_FRACTION = 0.05
"""Of the GPU's memory: less is not worth the time that saving it costs."""

LEAST_GPU_BYTES = 16 << 30
"""Memory of a GPU of which that is unknown: few that train have less."""

FORWARD, BACKWARD = "fprop", "bprop"

_ACTIVATION = CATEGORIES.index("activation")
_OUTPUT = CATEGORIES.index("activation or output")


def findings_of(
    profile: Profile, history: History, leak: Leak, iterations: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings about one GPU, the gravest first, as ``dlprof diagnose`` lists them; that there is room comes before
    what would save some, which is information only then."""
    of_torch = profile.info.source_format != "xplane" and history.measure != "driver"
    failed, fragmented, room = _out_of_memory(history), _fragmentation(history), _room(history)
    rows = [
        *failed,
        *_leak(profile, history, leak, of_torch),
        *_limit(profile, history, of_torch),
        *_activations(profile, history),
        *_wide_activations(profile, history),
        *fragmented,
        *(_churn(profile, history, iterations, of_torch) if leak.verdict != "leak" else []),
        *(_cached(history) if of_torch and not failed and not fragmented else []),
    ]
    needed = [each for each in rows if not room or each["severity"] != "info"]
    rows = [*needed, *room, *(each for each in rows if each not in needed)]
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


def _typical_iterations(profile: Profile) -> Bools:
    """Which iterations are aggregated at first: what takes time in others says little of a step."""
    return choose_range(profile, profile.iterations[0], Selection(typical=True))


def _held_rows(history: History, state: int) -> list[dict[str, Any]]:
    return _rows_of(by_owner(history, state))


def _rows_of(held: Sequence[Held]) -> list[dict[str, Any]]:
    return [
        {"path": each.name, "call": "", "kind": "memory", "count": each.blocks, "bytes": each.num_bytes}
        for each in held[:5]
    ]


def _how(history: History) -> str:
    """How a process has what its history says that it has."""
    return history.measure if history.measure in ("allocated", "requested") else "taken"


def _out_of_memory(history: History) -> list[dict[str, Any]]:
    """The first allocation that failed. What is cached then is in pieces that do not fit: the allocator looks there
    first, and gives back whole free segments before it fails, of which a trace only tells what is left after."""
    if not history.out_of_memory:
        return []
    event, asked, free = history.out_of_memory[0]
    state = event + 1
    in_use, reserved = int(history.in_use_bytes[state]), int(history.reserved_bytes[state])
    cached, largest = _cached_at(history, state)
    first = f" (the first of {len(history.out_of_memory):,})" if len(history.out_of_memory) > 1 else ""
    of_reserved = f" of {size(reserved)} reserved" if reserved >= 0 else ""
    held = f"{size(in_use)}{of_reserved}{' more than at the start' if history.relative else ''} were {_how(history)}"
    action = "Use a smaller batch, activation checkpointing or mixed precision."
    if cached > asked and largest >= asked:
        why = f"{held} and {size(cached)} were cached, but for other streams or pools of memory"
        action = "Allocate on one stream, and keep what CUDA graphs hold small."
    elif cached > asked:
        pieces = f"no free block was larger than {size(largest)}: fragmentation"
        if largest < 0:
            pieces = "no free block fitted: fragmentation, or they are of other streams or pools"
        why = f"{held} and {size(cached)} were cached, but {pieces}"
        action = _without_fragments(history)
    elif free >= asked:
        why = f"{held} and {size(free)} were free on the GPU: the process has a limit of its own, or the driver failed"
        action = "Look for torch.cuda.set_per_process_memory_fraction, and for what the driver says."
    elif free >= 0:
        why = f"{held} and {size(free)} were free on the GPU, which is full"
    elif history.capacity_bytes and reserved >= 0:
        why = f"{held}, and the GPU has {size(history.capacity_bytes)}"
        if asked <= history.capacity_bytes - reserved:
            why += ": others hold the rest, or a limit keeps it from this process"
    else:
        why = held
    title = f"An allocation of {size(asked)} failed{first}; {why}"
    return [_finding("oom_detector", "warning", "high", title, action, _held_rows(history, state))]


def _cached_at(history: History, state: int) -> tuple[int, int]:
    """The bytes that are free in segments in a state, and the largest piece of them; -1 where that is unknown.

    The segments are those of the end. Before it, what requests were rounded up to is taken for as large a part.
    """
    reserved, in_use = history.reserved_bytes[state:], history.in_use_bytes[state:]
    if int(reserved[0]) < 0:
        return -1, -1
    pieces = free_pieces(history)
    if history.segments and not np.diff(reserved).any() and not np.diff(in_use).any():
        return sum(pieces), max(pieces, default=0)
    rounded = int(history.reserved_bytes[-1]) - sum(pieces) if history.segments else int(in_use[-1])
    used = round(int(in_use[0]) * max(rounded / max(int(in_use[-1]), 1), 1.0))
    return max(int(reserved[0]) - used, 0), -1


def free_pieces(history: History) -> list[int]:
    """The bytes of each piece of memory that is cached at the end (snapshots)."""
    return [size for segment in history.segments for size, state, _ in segment.blocks if state == FREE]


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
    how = _how(history)
    title = f"{how[0].upper()}{how[1:]} memory grows by {size(leak.bytes_per_iteration)} in each iteration{until}"
    action = "Look for what the program keeps of each iteration, such as a list of results."
    if of_torch:
        action = "Keep numbers, not tensors: a list of losses keeps their graphs alive; use .item() or .detach()."
    return [_finding("leak_detector", "warning", "high", title, action, _outliving_rows(profile, history))]


def _outliving_rows(profile: Profile, history: History) -> list[dict[str, Any]]:
    """Who allocated the blocks that outlive their iteration and all that follow, those of the first left out: it
    allocates what stays."""
    blocks, candidate = history.blocks, profile.iterations[0]
    seen = np.flatnonzero((blocks.allocated >= 0) & (blocks.freed == STAYS))
    outliving = seen[iteration_of(history.time_ns[blocks.allocated[seen]], candidate) > 0]
    return _owner_rows(history, outliving)


def _owner_rows(history: History, rows: Int64s) -> list[dict[str, Any]]:
    """Who allocated some blocks."""
    some = some_rows(history.blocks, rows)
    return _rows_of(owners_in(some, history.owners, int(some.num_bytes.sum()), relative=False))


def _limit(profile: Profile, history: History, of_torch: bool) -> list[dict[str, Any]]:
    most = int(history.reserved_bytes.max())
    if not history.capacity_bytes or most <= NEAR_FRACTION * history.capacity_bytes:
        return []
    peak = peak_of(history)
    held = by_category(history, peak.state)[0]
    largest, hot = held.name, _hot_module(profile, history)
    checkpoint = (
        f"Checkpoint the activations of {hot.path if hot else 'the module that holds most'}, or use a smaller batch."
    )
    actions = {
        "activation": checkpoint,
        "activation or output": checkpoint,
        "optimizer state": "Use an optimizer with 8-bit states, or shard them (ZeRO, FSDP).",
        "gradient": "Set gradients to None after the step (zero_grad(set_to_none=True)), or shard them.",
    }
    action = "Use mixed precision, a smaller batch, or work on smaller parts."
    action = actions.get(largest, action) if of_torch else action
    title = (
        f"{size(most)} of the GPU's {size(history.capacity_bytes)} are reserved "
        f"({percentage(most / history.capacity_bytes)}); the largest part of the peak is {largest} "
        f"({size(held.num_bytes)} of {size(peak.in_use_bytes)})"
    )
    return [_finding("memory_limit_detector", "warning", "high", title, action, _held_rows(history, peak.state))]


def _activations(profile: Profile, history: History) -> list[dict[str, Any]]:
    """One type of module whose activations are a large part of the peak, and what recomputing them would cost."""
    hot = _hot_module(profile, history)
    if hot is None:
        return []
    whole, candidate = peak_of(history).in_use_bytes, profile.iterations[0]
    own = _typical_iterations(profile)
    share = hot.cost_ns / max(int((candidate.stop_ns - candidate.start_ns)[own].sum()) // int(own.sum()), 1)
    of_iteration = "of each iteration" if candidate.source != "whole_capture" else "of the recording"
    title = (
        f"{hot.path} holds {size(hot.num_bytes)} of activations at the peak ({percentage(hot.num_bytes / whole)} of it)"
    )
    action = (
        f"Checkpointing it (torch.utils.checkpoint) saves up to {size(hot.num_bytes)}, and costs its forward pass "
        f"once more: {short_duration(hot.cost_ns)} of GPU time ({percentage(share)} {of_iteration})."
    )
    severity, but = _worth(history, hot.num_bytes)
    row = {
        "path": hot.path,
        "call": "",
        "kind": "module",
        "count": None,
        "bytes": hot.num_bytes,
        "time_ns": hot.cost_ns,
    }
    return [_finding("activation_detector", severity, "medium", title, action + but, [row])]


def _worth(history: History, num_bytes: int) -> tuple[str, str]:
    """The severity of what so much less in use would bring, and what is to be said of it: it is advice where it lets
    the program do more, and information while most of the GPU's memory is free or the bytes are few."""
    if _room(history):
        return "info", " Nothing needs that memory while the GPU has room."
    if not _is_much(history, num_bytes):
        return "info", " Of a GPU's memory that is a small part."
    return "advice", ""


def _is_much(history: History, num_bytes: int) -> bool:
    """Whether these bytes are a part of the GPU's memory that counts."""
    return num_bytes >= WORTH_FRACTION * (history.capacity_bytes or LEAST_GPU_BYTES)


class _Hot(NamedTuple):
    """A type of module with all that is inside it."""

    path: str
    num_bytes: int
    """Of its activations at the peak."""
    cost_ns: int
    """GPU time of its forward pass in a typical iteration."""


def _hot_module(profile: Profile, history: History) -> _Hot | None:
    """The type of module whose activations are a large part of the peak and cost least to compute again, by the byte;
    of modules in one another the innermost that holds as much. None where there is none, or no backward pass."""
    peak = peak_of(history)
    if peak.in_use_bytes <= 0 or not any(op.direction == BACKWARD for op in profile.ops):
        return None
    holds = _by_module(_activations_by_owner(history, peak.state).items())
    hot = [module for module, num_bytes in holds.items() if num_bytes > HOT_FRACTION * peak.in_use_bytes]
    innermost = [module for module in hot if not any(each.startswith(f"{module}/") for each in hot)]
    if not innermost:
        return None
    kernels, candidate = profile.kernels, profile.iterations[0]
    is_typical = _typical_iterations(profile)
    iteration = iteration_of(kernels.api_start_ns, candidate)
    own = (kernels.op >= 0) & (iteration >= 0) & is_typical[iteration]
    time_ns = np.zeros(len(profile.ops), np.int64)
    np.add.at(time_ns, kernels.op[own], kernels.end_ns[own] - kernels.start_ns[own])
    forward = [(op.name, int(time_ns[row])) for row, op in enumerate(profile.ops) if op.direction == FORWARD]
    costs = _by_module(forward)
    count = int(is_typical.sum())
    modules = [_Hot(each, holds[each], costs.get(each, 0) // count) for each in innermost]
    return max((each for each in modules if each.cost_ns), key=lambda each: each.num_bytes / each.cost_ns, default=None)


def _by_module(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The sums of what paths of ops have by the types of modules around them: a module has what those in it have."""
    sums: dict[str, int] = {}
    for path, amount in amounts:
        module = repeated(path).rpartition("/")[0]
        while module:
            sums[module] = sums.get(module, 0) + amount
            module = module.rpartition("/")[0]
    return sums


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
    severity, but = _worth(history, total)
    action = f"torch.autocast halves them at most: {size(total / 2)} less." + but
    largest = sorted(own, key=lambda path: -own[path])[:5]
    rows = [{"path": path, "call": "", "kind": "memory", "count": None, "bytes": own[path]} for path in largest]
    return [_finding("wide_activation_detector", severity, "medium", title, action, rows)]


def _fragmentation(history: History) -> list[dict[str, Any]]:
    free = free_pieces(history)
    reserved = int(history.reserved_bytes[-1])
    largest_request = int(history.blocks.num_bytes.max(initial=0))
    if EXPANDABLE in history.settings or reserved <= 0 or sum(free) <= FREE_FRACTION * reserved:
        return []
    if max(free, default=0) >= largest_request or not largest_request:
        return []
    title = (
        f"At the end {size(sum(free))} of {size(reserved)} reserved are free in blocks of at most "
        f"{size(max(free))}; the largest allocation was {size(largest_request)}"
    )
    action = f"PYTORCH_CUDA_ALLOC_CONF={EXPANDABLE}, and inputs of equal shapes."
    severity = "advice" if _is_much(history, sum(free)) else "info"
    return [_finding("fragmentation_detector", severity, "medium", title, action)]


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
    if cached <= CACHED_FRACTION * most or most <= 0 or not _is_much(history, cached):
        return []
    lost = " or lost to rounding" if history.measure == "requested" else ""
    title = f"{size(cached)} of the {size(most)} that are reserved are cached{lost}, not in use"
    action = (
        "It does no harm unless another process or NCCL needs the room: then call torch.cuda.empty_cache() once after "
        "the warm-up, not in the loop."
    )
    return [_finding("cached_memory_detector", "info", "high", title, action)]


def _churn(
    profile: Profile, history: History, iterations: Sequence[dict[str, Any]], of_torch: bool
) -> list[dict[str, Any]]:
    """Memory taken from the driver in most iterations, not only in the first. Not asked where memory leaks: what stays
    needs room."""
    if len(iterations) < 3 or not len(history.time_ns) or not len(history.segment_events):
        return []
    candidate = profile.iterations[0]
    of = iteration_of(history.time_ns[history.segment_events], candidate)
    after = int(np.count_nonzero(of > 0))
    if 2 * len(distinct_values(of[of > 0])) <= len(iterations) - 1:
        return []
    calls = profile.calls
    names = distinct_values(calls.name).tolist()
    allocates = [name for name in names if blocking_class(profile.strings[name]) == "allocation"]
    rows = are_among(calls.name, allocates) & (iteration_of(calls.api_start_ns, candidate) > 0)
    cost_ns = int((calls.api_end_ns[rows] - calls.api_start_ns[rows]).sum())
    cost = f"; calls that allocate and free took {short_duration(cost_ns)} of the host's time there" if cost_ns else ""
    title = f"The allocator took memory from the driver {after:,} times after the first iteration{cost}"
    action = "Give the inputs of all iterations the same shapes."
    if of_torch:
        action = f"{action[:-1]}, and do not call empty_cache in the loop."
        if EXPANDABLE not in history.settings:
            action += f" Where shapes differ, PYTORCH_CUDA_ALLOC_CONF={EXPANDABLE} lets segments grow."
    taken = np.flatnonzero(are_among(history.blocks.allocated, history.segment_events[of > 0]))
    return [_finding("allocator_churn_detector", "advice", "medium", title, action, _owner_rows(history, taken))]


def _room(history: History) -> list[dict[str, Any]]:
    most = max(int(history.reserved_bytes.max()), int(history.in_use_bytes.max()))
    if not history.capacity_bytes or history.relative or most > ROOM_FRACTION * history.capacity_bytes:
        return []
    if history.out_of_memory:
        return []
    shows = "what the program takes from the driver" if history.measure == "driver" else "this process's allocator"
    capacity = history.capacity_bytes
    title = f"As far as {shows} shows, at most {size(most)} of the GPU's {size(capacity)} are taken"
    action = "That leaves room for a larger batch; whether one is faster, memory does not tell."
    return [_finding("batch_size_detector", "info", "low", title, action)]
