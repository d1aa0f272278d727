"""Rules about single kernels."""

from __future__ import annotations

import re

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels
from tensorboard_plugin_dlprof.analysis.rules.start import fraction_after_start
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Severity
from tensorboard_plugin_dlprof.columns.group import are_among, numbered
from tensorboard_plugin_dlprof.diagnosis.places import cut_name
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression

_MOST_LETTERS = 80
"""Of a kernel's name in a sentence."""

_UNNAMED = Expression(r"^triton_(?:_\d[\dde]*)?$")
"""Names that PyTorch's compiler gave all of its kernels with the same arguments until 2024, unless told otherwise."""

_NEAR_ROOF = 0.6
"""Share of the roof from which only less work helps."""


def dominant(signals: Signals) -> Finding | Lacks | None:
    """One kernel that takes most of the computing time, if no other rule speaks of it. The last rule about kernels."""
    computing = ~signals.of_family("collective")
    if not len(signals.kernel):
        return None
    number = _by_name_and_op(signals)
    by_name = np.bincount(number, weights=np.where(computing, signals.duration, 0))
    first = int(by_name.argmax())
    selected = computing & (number == first)
    share = float(by_name[first]) / max(signals.time(computing) + signals.aggregation.launches.graph_ns, 1)
    time = signals.time(selected)
    if share < thresholds.DOMINANT_FRACTION or 2 * signals.time(selected & signals.reported) >= time:
        return None
    if signals.kernel_share(time) < thresholds.DOMINANT_TIME_FRACTION * fraction_after_start(signals):
        return None
    reached, count = _reached(signals, selected), int(selected.sum())
    each_ns = int(signals.efficiency.facts.duration[signals.kernel[selected]].sum()) // count
    sms = signals.device.sm_count if signals.device else 0
    blocks = signals.profile.kernels.grid[signals.kernel[selected]].astype(np.int64).prod(axis=1).max()
    few = 0 < 2 * blocks <= sms
    near = reached is not None and reached >= _NEAR_ROOF
    profile, one = signals.profile, signals.kernel[selected][0]
    long_name, function = (
        profile.strings[int(column[one])] for column in (profile.kernels.long_name, profile.kernels.name)
    )
    of_xla = profile.kernel_classes[int(profile.kernels.long_name[one])].library == "xla"
    return Finding(
        "dominant_kernel",
        Severity.ADVICE,
        Confidence.HIGH,
        "dominant kernel",
        "One kernel takes {computing_fraction} of the computing time: {kernel}, {kernels_ns} of each iteration in "
        "{kernels} {kernels:launch|launches}"
        + (" of {blocks} {blocks:block|blocks} for {sms} multiprocessors" if few else "")
        + (", of {each_ns} with what runs after the last mark" if 20 * each_ns * count > 21 * time else "")
        + ("." if reached is None else ", at {reached_fraction} of its roof."),
        "Give it less work (a smaller problem, a narrower type, another algorithm): it runs near what the GPU can do."
        if near
        else "Give it more blocks to work on at once: each runs on one multiprocessor, and most of the GPU idles."
        if few
        else "Find out what limits it: rocprof-compute profile -n why -k '{function}' -- PROGRAM."
        if signals.is_amd
        else "Find out what limits it: ncu --set full -k '{function}' -c 5 PROGRAM.",
        {
            "kernel": cut_name(long_name) + (f" ({profile.ops[int(profile.kernels.op[one])].name})" if of_xla else ""),
            "function": _filter(function, signals.is_amd),
            "kernels": signals.kernel_count(selected),
            "kernels_ns": signals.kernel_time(selected),
            "each_ns": each_ns,
            "blocks": int(blocks),
            "sms": sms,
            "computing_fraction": share,
            "reached_fraction": reached if reached is not None else 0.0,
        },
        work_evidence(signals, selected),
        **about_kernels(
            signals, selected, None, "",
            "It runs near its roof." if near else
            "What limits the kernel is not recorded; hardware counters (--counters) would show it.",
        ),
    )  # fmt: skip


def _filter(function: str, is_amd: bool) -> str:
    """What a tool for counters selects a kernel by: a part of its name where that is longer than anybody reads."""
    if len(function) <= _MOST_LETTERS:
        return function
    return function[:_MOST_LETTERS] if is_amd else f"regex:^{re.escape(function[:_MOST_LETTERS])}"


def _by_name_and_op(signals: Signals) -> Int64s:
    """A number for each aggregated kernel, the same for equal ones.

    XLA gives its fusions their names in each program anew: those of other ops are other kernels. Where PyTorch's
    compiler gives no names, kernels are told by their code, as far as its registers and shared memory are recorded.
    """
    kernels, strings = signals.profile.kernels, signals.profile.strings
    rows = signals.kernel
    name, op = kernels.long_name[rows].astype(np.int64), kernels.op[rows].astype(np.int64)
    classes = signals.profile.kernel_classes
    fusions = [text for text, result in classes.items() if result.library == "xla"]
    number = numbered(name * (len(signals.profile.ops) + 1) + np.where(are_among(name, fusions), op + 1, 0))[1]
    unnamed = are_among(name, [text for text in classes if _UNNAMED.search(strings[text])])
    if not unnamed.any():
        return number
    registers, shared = kernels.registers[rows], kernels.static_shared_bytes[rows] + kernels.dynamic_shared_bytes[rows]
    code = numbered(registers.astype(np.int64) << 32 | shared & 0xFFFFFFFF)[1]
    code = np.where(registers > 0, code, len(rows) + np.arange(len(rows)))
    return numbered(number * (2 * len(rows) + 1) + np.where(unnamed, code + 1, 0))[1]


def _reached(signals: Signals, selected: Bools) -> float | None:
    """Share of their roofs that the ops of these kernels reach; None if most of their time has none."""
    ops = signals.efficiency.ops
    mine = np.zeros(len(signals.profile.ops), np.bool_)
    mine[signals.profile.kernels.op[signals.kernel[selected]]] = True
    rows = np.flatnonzero(mine[ops.op] & (ops.kernel_ns > 0))
    known = rows[~np.isnan(ops.ideal_ns[rows])]
    measured = int(ops.measured_ns[known].sum())
    if not measured or 2 * measured < int(ops.kernel_ns[rows].sum()):
        return None
    return float(ops.ideal_ns[known].sum()) / measured
