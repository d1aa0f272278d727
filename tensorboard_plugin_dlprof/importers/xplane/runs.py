"""Which call launched each piece of device work, in which run of a compiled module, and the iterations that follow.

JAX dispatches asynchronously: a run may begin long after the step that asked for it has ended on the host. XLA writes
how one event caused another (``_p`` of the producer is ``_c`` of the consumer), which leads from the run to the step.
"""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, MarkedIterations, Strings
from tensorboard_plugin_dlprof.importers.xplane.host import Host
from tensorboard_plugin_dlprof.importers.xplane.lanes import Flags
from tensorboard_plugin_dlprof.importers.xplane.work import Work

_MOST_CAUSES = 12
"""Longest way from the run of a module to the step; JAX's has three or four producers."""
_MOST_MODULES = 20
_MOST_ASKED = 1_000
"""Launches of a thread by which the runs are found that it launches in."""


class Launches(msgspec.Struct):
    """The call of each piece of device work. Times are those of the work where no call was recorded."""

    call: Int32s
    """Row of ``Host.calls``; -1 for none."""
    start_ns: Int64s
    end_ns: Int64s
    run: Int32s
    """Number of the run of a module that it is in; -1 for none."""
    module: Int32s
    """Name (text id) of that module; 0 for none."""
    recorded: Int64s
    """Row of ``Host``'s range of each run; empty if runs are told by the work."""


def find_launches(work: Work, host: Host, strings: Strings) -> Launches:
    """Matches device work with the calls that launched it, and these with the runs of modules."""
    table = work.table
    call = _calls(table.correlation, host)
    linked = call >= 0
    start = end = table.start_ns
    if linked.any():
        start, end = start.copy(), end.copy()
        start[linked], end[linked] = host.calls.start_ns[call[linked]], host.calls.end_ns[call[linked]]
    module_of_work = np.array([each["hlo_module"] for each in work.descriptions], np.int32)[work.described]
    recorded = np.flatnonzero(host.module > 0)
    if len(recorded):
        thread = np.full(len(start), -1, np.int32)
        thread[linked] = host.calls.thread[call[linked]]
        run = _run_around(host, recorded, start, thread, module_of_work)
        if (run >= 0).any():
            module = np.where(run >= 0, host.module[recorded[run]], 0).astype(np.int32)
            return Launches(call, start, end, run, module, recorded)
    return Launches(
        call, start, end, _guessed_runs(work, start, module_of_work, strings), module_of_work, np.zeros(0, np.int64)
    )


def _calls(correlation: Int64s, host: Host) -> Int32s:
    """The first call with each correlation; -1 for none."""
    if not len(host.calls.correlation):
        return np.full(len(correlation), -1, np.int32)
    known, first = np.unique(host.calls.correlation, return_index=True)
    place = np.minimum(np.searchsorted(known, correlation), len(known) - 1)
    return np.where((correlation > 0) & (known[place] == correlation), first[place], -1).astype(np.int32)


def _run_around(host: Host, recorded: Int64s, start: Int64s, thread: Int32s, module: Int32s) -> Int32s:
    """The recorded run around each launch, on its thread, else on any; not one of another module than it tells.

    Runs of one thread follow one another. Those of several GPUs overlap, each on its own thread.
    """
    run = np.full(len(start), -1, np.int32)
    runs = _runs_by_thread(host, recorded)
    owner = _threads_of_runs(host, runs, start, thread, module)[thread]
    by_start = recorded[np.argsort(host.start_ns[recorded], kind="stable")]
    for one, own in (*runs.items(), (-1, by_start)):
        # Work that tells no module belongs to no run but that of its thread.
        rows = np.flatnonzero((run < 0) & ((owner == one) if one >= 0 else (owner < 0) | (module > 0)))
        nearest, inside = _inside(host, own, start[rows], module[rows])
        run[rows[inside]] = np.searchsorted(recorded, nearest[inside])
    return run


def _runs_by_thread(host: Host, recorded: Int64s) -> dict[int, Int64s]:
    runs = {thread: recorded[rows] for thread, rows in rows_by_value(host.thread[recorded])}
    return {thread: own[np.argsort(host.start_ns[own], kind="stable")] for thread, own in runs.items()}


