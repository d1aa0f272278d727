"""What must be known before any number is read: in what A and B differ besides their times. The grave comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import exp, log
from typing import NamedTuple

from tensorboard_plugin_dlprof.comparing.attribution import Row
from tensorboard_plugin_dlprof.comparing.equal_work import first_input_elements
from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.words import many_times, share, signed_duration
from tensorboard_plugin_dlprof.units import percentage

_MOST_OF_TIME, _NEARLY_ALL_OF_TIME = 0.5, 0.95

_CONTAINED = 0.75
"""Of a program's kernel time in ops of another that does more; of two others an optimizer takes half of the smaller."""

_NEAR = 0.1
"""Inputs whose sizes differ by no more than such a factor (its logarithm) are about as large."""


def is_same_recording(a: Side, b: Side) -> bool:
    """Whether the numbers must be the same."""
    left, right = ([one.fingerprint for one in side.recordings] for side in (a, b))
    return all(left) and sorted(left) == sorted(right)


def is_other_device(a: Side, b: Side) -> bool:
    """Whether the GPUs are known to be of different kinds."""
    left, right = set(filter(None, a.first.devices)), set(filter(None, b.first.devices))
    return bool(left and right and left != right)


NO_OP = "kernels in no op"


def nets_kernels(a: Side, b: Side) -> bool:
    """Whether kernels in no op count together: another device has others, so that what one loses another gains."""
    return is_other_device(a, b) and not are_kernels_compared(a, b)


def share_without_op(side: Side) -> float:
    """Share of the kernel time outside of all ops; 0 without kernels."""
    kernel_ns = side.total("kernel_ns")
    return sum(op.kernel_ns for op in side.ops if not op.associated) / kernel_ns if kernel_ns else 0.0


def are_kernels_compared(a: Side, b: Side) -> bool:
    """Whether only one side has ops for most of its time, so that kernels of the whole programs are compared."""
    return (share_without_op(a) > _MOST_OF_TIME) != (share_without_op(b) > _MOST_OF_TIME)


def sentences(a: Side, b: Side, rows: Sequence[Row], ratio: Fraction | None, per: str, sized: bool) -> list[str]:
    """One sentence for each difference.

    Args:
        a: the baseline.
        b: the candidate.
        rows: of the change.
        ratio: how many times as often B made the calls of A, if it is one and iterations are not marked.
        per: ``iteration``, ``call`` or ``capture``.
        sized: whether the verdict tells ``other_work``.
    """
    return [
        *different_programs(a, b, rows),
        *_of_programs(a, b, rows, ratio, per, sized),
        *_of_recordings(a.first, b.first),
    ]


def _hides_its_ops(side: Side) -> bool:
    """Whether most of the time of the kernels is in CUDA graphs recorded as a whole, of which no op is known."""
    graph_ns = side.total("graph_ns")
    return graph_ns > _MOST_OF_TIME * (graph_ns + side.total("kernel_ns"))


def different_programs(a: Side, b: Side, rows: Sequence[Row]) -> Iterator[str]:
    """A sentence if the two do not seem to be one program."""
    if _hides_its_ops(a) or _hides_its_ops(b):
        return
    if not any(row.a and row.b for row in rows) and (a.ops or b.ops):
        yield "No op of A was found in B: these are different programs."
    elif not is_same_recording(a, b):
        left = _share((row.a_ns, bool(row.b)) for row in rows if row.a)
        right = _share((row.b_ns, bool(row.a)) for row in rows if row.b)
        if max(left, right) < _CONTAINED and min(left, right) < _MOST_OF_TIME:
            yield (
                f"These seem to be different programs: ops that both have take {share(left)} of A's kernel time and "
                f"{share(right)} of B's, so changes tell little."
            )


def _share(times: Iterable[tuple[int, bool]]) -> float:
    """The part of the times that is counted; all of none."""
    listed = list(times)
    whole = sum(time for time, _ in listed)
    return sum(time for time, counted in listed if counted) / whole if whole else 1.0


