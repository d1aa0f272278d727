"""Finds the batches that a program works on, by the first layer of each iteration."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Batches, Instances, Op, Profile
from tensorboard_plugin_dlprof.throughput.layers import (
    ATTENTION,
    CONFIRMING,
    FIRST_LAYERS,
    Batch,
    Sequences,
    batch_of,
    leading,
    sequences,
    shapes_of,
)

_BACKWARD = "bprop"
_MOST_ITERATIONS = 100_000
_REPEATS = frozenset({"embedding", "conv1d", "conv2d", "conv3d"})
"""First layers of which one iteration without a backward pass would need only one call."""


def find_batches(profile: Profile) -> Batches:
    """The batches of a profile; none where it cannot be told.

    In each iteration, the first layer tells the batch. It counts again if a backward pass began since, because then
    gradients are accumulated over several batches, and on other threads, because then several GPUs share the batch. In
    an iteration without a backward pass a first layer that is called again cannot be told from a loop over the same
    sample, so that nothing is known. Nothing is known either where no iterations are marked.
    """
    candidate = profile.iterations[0]
    if candidate.source == "whole_capture":
        return empty(Batches)
    finder = _Finder(profile)
    times: list[int] = []
    batches: list[Batch] = []
    for start, stop in zip(
        candidate.start_ns[:_MOST_ITERATIONS].tolist(), candidate.stop_ns[:_MOST_ITERATIONS].tolist(), strict=True
    ):
        for time, batch in finder.of_iteration(start, stop):
            times.append(time)
            batches.append(batch)
    return Batches(
        np.array(times, np.int64),
        np.array([-1 if batch.samples is None else batch.samples for batch in batches], np.int64),
        np.array([-1 if batch.tokens is None else batch.tokens for batch in batches], np.int64),
        finder.layer,
    )


class _Finder:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        instances = profile.instances
        ops = profile.ops
        layers = _rows(instances, [row for row, op in enumerate(ops) if _is_of(FIRST_LAYERS, op)])
        backward = _rows(instances, [row for row, op in enumerate(ops) if op.direction == _BACKWARD])
        self._backward_ns = np.sort(instances.start_ns[backward])
        # What backward passes compute again (checkpointing) is no new batch.
        self._layers = layers[~_within(instances, layers, backward)]
        self._layers = self._layers[np.argsort(instances.start_ns[self._layers], kind="stable")]
        self._start_ns = instances.start_ns[self._layers]
        confirming = _rows(instances, [row for row, op in enumerate(ops) if _is_of(CONFIRMING, op)])
        confirming = confirming[~_within(instances, confirming, backward)]
        self._confirming = confirming[np.argsort(instances.start_ns[confirming], kind="stable")]
        self._confirming_ns = instances.start_ns[self._confirming]
        self._leading = self._leading_sizes()
        attention = _rows(instances, [row for row, op in enumerate(ops) if _is_of(ATTENTION, op)])
        self._attention = attention[np.argsort(instances.start_ns[attention], kind="stable")]
        self._attention_ns = instances.start_ns[self._attention]
        # Calls of one place in the model may be several ops, by their occurrence in the iteration.
        places: dict[tuple[str, str], int] = {}
        of_op = [places.setdefault((op.name, op.op_type), len(places)) for op in ops]
        self._place = np.array(of_op, np.int64)[instances.op[self._layers]]
        self._known: dict[tuple[int, int, int, Sequences | None], Batch] = {}
        self._sequences: dict[tuple[int, int], Sequences | None] = {}
        self.layer = ""
        """Type and input of the first layer that told a batch."""

    def of_iteration(self, start_ns: int, stop_ns: int) -> list[tuple[int, Batch]]:
        """The batches that begin in a window, with their times."""
        first, last = np.searchsorted(self._start_ns, (start_ns, stop_ns)).tolist()
        if first == last:
            return []
        instances = self._profile.instances
        row = int(self._layers[first])
        attended = self._attended(start_ns, stop_ns)
        batch = self._batch(row, attended[0] if attended else None)
        if batch.tokens is not None and any(each.tokens not in (None, batch.tokens) for each in attended):
            # Most of the work is on other tokens than those of the first layer, such as parts of a picture.
            batch = Batch(batch.samples, None)
        if batch.samples is None or self._contradicts(batch.samples, row, stop_ns):
            return []
        same = self._layers[first:last]
        is_same = instances.input_shapes[same] == instances.input_shapes[row]
        same = same[is_same & (self._place[first:last] == self._place[first])]
        # Which backward passes have begun, and the thread: each pair of them is a batch of its own.
        begun = np.searchsorted(self._backward_ns, instances.start_ns[same])
        backward = np.searchsorted(self._backward_ns, stop_ns) > np.searchsorted(self._backward_ns, start_ns)
        if not backward and len(same) > 1 and self._profile.ops[instances.op[row]].op_type in _REPEATS:
            return []
        calls = zip(begun.tolist(), instances.thread_id[same].tolist(), same.tolist(), strict=True)
        of_pair: dict[tuple[int, int], int] = {}
        for passes, thread, call in calls:
            of_pair.setdefault((passes, thread), call)
        counted = np.array(list(of_pair.values()), np.int64)
        if not self._are_alike(counted, first, last):
            return []
        return [(int(instances.start_ns[place]), batch) for place in counted.tolist()]

    def _contradicts(self, samples: int, row: int, stop_ns: int) -> bool:
        """Whether a later layer of the forward pass gets what is no multiple of the samples, so that these are parts
        of samples, such as the pictures of a film, or tokens."""
        instances = self._profile.instances
        start_ns = int(instances.start_ns[row])
        begun = int(np.searchsorted(self._backward_ns, start_ns))
        stop_ns = min([stop_ns, *self._backward_ns[begun : begun + 1].tolist()])
        first, last = np.searchsorted(self._confirming_ns, (start_ns, stop_ns))
        own = instances.thread_id[self._confirming[first:last]] == instances.thread_id[row]
        return bool((self._leading[first:last][own] % samples != 0).any())

    def _are_alike(self, counted: Int64s, first: int, last: int) -> bool:
        """Whether the batches of each thread go through the same layers: of networks that train each other, one gets
        real samples and those of the other. What follows the last batch may be the optimizer's."""
        if len(counted) == 1:
            return True
        thread = self._profile.instances.thread_id
        for each in distinct_values(thread[counted]).tolist():
            rows = self._layers[first:last]
            own = thread[rows] == each
            places = self._place[first:last][own]
            begin = np.flatnonzero(are_among(rows[own], counted))
            parts = np.split(places, begin)[1:]
            whole = parts[0]
            alike = [np.array_equal(part, whole) for part in parts[:-1]]
            if not all(alike) or (len(parts) > 1 and not np.array_equal(parts[-1][: len(whole)], whole)):
                return False
        return True

    def _leading_sizes(self) -> Int64s:
        """The first size of what each layer of ``CONFIRMING`` gets; 0 where it is unknown."""
        instances, ops = self._profile.instances, self._profile.ops
        keys = np.stack([instances.op[self._confirming], instances.input_shapes[self._confirming]])
        pairs, place = np.unique(keys, axis=1, return_inverse=True)
        sizes = [leading(ops[op].op_type, shapes_of(self._profile.strings[text])) or 0 for op, text in pairs.T.tolist()]
        return np.array(sizes, np.int64)[place.reshape(-1)]

    def _batch(self, row: int, attends: Sequences | None) -> Batch:
        instances, strings = self._profile.instances, self._profile.strings
        op = self._profile.ops[instances.op[row]]
        key = int(instances.op[row]), int(instances.input_shapes[row]), int(instances.parameters[row]), attends
        if key not in self._known:
            text = strings[key[1]]
            batch_first = _last_of(strings[key[2]])
            self._known[key] = batch_of(op.op_type, shapes_of(text), batch_first, attends)
            if not self.layer and any(self._known[key]):
                self.layer = f"{op.op_type} {text.strip()}"[:200]
        return self._known[key]

    def _attended(self, start_ns: int, stop_ns: int) -> list[Sequences]:
        """The different sequences that attention gets in a window, the first one first."""
        first, last = np.searchsorted(self._attention_ns, (start_ns, stop_ns))
        instances, rows = self._profile.instances, self._attention[first:last]
        calls = dict.fromkeys(zip(instances.op[rows].tolist(), instances.input_shapes[rows].tolist(), strict=True))
        parsed = (self._sequences_of(op, text) for op, text in calls)
        return [each for each in parsed if each is not None]

    def _sequences_of(self, op: int, text: int) -> Sequences | None:
        key = op, text
        if key not in self._sequences:
            op_type = self._profile.ops[op].op_type
            self._sequences[key] = sequences(op_type, shapes_of(self._profile.strings[text]))
        return self._sequences[key]


