"""The verdict of a comparison, in a word and in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tensorboard_plugin_dlprof.comparing.attribution import PART_LABELS
from tensorboard_plugin_dlprof.comparing.comparability import OtherWork, different_programs, is_other_device
from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.main_change import changes_by_kind, kind_of, main_change
from tensorboard_plugin_dlprof.comparing.noise import Estimate
from tensorboard_plugin_dlprof.comparing.recording import BUSY_PARTS, FEWEST_SAMPLES, GPU_PARTS
from tensorboard_plugin_dlprof.comparing.words import (
    MANY_TIMES,
    duration,
    of_both,
    share,
    signed_duration,
    signed_share,
)
from tensorboard_plugin_dlprof.units import significant, size, three_digits

FASTER, SLOWER, NO_CLEAR_CHANGE, CANNOT_TELL = "faster", "slower", "no_clear_change", "cannot_tell"

_UNTOLD, _OTHER_WORK, _UNCLEAR = "Cannot tell", "Other work", "No clear change"

_LITTLE, _MOSTLY = 0.1, 0.5

_COMPUTING = BUSY_PARTS - {"communication"}

_NOT_IDLE = {PART_LABELS[part] for part in GPU_PARTS}
"""What rows of the time are called in which a GPU does something."""

_TIMES = 2
"""From which a ratio is told as one, beside that of the inputs."""

_THE_OTHER_WAY = 0.05
"""By which kernel time must change, when iterations change the other way, for both to be told."""

_SAME = 0.0005
"""Difference that would be shown as none."""


class Verdict(msgspec.Struct):
    """What changed, in a word and in words."""

    verdict: str
    """``faster``, ``slower``, ``no_clear_change`` or ``cannot_tell``."""
    word: str
    """What a reader is told of it first."""
    reason: str
    """The times, and the main reason."""
    details: str
    """Kernel time, Tensor Cores, utilisation and memory before and after; before them, where nothing is sure, medians
    that say something else than the headline."""
    certainty: str = ""
    """How sure that is, or why it is not; of which part of the time; means, where they say something else than the
    headline."""
    of_medians: bool = False
    """Whether the times in the headline are medians, else means."""

    @property
    def headline(self) -> str:
        """The first sentences: the verdict, the times, and the main reason."""
        return self.reason if self.verdict in (FASTER, SLOWER) else f"{self.word}: {self.reason}"

    @property
    def more(self) -> str:
        """All but the headline."""
        return f"{self.certainty} {self.details}".strip()

    @property
    def sentence(self) -> str:
        """Everything."""
        return f"{self.headline} {self.more}".strip()


def verdict_of(comparison: Comparison) -> Verdict:
    """The verdict of a comparison."""
    if comparison.is_same:
        return Verdict(NO_CLEAR_CHANGE, "No change", "A and B are the same recording.", "")
    estimate, details = comparison.main.estimate, _details(comparison)
    for sentence in different_programs(comparison.a, comparison.b, comparison.rows):
        return Verdict(CANNOT_TELL, _UNTOLD, f"{sentence[:1].lower()}{sentence[1:]}", details)
    if comparison.per == "capture" or estimate is None or estimate.low is None or estimate.high is None:
        # Where there is no interval, the headline tells of means alone.
        details = f"{_other_changes(comparison, estimate)} {details}".strip()
        certainty = _by_call(comparison) if comparison.per == "capture" else _few(comparison)
        if comparison.other_work and comparison.per != "capture":
            text = _with_other_work(comparison, comparison.other_work, None)
            return Verdict(CANNOT_TELL, _OTHER_WORK, text, details, certainty)
        return Verdict(CANNOT_TELL, _UNTOLD, _undecided(comparison), details, certainty)
    shifted = _are_means_shifted(comparison, estimate)
    if comparison.other_work:
        text = _with_other_work(comparison, comparison.other_work, estimate)
        return Verdict(CANNOT_TELL, _OTHER_WORK, text, details, comparison.other_work.covered, shifted)
    if not estimate.is_change(comparison.floor_of(comparison.main.name)):
        text = _unchanged(comparison, estimate)
        return Verdict(NO_CLEAR_CHANGE, _UNCLEAR, text, details, _means(comparison, estimate), shifted)
    word = SLOWER if estimate.ratio > 1 else FASTER
    where = ", on another device" if is_other_device(comparison.a, comparison.b) else ""
    reason = main_change(comparison) if (comparison.change_ns > 0) == (word == SLOWER) else ""
    kernels = _kernels_the_other_way(comparison)
    text = f"{_what(comparison)} {_time_in_words(estimate.ratio)}{where}{_inputs(comparison)}: "
    text += f"{_times(comparison, estimate)}.{reason}{kernels and f' But {kernels}.'}"
    certainty = f"{_sure(comparison, estimate)} {_means(comparison, estimate)}".strip()
    return Verdict(word, word.capitalize(), text, details, certainty, shifted)


def _what(comparison: Comparison) -> str:
    return "An iteration of B takes" if comparison.per == "iteration" else "Kernels of B take"


def _time_in_words(ratio: float) -> str:
    """By how much the time of B differs: not how fast B is, since 72 % less time is 3.6 times as fast."""
    if ratio >= MANY_TIMES:
        return f"{three_digits(ratio)} times as much time"
    return f"{share(abs(ratio - 1))} {'more' if ratio > 1 else 'less'} time"


def _times(comparison: Comparison, estimate: Estimate, between: str = "instead of") -> str:
    """The times that the estimate compares: medians where means are shifted."""
    if not _are_means_shifted(comparison, estimate):
        return _times_of_means(comparison, between)
    return _both(*_medians(comparison), between, "the median")


def _times_of_means(comparison: Comparison, between: str = "instead of") -> str:
    return _both(comparison.a_ns, comparison.b_ns, between)


def _both(a_ns: int, b_ns: int, between: str, measure: str = "") -> str:
    a, b = duration(a_ns), duration(b_ns)
    if a == b:
        return f"{b} in {measure and f'{measure} of '}both"
    return f"{b} {between} {a}{measure and f' in {measure}'}"


def _inputs(comparison: Comparison) -> str:
    """Says so where the estimate is of inputs of equal size."""
    ratio = comparison.main.input_size_ratio
    if ratio is None:
        return ""
    return f" on inputs of equal size (those of B are {_larger(ratio)})"


def _larger(ratio: float) -> str:
    if abs(ratio - 1) < _SAME:
        return "as large on average"
    return f"{share(abs(ratio - 1))} {'larger' if ratio > 1 else 'smaller'} on average"


def _sure(comparison: Comparison, estimate: Estimate) -> str:
    low, high = sorted((abs((estimate.low or 1) - 1), abs((estimate.high or 1) - 1)))
    unit = "recordings" if comparison.is_over_runs else "iterations"
    within = "" if comparison.is_over_runs else " within these recordings"
    samples = f"{estimate.a_samples} against {estimate.b_samples} {unit}"
    bounds = f"{share(low)} to {share(high)}"
    if estimate.ratio >= MANY_TIMES:
        bounds = f"{three_digits(1 + low)} to {three_digits(1 + high)} times"
    return f"{_of_pairs(comparison, estimate)}95 % interval{within}: {bounds}; {samples}."


def _of_pairs(comparison: Comparison, estimate: Estimate) -> str:
    """What the estimate is, where the times that stand beside it have another ratio."""
    told = "the estimate is the median ratio of all pairs, with a "
    if not _are_means_shifted(comparison, estimate):
        is_other = comparison.a_ns and f"{comparison.b_ns / comparison.a_ns - 1:.2g}" != f"{estimate.ratio - 1:.2g}"
        # That of inputs of equal size is said to be one.
        return told.capitalize() if is_other and comparison.main.input_size_ratio is None else ""
    a, b = _medians(comparison)
    if not a or abs(b / a - estimate.ratio) <= comparison.floor_of(comparison.main.name):
        return ""
    return f"Medians change by {signed_share(b / a - 1)}; {told}"


def _bounds(estimate: Estimate) -> str:
    return f"{signed_share((estimate.low or 1) - 1)} to {signed_share((estimate.high or 1) - 1)}"


def _undecided(comparison: Comparison) -> str:
    change = comparison.change_ns
    if comparison.per == "iteration":
        longer = f"{duration(abs(change))} {'longer' if change > 0 else 'shorter'}"
        how = f"one iteration of B is {longer}"
        if comparison.is_of_means:
            how = f"iterations of B are {longer} on average"
        same = (
            f"{how} ({_times_of_means(comparison)}){main_change(comparison, inside=True)}"
            if change
            else "iterations of B take the same time"
        )
        kernels = _kernels_the_other_way(comparison)
        return f"{same}.{kernels and f' But {kernels}.'}"
    if not comparison.tells_times:
        return f"neither recording holds GPU work.{_peak(comparison)}"
    if comparison.per == "capture":
        return f"{_recorded(comparison)}."
    same = (
        f"kernels of B take {duration(abs(change))} {'more' if change > 0 else 'less'} "
        f"({_times_of_means(comparison)}){main_change(comparison, inside=True)}"
        if change
        else "kernels of B take the same time"
    )
    return f"{same}."


def _few(comparison: Comparison) -> str:
    """Why that is not sure."""
    a, b = comparison.a, comparison.b
    if comparison.other_work:
        return comparison.other_work.covered
    if not a.ops and not b.ops:
        return ""
    if comparison.per == "iteration":
        return _too_few(a.iterations, b.iterations, "iteration")
    return _too_few(len(a.recordings), len(b.recordings), "recording")


def _with_other_work(comparison: Comparison, work: OtherWork, estimate: Estimate | None) -> str:
    """The times of sides whose inputs are of other sizes, of which neither is slower for it."""
    # Ops that both have took time in A.
    ratio = estimate.ratio if estimate else comparison.b_ns / max(comparison.a_ns, 1)
    times = _times(comparison, estimate) if estimate else _times_of_means(comparison)
    rates = (comparison.measures[name] for name in ("samples_per_s", "tokens_per_s"))
    done = next(
        (
            f" Throughput: {significant(one.b)} {one.name.partition('_')[0]}/s instead of {significant(one.a)}."
            for one in rates
            if one.a is not None and one.b is not None
        ),
        "",
    )
    much = f"{three_digits(ratio)} times as much time" if ratio >= _TIMES else _time_in_words(ratio)
    what = _what(comparison).replace("An it", "an it").replace("Kernels", "kernels")
    text = f"{what} {much} for {work.inputs} ({times}){main_change(comparison, inside=True)}"
    return f"{text}{work.each and f': {work.each}'}.{done}"


def _kernels_the_other_way(comparison: Comparison) -> str:
    """What became of the kernels, where iterations changed the other way; else empty."""
    kernel, tensor = comparison.measures["kernel_time"], comparison.measures["tensor_core_share"]
    if comparison.per != "iteration" or not kernel.a or kernel.b is None:
        return ""
    ratio = kernel.b / kernel.a
    if abs(ratio - 1) < _THE_OTHER_WAY or (ratio > 1) == (comparison.change_ns > 0):
        return ""
    # Kernels of communication also wait for other ranks.
    computing = sum(b_ns - a_ns for part, a_ns, b_ns in comparison.parts if part in _COMPUTING)
    if computing / (kernel.b - kernel.a) < _MOSTLY:
        return ""
    text = f"kernels take {_simply(ratio) or _time_in_words(ratio)} ({duration(kernel.b)} instead of "
    text += duration(kernel.a)
    if tensor.a is not None and tensor.b is not None and abs(tensor.b - tensor.a) >= _LITTLE:
        least = "at least " if tensor.is_least else ""
        text += f", {least}{share(tensor.b)} of it on {comparison.matrix_unit}s instead of {share(tensor.a)}"
    return f"{text})"


def _simply(ratio: float) -> str:
    """A ratio near to a half or to two in words; else empty."""
    return "half the time" if _is_half(ratio) else "twice the time" if _is_double(ratio) else ""


def _is_half(ratio: float) -> bool:
    return 0.45 <= ratio <= 0.52


def _is_double(ratio: float) -> bool:
    return 1.95 <= ratio <= 2.1


def _by_call(comparison: Comparison) -> str:
    """How long a call takes, where recordings may hold other numbers of them."""
    change = _speed_change(comparison)
    if change is None:
        return ""
    how = f"{share(abs(change))} {'more' if change > 0 else 'less'} time" if abs(change) >= _SAME else "as long"
    return f"Per call of the ops that both have, kernels take {how}."


def _recorded(comparison: Comparison) -> str:
    """What is measured of recordings that did different amounts of work."""
    a, b, main = duration(comparison.a_ns), duration(comparison.b_ns), comparison.main
    sides = (comparison.a, comparison.b)
    if all(len(side.recordings) == 1 for side in sides):
        text = f"the recording of B takes {b}{', as that of A does' if a == b else f' instead of {a}'}"
    else:
        text = f"recordings of B take {b} on average, those of A {a}"
    measured = []
    if main.a and main.b is not None and main.a != main.b:
        kernels = "kernels of a GPU" if any(side.first.devices_in_use > 1 for side in sides) else "kernels"
        change = f"{duration(abs(main.b - main.a))} {'more' if main.b > main.a else 'less'}"
        measured.append(f"{kernels} take {change} in total ({signed_share(main.b / main.a - 1)})")
    idle = [row for row in comparison.rows if row.kind == "part" and row.name not in _NOT_IDLE]
    most = max(idle, key=lambda row: abs(row.change_ns), default=None)
    if most is not None and abs(most.change_ns) >= comparison.floor_of("idle_time") * comparison.a_ns > 0:
        measured.append(f"idle time changes most in {kind_of(most)}: {signed_duration(most.change_ns)}")
    return f"{text}{': ' if measured else ''}{', and '.join(measured)}"


def _peak(comparison: Comparison) -> str:
    """What recordings of memory alone are compared for."""
    peak = comparison.measures["memory_peak"]
    if not peak.a or peak.b is None:
        return ""
    change = signed_share(peak.b / peak.a - 1)
    return f" B needs {size(peak.b)} of memory at its peak instead of {size(peak.a)} ({change})."


def _other_changes(comparison: Comparison, estimate: Estimate | None) -> str:
    """The medians and the estimate, where they say something else than the means."""
    if estimate is None or not _are_means_shifted(comparison, estimate):
        return ""
    a, b = _medians(comparison)
    change = f" ({signed_share(b / a - 1)})" if a else ""
    return (
        f"Medians are {duration(b)} instead of {duration(a)}{change}; the estimate, the median ratio of all pairs, is "
        f"{signed_share(estimate.ratio - 1)}."
    )


def _medians(comparison: Comparison) -> tuple[int, int]:
    """The medians of what the estimate compares (ns)."""
    main = comparison.main
    return round(main.a_median or 0), round(main.b_median or 0)


def _too_few(a: int, b: int, noun: str) -> str:
    if a == b == 1:
        few = f"One {noun} of each is"
    else:
        few = f"{a} {noun}s of each are" if a == b else f"{a} against {b} {noun}s are"
    return f"{few} too few to be sure; {FEWEST_SAMPLES} are needed."


def _speed_change(comparison: Comparison) -> float | None:
    """By how much a call of the ops that match takes longer, all calls of B weighed alike."""
    matched = [row for row in comparison.rows if row.a and row.b and row.work_ns is not None]
    before = sum(row.a_ns + (row.work_ns or 0) for row in matched)
    kernels = [row for row in comparison.rows if row.a or row.b or row.kind == "graphs"]
    if sum(row.a_ns for row in matched) < _MOSTLY * sum(row.a_ns for row in kernels) or sum(
        row.b_ns for row in matched
    ) < _MOSTLY * sum(row.b_ns for row in kernels):
        return None
    return sum(row.speed_ns or 0 for row in matched) / before if before > 0 else None


def _unchanged(comparison: Comparison, estimate: Estimate) -> str:
    what = "an iteration takes" if comparison.per == "iteration" else "its kernels take"
    times = f"{what} {_times(comparison, estimate, 'against')}"
    inputs = _inputs(comparison)
    text = f"{inputs and f'{inputs.lstrip()}, '}{times} ({_bounds(estimate)})."
    changes = changes_by_kind(comparison)
    floor = comparison.floor_of(comparison.main.name) * max(comparison.a_ns, 1)
    less = min(changes, key=lambda change: change[1], default=None)
    more = max(changes, key=lambda change: change[1], default=None)
    if less and more and -less[1] >= floor and more[1] >= floor:
        text += f" Behind it, {less[0]} got {duration(-less[1])} shorter and {more[0]} {duration(more[1])} longer."
    return text


def _are_means_shifted(comparison: Comparison, estimate: Estimate) -> bool:
    """Whether means and the estimate differ, other than by the size of the inputs."""
    if comparison.per == "capture" or not comparison.a_ns or comparison.main.input_size_ratio is not None:
        return False
    return abs(comparison.b_ns / comparison.a_ns - estimate.ratio) > comparison.floor_of(comparison.main.name)


def _means(comparison: Comparison, estimate: Estimate) -> str:
    """The means, where they are not what the estimate compares."""
    if not _are_means_shifted(comparison, estimate):
        return ""
    change = signed_share(comparison.b_ns / comparison.a_ns - 1)
    return f"Means, which single slow iterations shift, are {_times_of_means(comparison)} ({change})."


def _details(comparison: Comparison) -> str:
    reported = "; ".join(_measured(comparison))
    return f"{reported[:1].upper()}{reported[1:]}." if reported else ""


def _measured(comparison: Comparison) -> Iterator[str]:
    kernel = comparison.measures["kernel_time"]
    if kernel.a and kernel.b is not None and kernel is not comparison.main:
        ratio = kernel.b / kernel.a
        how = "halved" if _is_half(ratio) else "doubled" if _is_double(ratio) else signed_share(ratio - 1)
        unit = " an iteration" if comparison.per == "iteration" else ""
        sure = ""
        if kernel.estimate is not None and kernel.estimate.is_change(comparison.floor_of("kernel_time")):
            sure = f", 95 % interval: {_bounds(kernel.estimate)}"
        # Without a word it could be no part of the iteration that it is longer than.
        iteration = comparison.measures["iteration_time"]
        is_longer = kernel.a > (iteration.a or kernel.a) or kernel.b > (iteration.b or kernel.b)
        times = f"{duration(kernel.a)} -> {duration(kernel.b)}{sure}"
        summed = ", summed," if is_longer else ""
        yield f"kernel time{summed} {how} ({signed_duration(kernel.b - kernel.a)}{unit}: {times})"
    tensor = comparison.measures["tensor_core_share"]
    if tensor.a is not None and tensor.b is not None and (tensor.a or tensor.b):
        least = "at least " if tensor.is_least else ""
        yield f"{comparison.matrix_unit}s {least}{share(tensor.a)} -> {share(tensor.b)} of kernel time"
    for name, label in (("gpu_utilization", "GPU utilization"), ("memory_peak", "peak memory")):
        measure = comparison.measures[name]
        # Of memory alone, the headline tells it.
        is_told = name == "memory_peak" and not comparison.tells_times
        if measure.a is not None and measure.b is not None and not is_told:
            shown = size if name == "memory_peak" else share
            yield f"{label} {of_both(shown(measure.a), shown(measure.b))}"
    for name, label in (("samples_per_s", "samples/s"), ("tokens_per_s", "tokens/s")):
        measure = comparison.measures[name]
        if measure.a is not None and measure.b is not None:
            yield of_both(significant(measure.a), significant(measure.b), f" {label}")
