"""Own delay: how much longer than its peers a rank itself took to reach the operation at which it arrived last.

A rank's own time for an operation runs from its latest release before (in any group) to its start there: whatever a
late neighbour cost lies before that release. So a rank that is late because it waited for another is not blamed.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.matching import Flags, Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.noise import Comparisons, comparisons_of, comparisons_of_iterations
from tensorboard_plugin_dlprof.ranks.own_times import PARTS, OwnTimes, codes_of, own_times
from tensorboard_plugin_dlprof.ranks.waiting import Times

_NEVER = np.iinfo(np.int64).max

_MOST_ALIKE = 16
"""Groups beside those of a rank that show what ranks differ by, of each that do the same."""


class Delays(msgspec.Struct, frozen=True):
    """Own delays above 0: one row per operation at which somebody was late."""

    sequence: Int64s
    """Place of the group."""
    column: Int64s
    """Operation in it."""
    member: Int64s
    """Place of the late member."""
    own_delay_ns: Int64s
    fresh_ns: Int64s
    """Its part that is not a lag carried over: peers that compute while they wait are ahead when they are released."""
    excess_ns: Int64s
    """Shape (rows, parts): how much longer than its peers it spent on each of ``PARTS``; may be negative."""
    same_kernels: Flags
    """Whether its peers ran the same kernels."""
    kernel_ns: Int64s
    """Duration of its kernels, and the median of those of its peers."""
    peer_kernel_ns: Int64s
    asked: int = 0
    """Operations that have a late member whose time before is known, and those of them at which it has peers."""
    compared: int = 0


_COLUMNS = tuple(name for name in Delays.__struct_fields__ if name not in ("asked", "compared"))


def _no_delays() -> Delays:
    rows = np.zeros(0, np.int64)
    return Delays(rows, rows, rows, rows, rows, np.zeros((0, len(PARTS)), np.int64), np.zeros(0, np.bool_), rows, rows)


def own_delays(
    job: Job,
    sequences: Sequence[Operations],
    times: Sequence[Times],
    places: Sequence[int] | None = None,
    from_start: bool = False,
) -> Delays:
    """The own delays of a job's ranks.

    Args:
        job: the ranks.
        sequences: their operations.
        times: likewise.
        places: a number for each of ``sequences``; only those with equal numbers do the same.
        from_start: see ``own_times``.
    """
    places = places or [0] * len(sequences)
    owns = list(own_times(job, sequences, times, from_start=from_start))
    siblings: _Siblings | None = None
    no_roles = np.zeros((0, 0), np.int64)
    delays = [_no_delays()]
    lacks_ranks = any(each.lacks_members for each in sequences)
    operations = compared = 0
    for number, (each, of, own) in enumerate(zip(sequences, times, owns, strict=True)):
        if own is None or (len(each.members) < 2 and not each.lacks_members):
            continue
        if not _knows_places(each):
            continue
        columns = np.arange(len(each.kind))
        late = of.last
        spent = own.spent_ns[late, columns]
        peers = (own.spent_ns >= 0) & (own.before == own.before[late, columns])
        peers[late, columns] = False
        if each.pair:
            peers[:] = False
        alike = (own.work == own.work[late, columns]) & (own.kernels == own.kernels[late, columns])
        if each.stream and lacks_ranks:
            peers &= alike  # nobody told who belongs together: who runs other kernels is of another stage
        alone = ~peers.any(0)
        asked = each.used & (spent >= 0)
        if each.lacks_members and (asked & alone).any():
            siblings = siblings or _Siblings(job, sequences, times, owns, places)
            # Where it leaves as soon as the last of others like it, it is the last, whoever is missing.
            usual = siblings.usual_transfers(each)
            late_ns = np.maximum(thresholds.LATE_NS, thresholds.LATE_FRACTION * usual)
            asked &= ~alone | (of.transfer_ns <= usual + late_ns)
        with_peers = np.flatnonzero(asked & ~alone)
        operations += len(with_peers) if each.lacks_members else int(np.count_nonzero(asked))
        compared += len(with_peers)
        delay = np.zeros(len(columns), np.int64)
        # Twice the median is a whole number; the difference is rounded towards 0.
        twice = _twice_median(own.spent_ns[:, with_peers], peers[:, with_peers])
        delay[with_peers] = (2 * spent[with_peers] - twice) // 2
        whole = own.spent_ns + own.ahead_ns + _head_start(job, each, own, late)
        twice = _twice_median(whole[:, with_peers], peers[:, with_peers])
        fresh = np.zeros(len(columns), np.int64)
        fresh[with_peers] = (2 * whole[late, columns][with_peers] - twice) // 2
        count = len(PARTS)
        parts, excess = own.parts, np.zeros((len(columns), count), np.int64)
        kernels = np.zeros((3, len(columns)), np.int64)
        delayed = with_peers[delay[with_peers] > 0]
        for part in range(count):
            middle = _twice_median(parts[part][:, delayed], peers[:, delayed]) // 2
            excess[delayed, part] = parts[part][late[delayed], delayed] - middle
        kernels[1, delayed] = own.kernel_ns[late[delayed], delayed]
        kernels[2, delayed] = _twice_median(own.kernel_ns[:, delayed], peers[:, delayed]) // 2
        kernels[0, delayed] = (alike | ~peers)[:, delayed].all(0)
        roles = no_roles
        if (asked & alone).any():
            # Most jobs need none, and those of thousands of ranks have millions of own times.
            siblings = siblings or _Siblings(job, sequences, times, owns, places)
            roles = siblings.roles(each, own, places[number])
        for column in np.flatnonzero(asked & alone).tolist():
            row = int(late[column])
            comparison = siblings.compare(each, own, row, column, int(roles[row, column])) if siblings else None
            if comparison is not None:
                operations += each.lacks_members
                compared += 1
                delay[column], fresh[column], excess[column], kernels[:, column] = comparison
        rows = np.flatnonzero(delay > 0)
        delays.append(
            Delays(
                sequence=np.full(len(rows), number),
                column=rows,
                member=each.members[late[rows]],
                own_delay_ns=delay[rows],
                fresh_ns=np.clip(fresh[rows], 0, delay[rows]),
                excess_ns=excess[rows],
                same_kernels=kernels[0, rows] > 0,
                kernel_ns=kernels[1, rows],
                peer_kernel_ns=kernels[2, rows],
            )
        )
    joined = {name: np.concatenate([getattr(each, name) for each in delays]) for name in _COLUMNS}
    return Delays(**joined, asked=operations, compared=compared)


def comparisons_of_operations(
    job: Job,
    sequences: Sequence[Operations],
    times: Sequence[Times],
    places: Sequence[int] | None,
    numbers: Int64s,
    members: Sequence[int],
    from_start: bool = False,
) -> Comparisons:
    """Comparisons of own times of some ``members`` and of others that do the same, also of those that took less time.

    Args:
        job: the ranks.
        sequences: their operations.
        times: likewise.
        places: see ``own_delays``.
        numbers: of the iterations.
        members: places of ranks.
        from_start: see ``own_times``.
    """
    places = places or [0] * len(sequences)
    wanted = _alike(sequences, places, members)
    owns = list(own_times(job, sequences, times, wanted, from_start))
    siblings = _Siblings(job, sequences, times, owns, places)
    roles: list[Int64s | None] = []
    iterations: list[Int64s | None] = []
    for each, own, place in zip(sequences, owns, places, strict=True):
        known = own is not None and _knows_places(each)
        roles.append(siblings.roles(each, own, place) if own is not None and known else None)
        tables = [job.members[member].tables.communication for member in each.members.tolist()]
        iteration = np.stack([table.iteration[rows] for table, rows in zip(tables, each.rows, strict=True)])
        iterations.append(np.where(iteration >= 0, np.searchsorted(numbers, iteration), -1))
    lacks_ranks = any(each.lacks_members for each in sequences)
    return comparisons_of(sequences, owns, iterations, roles, lacks_ranks)


def _alike(sequences: Sequence[Operations], places: Sequence[int], members: Sequence[int]) -> set[int]:
    """The sequences of some members, and enough others like them to know what ranks differ by."""
    chosen, others = set(), defaultdict(list)
    for number, (each, place) in enumerate(zip(sequences, places, strict=True)):
        if np.isin(members, each.members).any():
            chosen.add(number)
        else:
            others[each.size, each.pair, each.stream, place].append(number)
    for alike in others.values():
        chosen.update(alike[:_MOST_ALIKE])
    return chosen


def delays_of_iterations(
    job: Job, sequences: Sequence[Operations], times: Sequence[Times], stages: Sequence[int] | None = None
) -> tuple[Delays, Int64s, Comparisons]:
    """Delays of whole iterations: for ranks that have no peers at their operations, as the stages of one pipeline.

    The own times of an iteration are added up, and compared with those of ranks that ran the same kernels in it, and,
    with ``stages``, are of the same one.

    Returns:
        One row per rank and iteration, whose sequence and column mean nothing, the number of its iteration, and all
        comparisons, whose iterations are their numbers.
    """
    of_all = [member.tables.communication.iteration for member in job.members]
    numbers = np.unique(np.concatenate(of_all)) if of_all else np.zeros(0, np.int64)
    numbers = numbers[numbers >= 0]
    totals = np.zeros((5 + len(PARTS), len(job.members), len(numbers)), np.int64)
    is_there, is_known = np.zeros(totals.shape[1:], np.bool_), np.ones(totals.shape[1:], np.bool_)
    for each, own in zip(sequences, own_times(job, sequences, times), strict=True):
        if own is None:
            continue
        for row, place in enumerate(each.members.tolist()):
            iteration = of_all[place][each.rows[row]]
            inside = each.used & (iteration >= 0)
            at = np.searchsorted(numbers, iteration[inside])
            columns = (own.spent_ns, own.ahead_ns, own.kernels, own.work, own.kernel_ns, *own.parts)
            for total, values in zip(totals, columns, strict=True):
                np.add.at(total[place], at, values[row, inside])
            is_there[place, at] = True
            # What precedes the first operation of a capture is unknown.
            is_known[place, at[own.spent_ns[row, inside] < 0]] = False
    place, column = np.nonzero(is_there)
    cells = np.stack([place, numbers[column]])
    known = is_known[place, column]
    sums = totals[:, place, column]
    if not len(place):
        nothing = np.zeros(0, np.int64)
        return _no_delays(), nothing, empty(Comparisons)
    spent, ahead, kernels, work, kernel_ns, *parts = sums
    work &= 0xFFFF_FFFF
    if any(each.lacks_members for each in sequences):
        # What is spent in operations with ranks that are missing may be waiting for them, and computing meanwhile.
        waits, compute = parts[PARTS.index("communication_ns")], parts[PARTS.index("compute_ns")]
        whole = _compute_of(job, *cells)
        spent += whole - compute - waits
        compute[:], waits[:], ahead[:] = whole, 0, 0
    asked = np.flatnonzero(known)
    stage = np.array(stages or [0] * len(job.members), np.int64)[cells[0, asked]]
    alike = np.stack([cells[1, asked], kernels[asked], work[asked], stage])
    group = np.unique(alike, axis=1, return_inverse=True)[1].reshape(-1)
    names = (spent, spent + ahead, kernel_ns, *parts)
    own_of = np.stack([values[asked] for values in names])
    peers_of, has_peers = np.zeros_like(own_of), np.zeros(len(asked), np.bool_)
    for together in np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1]):
        if len(together) > 1:
            has_peers[together] = True
            for line, values in enumerate(own_of):
                peers_of[line, together] = _median_of_others(values[together])
    more = own_of - peers_of
    late = np.flatnonzero(has_peers & (more[0] > 0))
    nothing = np.full(len(late), -1, np.int64)
    delays = Delays(
        sequence=nothing,
        column=nothing,
        member=cells[0, asked[late]],
        own_delay_ns=more[0, late],
        fresh_ns=np.clip(more[1, late], 0, more[0, late]),
        excess_ns=more[3:, late].T,
        same_kernels=np.ones(len(late), np.bool_),
        kernel_ns=own_of[2, late],
        peer_kernel_ns=peers_of[2, late],
        asked=len(asked),
        compared=int(np.count_nonzero(has_peers)),
    )
    return (
        delays,
        cells[1, asked[late]],
        comparisons_of_iterations(cells[0, asked], cells[1, asked], group, spent[asked]),
    )


def _compute_of(job: Job, places: Int64s, iterations: Int64s) -> Int64s:
    """What each of these ranks computes in its iteration, at whatever time."""
    compute = np.zeros(len(places), np.int64)
    for place in np.unique(places).tolist():
        tables = job.members[place].tables
        of_iteration = dict(zip(tables.iterations.tolist(), tables.parts.compute_ns.tolist(), strict=True))
        rows = np.flatnonzero(places == place)
        compute[rows] = [of_iteration[number] for number in iterations[rows].tolist()]
    return compute


def _median_of_others(values: Int64s) -> Int64s:
    """For each of two and more values, the median of the others, rounded down."""
    order = np.argsort(values, kind="stable")
    ordered, place = values[order], np.arange(len(values))
    low, high = (len(values) - 2) // 2, (len(values) - 1) // 2
    medians = np.empty(len(values), np.int64)
    medians[order] = (ordered[low + (place <= low)] + ordered[high + (place <= high)]) // 2
    return medians


def _head_start(job: Job, each: Operations, own: OwnTimes, late: Int64s) -> Int64s:
    """How long the kernels take that each member had run more than the late one when its own time began: shape (n, k).

    A member that computes while it waits for others, and then waits in a queue of communication, did so operations ago.
    Kernels are counted from the group's first operation of the iteration; of that one nothing is said.
    """
    columns = np.arange(len(each.kind))
    tables = [job.members[place].tables.communication for place in each.members.tolist()]
    iteration = tables[0].iteration[each.rows[0]]
    begins = np.concatenate([[True], iteration[1:] != iteration[:-1]])
    first = np.maximum.accumulate(np.where(begins, columns, 0))
    count, time = (
        np.stack([getattr(table, name)[rows] for table, rows in zip(tables, each.rows, strict=True)])
        for name in ("kernels_before", "kernel_ns_before")
    )
    count, time = count - count[:, first], time - time[:, first]
    more = count - own.kernels
    more = np.maximum(more - more[late, columns], 0)
    return np.where(begins, 0, more * (time // np.maximum(count, 1)))


def _twice_median(values: Int64s, is_known: Flags) -> Int64s:
    """Twice the median of the chosen values of each column, which has at least one."""
    if not values.shape[1]:
        return np.zeros(0, np.int64)
    ordered = np.sort(np.where(is_known, values, _NEVER), axis=0)
    count = np.maximum(is_known.sum(0), 1)
    columns = np.arange(values.shape[1])
    twice: Int64s = ordered[(count - 1) // 2, columns] + ordered[count // 2, columns]
    return twice


class _Siblings:
    """The ranks in the same place of sibling groups: peers of those that have none in their own group."""

    def __init__(
        self,
        job: Job,
        sequences: Sequence[Operations],
        times: Sequence[Times],
        owns: Sequence[OwnTimes | None],
        places: Sequence[int],
    ) -> None:
        self._job = job
        self._lacks_ranks = any(each.lacks_members for each in sequences)
        gathered: list[tuple[Int64s, ...]] = [tuple(np.zeros(0, np.int64) for _ in range(7 + len(PARTS)))]
        self._transfer: dict[tuple[int, int, str], float] = {}
        for each, of, own, place in zip(sequences, times, owns, places, strict=True):
            if own is None or not _knows_places(each):
                continue
            row, column = np.nonzero(own.spent_ns >= 0)
            columns = (own.spent_ns, own.ahead_ns, own.kernels, own.work, own.kernel_ns, *own.parts)
            sorted_values = (values[row, column] for values in columns)
            gathered.append((self.roles(each, own, place)[row, column], each.members[row], *sorted_values))
            if not each.lacks_members:
                codes = codes_of(each)
                for code in np.unique(codes[each.used]).tolist():
                    transfer = float(np.median(of.transfer_ns[each.used & (codes == code)]))
                    key = (code, each.size, each.stream)
                    self._transfer[key] = min(transfer, self._transfer.get(key, transfer))
        columns_of = [np.concatenate(column) for column in zip(*gathered, strict=True)]
        order = np.argsort(columns_of[0], kind="stable")
        self._role, self._member, self._spent, self._ahead, *rest = (column[order] for column in columns_of)
        self._kernels, self._work, self._kernel_ns, *self._parts = rest

    def roles(self, each: Operations, own: OwnTimes, place: int) -> Int64s:
        """A number for the role of each member in each operation: equal ones mean the same place of sibling groups.

        In jobs that lack ranks, all members of a collective have one role: it is unknown which of them are missing.
        """
        mixed = np.zeros(own.spent_ns.shape, np.uint64)
        rows = np.arange(len(each.members))
        if each.ranks:
            rows = np.array([each.ranks.index(self._job.members[member].rank) for member in each.members.tolist()])
        elif self._lacks_ranks:
            rows[:] = 0
        of_all = np.array([each.size, zlib.crc32(each.stream.encode()), place])[:, None, None]
        for value in (each.kind, each.in_bytes, each.number, own.before, rows[:, None], *of_all):
            mixed = (mixed ^ value.astype(np.uint64)) * np.uint64(0x9E37_79B9_7F4A_7C15)
            mixed ^= mixed >> np.uint64(29)
        return mixed.view(np.int64)

    def usual_transfers(self, each: Operations) -> npt.NDArray[np.float64]:
        """Of each operation: how long the fastest complete group of its kind and size transfers; below 0 if none."""
        return np.array(
            [self._transfer.get((code, each.size, each.stream), -np.inf) for code in codes_of(each).tolist()]
        )

    def compare(
        self, each: Operations, own: OwnTimes, row: int, column: int, role: int
    ) -> tuple[int, int, list[int], tuple[int, int, int]] | None:
        """Delay, its fresh part, excess of each part, and kernels (whether the same, own and peers' duration).

        None without peers.
        """
        begin, end = self._role.searchsorted(role), self._role.searchsorted(role, side="right")
        others = np.arange(begin, end)[self._member[begin:end] != each.members[row]]
        if each.lacks_members or (each.stream and self._lacks_ranks):
            # Its place is not certain, but others that ran the same kernels since have the same.
            alike = (self._kernels[others] == own.kernels[row, column]) & (self._work[others] == own.work[row, column])
            others = others[alike]
        if not len(others):
            return None
        delay = (2 * int(own.spent_ns[row, column]) - _twice_middle(self._spent[others])) // 2
        if delay <= 0:
            return 0, 0, [0] * len(PARTS), (0, 0, 0)
        whole = int(own.spent_ns[row, column] + own.ahead_ns[row, column])
        fresh = (2 * whole - _twice_middle(self._spent[others] + self._ahead[others])) // 2
        parts = [
            int(mine) - _twice_middle(theirs[others]) // 2
            for mine, theirs in zip(own.parts[:, row, column], self._parts, strict=True)
        ]
        same = (self._kernels[others] == own.kernels[row, column]) & (self._work[others] == own.work[row, column])
        typical = _twice_middle(self._kernel_ns[others]) // 2
        return delay, fresh, parts, (int(same.all()), int(own.kernel_ns[row, column]), typical)


def _knows_places(each: Operations) -> bool:
    """Whether it is known who sends to whom, if anybody."""
    return not (each.pair and each.lacks_members and not each.ranks)


def _twice_middle(values: Int64s) -> int:
    ordered = np.sort(values)
    return int(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2])
