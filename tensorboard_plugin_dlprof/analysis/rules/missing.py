"""Rules about GPU work that is missing from the recording, and what that leaves to be said of the host."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.waiting import finding_about, waiting
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Severity
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import QUEUED, DeviceDiagnosis, far_ahead, working
from tensorboard_plugin_dlprof.diagnosis.headings import COMPLETE
from tensorboard_plugin_dlprof.diagnosis.headline import MISSING_WORK
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, LONG_NS, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Int64s
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, covered, meeting


def missing_work(signals: Signals) -> Finding | None:
    """Launched work waited although nothing recorded ran: GPU work is missing from the recording."""
    diagnosis = signals.diagnosis
    waits = waiting(signals, lambda cause: cause.part == Part.QUEUED and cause.detail in ("graph", "unexplained"))
    if waits is not None and (
        signals.share_of_iteration(
            waits.time_ns - _always_late_ns(waits.device) * waits.count - _loading_ns(signals, waits.device)
        )
        >= thresholds.MISSING_FRACTION
    ):
        graphs = sum(row.time_ns for row in waits.rows if row.cause.detail == "graph")
        busy = 1 - signals.share_of_iteration(int(diagnosis.mean(waits.device.parts_ns)[Part.QUEUED :].sum()))
        of_graphs = 2 * graphs > waits.time_ns
        sampled = not of_graphs and is_sampled(signals)
        complete = not of_graphs and _is_complete(signals) and _waits_all_along(signals, thresholds.MISSING_FRACTION)
        whose = f" on GPU {waits.device.device}" if len(diagnosis.devices) > 1 else ""
        finding = finding_about(
            signals,
            "unrecorded_gpu_work",
            "missing_work",
            waits,
            "queued",
            ("In" if complete else f"{MISSING_WORK}: in")
            + " {time_ns} of {wall_ns} ({share_fraction}) launched work was waiting"
            + f"{whose} and nothing is recorded as running."
            + " GPU busy: at least {busy_fraction}."
            + (
                " It is missing throughout, as when it is sampled or another process uses the GPU, so nothing is said "
                "of the host."
                if sampled
                else " So it is all along, though all launches have their work: another process or graphics may use "
                "the GPU then, or the driver passes launches on late, as on Windows."
                if complete
                else ""
            ),
            (
                "Record the kernels inside command buffers: XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty) turns "
                "them off while you profile."
                if signals.profile.info.source_format == "xplane"
                else "Record the kernels inside graphs: nsys profile --cuda-graph-trace=node"
                + ("; PyTorch's profiler leaves some out." if signals.profile.info.source_format == "pytorch" else ".")
            )
            if of_graphs
            else "Record all processes that use this GPU, and look at what draws on it; on Windows, turn on "
            "hardware-accelerated GPU scheduling, or compare with a recording on Linux."
            if complete
            else "Record what ran then: start the recording before the work is launched, with all processes that use "
            "this GPU, and without sampling; then look again. What waits for another rank shows in that rank's "
            "recording.",
            gain=None,
            numbers={
                "wall_ns": signals.diagnosis.mean_wall_ns,
                "busy_fraction": busy,
                **({COMPLETE: 1} if complete else {}),
            },
        )
        if finding is None:
            return None
        lacks = "" if complete else "throughout" if sampled else "some"
        if (
            (complete and _longest_wait_ns(signals) < LONG_NS)
            or finding.numbers["share_fraction"] < thresholds.MUCH_MISSING_FRACTION  # type: ignore[operator]
        ):
            return msgspec.structs.replace(finding, severity=Severity.ADVICE, missing_work=lacks)
        return msgspec.structs.replace(finding, missing_work=lacks)
    return _missing_before(signals)


def _missing_before(signals: Signals) -> Finding | None:
    """The first recorded work had been launched long before it ran."""
    for device, lead in signals.lead_in.items():
        queued, wall = lead["queued_ns"], lead["wall_ns"]
        least = thresholds.MISSING_FRACTION * (wall + signals.diagnosis.mean_wall_ns)
        result = next(each for each in signals.diagnosis.devices if str(each.device) == device)
        if queued - _always_late_ns(result) < max(least, thresholds.FIRST_KERNEL_NS):
            continue
        first = int(result.launches.started_ns.min())
        return Finding(
            "unrecorded_gpu_work",
            Severity.ADVICE,
            Confidence.HIGH,
            "missing_work",
            "For {queued_ns} of the {wall_ns} between the first recorded call and the first recorded GPU work, "
            "launched work was waiting: what ran then was launched before the recording began. It is left out of all "
            "shares.",
            "Start the recording when the GPU is idle: synchronise first, or give the profiler a warm-up step.",
            {"queued_ns": queued, "wall_ns": wall},
            (
                Evidence(
                    "device",
                    device,
                    queued * signals.iterations,
                    1,
                    path=f"GPU {device}",
                    device=int(device),
                    iteration=0,
                    from_ns=first - queued,
                    to_ns=first,
                ),
            ),
            cause="missing_work",
            part="queued",
            time_ns=queued,
            once=True,
        )
    return None


def is_sampled(signals: Signals) -> bool:
    """Whether much GPU work is missing, and all over the recording: then launches are missing, too.

    Work that is missing at the start alone may have been launched before the recording. What a graph replays without
    its kernels is missing all over, but its launch is there; and so are launches where the numbers of calls are.
    """
    lacks_work = "launches_without_work" in signals.diagnosis.lower_bound
    if _is_complete(signals) or (signals.profile.info.thinned == 0 and not lacks_work):
        return False
    return _waits_all_along(signals, thresholds.MUCH_MISSING_FRACTION)


def _is_complete(signals: Signals) -> bool:
    """Whether the program's own launches and their work are all recorded, so that something else keeps work waiting.

    Nsight Systems records all launches. Other profiles may be thinned out, launches with their work; where no wait is
    long, the driver passes launches on late instead, several at once.
    """
    info = signals.profile.info
    if "launches_without_work" in signals.diagnosis.lower_bound or info.thinned == 1:
        return False
    return info.source_format == "nsight_systems" or _longest_wait_ns(signals) < LONG_NS


def _longest_wait_ns(signals: Signals) -> int:
    """The longest time for which launched work waits for what was not recorded."""
    return max((int(lengths.max(initial=0)) for _, _, lengths in _unexplained(signals)), default=0)


def _unexplained(signals: Signals) -> list[tuple[DeviceDiagnosis, Int64s, Int64s]]:
    """Starts and lengths of the times in which launched work waits for what was not recorded, of each working GPU."""
    causes = signals.profile.activity.causes
    missing = np.array([each.part == Part.QUEUED and each.detail == "unexplained" for each in causes] or [False])
    result = []
    for device in working(signals.diagnosis):
        rows = np.flatnonzero(missing[device.clipped.cause])
        result.append((device, device.clipped.start_ns[rows], device.clipped.length_ns[rows]))
    return result


def _waits_all_along(signals: Signals, least: float) -> bool:
    """Whether launched work waits for at least this share of the time, and all over the recording, for what was not
    recorded."""
    diagnosis = signals.diagnosis
    if not len(diagnosis.start_ns):
        return False
    begin, whole = int(diagnosis.start_ns[0]), max(int(diagnosis.stop_ns[-1] - diagnosis.start_ns[0]), 1)
    for device, starts, _ in _unexplained(signals):
        time = int(diagnosis.mean(device.queued_ns)[QUEUED.index("unexplained")])
        portions = distinct_values((starts - begin) * thresholds.PORTIONS // whole)
        if signals.share_of_iteration(time) >= least and len(portions) >= thresholds.PORTIONS_IN_USE:
            return True
    return False


def understates(signals: Signals) -> bool:
    """Whether the GPU may do more than was recorded: then nobody can say that there is room for more work."""
    return bool({"missing_work", "launches_without_work"} & set(signals.diagnosis.lower_bound))


def lacks_much(signals: Signals) -> bool:
    """Whether GPU work is missing in so much of the time that what seems to run alone may not."""
    waits = waiting(signals, lambda cause: cause.part == Part.QUEUED and cause.detail in ("graph", "unexplained"))
    return waits is not None and signals.share_of_iteration(waits.time_ns) >= thresholds.MUCH_MISSING_FRACTION


def says_nothing_of_the_host(signals: Signals) -> bool:
    """Whether idle time says nothing of the host: it captures graphs, or its launches are missing."""
    return bool(signals.captures[0]) or is_sampled(signals)


def needs_no_sooner_launch(signals: Signals) -> bool:
    """Whether it would not help to launch sooner: nothing can be said of the host, or it is far ahead mostly."""
    return says_nothing_of_the_host(signals) or far_ahead(signals.diagnosis)


def _loading_ns(signals: Signals, device: DeviceDiagnosis) -> int:
    """Time in which a kernel's code is put on the GPU, mean of the iterations: waits during a launch that blocks, for
    the first kernel of a name, and those that end with that kernel."""
    pieces, table = device.clipped, signals.profile.kernels
    causes = signals.profile.activity.causes
    waits = np.array(
        [each.part == Part.QUEUED and each.detail == "unexplained" for each in causes] or [False], np.bool_
    )
    selected = np.zeros(pieces.windows, np.bool_)
    selected[signals.diagnosis.selected] = True
    rows = np.flatnonzero(waits[pieces.cause] & selected[pieces.window])
    mine = np.flatnonzero(table.device == device.device)
    mine = mine[np.argsort(table.start_ns[mine], kind="stable")]
    if not len(rows) or not len(mine):
        return 0
    first = np.zeros(len(mine), np.bool_)
    first[np.unique(table.long_name[mine], return_index=True)[1]] = True
    blocked = table.api_end_ns[mine] - table.api_start_ns[mine] >= BLOCK_NS
    place = np.minimum(np.searchsorted(table.start_ns[mine], pieces.stop_ns[rows]), len(mine) - 1)
    loads = first[place] & blocked[place] & (table.start_ns[mine[place]] == pieces.stop_ns[rows])
    calls = mine[first & blocked]
    launches = covered(Spans(table.api_start_ns[calls], table.api_end_ns[calls], calls))
    loads |= meeting(Spans(pieces.start_ns[rows], pieces.stop_ns[rows], rows), launches)
    return int(pieces.length_ns[rows[loads]].sum()) // max(int(selected.sum()), 1)


def _always_late_ns(device: DeviceDiagnosis) -> int:
    """How late even work begins that is launched while the GPU has nothing to do: so much the clocks of host and GPU
    differ, or a launch takes. 0 if the GPU always has something to do."""
    pieces, launches = device.clipped, device.launches
    place = np.searchsorted(pieces.start_ns, launches.begun_ns, side="right") - 1
    inside = (place >= 0) & (launches.begun_ns < pieces.stop_ns[place])
    idle = inside & (pieces.part[place] > Part.QUEUED)
    delay = launches.started_ns[idle] - launches.returned_ns[idle]
    return max(int(delay.min()), 0) if len(delay) else 0