def _threads_of_runs(host: Host, runs: dict[int, Int64s], start: Int64s, thread: Int32s, module: Int32s) -> Int64s:
    """The thread with the runs in which each thread launches, by thread; -1 for none, which also is the last one.

    Collectors may write the calls of a thread under another number than its ranges. Then it is the thread whose runs
    are around most of the launches, the shortest runs of several.
    """
    threads = np.full(len(host.threads) + 1, -1, np.int64)
    threads[list(runs)] = list(runs)
    for one, rows in rows_by_value(thread[thread >= 0]):
        if threads[one] < 0:
            some = np.flatnonzero(thread >= 0)[rows][:: -(-len(rows) // _MOST_ASKED)]
            around = {
                each: int(np.count_nonzero(_inside(host, own, start[some], module[some])[1]))
                for each, own in runs.items()
            }
            length = {each: int((host.end_ns[own] - host.start_ns[own]).sum()) for each, own in runs.items()}
            best = max(runs, key=lambda each: (around[each], -length[each]))
            threads[one] = best if around[best] else -1
    return threads


def _inside(host: Host, own: Int64s, start: Int64s, module: Int32s) -> tuple[Int64s, Flags]:
    """The last of some runs, by start, that began before each time; and whether it is around it and of its module."""
    place = np.searchsorted(host.start_ns[own], start, side="right") - 1
    run = own[np.maximum(place, 0)]
    inside = (place >= 0) & (start <= host.end_ns[run])
    return run, inside & ((module == 0) | (module == host.module[run]))


def _guessed_runs(work: Work, start: Int64s, module: Int32s, strings: Strings) -> Int32s:
    """Runs where none are recorded: one ends where the module changes, or where its first op comes again.

    An op comes again with its first kernel, and not where it is in a loop of the module.
    """
    hlo_op = np.array([each["hlo_op"] for each in work.descriptions], np.int64)[work.described]
    loops = [any("while/" in strings[each[text]] for text in ("op_name", "name")) for each in work.descriptions]
    looped: Flags = np.array(loops, np.bool_)[work.described]
    run = np.full(len(start), -1, np.int32)
    rows = np.flatnonzero(module > 0)
    rows = rows[np.lexsort((work.table.start_ns[rows], start[rows], work.table.device[rows]))]
    if len(rows):
        device, op = work.table.device[rows], hlo_op[rows]
        stretch = np.append(True, (device[1:] != device[:-1]) | (module[rows][1:] != module[rows][:-1]))
        head = first_of_each(stretch)
        again = (op == op[head]) & ~looped[rows]
        for column in (work.table.name, *work.table.grid.T):
            again &= column[rows] == column[rows[head]]
        run[rows] = np.cumsum(stretch | again) - 1
    return run


def first_of_each(begins: Flags) -> Int64s:
    """The row with which the stretch of each row begins; the first row begins one."""
    first = np.flatnonzero(begins)
    return np.repeat(first, np.diff(np.append(first, len(begins))))


def iterations(work: Work, launches: Launches, host: Host, strings: Strings) -> list[MarkedIterations]:
    """Steps that the program marks, then runs of each module, that with the most GPU time first."""
    end_ns = int(work.table.end_ns.max(initial=0))
    return [*_steps(work, launches, host, strings), *_module_runs(work, launches, strings, end_ns)]


def _steps(work: Work, launches: Launches, host: Host, strings: Strings) -> list[MarkedIterations]:
    rows = np.flatnonzero(host.step >= 0)
    steps = []
    for name, _ in Counter(host.name[rows].tolist()).most_common():
        own = rows[host.name[rows] == name]
        own = own[np.argsort(host.start_ns[own], kind="stable")]
        start = np.unique(host.start_ns[own])
        own = own[np.searchsorted(host.start_ns[own], start)]
        start = _with_late_launches(start, own, launches, host)
        last = int(host.end_ns[own[-1]])
        launched = launches.start_ns >= start[-1]
        stop = np.append(start[1:], max(last, int(work.table.end_ns[launched].max(initial=0)), int(start[-1]) + 1))
        values = host.step[own]
        if (np.diff(values) <= 0).any():
            values = np.arange(len(start))
        steps.append(MarkedIterations("step_annotation", strings[name], values, start, stop))
    return steps


def _with_late_launches(start: Int64s, steps: Int64s, launches: Launches, host: Host) -> Int64s:
    """Starts of steps, moved behind what the step before launched late: then each launch is in the step that asked."""
    if not len(launches.recorded) or not len(host.causes.start_ns):
        return start
    step_of_run = _step_of(launches.recorded, steps, host)
    of_launch = np.where(launches.run >= 0, step_of_run[launches.run], -1)
    count = len(start)
    last, first = np.full(count, -1, np.int64), np.full(count, np.iinfo(np.int64).max)
    launched = of_launch >= 0
    np.maximum.at(last, of_launch[launched], launches.start_ns[launched])
    np.minimum.at(first, of_launch[launched], launches.start_ns[launched])
    moved = start.copy()
    for step in range(1, count):
        late = int(last[:step].max())
        if late >= moved[step] and late < int(first[step:].min()):
            moved[step] = late + 1
    return moved if (np.diff(moved) > 0).all() else start


def _step_of(runs: Int64s, steps: Int64s, host: Host) -> Int64s:
    """The step (place in ``steps``) that asked for each run; -1 if that is not told."""
    causes = host.causes
    thread, time = host.thread[runs], host.start_ns[runs]
    result = np.full(len(runs), -1, np.int64)
    produced = np.flatnonzero(causes.producer != 0)
    produced = produced[np.argsort(causes.producer[produced], kind="stable")]
    producers = causes.producer[produced]
    open_ = np.arange(len(runs))
    for _ in range(_MOST_CAUSES):
        step = _around(steps, host.thread, host.start_ns, host.end_ns, thread[open_], time[open_])
        result[open_] = step
        open_ = open_[step < 0]
        consumer = np.flatnonzero(causes.consumer != 0)
        place = _around(consumer, causes.thread, causes.start_ns, causes.end_ns, thread[open_], time[open_])
        open_, consumer = open_[place >= 0], consumer[place[place >= 0]]
        if not len(open_) or not len(producers):
            break
        at = np.minimum(np.searchsorted(producers, causes.consumer[consumer]), len(producers) - 1)
        known = producers[at] == causes.consumer[consumer]
        open_, cause = open_[known], produced[at[known]]
        thread[open_], time[open_] = causes.thread[cause], causes.start_ns[cause]
    return result


def _around(rows: Int64s, thread: Int32s, start: Int64s, end: Int64s, own: Int32s, time: Int64s) -> Int64s:
    """Which of some intervals of a thread is around each time, the innermost of them; -1 for none."""
    around = np.full(len(time), -1, np.int64)
    for one in distinct_values(own).tolist():
        places = np.flatnonzero(thread[rows] == one)
        places = places[np.lexsort((-end[rows[places]], start[rows[places]]))]
        wanted = np.flatnonzero(own == one)
        place = np.searchsorted(start[rows[places]], time[wanted], side="right") - 1
        for back in range(_MOST_CAUSES):
            candidate = place - back
            fits = (candidate >= 0) & (around[wanted] < 0)
            fits[fits] = end[rows[places[candidate[fits]]]] >= time[wanted[fits]]
            around[wanted[fits]] = places[candidate[fits]]
    return around


def _module_runs(work: Work, launches: Launches, strings: Strings, end_ns: int) -> list[MarkedIterations]:
    """Each run of a module ends an iteration, which began where the one before ended.

    A program on several GPUs runs a module on each of them: the first runs of all are one iteration.
    """
    in_run = launches.run >= 0
    duration = (work.table.end_ns - work.table.start_ns) * in_run
    modules, number = numbered(launches.module)
    busy = np.bincount(number, duration, minlength=len(modules))
    runs_of_modules = []
    begin = int(launches.start_ns.min(initial=end_ns))
    for module in modules[np.argsort(-busy, kind="stable")].tolist()[:_MOST_MODULES]:
        stop = _ends_of_runs(work, launches, np.flatnonzero(in_run & (launches.module == module)))
        if module == 0 or len(stop) < 2:
            continue
        stop[-1] = max(end_ns, int(stop[-1]))
        start = np.append(begin, stop[:-1])
        if (stop > start).all():
            runs_of_modules.append(MarkedIterations("module_run", strings[module], np.arange(len(stop)), start, stop))
    return runs_of_modules


def _ends_of_runs(work: Work, launches: Launches, own: Int64s) -> Int64s:
    """Ends of the launches of a module's runs, the n-th runs of all GPUs together."""
    ends: dict[int, Int64s] = {}
    for device in distinct_values(work.table.device[own]).tolist():
        rows = own[work.table.device[own] == device]
        runs, place = numbered(launches.run[rows])
        end = np.zeros(len(runs), np.int64)
        np.maximum.at(end, place, launches.end_ns[rows])
        ends[device] = np.sort(end)
    counts = Counter(map(len, ends.values()))
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    together = [each for each in ends.values() if len(each) == usual]
    return np.unique(np.max(together, axis=0)) if together else np.zeros(0, np.int64)


def each_gpu_apart(work: Work, host: Host) -> None:
    """Make correlations unique where each GPU counts its own and the calls say for which GPU they are."""
    table, calls = work.table, host.calls
    if not len(calls.correlation) or (table.device == table.device[:1]).all():
        return
    linked = np.flatnonzero(table.correlation > 0)
    every = np.append(table.correlation, calls.correlation)
    # Pairs of a correlation and a device. Calls may say another device than that of a plane, or none.
    _, device = numbered(np.append(table.device, host.call_device))
    _, key = numbered(numbered(every)[1] * (int(device.max()) + 1) + device)
    key += 1
    if len(distinct_values(table.correlation[linked])) == len(distinct_values(key[linked])):
        return
    of_work, of_call = key[: len(table.correlation)], key[len(table.correlation) :]
    known = linked[are_among(of_work[linked], distinct_values(of_call).tolist())]
    # Numbers above all that the source wrote, for both sides of a pair.
    above = int(every.max())
    if above < 1 << 62:
        table.correlation[known] = above + of_work[known]
        is_used = are_among(of_call, distinct_values(of_work[known]).tolist())
        calls.correlation[is_used] = above + of_call[is_used]