def _of_programs(a: Side, b: Side, rows: Sequence[Row], ratio: Fraction | None, per: str, sized: bool) -> Iterator[str]:
    if is_same_recording(a, b):
        yield "A and B are the same recording."
    elif (
        len(a.recordings) == len(b.recordings) == 1
        and a.first.source_fingerprint
        and a.first.source_fingerprint == b.first.source_fingerprint
    ):
        yield f"A and B are two aggregations of one recording: {_range(a.first)} against {_range(b.first)}."
    left, right = a.first, b.first
    if (
        left.rank is not None
        and right.rank is not None
        and left.rank != right.rank
        and left.world_size == right.world_size
    ):
        yield (
            f"Rank {left.rank} against rank {right.rank} of one job: time in collectives is also waiting for the other."
        )
    if is_other_device(a, b):
        yield (
            f"The GPUs differ: {_devices(left)} against {_devices(right)}. A change is one of device and code together."
        )
        if nets_kernels(a, b):
            yield from _in_no_op(rows)
    if left.devices_in_use != right.devices_in_use:
        yield (
            f"A uses {_gpus(left)}, B {_gpus(right)}: times of kernels are means of one GPU, and the work of each may "
            "differ."
        )
    unmarked = [name for name, side in (("A", a), ("B", b)) if not side.marked]
    if unmarked and (a.ops or b.ops):
        marks = "marks" if len(unmarked) == 1 else "mark"
        yield f"{' and '.join(unmarked)} {marks} no iterations, so nothing can be told about iteration time."
    if per == "call" and ratio is not None and ratio != 1:
        name, many = ("B", ratio) if ratio > 1 else ("A", 1 / ratio)
        yield f"{name} has {many_times(float(many), 3)} as many calls of everything; compared per call."
    if per == "capture" and not a.ops and not b.ops:
        yield "Neither recording holds GPU work, so times tell nothing."
    elif per == "capture":
        yield (
            "A and B call their ops in different proportions, so which is faster cannot be told: totals are shown, and "
            "the table tells changes of the number of calls from those of the time per call."
        )
    if are_kernels_compared(a, b):
        without = "A" if share_without_op(a) > _MOST_OF_TIME else "B"
        yield f"{without} records no ops for most of its kernels: kernels are compared over the whole program, by name."
    yield from _of_work(a, b, rows, sized)


_MAKES_UP = 2
"""Times the change of all kernels in no op: what one of them changes by beyond that, others make up for."""


def _in_no_op(rows: Iterable[Row]) -> Iterator[str]:
    """What became of all kernels in no op, where rows of one name each tell more than there is."""
    changes = [row.change_ns for row in rows if (row.a or row.b) and is_in_no_op(row)]
    whole = sum(changes)
    if changes and max(map(abs, changes)) > _MAKES_UP * abs(whole):
        yield (
            "Kernels in no op have other names on another GPU, so they are one row: together they change by "
            f"{signed_duration(whole)}."
        )


def is_in_no_op(row: Row) -> bool:
    """Whether none of its kernels was launched by an op."""
    return not any(op.associated for op in (*row.a, *row.b))


def inputs_differ(rows: Iterable[Row]) -> bool:
    """Whether most of the time of ops that both have is in ops with other shapes."""
    whole, differing = 0, 0
    for row in rows:
        if row.a and row.b:
            whole += row.a_ns + row.b_ns
            if row.a[0].shapes and row.b[0].shapes and row.a[0].shapes != row.b[0].shapes:
                differing += row.a_ns + row.b_ns
    return differing > _MOST_OF_TIME * whole


class _Larger(NamedTuple):
    """How much larger the first inputs of B are, in most of the time of ops that both have."""

    ratio: float
    is_least: bool
    """Whether they are larger by at least that factor, or smaller by it, not all by the same."""
    rows: list[Row]
    """Those that it holds for: nearly all; empty where it holds for most only, so that the others' is unlike it."""


class OtherWork(NamedTuple):
    """What B does more or less of per call, within a sentence."""

    inputs: str
    """``inputs about 4 times as large``."""
    each: str
    """``at least 70.3 % less kernel time per input element``; empty where that is not known."""
    covered: str
    """Of which part of the kernel time that is, in a sentence; empty where it is of all, or not known."""


def other_work(rows: Sequence[Row]) -> OtherWork | None:
    """Of a pair that has most of the time in ops whose first inputs are larger on one side by about the same factor, or
    nearly all of it in ops where they are larger by at least that."""
    found = _inputs_of_b(rows)
    if found is None:
        return None
    how, size = ("large", found.ratio) if found.ratio > 1 else ("small", 1 / found.ratio)
    where = "" if found.rows else " in ops that take most of the time"
    inputs = f"inputs {'at least' if found.is_least else 'about'} {many_times(size, 2)} as {how}{where}"
    each, b_ns = _by_input(found), sum(row.b_ns for row in found.rows)
    whole_ns = sum(row.b_ns for row in rows if row.b)
    covered = f"What is told per input element is of ops with {share(b_ns / whole_ns)} of B's kernel time."
    return OtherWork(inputs, each, covered if each and b_ns < whole_ns else "")


