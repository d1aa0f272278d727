"""What is missing from a profile, was skipped or was repaired: as counts, and as sentences to show."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.headline import NO_GPU_WORK as NO_GPU_WORK
from tensorboard_plugin_dlprof.diagnosis.headline import WHY_NO_GPU_WORK, how_to_record_kernels
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import short_duration

_Row = tuple[str, int, str]
"""Key, value, message: a row of ``ext_coverage``. The message is empty if there is nothing to say."""

_LAUNCHES = ("LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch")
"""Parts of the names of calls that launch kernels."""


def coverage_rows(profile: Profile) -> list[_Row]:
    """The rows of ``ext_coverage``."""
    coverage = profile.coverage
    work = len(profile.kernels.op) + len(profile.memcpys.op) + len(profile.memsets.op) + len(profile.graphs.op)
    of_work = f"of {work:,} kernels, copies and memsets"
    # Work without a launch call is unassociated too; it has a sentence of its own and must not be in two.
    outside = coverage.unassociated_work - coverage.unlaunched_work - coverage.migrations
    outside_ns = coverage.unassociated_work_ns - coverage.unlaunched_work_ns - coverage.migrations_ns
    # What was skipped has a reason of its own: counters in place of the times of kernels.
    launches = 0 if work or coverage.skipped else _launches(profile)
    rows: list[_Row] = [
        # A snapshot of memory is not to hold any.
        ("no_gpu_work", int(not work), "" if profile.info.recorded == {"memory"} else NO_GPU_WORK),
        (
            "recorder_says",
            int(bool(profile.info.reported)),
            how_to_record_kernels(profile.info.source_format, profile.info.reported),
        ),
        (
            "unrecorded_work",
            launches,
            f"{launches:,} {'call that launches kernels was' if launches == 1 else 'calls that launch kernels were'} "
            "recorded, but not what the GPU did.",
        ),
        (
            "unlaunched_work",
            coverage.unlaunched_work,
            f"{coverage.unlaunched_work:,} {of_work} {'has' if coverage.unlaunched_work == 1 else 'have'} no recorded "
            f"launch call; {_time_is(coverage.unlaunched_work, coverage.unlaunched_work_ns)}.",
        ),
        ("unlaunched_work_ns", coverage.unlaunched_work_ns, ""),
        (
            "migrations",
            coverage.migrations,
            f"{coverage.migrations:,} {of_work} moved pages of unified memory, which no call launches; "
            f"{_time_is(coverage.migrations, coverage.migrations_ns)}.",
        ),
        ("migrations_ns", coverage.migrations_ns, ""),
        (
            "unassociated_work",
            coverage.unassociated_work,
            f"{outside:,} {of_work} {'was' if outside == 1 else 'were'} launched outside of all ops; "
            f"{_time_is(outside, outside_ns)}."
            if outside > 0
            else "",
        ),
        ("unassociated_work_ns", coverage.unassociated_work_ns, ""),
        (
            "repaired_overlaps",
            coverage.repaired_overlaps,
            f"{_ranges(coverage.repaired_overlaps)} shortened so that the ranges of each thread nest; "
            "the times of the source are rounded.",
        ),
    ]
    rows += [
        (f"skipped: {reason}", count, f"{count:,} skipped: {reason}.")
        for reason, count in sorted(coverage.skipped.items())
    ]
    rows += broken_rows(coverage.broken_rules)
    return [(key, value, message if value else "") for key, value, message in rows]


def why_no_gpu_work(profile: Profile) -> str:
    """What explains that there is none, or how it would be recorded, as the pages say it; may be empty."""
    rows = coverage_rows(profile)
    told = (message for key, _, message in rows if message and key.startswith(WHY_NO_GPU_WORK))
    return next(told, "") or how_to_record_kernels(profile.info.source_format)


def _launches(profile: Profile) -> int:
    """How many calls launch kernels."""
    names = {name: profile.strings[name] for name in distinct_values(profile.calls.name).tolist()}
    launching = [name for name, text in names.items() if any(part in text for part in _LAUNCHES)]
    return int(are_among(profile.calls.name, launching).sum())


def broken_rows(rules: Sequence[str]) -> list[_Row]:
    """The rows of ``ext_coverage`` for invariants that the numbers of an aggregation violate."""
    return [
        (
            f"broken: {rule}",
            1,
            f"The numbers of this profile contradict each other: it is not true that {rule}. This is a bug of ours; "
            "please report it with the profile.",
        )
        for rule in rules
    ]


def warnings(profile: Profile) -> list[str]:
    """The messages to show right after the import."""
    return [message for _, _, message in coverage_rows(profile) if message]


def _time_is(count: int, time_ns: int) -> str:
    return f"{'its' if count == 1 else 'their'} time ({short_duration(time_ns)}) is counted under unassociated ops"


def _ranges(count: int) -> str:
    return f"{count:,} overlapping {'range was' if count == 1 else 'ranges were'}"
