"""The sentence that says how well a GPU is used, and what takes most of the rest of the time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil

from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, Part
from tensorboard_plugin_dlprof.diagnosis.windows import few_make_the_mean
from tensorboard_plugin_dlprof.units import percentage, short_duration

_CAUSES = {
    Part.COMMUNICATION: "exposed communication costs",
    Part.COPY: "exposed copies cost",
    Part.BLOCKED: "calls that block the host cost",
    Part.LAUNCHING: "launching costs",
    Part.HOST_OP: "ops on the CPU cost",
    Part.HOST_CODE: "other code on the CPU costs",
    Part.DATA_LOADER: "the data loader costs",
    Part.IO: "I/O costs",
    Part.UNRECORDED: "work of the host that was not recorded costs",
    Part.LAUNCH_UNKNOWN: "gaps whose cause was not recorded cost",
}

_MOSTLY_COMPUTING = 0.8
"""Share of the time from which the sentence says what the computing is: the rest is little, whatever causes it."""

_CRUMB = 0.05
"""Where no cause of the rest takes this share of the time, none is named."""

_NEXT_TO_NOTHING = 0.01
"""Share of the time below which a kind of computing is not named."""

_BEFORE_A_VOWEL = re.compile(r"8|1[18]\D")
"""Numbers that are spoken with a vowel first: 8, 11, 18 and what begins with 8."""


def headline(
    wall_ns: int,
    parts_ns: Mapping[Part, int],
    *,
    marked: bool,
    unit: str,
    missing_ns: int,
    is_lower_bound: bool,
    lacks_work: bool,
    capturing_ns: int = 0,
    median_ns: int = 0,
    whose: str = "",
    places: Mapping[Part, str] = {},
) -> str:
    """``Computing 44 % of a 160 ms iteration; the data loader costs most of the rest: 36.0 ms (22 %).``

    Args:
        wall_ns: mean length of a window.
        parts_ns: all parts of the GPU that computes least.
        marked: whether windows are iterations; else the only one is from the first to the last GPU work.
        unit: ``Tensor Core`` or ``Matrix Core``.
        missing_ns: queued time in which something runs that was not recorded.
        is_lower_bound: whether work is missing from the recording.
        lacks_work: whether that takes so much of the time that nothing else explains it.
        capturing_ns: time in which graphs are captured, if it is most of the time: the host's work is part of it.
        median_ns: median length of the windows; it is told where few long ones make the mean.
        whose: which GPU that is, where others may be meant: ``on GPU 3``.
        places: by part, the place with most of its time, where one has.
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
    if compute >= _MOSTLY_COMPUTING * wall_ns:
        share += f" ({_computing(wall_ns, parts_ns, unit)})"
    start = f"Computing {share} of {whole}"
    missing = "work that was not recorded takes" if lacks_work else "waits that nothing recorded explains cost"
    causes: list[tuple[int, str, Part | None]] = [(parts_ns[part], words, part) for part, words in _CAUSES.items()]
    # The call that launched what ran next did not hold up what was queued, so no place is named.
    causes.append((missing_ns, missing, None))
    causes.append((parts_ns[Part.QUEUED] - missing_ns, "short waits of queued work cost", None))
    if capturing_ns:
        causes = [(capturing_ns, "capturing graphs takes", None)]
    time, words, part = max(causes, key=lambda cause: cause[0])
    if time < _CRUMB * wall_ns:
        return f"{start}; nothing else takes more than {max(ceil(100 * time / wall_ns), 1)} %."
    most = "most of the rest" if 2 * time > wall_ns - compute else "the largest part of the rest"
    place = "" if part is None else places.get(part, "")
    mostly = f" Mostly {place}." if place else ""
    return f"{start}; {words} {most}: {short_duration(time)} ({percentage(time / wall_ns)}).{mostly}"


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
    return ", ".join(f"{percentage(parts_ns[part] / wall_ns)} {kinds[part][0]}" for part in said)
