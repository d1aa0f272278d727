"""One side of a comparison: one recording, or several of the same program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from statistics import median

import msgspec

from tensorboard_plugin_dlprof.comparing.equal_work import input_elements
from tensorboard_plugin_dlprof.comparing.recording import FEWEST_SAMPLES, Op, Recording


class Side(msgspec.Struct):
    """Recordings whose sums are added up."""

    recordings: list[Recording]
    ops: list[Op]
    """Those of all recordings, merged, in the order of the program. With several recordings, samples are empty."""
    units: list[Fraction]
    """What each recording's sums over GPUs are divided by: iterations, or passes of the program."""

    @property
    def first(self) -> Recording:
        """The recording whose facts stand for the side."""
        return self.recordings[0]

    @property
    def name(self) -> str:
        """Its name, with the number of further recordings."""
        more = len(self.recordings) - 1
        return self.first.name if not more else f"{self.first.name} and {more} more"

    @property
    def iterations(self) -> int:
        """Of all recordings."""
        return sum(recording.iterations for recording in self.recordings)

    @property
    def marked(self) -> bool:
        """Whether there is a time per iteration."""
        return all(recording.marked for recording in self.recordings)

    @property
    def iteration_ns(self) -> int | None:
        """The mean iteration, whatever sums are divided by; None where iterations are not marked."""
        times = sum(one.iterations * one.devices_in_use for one in self.recordings)
        return round(Fraction(self.total("wall_ns"), times)) if self.marked and times else None

    @property
    def recording_ns(self) -> int | None:
        """The mean length of what is compared of each recording; None where iterations are marked, or of no GPU."""
        devices = sum(one.devices_in_use for one in self.recordings)
        return None if self.marked or not devices else round(Fraction(self.total("wall_ns"), devices))

    @property
    def divisor(self) -> Fraction:
        """What sums over iterations and GPUs are divided by."""
        return sum(
            (unit * one.devices_in_use for unit, one in zip(self.units, self.recordings, strict=True)), Fraction()
        )

    def total(self, name: str) -> int:
        """The sum of an integer of all recordings."""
        return sum(getattr(recording, name) for recording in self.recordings)

    def parts(self) -> dict[str, int]:
        """The exclusive parts of the wall time, summed over iterations and GPUs."""
        result: dict[str, int] = defaultdict(int)
        for recording in self.recordings:
            for part, time_ns in recording.parts.items():
                result[part] += time_ns
        return dict(result)

    def is_over_runs(self) -> bool:
        """Whether each recording gives one sample, because there are enough of them."""
        return len(self.recordings) >= FEWEST_SAMPLES or not self.marked

    def samples(self, name: str, over_runs: bool) -> list[float]:
        """The samples of a measure: one for each iteration, or one for each recording.

        Args:
            name: ``iteration_time``, ``kernel_time`` (ns of one GPU), ``idle_time``, ``gpu_utilization``,
                ``tensor_core_share``.
            over_runs: one for each recording: the median of its iterations, or where they are not marked, its total by
                unit.
        """
        if not over_runs:
            return [value for recording in self.recordings for value in _by_iteration(recording, name)]
        result = []
        for recording, unit in zip(self.recordings, self.units, strict=True):
            values = _by_iteration(recording, name)
            if recording.marked:
                result.append(median(values) if values else 0.0)
            elif name == "kernel_time":
                result.append(float((recording.kernel_ns + recording.graph_ns) / (unit * recording.devices_in_use)))
            elif name in ("gpu_utilization", "tensor_core_share"):
                result.append(values[0] if len(values) == 1 else 0.0)
        return result

    def work(self) -> list[float]:
        """Elements of the inputs of all ops by unit and GPU, for each recording; 0 where unknown."""
        return [
            float(input_elements(one.ops) / (unit * one.devices_in_use))
            for unit, one in zip(self.units, self.recordings, strict=True)
        ]


def _by_iteration(recording: Recording, name: str) -> list[float]:
    if name == "kernel_time":
        return [value / recording.devices_in_use for value in recording.kernel_time]
    if name == "tensor_core_share":
        if recording.unknown_ns or recording.graph_ns:
            return []
        times = zip(recording.tensor_core_time, recording.kernel_time, strict=True)
        return [tensor / kernel for tensor, kernel in times if kernel]
    values: list[float] = getattr(recording, name)
    return values


def side_of(recordings: Sequence[Recording]) -> Side:
    """A side of one or more recordings of the same program."""
    units = [Fraction(recording.iterations) for recording in recordings]
    if len(recordings) == 1:
        return Side(list(recordings), recordings[0].ops, units)
    return Side(list(recordings), _merged(recordings), units)


def _merged(recordings: Sequence[Recording]) -> list[Op]:
    """The ops of all recordings, those with the same path, type, direction and shapes in order."""
    result: dict[tuple[tuple[str, str, str, str], int], Op] = {}
    for recording in recordings:
        places: dict[tuple[str, str, str, str], int] = defaultdict(int)
        for op in recording.ops:
            key = op.path, op.op_type, op.direction, op.shapes
            place = places[key] = places[key] + 1
            one = result.get((key, place))
            if one is None:
                result[key, place] = msgspec.structs.replace(op, kernels=list(op.kernels), samples=[])
                continue
            one.calls += op.calls
            one.kernel_ns += op.kernel_ns
            one.tensor_core_ns += op.tensor_core_ns
            one.unknown_ns += op.unknown_ns
            one.graph_ns += op.graph_ns
            one.kernels += op.kernels
    return list(result.values())
