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
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, Part


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
        sampled = 2 * graphs <= waits.time_ns and is_sampled(signals)
        finding = finding_about(
            signals,
            "unrecorded_gpu_work",
            "missing_work",
            waits,
            "queued",
            "GPU work is missing from this recording: in {time_ns} of {wall_ns} ({share_fraction}) launched work was "
            "waiting and nothing is recorded as running. GPU busy: at least {busy_fraction}."
            + (
                " It is missing throughout, as when it is sampled or another process uses the GPU, so nothing is said "
                "of the host."
                if sampled
                else ""
            ),
            (
                "Record the kernels inside command buffers: XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty) turns "
                "them off while you profile."
                if signals.profile.info.source_format == "xplane"
                else "Record the kernels inside graphs: nsys profile --cuda-graph-trace=node"
                + ("; PyTorch's profiler leaves some out." if signals.profile.info.source_format == "pytorch" else ".")
            )
            if 2 * graphs > waits.time_ns
            else "Record what ran then: start the recording before the work is launched, with all processes that use "
            "this GPU, and without sampling; then look again. What waits for another rank shows in that rank's "
            "recording.",
            gain=None,
            numbers={"wall_ns": signals.diagnosis.mean_wall_ns, "busy_fraction": busy},
        )
        if finding is not None and finding.numbers["share_fraction"] < thresholds.MUCH_MISSING_FRACTION:  # type: ignore[operator]
            return msgspec.structs.replace(finding, severity=Severity.ADVICE)
        return finding
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
            "{queued_ns} of the {wall_ns} between the first recorded call and the first recorded GPU work, launched "
            "work was waiting: what ran then was launched before the recording began. It is left out of all shares.",
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
    its kernels is missing all over, but its launch is there.
    """
    diagnosis = signals.diagnosis
    if not len(diagnosis.start_ns):
        return False
    begin, whole = int(diagnosis.start_ns[0]), max(int(diagnosis.stop_ns[-1] - diagnosis.start_ns[0]), 1)
    causes = signals.profile.activity.causes
    missing = np.array([each.part == Part.QUEUED and each.detail == "unexplained" for each in causes] or [False])
    for device in working(diagnosis):
        pieces = device.clipped
        rows = np.flatnonzero(missing[pieces.cause])
        time = int(diagnosis.mean(device.queued_ns)[QUEUED.index("unexplained")])
        portions = distinct_values((pieces.start_ns[rows] - begin) * thresholds.PORTIONS // whole)
        if signals.share_of_iteration(time) >= thresholds.MUCH_MISSING_FRACTION and (
            len(portions) >= thresholds.PORTIONS_IN_USE
        ):
            return True
    return False


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
    """Time in which a kernel's code is put on the GPU, mean of the iterations: waits that end with the first kernel of
    a name, whose launch blocked, too."""
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
