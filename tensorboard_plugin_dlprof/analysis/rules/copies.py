"""The rule about exposed copies, which no kernel hides."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import most_of
from tensorboard_plugin_dlprof.analysis.exposed import Transfers, exposed_copies
from tensorboard_plugin_dlprof.analysis.program import CUDA_LINK, TENSORRT_LINK
from tensorboard_plugin_dlprof.analysis.rules.idle import compute_ns
from tensorboard_plugin_dlprof.analysis.rules.missing import lacks_much
from tensorboard_plugin_dlprof.analysis.rules.transfers import moment_of
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Claim, Confidence, Evidence, Finding, Gain, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis
from tensorboard_plugin_dlprof.diagnosis.directions import KINDS, MEMORY, direction_said, directions, reported
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.events.tables import UNIFIED_COPIES, Int64s
from tensorboard_plugin_dlprof.units import bandwidth, short_duration, size

_SEEN = 0.005
"""Share of a time by which another one differs in three digits."""

_WITHIN = 8
"""CUPTI's number of copies from a GPU to itself."""

_TO_HOST = 2
"""That of copies from a GPU to the host."""

_PAGES_TO_HOST = 12


def copies(signals: Signals) -> Finding | Lacks | None:
    """Copies during which no kernel runs, which go through pageable memory for the most part, or not."""
    table = signals.profile.memcpys
    result = exposed_copies(signals.profile, signals.diagnosis)
    if result is None:
        return None
    waits = _between_pages(signals, result.device)
    waits_ns = sum(waits.values())
    # The bar's part has both.
    sets_ns = int(signals.diagnosis.mean(result.device.parts_ns)[Part.COPY]) - result.exposed_ns
    if signals.share_of_iteration(result.exposed_ns + waits_ns) < thresholds.MIN_GAIN_FRACTION:
        return None
    memory = reported(table, result.rows)
    moved = np.maximum(table.num_bytes[result.rows], 0)
    kinds, kind = numbered(directions(table, result.rows))
    taken = np.bincount(kind, weights=result.alone_ns)
    taken += [waits.get(int(each) >> 2, 0) * max(len(signals.diagnosis.selected), 1) for each in kinds.tolist()]
    largest = int(taken.argmax())
    main = kind == largest
    direction, pageable = int(kinds[largest]) >> 2, int(kinds[largest]) & 3 == 2
    main_bytes = int(moved[main].sum())
    rate = main_bytes / max(int(result.length_ns[main].sum()), 1)
    iterations = max(len(signals.diagnosis.selected), 1)
    wide = direction != _WITHIN and _is_wider_than_needed(signals, result, main)
    gain, cannot_tell = _gain(signals, result, memory, moved)
    if direction in UNIFIED_COPIES:
        gain, cannot_tell = None, "how long kernels wait for pages that they touch is not recorded"
    elif signals.share_of_iteration(result.exposed_ns) < thresholds.MIN_GAIN_FRACTION:
        return None
    else:
        waits_ns = 0
    unsure = lacks_much(signals)  # Kernels that would hide them may be missing.
    if unsure:
        gain, cannot_tell = None, "kernels that may hide them are missing from the recording"
    share = signals.share_of_iteration(result.exposed_ns + waits_ns)
    evidence = _copying(signals, result, memory)
    whose = "" if len(kinds) == 1 else f"{most_of(taken.max(), taken.sum())} of {'it' if waits_ns else 'their time'} "
    return Finding(
        "pageable_copy_detector" if pageable else "copy_detector",
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        Confidence.HIGH if pageable else Confidence.MEDIUM,
        "copies",
        "In {time_ns} of each iteration ({share_fraction}) the GPU only moves pages of unified memory or, for "
        "{waits_ns} of it, waits until the next one is touched: {copies} {copies:copy|copies}, {where}{how_much}."
        if waits_ns
        else "Exposed copies take {bound}{time_ns} of each iteration ({share_fraction}){sets}: {copies} "
        "{copies:copy|copies}, {where}{how_much}.",
        _advice(signals, direction, pageable, wide, 2 * compute_ns(signals, result.device) < result.exposed_ns),
        {
            "bound": "at most " if unsure else "",
            "time_ns": result.exposed_ns + waits_ns,
            "waits_ns": waits_ns,
            "sets": f" and memsets {short_duration(sets_ns)} more" if sets_ns > _SEEN * result.exposed_ns else "",
            "share_fraction": share,
            "copies": max(round(len(result.rows) / iterations), 1),
            "where": whose + direction_said(int(kinds[largest])),
            "how_much": f" ({size(main_bytes // iterations)}, {bandwidth(rate * 1e9)})" if main_bytes else "",
        },
        evidence,
        gain,
        signals.advice(
            "https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
            tensorflow="https://www.tensorflow.org/guide/gpu_performance_analysis",
            tensorrt=TENSORRT_LINK,
            cuda=CUDA_LINK,
        ),
        cause="copies",
        part="copy",
        time_ns=result.exposed_ns + waits_ns,
        device=result.device.device,
        cannot_tell=cannot_tell,
    )


