"""Compares two sides: the one function behind page, command line and Python."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import mean, median

import msgspec

from tensorboard_plugin_dlprof.classify.architecture import HIP, matrix_unit_of
from tensorboard_plugin_dlprof.comparing import comparability
from tensorboard_plugin_dlprof.comparing.attribution import Row, largest_remainder, parts_table, rows_of
from tensorboard_plugin_dlprof.comparing.calls import SHARE_OF_ONE_PROGRAM, passes_of_a, ratio_of_calls
from tensorboard_plugin_dlprof.comparing.comparability import OtherWork
from tensorboard_plugin_dlprof.comparing.equal_work import estimate_at_equal_work
from tensorboard_plugin_dlprof.comparing.groups import Group, groups_of
from tensorboard_plugin_dlprof.comparing.matching import Match, match_kernels, match_ops, ops_of_kernels
from tensorboard_plugin_dlprof.comparing.memory import HeldRows, held_rows
from tensorboard_plugin_dlprof.comparing.noise import Estimate, estimate
from tensorboard_plugin_dlprof.comparing.recording import Op, Recording
from tensorboard_plugin_dlprof.comparing.replacements import Replacement, replacements
from tensorboard_plugin_dlprof.comparing.side import Side, side_of
from tensorboard_plugin_dlprof.queries.system import ROCM

FLOORS = {"iteration_time": 0.02, "idle_time": 0.02, "kernel_time": 0.01}
"""Changes below these fractions are called none, however sure they are."""


class Measure(msgspec.Struct):
    """One number of both sides, by unit of comparison; None is unknown."""

    name: str
    a: float | None
    b: float | None
    is_least: bool = False
    """Whether the values are lower bounds, because the Tensor Core use of some kernels is unknown."""
    a_median: float | None = None
    b_median: float | None = None
    """The medians of the samples; None without samples."""
    estimate: Estimate | None = None
    """The ratio of B to A from the samples of both; None without samples."""
    input_size_ratio: float | None = None
    """How many times as large the inputs of B are, if ``estimate`` is of inputs of equal size; None if it is not."""

    @property
    def change(self) -> float | None:
        """B less A; None if either is unknown."""
        return None if self.a is None or self.b is None else self.b - self.a


class Comparison(msgspec.Struct):
    """What changed from A to B."""

    a: Side
    b: Side
    per: str
    """``iteration``, ``call`` (of everything, where iterations are not marked), or ``capture`` (neither fits)."""
    a_ns: int
    """Mean time of an iteration; by call, time of kernels and graphs; of a capture, wall time."""
    b_ns: int
    rows: list[Row]
    """In the order of the program; they add up to ``a_ns`` and ``b_ns``."""
    parts: list[tuple[str, int, int]]
    """The exclusive parts of the wall time of A and B (ns); empty by call."""
    groups: list[Group]
    """The rows summed over the repetitions of the model, in the order of the program."""
    left_out: int
    """Ops without kernels on either side, which have no row: those of the CPU alone, and copies and memsets."""
    replacements: list[Replacement]
    memory: HeldRows
    measures: dict[str, Measure]
    comparability: list[str]
    other_work: OtherWork | None
    """That one side works on larger inputs; None where it does not, or times are compared on equal ones."""
    is_same: bool
    is_over_runs: bool
    """Whether each recording gives one sample, rather than each iteration."""
    floor: float | None
    """Chosen by the user in place of ``FLOORS``."""

    @property
    def tells_times(self) -> bool:
        """Whether times are told: not of two memory snapshots, nor of others without iterations and GPU work."""
        return self.per == "iteration" or bool(self.a.ops or self.b.ops)

    @property
    def is_of_means(self) -> bool:
        """Whether ``a_ns`` or ``b_ns`` is a mean of several iterations."""
        return self.per == "iteration" and max(self.a.iterations, self.b.iterations) > 1

    @property
    def is_same_program(self) -> bool:
        """Whether ops that both have take most of the kernel time of both sides, or nearly all of that of one."""
        return not any(comparability.different_programs(self.a, self.b, self.rows))

    @property
    def has_other_inputs(self) -> bool:
        """Whether a change is one of work and speed together, of which neither is better or worse."""
        return self.main.input_size_ratio is None and comparability.inputs_differ(self.rows)

    @property
    def change_ns(self) -> int:
        """B less A."""
        return self.b_ns - self.a_ns

    @property
    def matrix_unit(self) -> str:
        """The vendors' name for the matrix units of both sides; ``matrix unit`` if they have different ones."""
        sides = (self.a.first, self.b.first)
        names = {matrix_unit_of(side.devices, HIP if ROCM in side.facts else "") for side in sides}
        return names.pop() if len(names) == 1 else "matrix unit"

    @property
    def main(self) -> Measure:
        """The measure that the verdict is about."""
        return self.measures[_main(self.per)]

    def floor_of(self, measure: str) -> float:
        """The smallest fraction that is called a change."""
        return self.floor if self.floor is not None else FLOORS.get(measure, 0.02)


