"""Rules about communication that nothing hides, and what copies share with it."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import path_of_group
from tensorboard_plugin_dlprof.analysis.rules.idle import compute_ns
from tensorboard_plugin_dlprof.analysis.rules.missing import lacks_much
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Claim, Confidence, Evidence, Finding, Gain, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.diagnosis.activity import communication_names
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, working
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Copies, Kernels

_JAX_LINK = "https://docs.jax.dev/en/latest/gpu_performance_tips.html"
_DISTRIBUTED_LINK = "https://pytorch.org/docs/stable/distributed.html"

_SHORT_NS = 100_000
"""Median length of collectives up to which how they start counts, rather than how much they move."""

_MADE_FOR_SHORT = Expression(r"one_?shot|two_?shot|multimem|cross_device_reduce|quick_?reduce", re.IGNORECASE)

_EXCHANGE = Expression(r"all_?to_?all|send|recv|dispatch|combine", re.IGNORECASE)
"""Types of ops whose collectives exchange data between all pairs of ranks; libraries for mixtures of experts call them
``dispatch`` and ``combine``."""


class Transfers(msgspec.Struct):
    """The communication or copies of a GPU in the typical iterations."""

    device: DeviceDiagnosis
    exposed_ns: int
    """In a typical iteration, while no kernel computes (or no kernel runs, for copies)."""
    rows: Int64s
    """Rows of the table, those that run in these iterations."""
    length_ns: Int64s
    """How long each runs in them."""
    alone_ns: Int64s
    """How much of that is exposed; two that run together count both."""


def most_exposed(signals: Signals, part: Part) -> tuple[DeviceDiagnosis, int] | None:
    """The GPU with most of a part of the time, and how much; None if there is none."""
    result = [(int(signals.diagnosis.mean(each.parts_ns)[part]), each) for each in working(signals.diagnosis)]
    time, device = max(result, key=lambda each: each[0], default=(0, None))
    return (device, time) if device is not None and time else None


def inside(signals: Signals, table: Kernels | Copies, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Those of some rows that run in the typical iterations, and how long."""
    diagnosis = signals.diagnosis
    start, stop = diagnosis.start_ns[diagnosis.selected], diagnosis.stop_ns[diagnosis.selected]
    begin, end = table.start_ns[rows], table.end_ns[rows]
    length = np.zeros(len(rows), np.int64)
    window = np.searchsorted(stop, begin, side="right")
    for _ in range(2):  # what runs longer than into a second iteration is rare, and counted for two
        here = np.minimum(window, len(start) - 1)
        length += np.maximum(np.minimum(end, stop[here]) - np.maximum(begin, start[here]), 0) * (window < len(start))
        window = window + 1
    retained = length > 0
    return rows[retained], length[retained]


def _collectives(signals: Signals) -> Transfers | None:
    most = most_exposed(signals, Part.COMMUNICATION)
    if most is None:
        return None
    kernels = signals.profile.kernels
    selected = are_among(kernels.long_name, communication_names(signals.profile)) & (kernels.device == most[0].device)
    rows, length = inside(signals, kernels, np.flatnonzero(selected))
    return Transfers(*most, rows, length, length)