def _between_pages(signals: Signals, device: DeviceDiagnosis) -> dict[int, int]:
    """Idle time (ns, mean of the iterations) that ends as the driver moves a page of unified memory, which no call asks
    for: somebody touched it. By CUPTI's number of the copy."""
    table, pieces = signals.profile.memcpys, device.clipped
    idle = (pieces.part == Part.LAUNCH_UNKNOWN) & are_among(pieces.window, signals.diagnosis.selected)
    idle_ns = {}
    for kind in UNIFIED_COPIES:
        moves = (table.device == device.device) & (table.copy_kind == kind)
        ends = idle & np.isin(pieces.stop_ns, table.start_ns[moves])
        idle_ns[kind] = int(pieces.length_ns[ends].sum()) // max(len(signals.diagnosis.selected), 1)
    return idle_ns


def _advice(signals: Signals, direction: int, pageable: bool, wide: bool, hardly_hides: bool) -> str:
    """What to do about copies of a direction (CUPTI's number)."""
    if pageable and direction == _TO_HOST:
        return "Copy to the host less often and only what is needed, into pinned memory: " + signals.advice(
            "buffer.copy_(tensor, non_blocking=True) with torch.empty(..., pin_memory=True), read after an event.",
            tensorflow="fetch results every hundred steps, and sums rather than tensors.",
            jax="copy_to_host_async() of a result while the next step runs.",
            tensorrt="cudaHostAlloc for the buffers.",
            cuda="cudaHostAlloc or cudaHostRegister for the buffers.",
        )
    if pageable:
        how = signals.advice(
            "DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
            tensorflow="let tf.data put batches on the device (prefetch_to_device)",
            jax="jax.device_put of the next batch before the step that works on this one",
            tensorrt="cudaHostAlloc for the buffers",
            cuda="cudaHostAlloc or cudaHostRegister for the buffers",
        )
        return f"Pin the host memory that is copied from and to: {how}, and keep on the GPU what is used again."
    if direction == _WITHIN:
        return "Copy less within the GPU: " + signals.advice(
            "views in place of clone() and contiguous(), results written in place, or a compiler that fuses copies "
            "into kernels.",
            tensorflow="tf.function(jit_compile=True) fuses copies into kernels.",
            jax="donate_argnums for what a step replaces, arguments with the sharding that the function wants, and one "
            "jax.jit around what runs op by op.",
            tensorrt="let the engine write its results where they are read.",
            cuda="write results where they are read, or copy inside of kernels.",
        )
    if direction == _PAGES_TO_HOST:
        return (
            "Bring these pages back at once (cudaMemPrefetchAsync to cudaCpuDeviceId, or cudaMemcpy), and launch the "
            "next work before the host works on them: it touches them one after the other, and the GPU has nothing to "
            "do meanwhile."
        )
    if direction in UNIFIED_COPIES:
        return (
            "Move these pages before they are touched (cudaMemPrefetchAsync), or allocate with cudaMalloc what only "
            "the GPU uses."
        )
    aside = (
        "Copy less: keep on the GPU what is used again. There is too little to compute to hide more than a small part "
        "of these copies behind it."
        if hardly_hides
        else "Copy beside the kernels, on a stream of its own, and keep on the GPU what is used again."
    )
    return aside + (" Cast on the host what only matrix multiplications in 16 bits read." if wide else "")


