"""Rules about communication that nothing hides, and what copies share with it."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.exposed import Transfers, collectives
from tensorboard_plugin_dlprof.analysis.rules.idle import compute_ns
from tensorboard_plugin_dlprof.analysis.rules.missing import lacks_much
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Claim, Confidence, Evidence, Finding, Gain, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.analysis.wording import Number
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.diagnosis.exposed import longest_exposed
from tensorboard_plugin_dlprof.diagnosis.known_waits import (
    COMMUNICATION,
    NOT_TAKEN_OUT,
    OTHER_HOSTS_SHOW,
    OTHER_RANKS_SHOW,
    SHOWS_BESIDE,
    WAITS_ARE_TOLD,
)
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


def communication(signals: Signals) -> Finding | Lacks | None:
    """Collectives during which nothing computes."""
    result = collectives(signals.profile, signals.diagnosis)
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
    waits = signals.late is not None and 2 * signals.late.lost_ns > result.exposed_ns
    can_tell = high >= least and not unsure and not waits
    selected = np.zeros(len(signals.profile.kernels.op), np.bool_)
    selected[result.rows] = True
    advice, link = _ways(signals, selected)
    count = max(round(len(result.rows) / iterations), 1)
    alike = signals.share_of_iteration(int(signals.diagnosis.mean(result.device.communication_ns)))
    return Finding(
        COMMUNICATION,
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        Confidence.MEDIUM,
        "communication",
        "Exposed communication takes {bound}{time_ns} of each iteration ({share_fraction}): {collectives} "
        "{collectives:collective|collectives}, {mostly} {name}, median {median_ns}. Communication, exposed or hidden, "
        "takes {all_fraction} of the time.",
        advice,
        {
            "bound": "at most " if unsure else "",
            "time_ns": result.exposed_ns,
            "share_fraction": share,
            "all_fraction": alike,
            "collectives": count,
            "median_ns": int(np.sort(result.length_ns)[len(result.rows) // 2]),
            **_foremost(signals, result),
        },
        _names(signals, result),
        Gain(
            high // 2,
            high,
            "Collectives can hide behind computing that does not depend on them, taken as up to half of it."
            + WAITS_ARE_TOLD,
            (Claim(Pool.COMMUNICATION, high // 2, high),),
        )
        if can_tell
        else None,
        link,
        cause="communication",
        part="communication",
        time_ns=result.exposed_ns,
        device=result.device.device,
        beside=NOT_TAKEN_OUT if can_tell and signals.profile.info.world_size > 1 else "",
        cannot_tell=""
        if can_tell
        else "kernels that may hide it are missing from the recording"
        if unsure
        else "most of it is a wait for a GPU of this recording that comes late"
        if waits
        else f"there is too little computing to hide it behind{SHOWS_BESIDE}",
    )


def _shown(name: str) -> str:
    return name.split("(")[0].split("<")[0].replace("{", "").replace("}", "")


def _foremost(signals: Signals, transfers: Transfers) -> dict[str, Number]:
    """The kernel with most of the exposed time, and whether that is more than half of it, for a sentence."""
    names, number = numbered(signals.profile.kernels.name[transfers.rows])
    times: Counter[str] = Counter()
    for name, time in zip(names.tolist(), np.bincount(number, weights=transfers.alone_ns).tolist(), strict=True):
        times[_shown(signals.profile.strings[name])] += int(time)
    ((name, time),) = times.most_common(1)
    return {"name": name, "mostly": "mostly" if 2 * time > times.total() else "the largest part in"}


def _names(signals: Signals, transfers: Transfers) -> tuple[Evidence, ...]:
    """The collectives by op and kernel, most exposed time first: libraries have one kernel for several operations."""
    kernels, strings = signals.profile.kernels, signals.profile.strings
    pairs, number = numbered(kernels.op[transfers.rows].astype(np.int64) << 32 | kernels.name[transfers.rows])
    paths: dict[tuple[str, int], int] = {}  # Ops of one path are one row, whatever the index of their layer.
    of_pair = []
    for pair in pairs.tolist():
        op, name = signals.profile.ops[pair >> 32], pair & 0xFFFFFFFF
        path = path_pattern(op.name) if op.eligibility != Eligibility.UNASSOCIATED else ""
        of_pair.append(paths.setdefault((path, name), len(paths)))
    group = np.array(of_pair, np.int64)[number]
    time = np.bincount(group, weights=transfers.alone_ns).astype(np.int64)
    shown = list(paths)
    rows = []
    order = np.argsort(-time, kind="stable")
    for at in order[time[order] > 0][: thresholds.EVIDENCE_ROWS].tolist():
        own = np.flatnonzero(group == at)
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
                **moment_of(transfers, kernels, own),
            )
        )
    return tuple(rows)


def moment_of(transfers: Transfers, table: Kernels | Copies, some: Int64s) -> dict[str, int]:
    """What evidence says of the longest stretch in which some of the transfers are exposed; nothing if none is."""
    rows = transfers.rows[some]
    longest = longest_exposed(transfers.exposed, table.start_ns[rows], table.end_ns[rows])
    return {} if longest is None else dict(zip(("from_ns", "to_ns", "iteration"), longest, strict=True))


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
        ways = "Overlap more (asynchronous collectives), split the model over fewer GPUs, or "
        ways += (
            "use collectives made for short messages (symmetric memory)"
            if short and not _of_short_messages(signals, selected)
            else "send narrower types"
        )
    else:
        ways = "Overlap more (gradient buckets, FSDP prefetch), or accumulate gradients over more steps (no_sync)"
    ways += f"{OTHER_RANKS_SHOW}."
    plain = "Overlap with asynchronous operations, and send narrower types."
    xla = (
        "Let XLA overlap more: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true; send narrower types, or "
        f"accumulate gradients over more steps{OTHER_HOSTS_SHOW}."
    )
    link = signals.advice(_DISTRIBUTED_LINK, tensorflow="", tensorrt="", jax=_JAX_LINK, cuda=_DISTRIBUTED_LINK)
    return signals.advice(ways, tensorflow=plain, tensorrt=plain, cuda=ways, jax=xla), link


def _of_short_messages(signals: Signals, selected: Bools) -> bool:
    """Whether any of these collectives is one that is made for short messages."""
    names = distinct_values(signals.profile.kernels.name[selected]).tolist()
    return any(_MADE_FOR_SHORT.search(signals.profile.strings[name]) for name in names)


def small_collectives(signals: Signals) -> Finding | None:
    """Many short collectives, as of one gradient each. In inference each layer needs the last one's at once."""
    result = collectives(signals.profile, signals.diagnosis)
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
        device=result.device.device,
        cannot_tell="how much of each is its start and how much the wait for other ranks is not recorded",
        overlaps_with=("communication_detector",),
    )


def late_rank(signals: Signals) -> Finding | None:
    """The same collectives take far longer on one GPU of the recording than on another, which comes late."""
    result, late = collectives(signals.profile, signals.diagnosis), signals.late
    if result is None or late is None or signals.share_of_iteration(late.lost_ns) < thresholds.MIN_GAIN_FRACTION:
        return None
    high = min(late.lost_ns, result.exposed_ns)
    return Finding(
        "late_rank",
        Severity.WARNING,
        Confidence.HIGH,
        "communication",
        "GPU {late} comes late to {collectives} {collectives:collective|collectives}: GPU {waiting} waits {lost_ns} of "
        "each iteration in them ({share_fraction}).",
        "Look at what GPU {late} does before: its share of the work, its data loader, its host.",
        {
            "late": str(late.device),
            "waiting": str(late.waiting),
            "collectives": late.collectives,
            "lost_ns": late.lost_ns,
            "share_fraction": signals.share_of_iteration(late.lost_ns),
        },
        tuple(msgspec.structs.replace(each, detail=f"late: GPU {late.device}") for each in _names(signals, result)[:5]),
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
