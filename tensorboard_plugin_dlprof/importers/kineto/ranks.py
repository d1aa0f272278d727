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

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, count, filterfalse

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values, numbered
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.importers.kineto.numbers import label_of
from tensorboard_plugin_dlprof.importers.kineto.tables import Events
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_Process = int | str

_HIGHEST = np.iinfo(np.int32).max


class Parts:
    """The parts of a trace, of which there is usually one.

    Args:
        events: all events by kind.
    """

    def __init__(self, events: Events) -> None:
        self._texts = events.texts
        tables = events.tables
        owners = [process for process, _ in events.threads]
        self.process_numbers = _process_numbers(owners)
        """Process as in ``Events.threads`` -> its number."""
        callers = [*dict.fromkeys(owners[thread] for thread in distinct_values(tables["calls"]["thread"]).tolist())]
        self._callers: defaultdict[str, list[_Process]] = defaultdict(list)
        for caller in callers:
            self._callers[label_of(caller)].append(caller)
        self._of_caller = {caller: self._only([caller]) for caller in callers}
        self._of_label = {label: self._only(some) for label, some in self._callers.items()}
        self._of_all = self._only(callers)
        """The process of events that name only a track of that process, of that part, or none."""
        self._places = {label: place for place, label in enumerate(dict.fromkeys(("", *map(label_of, owners))))}
        """Label of the processes of a part -> number of the part."""
        self._of_threads = np.array([self._places[label_of(process)] for process in owners], np.int32)
        self._devices = self._device_numbers(tables) if len(self._places) > 1 else {}
        """Part, and number of a GPU in it -> unique number of the GPU; empty if there is one part."""
        several = max(map(len, self._callers.values()), default=0) > 1
        self._of_gpus = self._launchers(tables, owners) if several else {}
        """Track and number of a GPU -> process, if the track alone does not identify it."""

    def processes(self, track: Int32s, device: Int32s) -> Int32s:
        """Number of the process that launched each piece of device work; 0 if unknown, as when several share a GPU.

        Args:
            track: number of the text before the number of the GPU.
            device: number of the GPU as written.
        """
        process_of_work = _mapped(track, self._process_of)
        for (text, number), process in self._of_gpus.items():
            process_of_work[(track == text) & (device == number)] = process
        return process_of_work

    def devices_of_work(self, track: Int32s, device: Int32s) -> Int32s:
        """Numbers of the GPUs of device work, made unique across parts."""
        return self._renumbered(self._of_tracks(track), device) if self._devices else device

    def devices_of_memory(self, thread: Int32s, device: Int32s) -> Int32s:
        """Numbers of the GPUs of memory events, made unique across parts; ``thread`` is the allocating thread."""
        return self._renumbered(self._of_threads[thread], device) if self._devices else device

    def _process_of(self, track: int) -> int:
        text = self._texts[track]
        number = self._of_caller.get(text)
        return self._of_label.get(label_of(text), self._of_all) if number is None else number

    def _launchers(self, tables: dict[str, Columns], owners: Sequence[_Process]) -> dict[tuple[int, int], int]:
        calls, work = tables["calls"], tables["work"]
        launches = {}
        for caller in chain.from_iterable(self._callers.values()):
            of_caller = np.array([owner == caller for owner in owners], np.bool_)
            mine = of_caller[calls["thread"]] & (calls["correlation"] > 0)
            launches[caller] = _Launches(calls["correlation"][mine], calls["start_us"][mine]).earliest()
        track, device = work["track"], np.maximum(work["device"], 0)
        process_of_gpu = {}
        for text, number in _pairs(distinct_values(_keys(track, device))):
            callers = self._callers.get(label_of(self._texts[text])) or [*launches]
            if self._texts[text] in self._of_caller or len(callers) < 2:
                continue
            mine = (track == text) & (device == number) & (work["correlation"] > 0)
            of_gpu = _Launches(work["correlation"][mine], work["start_us"][mine])
            place = _launcher_of(of_gpu, [launches[caller] for caller in callers])
            if place >= 0:
                process_of_gpu[text, number] = self._only([callers[place]])
        return process_of_gpu

    def _only(self, callers: Collection[_Process]) -> int:
        """The number of the only process; 0 if there are several, or its number was not assigned by a system."""
        numbers = [self.process_numbers[caller] for caller in callers]
        return numbers[0] if len(numbers) == 1 and abs(numbers[0]) <= _HIGHEST else 0

    def _device_numbers(self, tables: dict[str, Columns]) -> dict[tuple[int, int], int]:
        keys = [_keys(self._of_threads[tables["memory"]["thread"]], tables["memory"]["device"])]
        for work in (tables["work"], tables["syncs"]):
            keys.append(_keys(self._of_tracks(work["track"]), np.maximum(work["device"], 0)))
        pairs = _pairs(distinct_values(np.concatenate(keys)))
        known = sorted((device, part) for part, device in pairs if device >= 0)
        unused = filterfalse({device for device, _ in known}.__contains__, count())
        first = dict(reversed(known))
        return {(part, device): device if first[device] == part else next(unused) for device, part in known}

    def _of_tracks(self, track: Int32s) -> Int32s:
        return _mapped(track, lambda text: self._places.get(label_of(self._texts[text]), 0))

    def _renumbered(self, part: Int32s, device: Int32s) -> Int32s:
        keys, index = numbered(_keys(part, device))
        return np.array([self._devices.get(pair, -1) for pair in _pairs(keys)], np.int32)[index]