def _is_wider_than_needed(signals: Signals, transfers: Transfers, main: Bools) -> bool:
    """Whether most of some copies are of FP32, in a program that multiplies in 16 bits: half the bytes would do."""
    ops, table = signals.profile.ops, signals.profile.memcpys
    types = np.array([op.data_type in ("float32", "float64") for op in ops], np.bool_)
    time = transfers.alone_ns[main]
    narrow = signals.time(signals.products & signals.of_precision("fp16", "bf16", "fp8"))
    return (
        2 * int(time[types[table.op[transfers.rows[main]]]].sum()) > int(time.sum())
        and 2 * narrow > signals.time(signals.products) > 0
    )


def _gain(signals: Signals, transfers: Transfers, host_memory: Int64s, moved: Int64s) -> tuple[Gain | None, str]:
    """What faster or hidden copies gain: the rate of the profile's own pinned copies, or hiding behind kernels."""
    least = thresholds.MIN_GAIN_FRACTION * signals.diagnosis.mean_wall_ns
    big = moved >= thresholds.LARGE_COPY_BYTES
    pinned, paged = big & (host_memory == 0), big & (host_memory == 1)
    exposed = transfers.exposed_ns
    if paged.any():
        slow = moved[paged].sum() / transfers.length_ns[paged].sum()
        if pinned.any():
            fast = float((moved[pinned] / transfers.length_ns[pinned]).max())
            share = max(1 - slow / fast, 0.0)
            high = round(exposed * share)
            if high >= least:
                how = "At the rate of the fastest pinned copy of this recording."
                return Gain(high // 2, high, how, (Claim(Pool.COPIES, high // 2, high),)), ""
        return None, "the rate of pinned copies on this machine was not recorded"
    high = min(exposed, compute_ns(signals, transfers.device))
    if high < max(least, thresholds.HIDDEN_FRACTION * exposed):
        return None, "there is too little computing to hide copies behind"
    low = max(round(0.4 * high), 1)
    how = "Copies that run beside kernels cost no time; some cannot, where the next kernel needs them."
    return Gain(low, high, how, (Claim(Pool.COPIES, low, high),)), ""


def _copying(signals: Signals, transfers: Transfers, host_memory: Int64s) -> tuple[Evidence, ...]:
    """The copies by op and kind, most time first; what they move, in one iteration."""
    table, profile, iterations = signals.profile.memcpys, signals.profile, max(len(signals.diagnosis.selected), 1)
    ops, of_op = numbered(table.op[transfers.rows])
    paths: dict[str, int] = {}  # Calls of one path, of any layer, are one row, which opens the op with the most time.
    path = [paths.setdefault(path_pattern(profile.ops[op].name), len(paths)) for op in ops.tolist()]
    key = np.array(path, np.int64)[of_op] << 8 | directions(table, transfers.rows)
    _, number = numbered(key)
    time = np.bincount(number, weights=transfers.alone_ns).astype(np.int64)
    rows = []
    for at in np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS].tolist():
        own = np.flatnonzero(number == at)
        longest = transfers.rows[own[transfers.alone_ns[own].argmax()]]
        op = profile.ops[int(table.op[longest])]
        direction = KINDS.get(int(table.copy_kind[longest]), "")
        memory = MEMORY.get(int(host_memory[own[0]]), "")
        moved = int(np.maximum(table.num_bytes[transfers.rows[own]], 0).sum()) // iterations
        call = profile.strings[int(table.name[longest])]
        associated = op.eligibility != Eligibility.UNASSOCIATED
        detail = ", ".join(filter(None, (direction, memory, size(moved) if moved else "")))
        rows.append(
            Evidence(
                "op" if associated else "call",
                op.op_id if associated else call or op.op_type,
                int(time[at]),
                len(own),
                detail,
                path=(
                    ""
                    if not associated
                    else op.name
                    if len(distinct_values(table.op[transfers.rows[own]])) == 1
                    else path_pattern(op.name)
                ),
                call=call or op.op_type,
                device=transfers.device.device,
                **moment_of(transfers, table, own),
            )
        )
    return tuple(rows)
