"""Selects Python frames: the long ones, and, as ranges, those that contain something that a profile shows.

Python calls thousands of functions between two ops. In a capture with stacks, nine of ten ranges may be frames without
any op, annotation, module or API call inside, which appear in no stack trace. A few of them took long, and may explain
why a GPU waited.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Frames, Int64s, RangeKind, Thread
from tensorboard_plugin_dlprof.importers.kineto.times import Columns, Mask, leave_out

_NEVER_NS = np.iinfo(np.int64).max

LONG_FRAME_NS = 10_000
"""Shorter calls count as part of their caller: this is a hundredth of the gaps that are explained by functions. Of the
frames that Python's profiler records, 85 to 98 % are shorter."""


def is_module(name: str) -> bool:
    """Whether a frame with this name is a call of a module (``nn.Module``)."""
    return name.startswith("nn.Module: ")


def adopt_frames(frames: Columns, ranges: Sequence[Columns], calls: Columns, threads: Sequence[Thread]) -> None:
    """Assigns frames that were recorded on a thread of their own to the thread that ran them.

    Some versions of PyTorch record Python functions under a separate number (thread 0), so that no operator is inside
    a module. The rule: no thread has both operators and frames, exactly one has frames, and among the threads of its
    process (among all, if it has process 0) exactly one has operators, or exactly one is the main thread. A thread of
    Python functions next to one that has both is left alone, because it is a real second thread
    (``threading.py: _bootstrap``).
    """
    alone = _threads_of(frames)
    hosts = set().union(*map(_threads_of, ranges))
    if len(alone) != 1 or alone & (hosts | _threads_of(calls)):
        return
    (orphan,) = alone
    process = threads[orphan].process_id
    near = [row for row in hosts if process <= 0 or threads[row].process_id == process]
    if len(near) > 1:
        near = [row for row in near if threads[row].thread_id == threads[row].process_id]
    if len(near) == 1:
        frames["thread"] = np.full(len(frames["thread"]), near[0], np.int32)


def long_frames(frames: Columns) -> Frames:
    """The calls of functions that took long, whatever they contain. The table is not changed."""
    rows = np.flatnonzero(frames["end_ns"] - frames["start_ns"] >= LONG_FRAME_NS)
    kind = np.full(len(rows), RangeKind.FRAME, np.int8)
    return Frames(kind=kind, **{name: frames[name][rows] for name in ("start_ns", "end_ns", "thread", "name")})


def leave_out_empty_frames(frames: Columns, ranges: Sequence[Columns], calls: Columns, texts: Sequence[str]) -> None:
    """Keeps only modules, and frames during which a module, another range or an API call of their thread starts.

    Two kinds of frames are kept for another reason: the last frame to end on each thread, because calls whose return
    was not recorded end with it, and a frame that starts before all other ranges, because a capture without iterations
    starts there.

    Args:
        frames: calls of Python functions, from which rows are left out.
        ranges: all other host ranges.
        texts: the names by number.
    """
    start_ns, end_ns, thread, name = (frames[column] for column in ("start_ns", "end_ns", "thread", "name"))
    keep: Mask = are_among(name, [text for text in distinct_values(name).tolist() if is_module(texts[text])])
    if keep.all():
        return
    modules = {"start_ns": start_ns[keep], "thread": thread[keep]}
    inside = _starts_by_thread([*ranges, modules, calls])
    others = np.flatnonzero(~keep)
    for number, members in rows_by_value(thread[others]):
        rows = others[members]
        if number in inside:
            keep[rows] = inside[number][np.searchsorted(inside[number], start_ns[rows])] <= end_ns[rows]
        keep[rows[end_ns[rows] == end_ns[rows].max()]] = True
    first = others[start_ns[others].argmin()]
    if all(start_ns[first] < table["start_ns"].min(initial=_NEVER_NS) for table in (*ranges, modules)):
        keep[first] = True
    leave_out(frames, keep)


def _threads_of(table: Columns) -> set[int]:
    return set(distinct_values(table["thread"]).tolist())


def _starts_by_thread(tables: Sequence[Columns]) -> dict[int, Int64s]:
    """The starts on each thread, ascending, followed by a time that is never reached."""
    start_ns, thread = (np.concatenate([table[name] for table in tables]) for name in ("start_ns", "thread"))
    return {number: np.append(np.sort(start_ns[rows]), _NEVER_NS) for number, rows in rows_by_value(thread)}
