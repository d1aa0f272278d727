"""What a profile cannot tell, as counts and as sentences."""

from __future__ import annotations

from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import NS_PER_MS

_Row = tuple[str, int, str]
"""Key, value, sentence: a row of ``ext_coverage``. The sentence is empty where there is nothing to say."""


def coverage_rows(profile: Profile) -> list[_Row]:
    """The rows of ``ext_coverage``."""
    coverage = profile.coverage
    work = len(profile.kernels.op) + len(profile.memcpys.op) + len(profile.memsets.op) + len(profile.graphs.op)
    rows: list[_Row] = [
        (
            "unlaunched_work",
            coverage.unlaunched_work,
            f"{coverage.unlaunched_work:,} of {work:,} pieces of GPU work have no recorded launch call; "
            f"their time ({_milliseconds(coverage.unlaunched_work_ns)}) is counted under unassociated ops.",
        ),
        ("unlaunched_work_ns", coverage.unlaunched_work_ns, ""),
        (
            "unassociated_work",
            coverage.unassociated_work,
            f"{coverage.unassociated_work:,} of {work:,} pieces of GPU work "
            f"({_milliseconds(coverage.unassociated_work_ns)}) lie in no op.",
        ),
        ("unassociated_work_ns", coverage.unassociated_work_ns, ""),
        (
            "repaired_overlaps",
            coverage.repaired_overlaps,
            f"{coverage.repaired_overlaps:,} overlapping ranges of one thread were cut so that they nest; the times of "
            "the source are rounded.",
        ),
    ]
    rows += [
        (f"skipped: {reason}", count, f"{count:,} events were skipped: {reason}.")
        for reason, count in sorted(coverage.skipped.items())
    ]
    return [(key, value, message if value else "") for key, value, message in rows]


def warnings(profile: Profile) -> list[str]:
    """The sentences that the user is told at once."""
    return [message for _, _, message in coverage_rows(profile) if message]


def _milliseconds(time_ns: int) -> str:
    return f"{time_ns / NS_PER_MS:,.1f} ms"
