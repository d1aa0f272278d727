"""How much launched work was waiting: depth of the queue, delay of launches, lag at the end of iterations."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import begins_new
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.diagnosis.segments import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


class Launches(msgspec.Struct):
    """The calls that gave a GPU work, one row each."""

    begun_ns: Int64s
    """Start of the call."""
    returned_ns: Int64s
    started_ns: Int64s
    """Start of its first work."""
    ended_ns: Int64s
    """End of its last work."""


class QueueTimes(msgspec.Struct):
    """The queue of one GPU in n windows; -1 where nothing is known."""

    median: Int64s
    """Median of the number of launches begun and not started, by time."""
    empty_ns: Int64s
    """Time with none."""
    delay_ns: Int64s
    """Median time from the return of a call to the start of its first work."""
    launches: Int64s
    """Calls whose first work starts in the window."""
    lag_ns: Int64s
    """How long after the end of the window the last work ends that was launched before it."""


def launches_of(profile: Profile, device: int) -> Launches:
    """The calls that gave a GPU work. Calls of graphs recorded as a whole are found by their op's call."""
    tables = (profile.kernels, profile.memcpys, profile.memsets)
    rows = [np.flatnonzero((table.device == device) & (table.launched != 0)) for table in tables]
    names = ("api_start_ns", "api_end_ns", "process_id", "thread_id", "start_ns", "end_ns")
    of_graphs = _of_graphs(profile, device)
    begun, returned, process, thread, started, ended = (
        spilled(np.concatenate([*(getattr(table, name)[own] for table, own in zip(tables, rows, strict=True)), last]))
        for name, last in zip(names, of_graphs, strict=True)
    )
    del rows
    order = np.lexsort((started, thread, process, begun))
    heads = np.flatnonzero(begins_new(order, begun, process, thread))
    ended = np.maximum.reduceat(ended[order], heads) if len(heads) else ended
    first = order[heads]
    del order
    return Launches(spilled(begun[first]), spilled(returned[first]), spilled(started[first]), spilled(ended))


def _of_graphs(profile: Profile, device: int) -> tuple[Int64s, ...]:
    graphs, calls = profile.graphs, profile.calls
    rows = np.flatnonzero(graphs.device == device)
    nothing = np.zeros(0, np.int64)
    if not len(rows) or not len(calls.op):
        return (nothing,) * 6
    of_graph = graphs.op[rows].astype(np.int64) << 32 | graphs.instance[rows]
    of_call = calls.op.astype(np.int64) << 32 | calls.instance
    order = np.argsort(of_call, kind="stable")
    place = np.minimum(np.searchsorted(of_call[order], of_graph), len(order) - 1)
    is_launched = of_call[order[place]] == of_graph
    call = order[place[is_launched]]
    return (
        calls.api_start_ns[call],
        calls.api_end_ns[call],
        calls.process_id[call],
        calls.thread_id[call],
        graphs.start_ns[rows[is_launched]],
        graphs.end_ns[rows[is_launched]],
    )


def ran_ahead(launches: Launches, start_ns: Int64s, stop_ns: Int64s) -> npt.NDArray[np.bool_]:
    """Whether the queue grew in each window by more than a quarter of the launches begun in it."""
    begun, started = np.sort(launches.begun_ns), np.sort(launches.started_ns)

    def at(ordered: Int64s, time: Int64s) -> Int64s:
        return np.searchsorted(ordered, time, side="right")

    new = at(begun, stop_ns) - at(begun, start_ns)
    grown = new - (at(started, stop_ns) - at(started, start_ns))
    is_ahead: npt.NDArray[np.bool_] = (new > 0) & (4 * grown > new)
    return is_ahead


def queue_times(launches: Launches, start_ns: Int64s, stop_ns: Int64s) -> QueueTimes:
    """The queue in each of n disjoint ascending windows."""
    count = len(start_ns)
    nothing = np.full(count, -1, np.int64)
    result = QueueTimes(nothing.copy(), stop_ns - start_ns, nothing.copy(), np.zeros(count, np.int64), nothing * 0)
    if not len(launches.begun_ns):
        return result
    _set_lag(result, launches, stop_ns)
    times, depth = _depths(launches, start_ns, stop_ns)
    by_start = np.argsort(launches.started_ns, kind="stable")
    started, returned = launches.started_ns[by_start], launches.returned_ns[by_start]
    del by_start
    edges = np.searchsorted(times, np.stack((start_ns, stop_ns)), side="left")
    own = np.searchsorted(started, np.stack((start_ns, stop_ns)), side="left")
    for window in range(count):
        here = slice(int(edges[0, window]), int(edges[1, window]))
        waiting = depth[here]
        if not len(waiting):
            continue  # a window of no length
        least = int(waiting.min())
        spent = np.bincount(waiting - least, weights=np.diff(times[here.start : here.stop + 1]))
        passed = np.cumsum(spent)
        result.median[window] = least + np.searchsorted(2 * passed, passed[-1])
        result.empty_ns[window] = 0 if least else spent[0]
        mine = slice(int(own[0, window]), int(own[1, window]))
        delay = np.sort(np.maximum(started[mine] - returned[mine], 0))
        result.launches[window] = len(delay)
        if len(delay):
            result.delay_ns[window] = delay[len(delay) // 2]
    return result


def _depths(launches: Launches, start_ns: Int64s, stop_ns: Int64s) -> tuple[Int64s, npt.NDArray[np.int32]]:
    """When launches were begun and started and windows begin and end, ascending; and how many waited from then on."""
    waits = launches.started_ns > launches.begun_ns
    times = np.concatenate((launches.begun_ns[waits], launches.started_ns[waits], start_ns, stop_ns))
    change = np.zeros(len(times), np.int8)
    waiting = int(waits.sum())
    change[:waiting], change[waiting : 2 * waiting] = 1, -1
    order = np.argsort(times, kind="stable")
    depth = np.cumsum(change[order], dtype=np.int32)
    return times[order], depth


def _set_lag(result: QueueTimes, launches: Launches, stop_ns: Int64s) -> None:
    by_begin = np.argsort(launches.begun_ns, kind="stable")
    latest = np.maximum.accumulate(launches.ended_ns[by_begin])
    before = np.searchsorted(launches.begun_ns, stop_ns, side="left", sorter=by_begin)
    some = before > 0
    result.lag_ns[some] = np.maximum(latest[before[some] - 1] - stop_ns[some], 0)
