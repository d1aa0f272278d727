"""The sentence that says how well a GPU is used, and what takes most of the rest of the time."""

from __future__ import annotations

from collections.abc import Mapping

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


def headline(
    wall_ns: int,
    parts_ns: Mapping[Part, int],
    *,
    missing_ns: int,
    is_lower_bound: bool,
    lacks_work: bool,
    capturing_ns: int = 0,
    median_ns: int = 0,
    device: int = 0,
    one_of: int = 1,
    has_others: bool = False,
) -> str:
    """``Computing 44 % of 160 ms; the data loader costs most of the rest: 36 ms (22 %).``

    Args:
        wall_ns: mean length of a window.
        parts_ns: all parts of the GPU that computes least.
        missing_ns: queued time in which something runs that was not recorded.
        is_lower_bound: whether work is missing from the recording.
        lacks_work: whether that takes so much of the time that nothing else explains it.
        capturing_ns: time in which graphs are captured, if it is most of the time: the host's work is part of it.
        median_ns: median length of the windows; it is told where few long ones make the mean.
        device: number of that GPU.
        one_of: number of GPUs that work.
        has_others: whether more GPUs are listed, which do hardly anything.
    """
    if wall_ns <= 0:
        return "The iterations have no length."
    compute = sum(parts_ns[part] for part in COMPUTE)
    least = "at least " if is_lower_bound else ""
    whose = "" if one_of == 1 else f" on GPU {device}, which computes least of {one_of}{' busy ones' * has_others}"
    share = percentage(compute / wall_ns)
    if is_lower_bound and share.startswith("under"):
        share = "0 %"
    whole = short_duration(wall_ns)
    if median_ns and few_make_the_mean(wall_ns, median_ns):
        whole += f" on average (median {short_duration(median_ns)})"
    start = f"Computing {least}{share} of {whole}{whose}"
    if not compute and not parts_ns[Part.COMMUNICATION] and parts_ns[Part.COPY]:
        start = f"Only copies: {percentage(parts_ns[Part.COPY] / wall_ns)} of {whole}{whose}"
        return f"{start}."
    causes = {words: parts_ns[part] for part, words in _CAUSES.items()}
    missing = "work that was not recorded takes" if lacks_work else "waits that nothing recorded explains cost"
    causes[missing] = missing_ns
    causes["short waits of queued work cost"] = parts_ns[Part.QUEUED] - missing_ns
    if capturing_ns:
        causes = {"capturing graphs takes": capturing_ns}
    words, time = max(causes.items(), key=lambda item: item[1])
    if time < 0.01 * wall_ns:
        return f"{start}; nothing else takes more than 1 %."
    most = "most of the rest" if 2 * time > wall_ns - compute else "the largest part of the rest"
    return f"{start}; {words} {most}: {short_duration(time)} ({percentage(time / wall_ns)})."
