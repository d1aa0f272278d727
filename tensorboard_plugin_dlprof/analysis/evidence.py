"""What stands below a finding: the ops, kernels and source lines that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Evidence
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Op

_LIBRARY = Expression(
    r"site-packages|dist-packages|/torch/|^torch/|<frozen|<built-in|<string>|/lib/python|contextlib|nn\.Module|"
    r"autograd/|/transformers/|importlib|threading\.py|^<|profiler\.py"
)


def op_evidence(signals: Signals, rows: Sequence[int] | Int64s, times: Int64s | None = None) -> tuple[Evidence, ...]:
    """The ops with the most kernel time among rows of ``OpNodes``; ``times`` by the same rows."""
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


def kernel_evidence(signals: Signals, chosen: Bools) -> tuple[Evidence, ...]:
    """The kernel names with the most time among the aggregated kernels."""
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
    """Source lines of (row of ``Profile.ops``, time, count), most time first."""
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


def source_line(op: Op) -> str:
    """The innermost frame of the user's own code; empty where none was recorded."""
    frames = [frame for frame in op.stack_trace.split("\n") if frame]
    own = [frame for frame in frames if not _LIBRARY.search(frame)]
    return own[-1] if own else ""


def _detail(signals: Signals, row: int) -> str:
    """What stands beside an op: the length of its largest product that does not fit, else all, else its path."""
    wrong, size = signals.efficiency.ops.misaligned[row], signals.efficiency.ops.size[row]
    if wrong:
        return f"{wrong.dimension}: {wrong.length:,} -> {wrong.padded:,}"
    path = signals.profile.ops[int(signals.aggregation.op_nodes.op[row])].name
    return size or (path if path.count("/") > 1 else "")
