"""Finds the process and GPU that an event belongs to, also in a trace that was merged from those of several ranks.

Merging tools, such as SGLang's, write the rank before the number of each process, ``[TP01] 4567`` for the program and
``[TP01] 0`` for its GPU, but leave correlations and numbers of GPUs unchanged. This label identifies the part of the
trace that an event comes from: correlations are unique within a part only, and the same GPU number in two parts means
two GPUs. Without such labels, ``kineto_launchers`` infers from times which process the work of a GPU belongs to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, count, filterfalse

import numpy as np

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.importers.kineto_events import whole_number
from tensorboard_plugin_dlprof.importers.kineto_ids import label_of
from tensorboard_plugin_dlprof.importers.kineto_launchers import Launches, launcher_of
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables
from tensorboard_plugin_dlprof.importers.kineto_threads import used_ids

_Process = int | str

_HIGHEST = np.iinfo(np.int32).max


class Parts:
    """The parts of a trace, of which there is usually one.

    Args:
        tables: all events by kind.
    """

    def __init__(self, tables: EventTables) -> None:
        self._strings = tables.strings
        owners = [process for process, _ in tables.threads.rows]
        self.process_numbers = _process_numbers(owners)
        """Process as in ``tables.threads`` -> its number."""
        callers = [*dict.fromkeys(owners[thread] for thread in used_ids(tables.calls.thread))]
        callers_by_label: defaultdict[str, list[_Process]] = defaultdict(list)
        for caller in callers:
            callers_by_label[label_of(caller)].append(caller)
        self._of_caller = {caller: self._only([caller]) for caller in callers}
        self._of_label = {label: self._only(some) for label, some in callers_by_label.items()}
        self._of_all = self._only(callers)
        """The process of events that name only a track of that process, of that part, or none."""
        self._callers = callers_by_label
        self._places = {label: place for place, label in enumerate(dict.fromkeys(("", *map(label_of, owners))))}
        """Label of the processes of a part -> number of the part."""
        self._of_threads = np.array([self._places[label_of(process)] for process in owners], np.int32)
        self._devices = self._device_numbers(tables) if len(self._places) > 1 else {}
        """Part, and number of a GPU in it -> unique number of the GPU; empty if there is one part."""
        self._of_gpus = (
            self._launchers(tables, owners) if max(map(len, callers_by_label.values()), default=0) > 1 else {}
        )
        """Track and number of a GPU -> process, if the track alone does not identify it."""

    def processes(self, track: Int32s, device: Int32s) -> Int32s:
        """Number of the process that launched each piece of device work; 0 if unknown, as when several share a GPU.

        Args:
            track: id of the text before the number of the GPU.
            device: number of the GPU as written.
        """
        told = _mapped(track, self._process_of)
        if self._of_gpus:
            for (text, number), process in self._of_gpus.items():
                told[(track == text) & (device == number)] = process
        return told

    def devices_of_work(self, track: Int32s, device: Int32s) -> Int32s:
        """Numbers of the GPUs of device work, made unique across parts."""
        return self._renumbered(self._of_tracks(track), device) if self._devices else device

    def devices_of_memory(self, thread: Int32s, device: Int32s) -> Int32s:
        """Numbers of the GPUs of memory events, made unique across parts; ``thread`` is the allocating thread."""
        return self._renumbered(self._of_threads[thread], device) if self._devices else device

    def _process_of(self, track: int) -> int:
        text = self._strings[track]
        found = self._of_caller.get(text)
        return self._of_label.get(label_of(text), self._of_all) if found is None else found

    def _launchers(self, tables: EventTables, owners: Sequence[_Process]) -> dict[tuple[int, int], int]:
        calls, work = tables.calls, tables.work
        thread, correlation = np.asarray(calls.thread), np.asarray(calls.correlation)
        start_us = np.frombuffer(calls.start_us, np.float64)
        launches = {}
        for caller in chain.from_iterable(self._callers.values()):
            mine = np.array([owner == caller for owner in owners], np.bool_)[thread] & (correlation > 0)
            launches[caller] = Launches(correlation[mine], start_us[mine]).earliest()
        track, device = np.asarray(work.track), np.maximum(np.asarray(work.device), 0)
        correlation, start_us = np.asarray(work.correlation), np.frombuffer(work.start_us, np.float64)
        found = {}
        for text, number in _pairs(numbered(_keys(track, device))[0]):
            callers = self._callers.get(label_of(self._strings[text])) or [*launches]
            if self._strings[text] in self._of_caller or len(callers) < 2:
                continue
            mine = (track == text) & (device == number) & (correlation > 0)
            place = launcher_of(Launches(correlation[mine], start_us[mine]), [launches[caller] for caller in callers])
            if place >= 0:
                found[text, number] = self._only([callers[place]])
        return found

    def _only(self, callers: Collection[_Process]) -> int:
        """The number of the only process; 0 if there are several, or its number was not assigned by a system."""
        numbers = [self.process_numbers[caller] for caller in callers]
        return numbers[0] if len(numbers) == 1 and abs(numbers[0]) <= _HIGHEST else 0

    def _device_numbers(self, tables: EventTables) -> dict[tuple[int, int], int]:
        memory = tables.memory
        keys = [_keys(self._of_threads[np.asarray(memory.thread)], np.asarray(memory.device))]
        for work in (tables.work, tables.syncs):
            keys.append(_keys(self._of_tracks(np.asarray(work.track)), np.maximum(np.asarray(work.device), 0)))
        known = sorted((device, part) for part, device in _pairs(numbered(np.concatenate(keys))[0]) if device >= 0)
        unused = filterfalse({device for device, _ in known}.__contains__, count())
        first = dict(reversed(known))
        return {(part, device): device if first[device] == part else next(unused) for device, part in known}

    def _of_tracks(self, track: Int32s) -> Int32s:
        return _mapped(track, lambda text: self._places.get(label_of(self._strings[text]), 0))

    def _renumbered(self, part: Int32s, device: Int32s) -> Int32s:
        keys, dense = numbered(_keys(part, device))
        return np.array([self._devices.get(pair, -1) for pair in _pairs(keys)], np.int32)[dense]


def _keys(part: Int32s, device: Int32s) -> Int64s:
    return part.astype(np.int64) << 32 | device.astype(np.int64) & 0xFFFFFFFF


def _pairs(keys: Int64s) -> Iterator[tuple[int, int]]:
    """Part and device of each key made by ``_keys``."""
    return zip((keys >> 32).tolist(), keys.astype(np.int32).tolist(), strict=True)


def _mapped(column: Int32s, of: Callable[[int], int]) -> Int32s:
    if not column.any():
        return np.full(len(column), of(0), np.int32)
    keys, dense = numbered(column)
    return np.array([of(key) for key in keys.tolist()], np.int32)[dense]


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