def _keys(part: Int32s, device: Int32s) -> Int64s:
    return part.astype(np.int64) << 32 | device.astype(np.int64) & 0xFFFFFFFF


def _pairs(keys: Int64s) -> Iterator[tuple[int, int]]:
    """Part and device of each key made by ``_keys``."""
    return zip((keys >> 32).tolist(), keys.astype(np.int32).tolist(), strict=True)


def _mapped(column: Int32s, of: Callable[[int], int]) -> Int32s:
    keys, index = numbered(column)
    return np.array([of(key) for key in keys.tolist()], np.int32)[index]


def _process_numbers(owners: Iterable[_Process]) -> dict[_Process, int]:
    """A number for each process: the one in its text, if it is unique and an operating system can have assigned it."""
    distinct = dict.fromkeys(owners)
    numbers: dict[_Process, int] = {owner: owner for owner in distinct if isinstance(owner, int)}
    taken = set(numbers.values())
    for owner in distinct:
        if isinstance(owner, str):
            number = whole_number(owner.removeprefix(label_of(owner)))
            numbers[owner] = number if 0 <= number <= _HIGHEST and number not in taken else -2 - len(numbers)
            taken.add(numbers[owner])
    return numbers


class _Launches(msgspec.Struct):
    """Correlations and starts: of calls of one process that may launch work, or of the work of one GPU."""

    correlation: Int64s
    start_us: npt.NDArray[np.float64]

    def earliest(self) -> _Launches:
        """The first call with each correlation, ordered by correlation. A call of the driver inside one of the runtime
        may have the same correlation."""
        order = np.lexsort((self.start_us, self.correlation))
        correlation = self.correlation[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = correlation[1:] != correlation[:-1]
        return _Launches(correlation[first], self.start_us[order[first]])

    def lags_of(self, work: _Launches) -> npt.NDArray[np.float64]:
        """Time (us) from the call with the same correlation to each piece of work; NaN if there is no such call."""
        if not len(self.correlation):
            return np.full(len(work.correlation), np.nan)
        place = np.minimum(np.searchsorted(self.correlation, work.correlation), len(self.correlation) - 1)
        hit = self.correlation[place] == work.correlation
        return np.where(hit, work.start_us - self.start_us[place], np.nan)


def _launcher_of(work: _Launches, calls: Sequence[_Launches]) -> int:
    """Index of the process that launched the work of a GPU; -1 if several share the GPU, or none launched the work.

    Args:
        work: the work that has a correlation.
        calls: ``earliest`` of the calls of each process.
    """
    lags_of = [each.lags_of(work) for each in calls]
    anywhere = np.any([~np.isnan(lags) for lags in lags_of], axis=0)
    whole = [place for place, lags in enumerate(lags_of) if not np.isnan(lags[anywhere]).any()]
    if not anywhere.any() or not whole:
        return -1

    def likelihood(place: int) -> tuple[int, float]:
        lags = lags_of[place][anywhere]
        return int(np.count_nonzero(lags >= 0)), -float(np.abs(lags).sum())

    return max(whole, key=likelihood)