def _is_of(op_types: frozenset[str], op: Op) -> bool:
    """Whether an op of the forward pass has one of some types."""
    return op.op_type in op_types and op.direction != _BACKWARD


def _rows(instances: Instances, ops: list[int]) -> Int64s:
    return np.flatnonzero(are_among(instances.op, ops)) if ops else np.zeros(0, np.int64)


def _within(instances: Instances, rows: Int64s, others: Int64s) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows run inside one of the others, on the same thread."""
    inside = np.zeros(len(rows), np.bool_)
    for thread in distinct_values(instances.thread_id[rows]).tolist():
        around = others[instances.thread_id[others] == thread]
        if not len(around):
            continue
        around = around[np.argsort(instances.start_ns[around], kind="stable")]
        until = np.append(np.int64(-1), np.maximum.accumulate(instances.end_ns[around]))
        own = instances.thread_id[rows] == thread
        time = instances.start_ns[rows]
        inside |= own & (time < until[np.searchsorted(instances.start_ns[around], time, side="right")])
    return inside


def _last_of(parameters: str) -> bool | None:
    """The last parameter of a recurrent layer: whether the batch comes first."""
    text = parameters.strip().rstrip("]}").rstrip().rstrip('"').lower()
    return True if text.endswith("true") else False if text.endswith("false") else None