def communication(signals: Signals) -> Finding | Lacks | None:
    """Collectives during which nothing computes."""
    result = _collectives(signals)
    if result is None or not len(result.rows):
        return None
    share = signals.share_of_iteration(result.exposed_ns)
    if share < thresholds.MIN_GAIN_FRACTION:
        return None
    iterations = len(signals.diagnosis.selected)
    computing = compute_ns(signals, result.device)
    high = min(result.exposed_ns, computing // 2)
    # Where little computes, what collectives wait for counts, not what they could hide behind.
    least = max(
        thresholds.MIN_GAIN_FRACTION * signals.diagnosis.mean_wall_ns, thresholds.HIDDEN_FRACTION * result.exposed_ns
    )
    unsure = lacks_much(signals)  # Kernels that would hide it may be missing.
    late = _late(signals, result)
    waits = late is not None and 2 * late[0] > result.exposed_ns
    can_tell = high >= least and not unsure and not waits
    selected = np.zeros(len(signals.profile.kernels.op), np.bool_)
    selected[result.rows] = True
    advice, link = _ways(signals, selected)
    count = max(round(len(result.rows) / iterations), 1)
    alike = signals.share_of_iteration(int(signals.diagnosis.mean(result.device.communication_ns)))
    return Finding(
        "communication_detector",
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        Confidence.MEDIUM,
        "communication",
        "Exposed communication takes {bound}{time_ns} of each iteration ({share_fraction}): {collectives} "
        "{collectives:collective|collectives}, mostly {name}, median {median_ns}. Communication, exposed or hidden, "
        "takes {all_fraction} of the time.",
        advice,
        {
            "bound": "at most " if unsure else "",
            "time_ns": result.exposed_ns,
            "share_fraction": share,
            "all_fraction": alike,
            "collectives": count,
            "median_ns": int(np.sort(result.length_ns)[len(result.rows) // 2]),
            "name": _shown(_names(signals, result)[0].key),
        },
        _names(signals, result),
        Gain(
            high // 2,
            high,
            "Collectives can hide behind computing that does not depend on them, taken as up to half of it.",
            (Claim(Pool.COMMUNICATION, high // 2, high),),
        )
        if can_tell
        else None,
        link,
        cause="communication",
        part="communication",
        time_ns=result.exposed_ns,
        cannot_tell=""
        if can_tell
        else "kernels that may hide it are missing from the recording"
        if unsure
        else "most of it is a wait for a GPU of this recording that comes late"
        if waits
        else "there is too little computing to hide it behind; whether it transfers or waits "
        "for a late rank shows beside the other ranks' recordings",
    )


def _shown(name: str) -> str:
    return name.split("(")[0].split("<")[0].replace("{", "").replace("}", "")


def _names(signals: Signals, transfers: Transfers) -> tuple[Evidence, ...]:
    """The collectives by op and kernel, most time first: libraries have one kernel for several operations."""
    kernels, strings = signals.profile.kernels, signals.profile.strings
    pairs, number = numbered(kernels.op[transfers.rows].astype(np.int64) << 32 | kernels.name[transfers.rows])
    paths: dict[tuple[str, int], int] = {}  # Ops of one path are one row, whatever the index of their layer.
    of_pair = []
    for pair in pairs.tolist():
        op, name = signals.profile.ops[pair >> 32], pair & 0xFFFFFFFF
        path = path_of_group(op.name) if op.eligibility != Eligibility.UNASSOCIATED else ""
        of_pair.append(paths.setdefault((path, name), len(paths)))
    group = np.array(of_pair, np.int64)[number]
    time = np.bincount(group, weights=transfers.length_ns).astype(np.int64)
    shown = list(paths)
    rows = []
    for at in np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS].tolist():
        own = np.flatnonzero(group == at)
        longest = transfers.rows[own[transfers.length_ns[own].argmax()]]
        path, name = shown[at]
        rows.append(
            Evidence(
                "kernel",
                strings[name],
                int(time[at]),
                len(own),
                path,
                path=path or strings[name],
                call=strings[name],
                device=transfers.device.device,
                iteration=iteration_of(signals, int(kernels.start_ns[longest])),
                from_ns=int(kernels.start_ns[longest]),
                to_ns=int(kernels.end_ns[longest]),
            )
        )
    return tuple(rows)


def iteration_of(signals: Signals, time_ns: int) -> int:
    """Position of the iteration of a time."""
    starts = signals.diagnosis.start_ns
    return max(int(np.searchsorted(starts, time_ns, side="right")) - 1, 0)


def _ways(signals: Signals, selected: Bools) -> tuple[str, str]:
    """How a program can wait less for these collectives, and the address of a page about it.

    That depends on what they transfer: gradients and weights in training, else parts of a model's results, or data
    between pairs of ranks (tokens for experts, parts of a sequence, activations of a pipeline).
    """
    kernels = signals.profile.kernels
    duration = np.where(selected, kernels.end_ns - kernels.start_ns, 0)
    exchanges = signals.ops_where(_EXCHANGE, of="op_type")[kernels.op] if len(kernels.op) else selected
    names = [
        text
        for text in distinct_values(kernels.name[selected]).tolist()
        if _EXCHANGE.search(signals.profile.strings[text])
    ]
    exchanges = exchanges | are_among(kernels.name, names)
    if int(duration[exchanges].sum()) > 0.5 * int(duration.sum()):
        ways = "Overlap more (async_op=True, two halves of the batch by turns), even out what the ranks send each other"
    elif "ops" in signals.recorded and not signals.backward:
        short = int(np.median(duration[selected])) < _SHORT_NS
        ways = "Split the model over fewer GPUs, or "
        ways += (
            "use collectives made for short messages (symmetric memory)"
            if short and not _of_short_messages(signals, selected)
            else "send narrower types"
        )
    else:
        ways = "Overlap more (gradient buckets, FSDP prefetch), or accumulate gradients over more steps (no_sync)"
    ways += "; the other ranks' recordings show whether it transfers or waits for a late one."
    plain = "Overlap with asynchronous operations, and send narrower types."
    xla = (
        "Let XLA overlap more: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true; send narrower types, or "
        "accumulate gradients over more steps; the other hosts' recordings show whether it transfers or waits for a "
        "late GPU."
    )
    link = signals.advice(_DISTRIBUTED_LINK, tensorflow="", tensorrt="", jax=_JAX_LINK, cuda=_DISTRIBUTED_LINK)
    return signals.advice(ways, tensorflow=plain, tensorrt=plain, cuda=ways, jax=xla), link


def _of_short_messages(signals: Signals, selected: Bools) -> bool:
    """Whether any of these collectives is one that is made for short messages."""
    names = distinct_values(signals.profile.kernels.name[selected]).tolist()
    return any(_MADE_FOR_SHORT.search(signals.profile.strings[name]) for name in names)


def small_collectives(signals: Signals) -> Finding | None:
    """Many short collectives, as of one gradient each. In inference each layer needs the last one's at once."""
    result = _collectives(signals)
    if result is None or ("ops" in signals.recorded and not signals.backward):
        return None
    count = round(len(result.rows) / max(len(signals.diagnosis.selected), 1))
    if count < thresholds.SMALL_COLLECTIVES:
        return None
    median = int(np.sort(result.length_ns)[len(result.rows) // 2])
    if median >= thresholds.SMALL_COLLECTIVE_NS or (
        signals.share_of_iteration(result.exposed_ns) < thresholds.MIN_GAIN_FRACTION
    ):
        return None
    return Finding(
        "small_collectives",
        Severity.ADVICE,
        Confidence.MEDIUM,
        "communication",
        "{collectives} collectives in each iteration, half of them shorter than {median_ns}: each pays for its start.",
        "Send them together: "
        + signals.advice(
            "gradient buckets (DistributedDataParallel's bucket_cap_mb), or one flattened tensor in place of one call "
            "a parameter.",
            tensorflow="one flattened tensor in place of one call a variable.",
            jax="XLA joins those below --xla_gpu_all_reduce_combine_threshold_bytes (all_gather and reduce_scatter "
            "have their own), set in XLA_FLAGS.",
            tensorrt="one call in place of one for each tensor.",
            cuda="ncclGroupStart and ncclGroupEnd around them, or one flattened buffer.",
        ),
        {"collectives": count, "median_ns": median},
        _names(signals, result),
        cause="communication",
        part="communication",
        time_ns=result.exposed_ns,
        cannot_tell="how much of each is its start and how much the wait for other ranks is not recorded",
        overlaps_with=("communication_detector",),
    )


def late_rank(signals: Signals) -> Finding | None:
    """The same collectives take far longer on one GPU of the recording than on another, which comes late."""
    result = _collectives(signals)
    best = None if result is None else _late(signals, result)
    if result is None or best is None or signals.share_of_iteration(best[0]) < thresholds.MIN_GAIN_FRACTION:
        return None
    lost, device, count = best
    high = min(lost, result.exposed_ns)
    return Finding(
        "late_rank",
        Severity.WARNING,
        Confidence.HIGH,
        "communication",
        "GPU {late} comes late to {collectives} {collectives:collective|collectives}: GPU {waiting} waits {lost_ns} of "
        "each iteration in them ({share_fraction}).",
        "Look at what GPU {late} does before: its share of the work, its data loader, its host.",
        {
            "late": str(device),
            "waiting": str(result.device.device),
            "collectives": count,
            "lost_ns": lost,
            "share_fraction": signals.share_of_iteration(lost),
        },
        tuple(msgspec.structs.replace(each, detail=f"late: GPU {device}") for each in _names(signals, result)[:5]),
        Gain(
            high // 2,
            high,
            "Half of the wait if its work is spread evenly, all of it if it need not be done.",
            (Claim(Pool.COMMUNICATION, high // 2, high),),
        ),
        cause="communication",
        part="communication",
        time_ns=high,
        overlaps_with=("communication_detector",),
    )


def _late(signals: Signals, result: Transfers) -> tuple[int, int, int] | None:
    """How long the GPU with most exposed communication waits in an iteration for one that comes late (ns), which one
    that is, and to how many collectives; None if the recording has no other GPU with the same collectives."""
    if len(signals.diagnosis.devices) < 2 or not len(result.rows):
        return None
    kernels = signals.profile.kernels
    selected = are_among(kernels.long_name, communication_names(signals.profile))
    waited = _by_order(kernels, result.rows)
    best: tuple[int, int, int] | None = None
    for other in signals.diagnosis.devices:
        if other.device == result.device.device:
            continue
        rows, _ = inside(signals, kernels, np.flatnonzero(selected & (kernels.device == other.device)))
        theirs = _by_order(kernels, rows)
        both = min(len(waited), len(theirs))
        if not both or (kernels.name[waited[:both]] != kernels.name[theirs[:both]]).any():
            continue
        mine = kernels.end_ns[waited[:both]] - kernels.start_ns[waited[:both]]
        his = kernels.end_ns[theirs[:both]] - kernels.start_ns[theirs[:both]]
        late = mine >= thresholds.LATE_TIMES * np.maximum(his, 1)
        lost = int((mine - his)[late].sum()) // max(len(signals.diagnosis.selected), 1)
        if lost and (best is None or lost > best[0]):
            best = lost, other.device, int(late.sum())
    return best


def _by_order(kernels: Kernels, rows: Int64s) -> Int64s:
    return rows[np.argsort(kernels.start_ns[rows], kind="stable")]
