"""Rules about what happens once, at the start, and about iterations that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.naming import evidence_of, is_compiling, places_of, subject_of
from tensorboard_plugin_dlprof.analysis.rules.waiting import Test, finding_about, waiting
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Severity
from tensorboard_plugin_dlprof.columns.group import distinct_values, numbered
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Row, rows_of
from tensorboard_plugin_dlprof.diagnosis.calls import frees, is_of_pool, without_version
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, LONG_NS, Part
from tensorboard_plugin_dlprof.diagnosis.places import cut_name
from tensorboard_plugin_dlprof.diagnosis.segments import Cause

_COLD: Final = ("module", "launch", "allocation", "other")
"""Classes of blocking calls that are slow the first time."""


def first_calls(signals: Signals) -> Test:
    """Whether a cause is a long call that is slow the first time only. Allocating is slow again and again where as much
    is given back, as a loop does, and a pool whenever the host waits for the GPU unless told otherwise."""

    def allocates(cause: Cause) -> bool:
        return cause.part == Part.BLOCKED and (cause.detail == "allocation" or is_of_pool(cause.call))

    waits = waiting(signals, allocates)
    again = waits is not None and gives_back(waits.rows) and goes_on(signals, waits.device, allocates)
    # One long call is more than a window so short: there, launches that load a kernel count, too, if it is a start.
    begins = any(lead["parts"]["blocked"] >= LONG_NS for lead in signals.lead_in.values())
    counts_short = begins and signals.diagnosis.mean_wall_ns * thresholds.COLD_FRACTION < LONG_NS

    def test(cause: Cause) -> bool:
        is_cold = cause.detail in _COLD if cause.long else counts_short and cause.detail in ("module", "launch")
        return cause.part == Part.BLOCKED and is_cold and not (again and allocates(cause))

    return test


def gives_back(rows: Sequence[Row]) -> bool:
    """Whether calls that allocate belong to a pool, or memory is freed nearly as often: an allocator that only grows
    does so once."""
    freed = sum(row.count for row in rows if frees(row.cause.call))
    return any(is_of_pool(row.cause.call) for row in rows) or 3 * freed >= sum(row.count for row in rows)


def goes_on(signals: Signals, device: DeviceDiagnosis, test: Test) -> bool:
    """Whether idle time of some causes is spread over nearly all launches of the only window, not at their start
    alone."""
    selected = np.array([test(cause) for cause in signals.profile.activity.causes] or [False], np.bool_)
    begun = np.sort(device.launches.begun_ns)
    before = np.searchsorted(begun, device.clipped.start_ns[selected[device.clipped.cause]])
    portion = before * thresholds.PORTIONS // max(len(begun), 1)
    return len(distinct_values(portion)) >= thresholds.PORTIONS_IN_USE


def is_cold_start(signals: Signals, least: float = thresholds.COLD_FRACTION) -> bool:
    """Whether first calls explain so much of the only window that their time is told once."""
    if not _is_alone(signals):
        return False
    waits = waiting(signals, first_calls(signals))
    return waits is not None and signals.share_of_iteration(waits.time_ns) >= least


def _is_alone(signals: Signals) -> bool:
    """Whether only one window counts, and none before it has shown what happens once."""
    return signals.diagnosis.selected == [signals.diagnosis.typical.with_work[0]]


def fraction_after_start(signals: Signals) -> float:
    """Share of the time that is left without the first calls of the only window; 1 if they do not count as a start."""
    waits = waiting(signals, first_calls(signals)) if is_cold_start(signals) else None
    return 1 - signals.share_of_iteration(waits.time_ns) if waits is not None else 1.0


def cold_start(signals: Signals) -> Finding | None:
    """What happens once: loading modules, first launches, first allocations."""
    if signals.captures[0]:
        return _capture(signals)
    if not _is_alone(signals):
        return _warm_up(signals)
    waits = waiting(signals, first_calls(signals))
    if waits is None or not is_cold_start(signals):
        return None
    named = places_of(waits.rows)
    listed = "; ".join(f"{place} {{n{number}_ns}}" for number, (place, _) in enumerate(named))
    before, call, call_ns = _before(signals, waits.device.device)
    finding = finding_about(
        signals,
        "cold_start",
        "cold_start",
        waits,
        "blocked",
        f"Start-up takes {{time_ns}} of {{whole_ns}} ({{share_fraction}}) in {{calls}} first {{calls:call|calls}}: "
        f"{listed}. It happens once."
        + (" Before the first GPU work lie {before_ns} more, {call_ns} of them in {call}." if call else ""),
        f"Record later: skip the first iterations ({how_to_record_later(signals)}), so that loading modules, creating "
        "contexts and first allocations are left out.",
        gain=None,
        numbers={
            **{f"n{number}_ns": time for number, (_, time) in enumerate(named)},
            "whole_ns": signals.diagnosis.mean_wall_ns,
            "before_ns": before,
            "call": call,
            "call_ns": call_ns,
        },
    )
    return finding and msgspec.structs.replace(finding, once=True)


def _before(signals: Signals, device: int) -> tuple[int, str, int]:
    """Time before the first GPU work, with the longest call in it and its length, if it is of a start, too."""
    lead, calls = signals.lead_in.get(str(device)), signals.profile.calls
    least = thresholds.COLD_FRACTION * signals.diagnosis.mean_wall_ns
    if lead is None or lead["parts"]["blocked"] < least or not len(calls.name):
        return 0, "", 0
    begun = np.flatnonzero(calls.api_start_ns < signals.diagnosis.start_ns[0])
    if not len(begun):
        return 0, "", 0
    length = calls.api_end_ns[begun] - calls.api_start_ns[begun]
    longest = int(length.argmax())
    if length[longest] < least:
        return 0, "", 0
    name = without_version(signals.profile.strings[int(calls.name[begun[longest]])])
    return lead["wall_ns"], name, int(length[longest])


def _capture(signals: Signals) -> Finding:
    count, time_ns = signals.captures
    return Finding(
        "cold_start",
        Severity.ADVICE,
        Confidence.HIGH,
        "cold_start",
        "{count} {count:graph is|graphs are} captured for {time_ns} of the {whole_ns}: what is launched meanwhile is "
        "recorded into {count:it|them} and does not run, so the GPU idles. It happens once.",
        "Record the replays of the graph, after its capture; the times on the host here say nothing about them.",
        {
            "count": count,
            "time_ns": time_ns,
            "whole_ns": signals.diagnosis.mean_wall_ns * len(signals.diagnosis.selected),
        },
        (Evidence("call", "StreamBeginCapture", time_ns * signals.iterations, count * signals.iterations),),
        cause="cold_start",
        time_ns=time_ns,
        once=True,
    )


def how_to_record_later(signals: Signals) -> str:
    """How the profiler that made the recording leaves out how a program starts."""
    if signals.profile.info.source_format == "pytorch":
        return "torch.profiler.schedule(wait=1, warmup=2, active=5)"
    if signals.profile.info.source_format == "nsight_systems":
        return "nsys profile --delay or --capture-range=cudaProfilerApi"
    later = "start the profiler after some steps"
    return signals.advice(
        later,
        tensorflow="profile_batch=(10, 20) of the TensorBoard callback",
        tensorrt=later,
        jax="jax.profiler.start_trace after some steps",
        cuda=later,
    )


def _warm_up(signals: Signals) -> Finding | None:
    """How much longer the iterations of warm-up took than a typical one, altogether."""
    diagnosis = signals.diagnosis
    first = diagnosis.typical.start
    if "warm_up" not in diagnosis.typical.why or not first or 0 in diagnosis.selected:
        return None
    wall = diagnosis.wall_ns.tolist()
    excess = sum(wall[:first]) - first * diagnosis.mean_wall_ns
    grown = _all_grown(signals, list(range(first)), diagnosis.selected)
    if excess <= 0 or not grown:
        return None
    # Of the GPU on which one place grew most; those of another would count the same time again.
    device, least_ns = grown[0][1], thresholds.NAMED_FRACTION * excess / first
    others = [
        each for each in grown[1:] if each[1] == device and each[2] >= least_ns and each[0][0].cause.part > Part.QUEUED
    ]
    named = [grown[0], *others][:_MOST_NAMED]
    places = ", ".join(f"{{where{number}}} ({{more{number}_ns}} more)" for number in range(len(named)))
    explained = sum(more for _, _, more in named) * first
    return Finding(
        "cold_start",
        Severity.INFO,
        Confidence.HIGH,
        "cold_start",
        "{which} took {excess_ns} longer than a typical one ({mean_ns}): warm-up, which is left out. "
        + ("Most of it" if 2 * explained > excess else f"The largest part{'s' * (len(named) > 1)}")
        + f": {places}{', while other work took less' * (explained > 1.01 * excess)}.",
        "No change needed for long runs: it happens once.",
        {
            "which": f"Iteration {diagnosis.candidate.values[0]}"
            if first == 1
            else f"The first {first} iterations together",
            "excess_ns": excess,
            "mean_ns": diagnosis.mean_wall_ns,
            **{f"where{number}": subject_of(rows[0]) for number, (rows, _, _) in enumerate(named)},
            **{f"more{number}_ns": more * first for number, (_, _, more) in enumerate(named)},
        },
        evidence_of(signals, [row for rows, _, _ in named for row in rows], device),
        cause="cold_start",
        time_ns=excess,
        once=True,
    )


_MOST_NAMED: Final = 3
"""Places that a sentence names."""


def _grown(
    signals: Signals,
    one: Sequence[int],
    other: Sequence[int],
    place_of_cause: Callable[[Cause], tuple[object, ...]] | None = None,
) -> tuple[list[Row], int, int] | None:
    """What takes longer in some iterations than in others: the rows of the place that grew most, their GPU, and by how
    much."""
    return next(iter(_all_grown(signals, one, other, place_of_cause)), None)


def _all_grown(
    signals: Signals,
    one: Sequence[int],
    other: Sequence[int],
    place_of_cause: Callable[[Cause], tuple[object, ...]] | None = None,
) -> list[tuple[list[Row], int, int]]:
    """As ``_grown``, of every place, most first."""
    tell = place_of_cause or _place
    grown: list[tuple[list[Row], int, int]] = []
    for device in signals.diagnosis.devices:
        more: dict[tuple[object, ...], int] = {}
        result: dict[tuple[object, ...], list[Row]] = {}
        for sign, windows in ((1, one), (-1, other)):
            for row in rows_of(signals.diagnosis, device, windows, busy=True):
                if row.cause.part == Part.LAUNCHING and not (row.cause.path or row.cause.call):
                    continue  # Nobody is named for it.
                place = tell(row.cause)
                more[place] = more.get(place, 0) + sign * row.time_ns
                if sign > 0:
                    result.setdefault(place, []).append(row)
        grown += [(rows, device.device, more[place]) for place, rows in result.items()]
    return sorted(grown, key=lambda each: -each[2])


def _place(cause: Cause) -> tuple[object, ...]:
    """What tells a cause of two kinds of iterations: where gaps grow, launching becomes work of the host."""
    if cause.part in _OF_THE_HOST:
        return _OF_THE_HOST, cause.path or cause.call
    return cause.part, cause.detail, cause.call, cause.path


def _call(cause: Cause) -> tuple[object, ...]:
    """What tells a call that blocks, wherever it is made; the rest is one."""
    return (cause.detail, cause.call) if cause.part == Part.BLOCKED else ()


_MEMORY: Final = (
    "Allocate before the loop and keep what is freed; look at {call} in a slow iteration and in a fast one."
)

_OF_THE_HOST: Final = (Part.LAUNCHING, Part.HOST_OP, Part.HOST_CODE)


def _part_grown(signals: Signals, part: Part, device: int, one: Sequence[int], other: Sequence[int]) -> int:
    """By how much a part of a GPU's time is longer in some iterations than in others; the host's are one."""
    result = next(each for each in signals.diagnosis.devices if each.device == device)
    times = result.parts_ns[:, list(_OF_THE_HOST) if part in _OF_THE_HOST else [part]].sum(axis=1)
    return int(times[list(one)].sum()) // len(one) - int(times[list(other)].sum()) // len(other)


def _work_grown(
    signals: Signals, part: Part, device: int, one: Sequence[int], other: Sequence[int]
) -> tuple[Evidence, int, bool] | None:
    """The kernel or copy that takes longer in some iterations than in others by most, by how much, and whether it does
    not run in the others."""
    diagnosis, strings = signals.diagnosis, signals.profile.strings
    table = signals.profile.memcpys if part == Part.COPY else signals.profile.kernels
    window = np.searchsorted(diagnosis.start_ns, table.start_ns, side="right") - 1
    share = np.zeros(len(diagnosis.start_ns) + 1)
    share[list(one)], share[list(other)] = 1 / len(one), -1 / len(other)
    inside = (window >= 0) & (table.start_ns < diagnosis.stop_ns[window]) & (table.device == device)
    rows = np.flatnonzero(inside & (share[window] != 0))
    if not len(rows):
        return None
    names, number = numbered(table.name[rows])
    length, sign = (table.end_ns - table.start_ns)[rows], share[window[rows]]
    more = np.bincount(number, weights=length * sign)
    most = int(more.argmax())
    mine = (number == most) & (sign > 0)
    if not mine.any():
        return None
    name, longest = strings[int(names[most])], rows[mine][length[mine].argmax()]
    begin, end = int(table.start_ns[longest]), int(table.end_ns[longest])
    times = signals.iterations / len(one)
    evidence = Evidence(
        "kernel" if part != Part.COPY else "call",
        name,
        round(int(length[mine].sum()) * times),
        round(int(mine.sum()) * times),
        path=name,
        device=device,
        iteration=int(window[longest]),
        from_ns=begin,
        to_ns=end,
    )
    return evidence, int(more[most]), not ((number == most) & (sign < 0)).any()


_KINDS = ("became_slower", "two_kinds", "slow_single", "drift")


def slow_iterations(signals: Signals) -> Finding | None:
    """Iterations of two lengths, or of a growing one: which part differs, and the call or op behind it."""
    diagnosis = signals.diagnosis
    why = next((each for each in _KINDS if each in diagnosis.typical.why), None)
    if why is None:
        return None
    wall, typical = diagnosis.wall_ns.tolist(), diagnosis.typical
    inside = list(range(typical.start, typical.stop + 1))
    if why == "slow_single":
        slow, fast = list(typical.left_out), typical.selected
    elif why == "became_slower":
        slow, fast = inside, list(range(typical.start))
        fast = [position for position in fast if wall[position] > 0]
    else:
        ordered = sorted(inside, key=lambda position: wall[position])
        if why == "two_kinds":
            ratios = [wall[ordered[n + 1]] / max(wall[ordered[n]], 1) for n in range(len(ordered) - 1)]
            cut = ratios.index(max(ratios)) + 1
        else:
            cut = len(ordered) // 2
        fast, slow = ordered[:cut], ordered[cut:]
    if not slow or not fast:
        return None
    of_slow, of_fast = (sum(wall[position] for position in some) // len(some) for some in (slow, fast))
    grown = _grown(signals, slow, fast)
    if grown is None or of_slow <= of_fast:
        return None
    rows, device, more = grown
    row = rows[0]
    if is_compiling(row.cause):
        return None  # That is a finding of its own.
    where, evidence, is_other = subject_of(row), evidence_of(signals, rows, device), False
    if row.cause.part < Part.QUEUED:
        work = _work_grown(signals, Part(row.cause.part), device, slow, fast)
        if work is None:
            return None
        evidence, more, is_other = (work[0],), *work[1:]
        where = cut_name(work[0].key.replace("{", "(").replace("}", ")"))
    of_part = _part_grown(signals, Part(row.cause.part), device, slow, fast)
    of_call = _grown(signals, slow, fast, _call)
    half = (of_slow - of_fast) / 2
    is_one_call = (
        more < half and of_call is not None and of_call[0][0].cause.part == Part.BLOCKED and of_call[2] >= half
    )
    is_one_place = not is_one_call and (more >= half or 2 * more >= of_part)
    if of_call is not None and is_one_call:
        (row, *_), device, more = of_call
        evidence = evidence_of(signals, of_call[0], device)
    is_guess = diagnosis.candidate.source == "module_run"
    words = {
        "became_slower": "Iterations {first} to {last} take {slow_ns}, those before {fast_ns}",
        "two_kinds": "{count} of {all} iterations take {slow_ns}, the others {fast_ns}",
        "slow_single": "{count} of {all} iterations take {slow_ns}, the others {fast_ns}",
        "drift": "The length of the iterations drifts: the longer half takes {slow_ns}, the other {fast_ns}",
    }[why]
    return Finding(
        "slow_iterations",
        Severity.ADVICE if is_guess or why == "slow_single" else Severity.WARNING,
        Confidence.LOW if is_guess else Confidence.MEDIUM,
        "slow_iterations",
        words
        + (
            ": {where} runs in the slower ones alone, for {more_ns}."
            if is_one_place and is_other
            else ": {where} takes {more_ns} more."
            if is_one_place
            else ": {call} takes {more_ns} more, for example in {path}."
            if is_one_call
            else ": {part} takes {part_ns} more, {more_ns} of it {where}."
        ),
        'Put jax.profiler.StepTraceAnnotation("train", step_num=i) around each step, and look again: these are runs of '
        "{label}, not steps, and other functions or shapes may come between."
        if is_guess
        else "Mark the kinds apart, and look at each by itself: they do other work (other shapes, another part of the "
        "program or an evaluation)."
        if is_one_place and is_other
        else "Look at {where} in a slow iteration and in a fast one: what is done there only sometimes, or more and "
        "more?"
        if is_one_place
        else "Look at how many kernels run in a slow iteration and in a fast one, and how long: what is larger there?"
        if row.cause.part < Part.QUEUED
        else signals.advice(
            "Look for what empties the allocator's cache: torch.cuda.empty_cache(), memory that is nearly full, "
            "PYTORCH_NO_CUDA_MEMORY_CACHING. Look at {call} in a slow iteration and in a fast one.",
            tensorflow=_MEMORY,
            tensorrt=_MEMORY,
            jax=_MEMORY,
            cuda=_MEMORY,
        )
        if is_one_call and row.cause.detail == "allocation"
        else "Look at {call} in a slow iteration and in a fast one: why does it block for longer wherever it is called?"
        if is_one_call
        else "Look for what slows the whole host down then (other processes and threads, garbage collection), with a "
        "slow iteration beside a fast one on the timeline: no one place explains it.",
        {
            "first": str(diagnosis.candidate.values[slow[0]]),
            "last": str(diagnosis.candidate.values[slow[-1]]),
            "label": diagnosis.candidate.label,
            "count": len(slow),
            "all": len(inside),
            "slow_ns": of_slow,
            "fast_ns": of_fast,
            "where": where,
            "more_ns": more,
            "call": row.cause.call,
            "path": row.cause.path.replace("{", "(").replace("}", ")"),
            "part": "what the host does between launches"
            if row.cause.part in _OF_THE_HOST
            else "computing"
            if row.cause.part in COMPUTE
            else Part(row.cause.part).label.replace("_", " "),
            "part_ns": of_part,
        },
        evidence,
        cause="slow_iterations",
        part=Part(row.cause.part).label,
        time_ns=of_slow - of_fast,
    )