def compare(a: Sequence[Recording], b: Sequence[Recording], floor: float | None = None) -> Comparison:
    """Compare recordings of a baseline with recordings of a candidate.

    Args:
        a: one or more recordings of the baseline.
        b: one or more recordings of the candidate.
        floor: the smallest fraction that is called a change, in place of ``FLOORS``.
    """
    left, right = side_of(a), side_of(b)
    of_kernels = comparability.are_kernels_compared(left, right)
    matches = _matches(left.ops, right.ops, of_kernels)
    per, ratio = _units(left, right, matches, of_kernels)
    rows, left_out = rows_of(left, right, matches, of_kernels, wall=per != "call")
    over_runs = left.is_over_runs() and right.is_over_runs()
    measures = {measure.name: measure for measure in _measures(left, right, per, over_runs)}
    other_work = comparability.other_work(rows) if measures[_main(per)].input_size_ratio is None else None
    return Comparison(
        a=left,
        b=right,
        per=per,
        a_ns=sum(row.a_ns for row in rows),
        b_ns=sum(row.b_ns for row in rows),
        rows=rows,
        groups=groups_of(rows, of_kernels, comparability.nets_kernels(left, right)),
        parts=[] if per == "call" else parts_table(left, right),
        left_out=left_out,
        replacements=replacements(matches),
        memory=held_rows(left, right),
        measures=measures,
        comparability=comparability.sentences(
            left, right, rows, ratio, per, other_work is not None and per != "capture"
        ),
        other_work=other_work,
        is_same=comparability.is_same_recording(left, right),
        is_over_runs=over_runs,
        floor=floor,
    )


def _main(per: str) -> str:
    return "iteration_time" if per == "iteration" else "kernel_time"


def _matches(a: list[Op], b: list[Op], of_kernels: bool) -> list[Match]:
    return match_kernels(ops_of_kernels(a), ops_of_kernels(b)) if of_kernels else match_ops(a, b)


def _units(a: Side, b: Side, matches: Sequence[Match], of_kernels: bool) -> tuple[str, Fraction | None]:
    """Sets what the sums of both sides are divided by. Returns the unit of comparison, and the ratio of calls."""
    if a.marked and b.marked:
        return "iteration", None
    for side in (a, b):
        side.units = [Fraction(1)] * len(side.recordings)
    if len(a.recordings) == len(b.recordings) == 1:
        ratio = ratio_of_calls(matches)
        if ratio is None:
            return "capture", None
        if ratio != 1:
            passes = passes_of_a(matches, ratio)
            a.units, b.units = [Fraction(passes)], [passes * ratio]
        return "call", ratio
    # Each recording against the first of A, which may have run longer than another.
    for side in (a, b):
        for place, recording in enumerate(side.recordings):
            if recording is not a.first:
                ratio = ratio_of_calls(_matches(a.first.ops, recording.ops, of_kernels), SHARE_OF_ONE_PROGRAM)
                if ratio is None:
                    return "capture", None
                side.units[place] = ratio
    return "call", Fraction(sum(b.units), len(b.units)) / Fraction(sum(a.units), len(a.units))


