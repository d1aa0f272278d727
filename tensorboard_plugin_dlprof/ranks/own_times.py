"""Own times: how long each rank took from its latest release to its start of an operation, and what it did then."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, covered
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks.matching import Flags, Operations
from tensorboard_plugin_dlprof.ranks.members import Job, Member
from tensorboard_plugin_dlprof.ranks.waiting import Times

PARTS = ("compute_ns", "copy_ns", "input_ns", "held_ns", "host_ns", "communication_ns")
"""What the time of an interval is spent on. ``input``, ``held`` and ``host`` are idle: waiting for a batch, launched
work that waits although nothing recorded runs, and all else."""

_TOTALS = {"copy_ns": "exposed_copy_ns", "communication_ns": "exposed_communication_ns"}
"""The totals of parts in ``CommunicationRows``, where they are called otherwise."""

_START = -2


class OwnTimes(msgspec.Struct):
    """Own times of a group: n members, k operations. -1 where there was no release before."""

    spent_ns: Int64s
    before: Int64s
    """Kind and size of the operation that released; below -1 for the start of the first iteration."""
    parts: Int64s
    """Shape (parts, n, k)."""
    kernels: Int64s
    kernel_ns: Int64s
    work: Int64s
    ahead_ns: Int64s
    """What was computed in the operation that released, before the release."""


class _Releases(msgspec.Struct):
    """When one member was released, ascending."""

    time_ns: Int64s
    before: Int64s
    row: Int64s
    """Row of its ``CommunicationRows``."""
    is_earliest: Flags
    """Whether ranks of the operation are missing, so that it may have been released at any time until its end."""


def codes_of(each: Operations) -> Int64s:
    """Kind and size of each operation as one number."""
    return (each.kind << 56) | (each.in_bytes + 1)


def _releases(job: Job, sequences: Sequence[Operations], times: Sequence[Times]) -> list[_Releases]:
    gathered: list[list[tuple[Int64s, Int64s, Int64s, Int64s, Flags]]] = [[] for _ in job.members]
    for each, of in zip(sequences, times, strict=True):
        if each.used.any():
            first, codes = each.start_ns.min(0)[each.used], codes_of(each)[each.used]
            lacks = np.full(len(first), each.lacks_members)
            for row, place in enumerate(each.members.tolist()):
                gathered[place].append((of.release_ns[row, each.used], first, codes, each.rows[row, each.used], lacks))
    releases = []
    for parts in gathered:
        if not parts:
            nothing = np.zeros(0, np.int64)
            releases.append(_Releases(nothing, nothing, nothing, np.zeros(0, np.bool_)))
            continue
        time, first, codes, rows, lacks = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((first, time))
        releases.append(_Releases(time[order], codes[order], rows[order], lacks[order]))
    return releases


def own_times(
    job: Job,
    sequences: Sequence[Operations],
    times: Sequence[Times],
    wanted: Container[int] | None = None,
    from_start: bool = False,
) -> Iterator[OwnTimes | None]:
    """The own times of each of ``sequences``; None where no waiting is known, or that are not among the ``wanted``.

    With ``from_start``, a rank that was never released before counts its time from the start of its first iteration.
    """
    releases = _releases(job, sequences, times)
    overlaps = [Intervals(member.tables.overlap_start_ns, member.tables.overlap_stop_ns) for member in job.members]
    for number, each in enumerate(sequences):
        if not each.used.any() or (wanted is not None and number not in wanted):
            yield None
            continue
        shape = each.start_ns.shape
        own = OwnTimes(
            np.full(shape, -1, np.int64),
            np.full(shape, -1, np.int64),
            np.zeros((len(PARTS), *shape), np.int64),
            *(np.zeros(shape, np.int64) for _ in range(4)),
        )
        for row, place in enumerate(each.members.tolist()):
            of = releases[place]
            at = np.searchsorted(of.time_ns, each.start_ns[row], side="left") - 1
            known = np.flatnonzero((at >= 0) & each.used)
            if len(known):
                _fill(own, row, known, each, of, at[known], job.members[place], overlaps[place])
            if from_start:
                _fill_first(own, row, np.flatnonzero((at < 0) & each.used), each, job.members[place])
        if from_start:
            _begin_together(own, times[number])
        yield own


def _fill_first(own: OwnTimes, row: int, unknown: Int64s, each: Operations, member: Member) -> None:
    """The own times of one member from the start of its first iteration, if no GPU work precedes that."""
    table, parts = member.tables.communication, member.tables.parts
    if not len(parts.start_ns) or (member.tables.whole.start_ns < parts.start_ns[0]).any():
        return
    rows = each.rows[row, unknown]
    inside = table.iteration[rows] == member.tables.iterations[0]
    unknown, rows = unknown[inside], rows[inside]
    own.spent_ns[row, unknown] = table.start_ns[rows] - parts.start_ns[0]
    own.before[row, unknown] = _START - (table.work_before[rows] & 0xFFFF_FFFF)  # who ran other kernels is no peer
    for part, name in enumerate(PARTS):
        if name != "host_ns":
            own.parts[part, row, unknown] = getattr(table, f"{_TOTALS.get(name, name)}_before")[rows]
    own.kernels[row, unknown] = table.kernels_before[rows]
    own.kernel_ns[row, unknown] = table.kernel_ns_before[rows]
    own.work[row, unknown] = table.work_before[rows] & 0xFFFF_FFFF


def _begin_together(own: OwnTimes, of: Times) -> None:
    """Iterations need not begin at the same moment: nobody took longer than others by more than these waited for it."""
    columns = np.arange(own.spent_ns.shape[1])
    first = (own.before <= _START) & (own.before[of.last, columns] <= _START)
    spent = np.maximum(own.spent_ns, own.spent_ns[of.last, columns] - of.wait_ns)
    own.spent_ns[first] = spent[first]
    host = PARTS.index("host_ns")
    own.parts[host][first] = 0
    own.parts[host][first] = (own.spent_ns - own.parts.sum(0))[first]


def _fill(
    own: OwnTimes,
    row: int,
    known: Int64s,
    each: Operations,
    of: _Releases,
    at: Int64s,
    member: Member,
    overlap: Intervals,
) -> None:
    """The own times of one member, split into parts.

    The release lies within the operation that released, whose row has the totals up to its start.
    """
    table = member.tables.communication
    now, then = each.rows[row, known], of.row[at]
    release = of.time_ns[at]
    own.spent_ns[row, known] = spent = each.start_ns[row, known] - release
    own.before[row, known] = of.before[at]
    since = release - member.base_ns
    own.ahead_ns[row, known] = inside = covered(overlap, table.start_ns[then], since)
    held = since - table.start_ns[then]

    def grown(name: str) -> Int64s:
        column = getattr(table, name)
        values: Int64s = column[now] - column[then]
        return values

    compute = grown("compute_ns_before") - inside
    communication = grown("exposed_communication_ns_before") - (held - inside)
    # What is computed until the end of an operation that may be waiting for a missing rank is waiting, too.
    until = np.where(of.is_earliest[at], np.minimum(table.end_ns[then], table.start_ns[now]), since)
    during = covered(overlap, since, until)
    compute, communication = compute - during, communication + during
    copies, waiting, held = (grown(f"{name}_ns_before") for name in ("exposed_copy", "input", "held"))
    host = spent - compute - communication - copies - waiting - held
    for part, values in enumerate((compute, copies, waiting, held, host, communication)):
        own.parts[part, row, known] = values
    own.kernels[row, known] = grown("kernels_before")
    own.kernel_ns[row, known] = grown("kernel_ns_before")
    own.work[row, known] = grown("work_before") & 0xFFFF_FFFF
