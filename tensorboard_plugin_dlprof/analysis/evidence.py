"""Collects the evidence of findings: ops, kernels and source lines."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Evidence
from tensorboard_plugin_dlprof.classify.frames import is_own
from tensorboard_plugin_dlprof.classify.kernel_names import WRAPPERS
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Op
from tensorboard_plugin_dlprof.units import short_duration


def op_evidence(signals: Signals, rows: Sequence[int] | Int64s, times: Int64s | None = None) -> tuple[Evidence, ...]:
    """The ops with the most kernel time among these rows of ``OpNodes``; ``times`` replaces the kernel times."""
    nodes, kernel_ns = signals.aggregation.op_nodes, signals.efficiency.ops.kernel_ns
    selected = np.asarray(rows, np.int64)
    time = kernel_ns[selected] if times is None else np.asarray(times, np.int64)
    order = np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence(
            "op",
            signals.profile.ops[int(nodes.op[selected[at]])].op_id,
            int(time[at]),
            int(nodes.num_calls[selected[at]]),
            _detail(signals, int(selected[at])),
        )
        for at in order.tolist()
    )


def work_evidence(signals: Signals, selected: Bools) -> tuple[Evidence, ...]:
    """The ops that launched the chosen aggregated kernels, with the kernel, most time first.

    Rows of one path, type, kernel and GPU are one, whatever the index of the layer: such a row has the path without
    indices, tells how many ops it is of, and opens that with the most time. Kernels of no op stand for themselves.
    """
    kernels, ops, strings = signals.profile.kernels, signals.profile.ops, signals.profile.strings
    rows, duration, names = signals.kernel[selected], signals.duration[selected], _telling_names(signals)
    several = len(distinct_values(kernels.device)) > 1
    result: dict[tuple[str, str, int, int | None], _Group] = {}
    for device in distinct_values(kernels.device[rows]).tolist():
        mine = kernels.device[rows] == device
        pairs, number = numbered(kernels.op[rows[mine]].astype(np.int64) << 32 | names[rows[mine]])
        times = np.bincount(number, weights=duration[mine]).astype(np.int64).tolist()
        counts = np.bincount(number).tolist()
        for pair, time, count in zip(pairs.tolist(), times, counts, strict=True):
            op, name = pair >> 32, pair & 0xFFFFFFFF
            known = signals.associated[op]
            texts = (path_pattern(ops[op].name), path_pattern(ops[op].op_type)) if known else ("", "")
            group = result.setdefault((*texts, name, device if several else None), _Group())
            group.time_ns += time
            group.count += count
            group.pairs.append(pair)
            if known:
                group.ops += 1
                if time >= group.longest_ns:
                    group.op, group.longest_ns = op, time
    row_of_op = {op: row for row, op in enumerate(signals.aggregation.op_nodes.op.tolist())}
    shown = sorted(result.items(), key=lambda item: -item[1].time_ns)[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence(
            "kernel",
            _own_and_telling(strings[name])[0],
            group.time_ns,
            group.count,
            path=_own_and_telling(strings[name])[1],
            device=device,
            **_stretch(signals, rows, names, group.pairs, device),
        )
        if group.op < 0
        else Evidence(
            "op",
            ops[group.op].op_id,
            group.time_ns,
            group.count,
            _example(ops[group.op], group.ops, _size(signals, row_of_op.get(group.op))),
            path=path_pattern(ops[group.op].name) if group.ops > 1 else "",
            call=_own_and_telling(strings[name])[1],
            device=device,
            **_stretch(signals, rows, names, group.pairs, device),
        )
        for (_, _, name, device), group in shown
    )


def span_evidence(signals: Signals, selected: Bools, span_ns: int) -> tuple[Evidence, ...]:
    """The stretch from the first to the last of the chosen aggregated kernels, then what ``work_evidence`` tells.

    Its moment is that of the iteration where they take longest; ``span_ns`` is its time in all of them.
    """
    ops, table, work = signals.profile.ops, signals.profile.kernels, work_evidence(signals, selected)
    if not work or work[0].from_ns is None:
        return work
    rows = signals.kernel[selected]
    rows = rows[table.device[rows] == (table.device[rows[0]] if work[0].device is None else work[0].device)]
    called = [ops[op].name for op in distinct_values(table.op[rows]).tolist() if signals.associated[op]]
    shared = _shared([path_pattern(name).rpartition("/")[0] for name in called])
    if not shared:
        return work
    worst, mine = _in_worst(signals, rows)
    stretch = Evidence(
        "range",
        shared,
        span_ns,
        signals.iterations,
        path=shared,
        device=work[0].device,
        iteration=worst,
        from_ns=int(table.start_ns[mine].min()),
        to_ns=int(table.end_ns[mine].max()),
    )
    return (stretch, *work)


def _shared(paths: Sequence[str]) -> str:
    """What these paths have in common; empty if that is nothing."""
    try:
        shared = posixpath.commonpath(paths)
    except ValueError:  # some begin at the root, others do not
        return ""
    return shared if shared != "/" else ""


class _Group(msgspec.Struct):
    """What the ops of one path did by one kernel."""

    time_ns: int = 0
    count: int = 0
    ops: int = 0
    op: int = -1
    """The op with the most time; -1 if there is none."""
    longest_ns: int = 0
    pairs: list[int] = msgspec.field(default_factory=list)
    """Ops with the name of the kernel, as they are numbered."""


def _stretch(signals: Signals, rows: Int64s, names: Int32s, pairs: Sequence[int], device: int | None) -> dict[str, Any]:
    """The iteration in which kernels take most of the time, and the longest of them there, as fields of evidence."""
    table = signals.profile.kernels
    wanted = np.sort(np.array(pairs, np.int64))
    pair = table.op[rows].astype(np.int64) << 32 | names[rows]
    mine = rows[wanted[np.minimum(np.searchsorted(wanted, pair), len(wanted) - 1)] == pair]
    if device is not None:
        mine = mine[table.device[mine] == device]
    if not len(mine) or not len(signals.diagnosis.start_ns):
        return {}
    worst, mine = _in_worst(signals, mine)
    longest = mine[(table.end_ns[mine] - table.start_ns[mine]).argmax()]
    return {"iteration": worst, "from_ns": int(table.start_ns[longest]), "to_ns": int(table.end_ns[longest])}


def _in_worst(signals: Signals, rows: Int64s) -> tuple[int, Int64s]:
    """The iteration in which these kernels take most of the time, and those of them in it."""
    table = signals.profile.kernels
    window = np.maximum(np.searchsorted(signals.diagnosis.start_ns, table.start_ns[rows], side="right") - 1, 0)
    worst = int(np.bincount(window, weights=table.end_ns[rows] - table.start_ns[rows]).argmax())
    return worst, rows[window == worst]


def most_in(signals: Signals, selected: Bools) -> str:
    """``, most in /encoder/linear, 12.3 ms``: the path with the most time of the chosen aggregated kernels, on the GPU
    where they take most, for a sentence; empty if it is of no op, or only a small part."""
    kernels = signals.profile.kernels
    mine = selected & (kernels.device[signals.kernel] == signals.gpu_of_most(selected))
    ops, number = numbered(kernels.op[signals.kernel[mine]])
    paths: Counter[str] = Counter()
    for op, time in zip(ops.tolist(), np.bincount(number, weights=signals.duration[mine]).tolist(), strict=True):
        if signals.associated[op]:
            paths[path_pattern(signals.profile.ops[op].name)] += int(time)
    ((path, time_ns),) = paths.most_common(1) or [("", 0)]
    whole_ns = signals.time(mine)
    if not path or time_ns < MUCH * whole_ns:
        return ""
    if time_ns == whole_ns:
        return f", all in {path}"
    return f", {most_of(time_ns, whole_ns)} in {path}, {short_duration(signals.per_iteration(time_ns))}"


def most_of(part_ns: float, whole_ns: float) -> str:
    """What a sentence calls the largest part of some time."""
    return "most" if 2 * part_ns > whole_ns else "the largest part"


MUCH: Final = 0.05
"""Share of the time from which a path is worth naming."""


def _size(signals: Signals, row: int | None) -> str:
    return "" if row is None else _detail(signals, row)


def _example(op: Op, count: int, detail: str) -> str:
    """The detail of several ops as one row, of which ``op`` is one: its own is that of an example."""
    if count == 1:
        return detail
    own = "" if detail in ("", path_pattern(op.name)) else f", {detail}"
    return f"{count:,} ops, e.g. {op.op_id}{own}"


def _telling_names(signals: Signals) -> Int32s:
    """The name of each kernel, as rows of strings: the whole one, where its own says nothing."""
    kernels, strings = signals.profile.kernels, signals.profile.strings
    wrappers = [row for row in distinct_values(kernels.name).tolist() if strings[row] in WRAPPERS]
    return np.where(are_among(kernels.name, wrappers), kernels.long_name, kernels.name) if wrappers else kernels.name


def _own_and_telling(name: str) -> tuple[str, str]:
    """A kernel's own name, and that with what a wrapper wraps: ``Kernel2<cutlass_80_tensorop_s1688gemm_128x64>``."""
    wrapper = _WRAPPER.search(name)
    return (wrapper[1], f"{wrapper[1]}<{wrapper[2].rpartition('::')[2]}>") if wrapper else (name, name)


