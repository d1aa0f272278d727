"""Joins the busy time of each GPU with its idle time into one partition of the whole capture."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.diagnosis.calls import is_communication
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import (
    OVERLAPS_COMMUNICATION,
    OVERLAPS_COPY,
    Activity,
    Cause,
    Int64s,
    Segments,
)
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, covered, joined
from tensorboard_plugin_dlprof.events.tables import Int8s
from tensorboard_plugin_dlprof.profile.tables import Profile

_TENSOR, _OTHER, _UNKNOWN, _GRAPH, _COMMUNICATION, _COPY = (1 << bit for bit in range(6))
"""Kinds of work, as bits: what runs at a time is a sum of them."""


def complete(profile: Profile) -> None:
    """Make ``Profile.activity`` the whole partition: add the time in which work runs, and for profiles from databases
    that do not store it, the idle time as far as they tell its causes. What kernels use must be final."""
    activity = profile.activity
    if any(cause.part < Part.QUEUED for cause in activity.causes):
        return
    if not activity.devices:
        from tensorboard_plugin_dlprof.diagnosis.from_profile import idle_causes  # rarely needed

        profile.activity = idle_causes(profile)
    profile.activity = with_busy_time(profile)


def with_busy_time(profile: Profile) -> Activity:
    """The activity with the time in which work runs, which a profile does not store twice.

    Args:
        profile: its ``activity`` has the idle time; the kernels' use of matrix units is final.
    """
    idle = profile.activity
    causes = {cause: row for row, cause in enumerate(idle.causes)}
    kinds = _kinds_of_kernels(profile)
    devices = []
    for device in idle.devices:
        start, stop, mask = _busy(_work_of(profile, device.device, kinds))
        rows = np.zeros(64, np.int32)
        for number in distinct_values(mask).tolist():
            rows[number] = causes.setdefault(_cause(number), len(causes))
        order = np.argsort(np.concatenate((start, device.start_ns)), kind="stable")
        segments = Segments(
            device.device,
            spilled(np.concatenate((start, device.start_ns))[order]),
            spilled(np.concatenate((stop, device.stop_ns))[order]),
            spilled(np.concatenate((rows[mask], device.cause))[order]),
        )
        devices.append(segments)
    return msgspec.structs.replace(idle, causes=list(causes), devices=devices)


def communication_names(profile: Profile) -> list[int]:
    """Ids of the long names of the kernels that communicate."""
    of_nsight = profile.info.source_format == "nsight_systems"
    kernels, strings = profile.kernels, profile.strings
    shown = kernels.name if of_nsight else kernels.long_name
    names = [text for text in distinct_values(shown).tolist() if is_communication(strings[text])]
    if not of_nsight or not names:
        return names
    is_collective = np.zeros(len(strings), np.bool_)
    is_collective[names] = True
    long_names: list[int] = distinct_values(kernels.long_name[is_collective[kernels.name]]).tolist()
    return long_names


def _kinds_of_kernels(profile: Profile) -> Int8s:
    kernels = profile.kernels
    by_unit = np.zeros(len(MatrixUnit), np.int8)
    by_unit[MatrixUnit.YES], by_unit[MatrixUnit.NO], by_unit[MatrixUnit.UNKNOWN] = _TENSOR, _OTHER, _UNKNOWN
    kind = by_unit[kernels.matrix_unit]
    communicates = np.zeros(len(profile.strings), np.bool_)
    communicates[communication_names(profile)] = True
    if communicates.any():
        kind[communicates[kernels.long_name]] = _COMMUNICATION
    return kind


def _work_of(profile: Profile, device: int, kinds: Int8s) -> Iterator[tuple[int, Spans]]:
    """The time in which each kind of work runs on a device, disjoint and ascending."""
    kernels = profile.kernels
    here = kernels.device == device
    for kind in distinct_values(kinds[here]).tolist():
        rows = here & (kinds == kind)
        yield kind, covered(_real(kernels.start_ns[rows], kernels.end_ns[rows]))
    for kind, tables in ((_GRAPH, (profile.graphs,)), (_COPY, (profile.memcpys, profile.memsets))):
        spans = []
        for table in tables:
            rows = table.device == device
            spans.append(_real(table.start_ns[rows], table.end_ns[rows]))
        yield kind, covered(joined(spans))


def _real(start: Int64s, stop: Int64s) -> Spans:
    return Spans(start, stop, start).some(stop > start)


def _busy(work: Iterator[tuple[int, Spans]]) -> tuple[Int64s, Int64s, Int8s]:
    """Disjoint intervals with what runs in each, as a sum of kinds."""
    times, changes = [np.zeros(0, np.int64)], [np.zeros(0, np.int8)]
    for kind, spans in work:
        times += [spans.start, spans.stop]
        changes += [np.full(len(spans.start), kind, np.int8), np.full(len(spans.stop), -kind, np.int8)]
    time, change = np.concatenate(times), np.concatenate(changes)
    order = np.argsort(time, kind="stable")
    change, time = change[order], time[order]
    del order
    running = np.cumsum(change, dtype=np.int8)
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    time, running = time[last], running[last]
    heads = np.append(True, running[1:] != running[:-1])[: len(time)]
    time, running = time[heads], running[heads]
    rows = np.flatnonzero(running)
    return time[rows], time[rows + 1] if len(rows) else time[rows], running[rows]


def _cause(running: int) -> Cause:
    overlapped = OVERLAPS_COMMUNICATION if running & _COMMUNICATION else 0
    if running & _COPY:
        overlapped |= OVERLAPS_COPY
    for kind, part, detail in (
        (_TENSOR, Part.COMPUTE_TENSOR, ""),
        (_OTHER, Part.COMPUTE_OTHER, ""),
        (_UNKNOWN, Part.COMPUTE_UNKNOWN, ""),
        (_GRAPH, Part.COMPUTE_UNKNOWN, "graph"),
    ):
        if running & kind:
            return Cause(part, detail, overlaps=overlapped)
    if running & _COMMUNICATION:
        return Cause(Part.COMMUNICATION, overlaps=overlapped & OVERLAPS_COPY)
    return Cause(Part.COPY)