def _measures(a: Side, b: Side, per: str, over_runs: bool) -> list[Measure]:
    result = []
    for name, total, is_known in (
        ("iteration_time", "wall_ns", per == "iteration"),
        ("idle_time", "idle_ns", per != "call"),
        ("kernel_time", "kernel_ns", True),
    ):
        result.append(Measure(name, _value(a, total), _value(b, total)) if is_known else Measure(name, None, None))
    result.append(Measure("kernels", _value(a, "kernel_launches"), _value(b, "kernel_launches")))
    result.append(Measure("gpu_utilization", _utilization(a), _utilization(b)))
    result.append(_tensor_core_share(a, b))
    for name in ("memory_peak", "memory_reserved"):
        result.append(Measure(name, _most(a, f"{name}_bytes"), _most(b, f"{name}_bytes")))
    result += [Measure(name, _rate(a, name), _rate(b, name)) for name in ("samples_per_s", "tokens_per_s")]
    for measure in result:
        if measure.a is not None and measure.b is not None and measure.name in _SAMPLED:
            of_a, of_b = a.samples(measure.name, over_runs), b.samples(measure.name, over_runs)
            measure.estimate = estimate(of_a, of_b)
            measure.a_median, measure.b_median = (float(median(values)) if values else None for values in (of_a, of_b))
    time, kernel_time = result[0], result[2]
    if over_runs:
        _equalise(kernel_time, a, b)
    for measure in result[-2:]:
        measure.estimate = _rate_estimate(measure, time)
    return result


def _equalise(kernel_time: Measure, a: Side, b: Side) -> None:
    """Estimates the change of kernel time on inputs of equal size, where recordings tell what their size costs."""
    samples = [side.samples("kernel_time", over_runs=True) for side in (a, b)]
    work = [side.work() for side in (a, b)]
    result = estimate_at_equal_work(*samples, *work)
    if result is not None:
        kernel_time.estimate = result
        kernel_time.input_size_ratio = mean(work[1]) / mean(work[0])


def _rate_estimate(rate: Measure, time: Measure) -> Estimate | None:
    """The ratio of rates is that of the work of an iteration over that of its times: only the times are noisy."""
    of = time.estimate
    if not (rate.a and rate.b and time.a and time.b and of):
        return None
    work = (rate.b * time.b) / (rate.a * time.a)
    low, high = (None if bound is None else work / bound for bound in (of.high, of.low))
    return Estimate(work / of.ratio, low, high, of.a_samples, of.b_samples)


_SAMPLED = frozenset({"iteration_time", "idle_time", "kernel_time", "gpu_utilization", "tensor_core_share"})


def _value(side: Side, total: str) -> float:
    graphs = side.total("graph_ns") if total == "kernel_ns" else 0
    return float((side.total(total) + graphs) / side.divisor)


def _utilization(side: Side) -> float | None:
    values = [recording.gpu_utilization_fraction for recording in side.recordings]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _most(side: Side, name: str) -> float | None:
    """The most of the recordings; None if one does not tell."""
    values: list[int | None] = [getattr(recording, name) for recording in side.recordings]
    known = [value for value in values if value is not None]
    return float(max(known)) if known and len(known) == len(values) else None


def _rate(side: Side, name: str) -> float | None:
    """The mean of the recordings; None if one does not tell."""
    rates: list[float | None] = [getattr(recording, name) for recording in side.recordings]
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known and len(known) == len(rates) else None


def _tensor_core_share(a: Side, b: Side) -> Measure:
    """Share of the kernel time on Tensor Cores; at least, where the use of some kernels is unknown."""
    values: list[float | None] = []
    is_least = False
    for side in (a, b):
        graph_ns, tensor_core_ns = side.total("graph_ns"), side.total("tensor_core_ns")
        kernel_ns, unknown_ns = side.total("kernel_ns") + graph_ns, side.total("unknown_ns") + graph_ns
        is_least |= unknown_ns > 0
        values.append(tensor_core_ns / kernel_ns if kernel_ns and (tensor_core_ns or not unknown_ns) else None)
    return Measure("tensor_core_share", values[0], values[1], is_least)


def rounded(value: int, divisor: Fraction) -> int:
    """A sum by unit of comparison, as an integer."""
    return largest_remainder([value], divisor)[0]