_LEAST_BY_INPUT = 0.05
"""The ratio of the inputs is not known better."""


def _by_input(found: _Larger) -> str:
    """How much kernel time B takes for as much input; empty where that is not known."""
    a_ns, b_ns = sum(row.a_ns for row in found.rows), sum(row.b_ns for row in found.rows)
    if not a_ns or not b_ns:
        return ""
    change = b_ns / a_ns / found.ratio - 1
    how = "about "
    if found.is_least:
        # Where inputs are larger than that, it is less time for each unit; where they are smaller, more.
        how = "at least " if (change < 0) == (found.ratio > 1) else "at most "
    if abs(change) >= _LEAST_BY_INPUT:
        how += f"{percentage(abs(change))} {'more' if change > 0 else 'less'}"
    elif found.is_least:
        how = f"no {'more' if found.ratio > 1 else 'less'}"
    else:
        how += "the same"
    return f"{how} kernel time per input element"


def _inputs_of_b(rows: Iterable[Row]) -> _Larger | None:
    """The median by time, if most of the time is near to it, else what nearly all of it is beyond; None near to 1."""
    both = [row for row in rows if row.a and row.b]
    known: list[tuple[float, Row]] = []
    for row in both:
        a, b = (first_input_elements(ops[0].shapes) for ops in (row.a, row.b))
        if a and b:
            known.append((log(b / a), row))
    known.sort(key=lambda one: one[0])
    whole = _time(both)
    middle = _at_time(known, _time(row for _, row in known) / 2)
    if abs(middle) <= _NEAR:
        return None
    near = [row for size, row in known if abs(size - middle) < _NEAR]
    if _time(near) > _MOST_OF_TIME * whole:
        return _Larger(exp(middle), False, near if _time(near) >= _NEARLY_ALL_OF_TIME * whole else [])
    if middle < 0:
        known.reverse()
    least = _at_time(known, _time(row for _, row in known) - _NEARLY_ALL_OF_TIME * whole)
    if least * middle <= 0 or abs(least) <= _NEAR:
        return None
    return _Larger(exp(least), True, [row for size, row in known if abs(size) >= abs(least) and size * least > 0])


def _time(rows: Iterable[Row]) -> int:
    return sum(row.a_ns + row.b_ns for row in rows)


def _at_time(known: Sequence[tuple[float, Row]], left: float) -> float:
    """The size of which so much time is before; 0 where there is none."""
    for size, row in known if left >= 0 else ():
        left -= row.a_ns + row.b_ns
        if left <= 0:
            return size
    return 0.0


def _of_work(a: Side, b: Side, rows: Sequence[Row], sized: bool) -> Iterator[str]:
    graphs = a.total("graph_ns"), b.total("graph_ns")
    if any(graphs) and not all(graphs):
        name = "B" if graphs[1] else "A"
        yield f"{name} runs CUDA graphs recorded as a whole: rows of kernels say nothing about the time in them."
    if not sized and inputs_differ(rows):
        yield "The inputs differ: most matched time is in ops with other shapes, so a change is one of work and speed."
    if a.first.ops_beyond or b.first.ops_beyond:
        yield "There are more than 20,000 ops: those with the least time are compared as one."
    stacks = [one.recorded is not None and "stacks" in one.recorded for one in (a.first, b.first)]
    if stacks[0] != stacks[1]:
        yield f"Only {'AB'[stacks[1]]} records Python stacks, which slows the host: host times are not comparable."


def _of_recordings(a: Recording, b: Recording) -> Iterator[str]:
    if a.format != b.format:
        yield f"The formats differ: {_FORMATS.get(a.format, a.format)} against {_FORMATS.get(b.format, b.format)}."
    for label in dict.fromkeys((*a.facts, *b.facts)):
        left, right = a.facts.get(label), b.facts.get(label)
        if left and right and left != right:
            yield f"{label} differs: {left} against {right}."


_FORMATS = {
    "pytorch": "a PyTorch trace",
    "nsight_systems": "an Nsight Systems export",
    "xplane": "an XPlane profile",
    "dlprof": "NVIDIA's DLProf",
}


def _range(recording: Recording) -> str:
    if recording.first_iteration == recording.last_iteration:
        return f"iteration {recording.first_iteration}"
    return f"iterations {recording.first_iteration} to {recording.last_iteration}"


def _devices(recording: Recording) -> str:
    counted = Counter(filter(None, recording.devices))
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counted.items()) or "unknown"


def _gpus(recording: Recording) -> str:
    return f"{recording.devices_in_use} GPU" + ("s" if recording.devices_in_use > 1 else "")
