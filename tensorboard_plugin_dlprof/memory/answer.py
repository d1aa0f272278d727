"""What ``dlprof memory`` answers: the peak of each GPU, what it consists of, iterations, leak, advice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, HELD_BEFORE, History, Phase
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.memory.findings import cached_bytes, findings_of, free_pieces
from tensorboard_plugin_dlprof.memory.leak import find_leak
from tensorboard_plugin_dlprof.memory.peak import (
    Held,
    Peak,
    by_category,
    categories_of,
    modules_in,
    open_blocks,
    owners_in,
    peak_of,
    sizes_in,
    stacks_in,
    time_of,
)
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tensorboard_plugin_dlprof.units import percentage, shares, size

SCHEMA = "dlprof-memory-1"
MOST_OWNERS = 50
MOST_ITERATIONS = 10_000
_LEAST = 0.0005


def answer(profile: Profile, source: str, at_ns: int | None = None) -> dict[str, Any]:
    """The whole answer, as plain data.

    Args:
        profile: With ``memory_histories``.
        source: Name of the file.
        at_ns: The moment whose memory is listed in ``at_peak``; by default each GPU's peak.
    """
    if at_ns is None and profile.memory_answer is not None:
        return {**profile.memory_answer, "source": source}
    candidate = profile.iterations[0]
    devices = {str(each.device): _device(profile, each, candidate, at_ns) for each in profile.memory_histories}
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "source": source,
        "clock": {"unit": "ns", "base_ns": str(profile.info.base_time_ns)},
        "devices": devices,
        "headline": headline(profile),
    }
    if at_ns is None:
        profile.memory_answer = result
    return result


def not_recorded(source_format: str, recorded: Collection[str]) -> str:
    """That a profile of a format holds no memory of GPUs, and what brings it, in one sentence.

    Args:
        source_format: Which format.
        recorded: What was recorded (``CaptureInfo.recorded``).
    """
    if "memory" in recorded:
        # As by some builds for AMD's GPUs.
        how = "; a memory snapshot tells what GPUs hold" if source_format == "pytorch" else ""
        return f"Memory was recorded for the host only{how}."
    if source_format == "xplane":
        how = (
            "the profiler takes it from the default allocator (BFC) of XLA and TensorFlow; unset "
            "`XLA_PYTHON_CLIENT_ALLOCATOR` and `TF_GPU_ALLOCATOR` if they name another"
        )
    elif source_format == "nsight_systems":
        how = "`nsys profile --cuda-memory-usage=true` brings what is taken from the driver"
    elif source_format == "dlprof":
        how = (
            "DLProf's databases have no place for it; the program's own recording by `nsys profile "
            "--cuda-memory-usage=true`, exported to SQLite, brings what is taken from the driver"
        )
    else:
        how = "`profile(profile_memory=True)`, or a memory snapshot, brings it"
    return f"The memory of GPUs was not recorded: {how}."


def headline(profile: Profile) -> str:
    """The memory of the GPU that holds most, in one sentence; says so where none was recorded."""
    if not profile.memory_histories:
        return not_recorded(profile.info.source_format, profile.info.recorded)
    history = max(profile.memory_histories, key=lambda each: int(each.in_use_bytes.max()))
    peak = peak_of(history)
    held = by_category(history, peak.state)
    parts = zip(held, shares([each.num_bytes for each in held], peak.in_use_bytes), strict=True)
    # All of it is taken from the driver; what is next to nothing is in the table.
    named = [] if history.measure == "driver" else [each for each in parts if each[1] is None or each[1] >= _LEAST][:3]
    consists = ", ".join(
        f"{size(each.num_bytes) if share is None else percentage(share)} {each.name}" for each, share in named
    )
    of = ""
    if history.capacity_bytes and not history.relative:
        of = f" of {size(history.capacity_bytes)} ({percentage(peak.in_use_bytes / history.capacity_bytes)})"
    measure = {"driver": " taken from the driver", "requested": " requested"}.get(history.measure, "")
    relative = " more than at the start of the recording" if history.relative else ""
    reserved = ""
    if (history.reserved_bytes >= 0).all():
        cached = size(cached_bytes(history))
        # Requests are rounded up; by how much, a snapshot tells of its end only.
        lost = " or lost to rounding" if history.measure == "requested" else ""
        most, then = ("At most ", "then ") if len(history.in_use_bytes) > 1 else ("", "")
        reserved = f" {most}{size(int(history.reserved_bytes.max()))} were reserved, "
        reserved += f"{cached} of it {then}cached{lost}, not in use."
    failed = next(
        ((each.device, each.out_of_memory[0][1]) for each in profile.memory_histories if each.out_of_memory), None
    )
    reserved += f" An allocation of {size(failed[1])} failed on GPU {failed[0]}." if failed else ""
    if len(history.in_use_bytes) == 1:
        # Without allocations nothing tells the peak.
        at_end = f"{size(peak.in_use_bytes)} requested on GPU {history.device} when the snapshot was taken"
        return f"{at_end}, which recorded no allocation: neither the peak is known nor who allocated.{reserved}"
    where = (
        f" on GPU {history.device}{_iterations_of(history, profile.iterations[0], peak)}{_reached_in(history, peak)}"
    )
    # PyTorch of 2021 tells sizes without addresses.
    holds = f"; of it {consists}" if len(history.blocks.allocated) else "; what holds it was not recorded"
    return f"Peak {size(peak.in_use_bytes)}{of}{measure}{relative}{where}{holds if consists else ''}.{reserved}"


def _iterations_of(history: History, candidate: IterationCandidate, peak: Peak) -> str:
    """In which iteration the peak is, which is its first moment, and how many reach it: what the first one needs may
    be of a warm-up, what each of them needs is not."""
    if peak.time_ns is None or candidate.source == "whole_capture":
        return ""
    place = int(np.searchsorted(candidate.start_ns, peak.time_ns, side="right")) - 1
    if place < 0 or peak.time_ns >= candidate.stop_ns[place]:
        return ""
    first = f"in iteration {candidate.values[place]}"
    count = len(candidate.values)
    reach = sum(each["peak_bytes"] == peak.in_use_bytes for each in _iterations(history, candidate))
    if reach < 2:
        return f" {first}"
    if reach == count:
        return f" in each of the {count} iterations"
    return f" in {reach} of {count} iterations, first {first}"


def _reached_in(history: History, peak: Peak) -> str:
    """Whose allocation reaches the peak: that of the event before its state."""
    block = int(np.searchsorted(history.blocks.allocated, peak.state - 1))
    if not peak.state or block == len(history.blocks.allocated) or history.blocks.allocated[block] != peak.state - 1:
        return ""
    owner = history.owners[history.blocks.owner[block]]
    return f", reached in `{owner}`" if owner else ""


def _device(profile: Profile, history: History, candidate: IterationCandidate, at_ns: int | None) -> dict[str, Any]:
    peak = peak_of(history)
    state = peak.state if at_ns is None else state_at(history, at_ns)
    reserved = bool((history.reserved_bytes >= 0).all())
    iterations = _iterations(history, candidate) if len(history.time_ns) and profile.kernels.op.size else []
    blocks, in_use = some_rows(history.blocks, open_blocks(history, state)), int(history.in_use_bytes[state])
    owners, relative = history.owners, history.relative
    categories = categories_of(blocks, in_use, relative)
    marked = candidate.source != "whole_capture"
    ends = np.array([each["end_bytes"] for each in iterations], np.int64)
    leak = find_leak(ends if marked else ends[:0], 0 if history.relative else history.capacity_bytes)
    return {
        "peak_bytes": peak.in_use_bytes,
        "peak_of": "requested" if history.measure == "requested" else "allocated",
        "relative": history.relative,
        "peak_ns": peak.time_ns,
        "peak_event": peak.state - 1 if peak.state else None,
        "peak_reserved_bytes": int(history.reserved_bytes.max()) if reserved else None,
        "capacity_bytes": history.capacity_bytes or None,
        "end_bytes": int(history.in_use_bytes[-1]),
        "events": len(history.in_use_bytes) - 1,
        "at_ns": time_of(history, state),
        "in_use_bytes": in_use,
        "at_peak": held_rows(categories, "category"),
        "held_before": _held_before(history, categories, state),
        "by_owner": held_rows(owners_in(blocks, owners, in_use, relative)[:MOST_OWNERS], "owner"),
        "by_module": held_rows(modules_in(blocks, owners, in_use, relative)[:MOST_OWNERS], "module"),
        "by_stack": held_rows(stacks_in(blocks, history.stacks, in_use, relative)[:MOST_OWNERS], "stack"),
        "by_size": held_rows(sizes_in(blocks, in_use, relative), "size"),
        "fragmentation": _fragmentation(history),
        "iterations": iterations[:MOST_ITERATIONS],
        "leak": msgspec.structs.asdict(leak),
        "lost_frees": history.lost_frees,
        "out_of_memory": [
            {
                "event": event,
                "time_ns": time_of(history, event + 1),
                "asked_bytes": asked,
                "free_bytes": free if free >= 0 else None,
            }
            for event, asked, free in history.out_of_memory
        ],
        "findings": findings_of(profile, history, leak, iterations if marked else []),
    }


_ABOUT = 0.05
"""Difference of sizes that are about equal: requests are rounded, and buffers have no gradients."""


def _held_before(history: History, categories: Sequence[Held], state: int) -> str | None:
    """What was probably held before the recording, in one or two sentences: after a step, parameters as large as the
    gradients, and what the optimizer frees later and replaces. None where no step was recorded, or less was held."""
    held = next((row.num_bytes for row in categories if row.name == CATEGORIES[HELD_BEFORE]), 0)
    blocks = history.blocks
    gradients = np.flatnonzero(blocks.category == CATEGORIES.index("gradient"))
    if history.relative or not len(gradients) or not (history.phase == Phase.OPTIMIZER).any():
        return None
    most = int(_sizes(history, gradients).max())
    if held < (1 - _ABOUT) * most:
        return None
    if held <= (1 + _ABOUT) * most:
        return "What was held before the recording is as large as the gradients: probably the parameters."
    # What nothing in the recording allocated falls where it is freed.
    frees = -np.diff(history.in_use_bytes - _sizes(history, np.arange(len(blocks.allocated))))[state:]
    replaced = int(frees[history.phase[state:] == Phase.OPTIMIZER].sum())
    made = int(blocks.num_bytes[blocks.category == CATEGORIES.index("optimizer state")].sum())
    rest = ""
    if made and abs(replaced - made) <= _ABOUT * made and replaced <= held - (1 - _ABOUT) * most:
        rest = f" {size(replaced)} are probably the optimizer's state, of which its step makes as much anew."
    return (
        f"Of what was held before the recording, {size(most)} are probably the parameters, as large as the gradients."
        f"{rest}"
    )


def _sizes(history: History, rows: Int64s) -> Int64s:
    """What some blocks hold together in each state."""
    blocks, last = history.blocks, len(history.in_use_bytes) - 1
    change = np.zeros(last + 2, np.int64)
    np.add.at(change, blocks.allocated[rows] + 1, blocks.num_bytes[rows])
    np.subtract.at(change, np.minimum(blocks.freed[rows], last) + 1, blocks.num_bytes[rows])
    sums: Int64s = np.cumsum(change)[:-1]
    return sums


def held_rows(rows: Sequence[Held], key: str) -> list[dict[str, Any]]:
    """Rows as plain data; ``key`` says what their names are."""
    return [{key: held.name, "bytes": held.num_bytes, "blocks": held.blocks} for held in rows]


def state_at(history: History, time_ns: int) -> int:
    """The state at a time, or after an event by its number where no times were recorded."""
    if not len(history.time_ns):
        return min(max(time_ns + 1, 0), len(history.in_use_bytes) - 1)
    return int(np.searchsorted(history.time_ns, time_ns, side="right"))


def _iterations(history: History, candidate: IterationCandidate) -> list[dict[str, Any]]:
    first = np.searchsorted(history.time_ns, candidate.start_ns, side="left")
    last = np.searchsorted(history.time_ns, candidate.stop_ns, side="left")
    rows = []
    for index, (begin, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        peak = peak_of(history, begin, end + 1)
        rows.append(
            {
                "index": index,
                "number": int(candidate.values[index]),
                "start_ns": int(candidate.start_ns[index]),
                "peak_bytes": peak.in_use_bytes,
                "peak_ns": peak.time_ns,
                "end_bytes": int(history.in_use_bytes[end]),
            }
        )
    return rows


def _fragmentation(history: History) -> dict[str, Any]:
    """What is reserved and not in use at the end, and the largest piece of it (snapshots)."""
    reserved = int(history.reserved_bytes[-1])
    free = free_pieces(history)
    cached = reserved - int(history.in_use_bytes[-1]) if reserved >= 0 else None
    if history.segments and cached is not None:
        cached = sum(free)  # what requests were rounded up to is not cached
    return {
        "cached_bytes": cached,
        "cached_fraction": cached / reserved if cached is not None and reserved > 0 else None,
        "largest_free_block_bytes": max(free, default=None),
        "free_bytes": sum(free) if history.segments else None,
        "segments": len(history.segments) or None,
    }
