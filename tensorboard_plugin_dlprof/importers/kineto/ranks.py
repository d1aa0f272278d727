"""Finds the process and GPU that an event belongs to, also in a trace that was merged from those of several ranks.

Merging tools, such as SGLang's, write the rank before the number of each process, ``[TP01] 4567`` for the program and
``[TP01] 0`` for its GPU, but leave correlations and numbers of GPUs unchanged. This label identifies the part of the
trace that an event comes from: correlations are unique within a part only, and the same GPU number in two parts means
two GPUs.

A tool that only puts the events of several ranks into one file leaves the numbers of processes and GPUs as they were,
and each rank counts its launches from 1. Every process then has a launch with the correlation of the work. The right
process is the one whose launches come before all, or most, of the work of that GPU, and closest before it: launches of
another rank come too late for about half of the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, filterfalse

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.importers.kineto.numbers import label_of
from tensorboard_plugin_dlprof.importers.kineto.tables import Events
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_Process = int | str

_HIGHEST = np.iinfo(np.int32).max


def process_numbers(events: Events) -> dict[_Process, int]:
    """A number for each process of ``Events.threads``: the one in its text, if it is unique and an operating system can
    have assigned it."""
    distinct = dict.fromkeys(process for process, _ in events.threads)
    numbers: dict[_Process, int] = {owner: owner for owner in distinct if isinstance(owner, int)}
    taken = set(numbers.values())
    for owner in distinct:
        if isinstance(owner, str):
            number = whole_number(owner.removeprefix(label_of(owner)))
            numbers[owner] = number if 0 <= number <= _HIGHEST and number not in taken else -2 - len(numbers)
            taken.add(numbers[owner])
    return numbers


def device_numbers(events: Events) -> Int32s:
    """The number of each of ``Events.gpus``, made unique across the parts of a trace, of which there is usually one."""
    labels = ["", *(label_of(process) for process, _ in events.threads)]
    parts = {label: part for part, label in enumerate(dict.fromkeys(labels))}
    gpus = [(parts.get(label_of(text), 0), device) for text, device in events.gpus]
    unique = _unique_numbers(set(gpus)) if len(parts) > 1 else {}
    return np.array([unique.get(gpu, gpu[1]) for gpu in gpus], np.int32)


def _unique_numbers(devices: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """A number for each part and device: its own, unless an earlier part has it too."""
    known = sorted((device, part) for part, device in devices if device >= 0)
    unused = filterfalse({device for device, _ in known}.__contains__, count())
    first = dict(reversed(known))
    return {(part, device): device if first[device] == part else next(unused) for device, part in known}


def launching_processes(events: Events, numbers: Mapping[_Process, int]) -> Int32s:
    """The number of the process that launched the work of each of ``Events.gpus``; 0 if it is unknown, as when several
    share the GPU, or no system assigned it.

    It is the one that the track names, else the only one of that part, or of all; or of several the one that fits.
    """
    calls, work = events.tables["calls"], events.tables["work"]
    owners = [process for process, _ in events.threads]
    callers = list(dict.fromkeys(owners[thread] for thread in distinct_values(calls["thread"]).tolist()))
    launches: dict[_Process, _Launches] = {}
    launching: list[int] = []
    for gpu, (name, _) in enumerate(events.gpus):
        near = [name] if name in callers else [each for each in callers if label_of(each) == label_of(name)] or callers
        if len(near) > 1:
            for caller in near:
                if caller not in launches:
                    of_caller = np.array([owner == caller for owner in owners], np.bool_)[calls["thread"]]
                    launches[caller] = _first_launches(calls, of_caller & (calls["correlation"] > 0))
            mine = (work["gpu"] == gpu) & (work["correlation"] > 0)
            place = _launcher_of(work["correlation"][mine], work["start_ns"][mine], [launches[each] for each in near])
            near = near[place : place + 1] if place >= 0 else []
        number = numbers[near[0]] if near else 0
        launching.append(number if abs(number) <= _HIGHEST else 0)
    return np.array(launching, np.int32)


_Launches = tuple[Int64s, Int64s]
"""Correlations in order, and the start of the first call with each."""


def _first_launches(calls: Columns, mask: npt.NDArray[np.bool_]) -> _Launches:
    """A call of the driver inside one of the runtime may have the same correlation."""
    correlation, start_ns = calls["correlation"][mask], calls["start_ns"][mask]
    order = np.argsort(start_ns, kind="stable")
    distinct, first = np.unique(correlation[order], return_index=True)
    return distinct, start_ns[order[first]]


def _launcher_of(correlation: Int64s, start_ns: Int64s, callers: Sequence[_Launches]) -> int:
    """Index of the process that launched work of a GPU that has a correlation; -1 if several share the GPU, or none
    launched the work."""
    lags_of = np.array([_lags(correlation, start_ns, launches) for launches in callers])
    lags_of = lags_of[:, ~np.isnan(lags_of).all(axis=0)]
    whole = np.flatnonzero(~np.isnan(lags_of).any(axis=1)).tolist() if lags_of.shape[1] else []

    def likelihood(place: int) -> tuple[int, float]:
        lags = lags_of[place]
        return int(np.count_nonzero(lags >= 0)), -float(np.abs(lags).sum())

    return max(whole, key=likelihood, default=-1)


def _lags(correlation: Int64s, start_ns: Int64s, launches: _Launches) -> npt.NDArray[np.float64]:
    """Time (ns) from the launch with the same correlation to each piece of work; NaN if there is no such launch."""
    known, launched_ns = launches
    if not len(known):
        return np.full(len(correlation), np.nan)
    place = np.minimum(np.searchsorted(known, correlation), len(known) - 1)
    return np.where(known[place] == correlation, start_ns - launched_ns[place], np.nan)