_WRAPPER: Final = re.compile(r"(?<!\w)(Kernel2?|device_kernel)<\s*([\w:]+)")


def kernel_evidence(signals: Signals, selected: Bools) -> tuple[Evidence, ...]:
    """The kernel names with the most time among the chosen aggregated kernels."""
    names, number = np.unique(_telling_names(signals)[signals.kernel[selected]], return_inverse=True)
    number = number.reshape(-1)
    time = np.bincount(number, weights=signals.duration[selected], minlength=len(names))
    count = np.bincount(number, minlength=len(names))
    order = np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS]
    shown = [_own_and_telling(signals.profile.strings[row]) for row in names[order].tolist()]
    return tuple(
        Evidence("kernel", own, int(time[at]), int(count[at]), path=telling)
        for (own, telling), at in zip(shown, order.tolist(), strict=True)
    )


def source_line(op: Op) -> str:
    """The innermost stack frame in the user's own code; empty if none was recorded."""
    frames = [frame for frame in op.stack_trace.split("\n") if frame]
    return next(filter(is_own, reversed(frames)), "")


def _detail(signals: Signals, row: int) -> str:
    """The detail of an op: the length of its largest product that does not fit, else all its lengths, else its path."""
    wrong, size = signals.efficiency.ops.misaligned[row], signals.efficiency.ops.size[row]
    if wrong:
        return f"{wrong.dimension}: {wrong.length:,} -> {wrong.padded:,}"
    path = signals.profile.ops[int(signals.aggregation.op_nodes.op[row])].name
    return size or (path if path.count("/") > 1 else "")
