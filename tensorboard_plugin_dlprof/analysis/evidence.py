"""Collects the evidence of findings: ops, kernels and source lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, covered, length
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Evidence
from tensorboard_plugin_dlprof.analysis.wording import percentage
from tensorboard_plugin_dlprof.classify.frames import is_own
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Op

_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+(?=>)")
"""Address of the object whose built-in method is called."""


def op_evidence(signals: Signals, rows: Sequence[int] | Int64s, times: Int64s | None = None) -> tuple[Evidence, ...]:
    """The ops with the most kernel time among these rows of ``OpNodes``; ``times`` replaces the kernel times."""
    nodes, kernel_ns = signals.aggregation.op_nodes, signals.efficiency.ops.kernel_ns
    chosen = np.asarray(rows, np.int64)
    time = kernel_ns[chosen] if times is None else np.asarray(times, np.int64)
    order = np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence(
            "op",
            signals.profile.ops[int(nodes.op[chosen[at]])].op_id,
            int(time[at]),
            int(nodes.num_calls[chosen[at]]),
            _detail(signals, int(chosen[at])),
        )
        for at in order.tolist()
    )


def work_evidence(signals: Signals, chosen: Bools) -> tuple[Evidence, ...]:
    """The ops that launched the chosen aggregated kernels, with the kernel, most time first.

    Rows of one path, type and kernel are one, whatever the index of the layer; it opens the op with the most time.
    Kernels of no op stand for themselves.
    """
    kernels, ops, strings = signals.profile.kernels, signals.profile.ops, signals.profile.strings
    rows, duration = signals.kernel[chosen], signals.duration[chosen]
    pairs, number = numbered(kernels.op[rows].astype(np.int64) << 32 | kernels.name[rows])
    times = np.bincount(number, weights=duration).astype(np.int64).tolist()
    counts = np.bincount(number).tolist()
    found: dict[tuple[str, str, int], list[int]] = {}
    for pair, time, count in zip(pairs.tolist(), times, counts, strict=True):
        op, name = pair >> 32, pair & 0xFFFFFFFF
        known = signals.associated[op]
        texts = (_INDEX.sub("", ops[op].name), _INDEX.sub("", ops[op].op_type)) if known else ("", "")
        merged = found.setdefault((*texts, name), [0, 0, -1, 0])
        merged[0] += time
        merged[1] += count
        if known and time >= merged[3]:
            merged[2:] = op, time
    row_of_op = {op: row for row, op in enumerate(signals.aggregation.op_nodes.op.tolist())}
    shown = sorted(found.items(), key=lambda item: -item[1][0])[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence("kernel", strings[name], time, count)
        if op < 0
        else Evidence("op", ops[op].op_id, time, count, _size(signals, row_of_op.get(op)), call=strings[name])
        for (_, _, name), (time, count, op, _) in shown
    )


_INDEX: Final = re.compile(r"(?<=[./_\[])\d+(?=[./_\]]|\Z)|\d+(?=/)")
"""Numbers in a path that tell repetitions apart, such as the index of a layer."""


def _size(signals: Signals, row: int | None) -> str:
    return "" if row is None else _detail(signals, row)


def kernel_evidence(signals: Signals, chosen: Bools) -> tuple[Evidence, ...]:
    """The kernel names with the most time among the chosen aggregated kernels."""
    names, number = np.unique(signals.profile.kernels.name[signals.kernel[chosen]], return_inverse=True)
    number = number.reshape(-1)
    time = np.bincount(number, weights=signals.duration[chosen], minlength=len(names))
    count = np.bincount(number, minlength=len(names))
    order = np.argsort(-time, kind="stable")[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence("kernel", signals.profile.strings[int(names[at])], int(time[at]), int(count[at]))
        for at in order.tolist()
    )


def line_evidence(signals: Signals, ops: Iterable[tuple[int, int, int]]) -> tuple[Evidence, ...]:
    """The source lines of ops, most time first; ``ops`` are (row of ``Profile.ops``, time in ns, count)."""
    found: dict[str, tuple[int, int]] = {}
    lines: dict[str, str] = {}
    for op, time, count in ops:
        stack = signals.profile.ops[op].stack_trace
        if stack not in lines:
            lines[stack] = source_line(signals.profile.ops[op])
        line = lines[stack]
        if line:
            before = found.get(line, (0, 0))
            found[line] = (before[0] + time, before[1] + count)
    ordered = sorted(found.items(), key=lambda item: -item[1][0])[: thresholds.EVIDENCE_ROWS]
    return tuple(Evidence("line", line, time, count) for line, (time, count) in ordered)


def idle_evidence(signals: Signals, idle_of_op: Int64s) -> tuple[Evidence, ...]:
    """The ops in which the host was while the GPU waited, and their lines before them."""
    rows = np.flatnonzero(idle_of_op > 0)
    rows = rows[np.argsort(-idle_of_op[rows], kind="stable")]
    nodes = signals.aggregation.op_nodes
    # A call that began before the iterations is one of them.
    calls = np.ones(len(idle_of_op), np.int64)
    calls[nodes.op] = nodes.num_calls
    shown = [(row, int(idle_of_op[row]), int(calls[row])) for row in rows.tolist()]
    opened = [each for each in shown if signals.has_page[each[0]]]
    return line_evidence(signals, shown) + tuple(
        Evidence("op", signals.profile.ops[row].op_id, time, count)
        for row, time, count in opened[: thresholds.EVIDENCE_ROWS]
    )


def function_evidence(signals: Signals, gaps: Intervals) -> tuple[Evidence, ...]:
    """The program's functions that the host was in during gaps of the first GPU in use, most time first.

    The detail of each is the function inside it that took most of that time. If the host was in none of the program's
    functions, the innermost of all is given. The rest of the gaps' time is unknown, or too short to show.
    """
    frames, strings = signals.profile.idle_frames, signals.profile.strings
    times = covered(gaps, frames.start_ns, frames.stop_ns)
    pairs, number = numbered(frames.function.astype(np.int64) << 32 | frames.innermost)
    sums = np.bincount(number, weights=times, minlength=len(pairs)).astype(np.int64).tolist()
    inside: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, time_ns in zip(pairs.tolist(), sums, strict=True):
        innermost = _ADDRESS.sub("", strings[pair & 0xFFFFFFFF])
        inside[strings[pair >> 32] or innermost][innermost] += time_ns
    whole_ns = length(gaps)
    shown = sorted(inside.items(), key=lambda item: -item[1].total())[: thresholds.EVIDENCE_ROWS]
    return tuple(
        Evidence("function", function, of.total(), None, _within(function, of), of.total() / whole_ns)
        for function, of in shown
        if of.total() and of.total() >= thresholds.FUNCTION_FRACTION * whole_ns
    )


def _within(function: str, times: Counter[str]) -> str:
    """``mostly in <built-in function len> (65 %)``; empty if no other function took longer than the function itself."""
    ((innermost, time_ns),) = times.most_common(1)
    if innermost == function:
        return ""
    share = time_ns / times.total()
    if share == 1:
        return f"in {innermost}"
    return f"{'mostly ' if share > 0.5 else ''}in {innermost} ({percentage(share)})"


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
