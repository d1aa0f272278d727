"""The sentence that says how well a GPU is used, and what takes most of the rest of the time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, HOST, Part
from tensorboard_plugin_dlprof.diagnosis.windows import few_make_the_mean
from tensorboard_plugin_dlprof.units import percentage, short_duration

_CAUSES = {
    Part.COMMUNICATION: "exposed communication costs",
    Part.COPY: "exposed copies cost",
    Part.QUEUED: "queued work costs",
    Part.BLOCKED: "calls that block the host cost",
    Part.LAUNCHING: "launching costs",
    Part.HOST_OP: "ops on the CPU cost",
    Part.HOST_CODE: "other code on the CPU costs",
    Part.DATA_LOADER: "the data loader costs",
    Part.IO: "I/O costs",
    Part.UNRECORDED: "work of the host that was not recorded costs",
    Part.LAUNCH_UNKNOWN: "gaps whose cause was not recorded cost",
}


def limiting(part: Part) -> str:
    """What a part of the time is, as what holds something up: ``the data loader limits``."""
    what, _, verb = _CAUSES[part].rpartition(" ")
    return f"{what} {'limits' if verb == 'costs' else 'limit'}"


_MOSTLY_COMPUTING = 0.8
"""Share of the time from which the sentence says what the computing is: the rest is little, whatever causes it."""

_CRUMB = 0.05
"""Where no cause of the rest takes this share of the time, none is named."""

_NEXT_TO_NOTHING = 0.01
"""Share of the time below which a kind of computing is not named."""

_MOST = 0.5

_FAR = 3
"""So many times the median, a mean says nothing of any iteration."""

_BEFORE_A_VOWEL = re.compile(r"8|1[18]\D")
"""Numbers that are spoken with a vowel first: 8, 11, 18 and what begins with 8."""


NO_GPU_WORK = "This recording holds no GPU work."

MISSING_WORK = "GPU work is missing from this recording"
"""How what finds it begins, too."""

WHY_NO_GPU_WORK = (
    "recorder_says",
    "unrecorded_work",
    "skipped: counters of kernels",
    "skipped: work of",
    "skipped: the end of",
)
"""Begins of keys of ``ext_coverage`` that explain it: the GPU was to be recorded, or the file ends before it could
follow."""

_KERNELS = {
    "pytorch": "`ProfilerActivity.CUDA`",
    "nsight_systems": "`-t cuda,nvtx`",
    "xplane": "`device_tracer_level=1`",
}
"""The option with which the profiler of a format records kernels."""


def how_to_record_kernels(source_format: str, reported: str = "") -> str:
    """With which option kernels would be in a recording, or what its recorder ``reported`` of them, in one sentence;
    empty where the format has none."""
    if reported:
        return f"nsys traced CUDA, and {reported}."
    option = _KERNELS.get(source_format, "")
    return option and f"To see kernels, record with {option}."


def without_gpu(groups: Sequence[tuple[str, str, int]], iterations: int, whole_ns: int) -> str:
    """The sentence about a recording in which no GPU worked: what takes the time of its ops on the host.

    Args:
        groups: of ops: their path, their direction, and the time of their calls on all threads in ns.
        iterations: in how many iterations; 0 if none are marked.
        whole_ns: length of the recording: ops that take next to nothing of it tell nothing.
    """
    total = sum(time for *_, time in groups)
    if total <= _NEXT_TO_NOTHING * whole_ns:
        return NO_GPU_WORK
    group, direction, time = max(groups, key=lambda each: each[2])
    # As in the table below it, where each pass is a row.
    passes = sum(path == group for path, *_ in groups)
    of = f"The {direction} pass of " if passes > 1 and direction else ""
    most = "most" if 2 * time > total else "the largest part"
    each = short_duration(round(time / max(iterations, 1))) + (" per iteration" if iterations else "")
    return (
        f"{NO_GPU_WORK} {of}`{group}` takes {most} of the CPU time of its ops, summed over all threads: {each} "
        f"({percentage(time / total)})."
    )


class Longest(NamedTuple):
    """The longest of several iterations."""

    name: str
    """Its number, as it is shown."""
    wall_ns: int
    parts_ns: Mapping[Part, int]
    """Of the GPU that computes least of all."""
    missing_ns: int
    """As of ``headline``, of this one."""
    share: float
    """What it takes of the time of all."""


def headline(
    wall_ns: int,
    parts_ns: Mapping[Part, int],
    *,
    marked: bool,
    unit: str,
    missing_ns: int,
    is_lower_bound: bool,
    lacks_work: bool = False,
    lacks_launches: bool = False,
    capturing_ns: int = 0,
    median_ns: int = 0,
    longest: Longest | None = None,
    whose: str = "",
    where: Callable[[Part], str] = lambda _: "",
) -> str:
    """``Computing 44 % of a 160 ms iteration; the data loader costs most of the rest: 36.0 ms (22 %).``

    Args:
        wall_ns: mean length of a window.
        parts_ns: all parts of the GPU that computes least.
        marked: whether windows are iterations; else the only one is from the first to the last GPU work.
        unit: ``Tensor Core`` or ``Matrix Core``.
        missing_ns: queued time that nothing recorded explains.
        is_lower_bound: whether work may be missing from the recording.
        lacks_work: whether a finding says that it is, in the time that nothing recorded explains.
        lacks_launches: whether it says nothing of the host, either.
        capturing_ns: time in which graphs are captured, if it is most of the time: the host's work is part of it.
        median_ns: median length of the windows; it is told where few long ones make the mean.
        longest: the longest window, where there are several; it is told where it takes most of their time.
        whose: which GPU that is, where others may be meant: ``on GPU 3``.
        where: a sentence about the place that a part's time is lost in; empty where none is known.
    """
    if wall_ns <= 0:
        return "The iterations have no length."
    compute = sum(parts_ns[part] for part in COMPUTE)
    whole = short_duration(wall_ns)
    article = "an" if _BEFORE_A_VOWEL.match(whole) else "a"
    whole = f"{article} {whole} iteration" if marked else f"the {whole} from first to last GPU work"
    if median_ns and few_make_the_mean(wall_ns, median_ns):
        whole += f" on average (median {short_duration(median_ns)})"
    if whose:
        whole += f" {whose}"
    if not compute and not parts_ns[Part.COMMUNICATION] and parts_ns[Part.COPY]:
        return f"Only copies: {percentage(parts_ns[Part.COPY] / wall_ns)} of {whole}."
    share = percentage(compute / wall_ns)
    if is_lower_bound:
        share = f"at least {'0 %' if share.startswith('under') else share}"
    if longest is not None and longest.share > _MOST and wall_ns > _FAR * median_ns:
        average = f"On average{f' {whose}' if whose else ''}, computing {share} of {short_duration(wall_ns)}."
        return f"{_of_longest(median_ns, longest, lacks_work=lacks_work)} {average}"
    if compute >= _MOSTLY_COMPUTING * wall_ns:
        share += f" ({_computing(wall_ns, parts_ns, unit)})"
    start = f"Computing {share} of {whole}"
    causes: list[tuple[int, str, Part | None]] = [(parts_ns[part], words, part) for part, words in _CAUSES.items()]
    if capturing_ns:
        causes = [(capturing_ns, "capturing graphs takes", None)]
    time, words, part = max(causes, key=lambda cause: cause[0])
    if time < _CRUMB * wall_ns:
        return f"{start}; nothing else takes more than {max(ceil(100 * time / wall_ns), 1)} %."
    most = "most of the rest" if 2 * time > wall_ns - compute else "the largest part of the rest"
    if lacks_launches and part in HOST:
        return f"{start}; {MISSING_WORK} throughout, so what takes the rest is not known."
    place = "" if part is None else where(part)
    # The call that launched what ran next did not hold up what was queued.
    if part == Part.QUEUED:
        is_missing = missing_ns > _MOST * time
        if is_missing and lacks_work:
            missing = f"{short_duration(missing_ns)} ({percentage(missing_ns / wall_ns)})"
            return f"{start}; {MISSING_WORK}, and may fill {missing} that look idle."
        place = " Mostly for reasons that were not recorded." if is_missing else ""
    return f"{start}; {words} {most}: {short_duration(time)} ({percentage(time / wall_ns)}).{place}"


def _of_longest(median_ns: int, longest: Longest, *, lacks_work: bool) -> str:
    """Most iterations, and the one that makes the mean."""
    part = max(longest.parts_ns, key=lambda part: longest.parts_ns[part])
    doing, time = "computing" if part in COMPUTE else _CAUSES[part].rpartition(" ")[0], longest.parts_ns[part]
    if lacks_work and part == Part.QUEUED and longest.missing_ns > _MOST * time:
        doing, time = f"not known to be idle, as {MISSING_WORK}", longest.missing_ns
    most = f", {short_duration(time)} of it {doing}"
    return (
        f"The median iteration takes {short_duration(median_ns)}; iteration {longest.name} alone took "
        f"{short_duration(longest.wall_ns)}{most}."
    )


def _computing(wall_ns: int, parts_ns: Mapping[Part, int], unit: str) -> str:
    """What the computing is: ``33 % on Tensor Cores, 58 % in other kernels``."""
    kinds = {
        Part.COMPUTE_TENSOR: (f"on {unit}s", f"all of it on {unit}s"),
        Part.COMPUTE_OTHER: ("in other kernels", f"none of it on {unit}s"),
        Part.COMPUTE_UNKNOWN: ("in unknown kernels", f"whether on {unit}s is not known"),
    }
    ran = [part for part in kinds if parts_ns[part]]
    if len(ran) == 1:
        return kinds[ran[0]][1]
    said = [part for part in ran if parts_ns[part] >= _NEXT_TO_NOTHING * wall_ns]
    if len(said) == 1:
        return f"nearly all of it {kinds[said[0]][0]}"
    return ", ".join(f"{percentage(parts_ns[part] / wall_ns)} {kinds[part][0]}" for part in said)
