"""Matches the collectives of ranks: which kernels of several ranks are one operation.

Every group is a matrix: a row for each member, a column for each operation that all members have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s, ProcessGroup
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows
from tensorboard_plugin_dlprof.ranks.alignment import by_ids, by_order
from tensorboard_plugin_dlprof.ranks.division import Gathered, GroupKey, divided
from tensorboard_plugin_dlprof.ranks.ends import OfMember
from tensorboard_plugin_dlprof.ranks.members import Job, Member

Flags: TypeAlias = npt.NDArray[np.bool_]

SYNCHRONISING = (
    Collective.ALL_REDUCE,
    Collective.ALL_GATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALL_TO_ALL,
    Collective.BARRIER,
)
"""No rank can end before all have begun."""


class Operations(msgspec.Struct):
    """The operations of one group, or of one pair of ranks in it, in their order. Times are on each rank's clock."""

    key: GroupKey
    description: str
    pair: bool
    """Whether these are point to point between two ranks of a known group."""
    grouped: bool
    """Whether it is known who belongs to the group: the source says so, or only these ends agree."""
    stream: str
    """The stream that it was found on; empty if the source has groups."""
    members: Int64s
    """Places in ``Job.members``, ascending."""
    rows: Int64s
    """Row in the member's ``CommunicationRows`` of each member and operation."""
    start_ns: Int64s
    end_ns: Int64s
    number: Int64s
    """Running number of each operation."""
    kind: Int64s
    """Of each operation, as are the next four."""
    in_bytes: Int64s
    """-1 if unknown."""
    out_bytes: Int64s
    elements: Int64s
    split: Int64s
    believed: bool = True
    reason: str = ""
    """Why not."""
    used: Flags = msgspec.field(default_factory=lambda: np.zeros(0, np.bool_))
    """Operations of which waiting is known."""
    spread_ns: int = -1
    """Median spread of the aligned ends; -1 if unknown."""
    lacks_members: bool = False
    """Whether ranks of the group are missing, so that it is unknown who arrived last and how long the transfer was."""
    ranks: tuple[int, ...] = ()
    """Of a pair: both, also if one is missing; else empty."""

    @property
    def size(self) -> int:
        """Ranks of the group or pair, also those that are missing."""
        return 2 if self.pair else max(self.key[2], len(self.members))

    @property
    def synchronises(self) -> Flags:
        """Whether no rank can end before all have begun, of each operation."""
        return is_synchronising(self.kind)


class Unmatched(msgspec.Struct):
    """Why collectives enter no sum: kernels, or operations, by reason."""

    without_group: int = 0
    """Kernels of which nothing is recorded, in a job that records groups."""
    missing_ranks: int = 0
    """Kernels of groups of which ranks are missing."""
    incomplete: int = 0
    """Operations that only some members have."""
    inconsistent: int = 0
    """Operations whose kind, type or size differs between members."""
    not_paired: int = 0
    """Sends and receives of groups of three and more whose partners are not recorded."""
    of_groups: dict[GroupKey, str] = msgspec.field(default_factory=dict)
    """Groups that could not be matched, and why."""


class Matches(msgspec.Struct):
    """What was matched, and what was not."""

    sequences: list[Operations]
    partial: list[Operations]
    """Groups that lack ranks: they enter no sum, but tell when those present were released at the earliest."""
    left_out: Unmatched
    how: str
    """By what operations were matched."""


def is_synchronising(kind: Int64s) -> Flags:
    """Whether each kind is one that no rank can end before all have begun."""
    table = np.zeros(max(Collective) + 1, np.bool_)
    table[list(SYNCHRONISING)] = True
    result: Flags = table[kind]
    return result


def match(job: Job) -> Matches:
    """Match the collectives of a job's ranks."""
    members = job.members
    tables = [member.tables.communication for member in members]
    has_groups = any((table.group >= 0).any() for table in tables)
    left_out = Unmatched()
    gathered: Gathered = defaultdict(list)
    descriptions: dict[GroupKey, str] = {}
    for place, (member, table) in enumerate(zip(members, tables, strict=True)):
        if has_groups:
            left_out.without_group += int(np.count_nonzero(table.group < 0))
            for number in np.unique(table.group[table.group >= 0]).tolist():
                group = member.tables.groups[number]
                key = _key(group)
                descriptions.setdefault(key, group.description)
                _gather(gathered, key, place, table, np.flatnonzero(table.group == number))
        else:
            streams = np.unique(table.stream).tolist()
            for position, stream in enumerate(streams):
                key = (f"stream {position}", "", job.world_size)
                gathered[key, None].append(OfMember(place, np.flatnonzero(table.stream == stream)))
    if not has_groups:
        gathered = divided(gathered, members, job.world_size)
    place_of_rank = {member.rank: place for place, member in enumerate(members)}
    sequences, partial = [], []
    for (key, pair), of_members in gathered.items():
        wanted = _wanted(key, pair)
        kernels = sum(len(each.rows) for each in of_members)
        if key[2] == 1 or (len(wanted) == 1 and (pair or key[2] < 1)):
            continue
        if pair == _UNKNOWN and key[2] > 2:
            left_out.not_paired += kernels
            continue
        known = has_groups or isinstance(key[1], tuple)
        size = max(2, len(wanted)) if pair or key[2] <= 0 else key[2]
        if any(rank not in place_of_rank for rank in wanted) or len(of_members) != max(size, len(wanted)):
            if _all_present(key, job):
                left_out.incomplete += max(len(each.rows) for each in of_members)
                continue
            left_out.missing_ranks += kernels
            left_out.of_groups.setdefault(key, "ranks of it are missing")
            matched = _sequence(key, "", pair, known, has_groups, of_members, members, Unmatched())
            if matched is not None:
                matched.lacks_members = True
                partial.append(matched)
            continue
        matched = _sequence(key, descriptions.get(key, ""), pair, known, has_groups, of_members, members, left_out)
        if matched is not None:
            sequences.append(matched)
    return Matches(sequences, partial, left_out, _how(tables, has_groups))


_UNKNOWN = (-1, -1)


def _key(group: ProcessGroup) -> GroupKey:
    return group.name, group.ranks or group.text, group.size


def _gather(
    gathered: dict[tuple[GroupKey, tuple[int, ...] | None], list[OfMember]],
    key: GroupKey,
    place: int,
    table: CommunicationRows,
    rows: Int64s,
) -> None:
    """Add one member's rows of a group, those between two ranks apart by pair."""
    pairs = table.kind[rows] == Collective.SEND_RECV
    if not pairs.all():
        gathered[key, None].append(OfMember(place, rows[~pairs]))
    rows = rows[pairs]
    codes = (table.source[rows] << 32) + table.destination[rows]
    for code in np.unique(codes).tolist():
        some = rows[codes == code]
        source, destination = int(table.source[some[0]]), int(table.destination[some[0]])
        pair = (source, destination) if source >= 0 and destination >= 0 else _UNKNOWN
        gathered[key, pair].append(OfMember(place, some))


def _wanted(key: GroupKey, pair: tuple[int, ...] | None) -> Sequence[int]:
    """The ranks that an operation needs; none if unknown, then whoever has it."""
    if pair is not None and pair != _UNKNOWN:
        return sorted(set(pair))
    if isinstance(key[1], tuple):
        return key[1]
    return ()


def _both(key: GroupKey, pair: tuple[int, ...] | None) -> tuple[int, ...]:
    ranks = _wanted(key, pair)
    return tuple(ranks) if pair is not None and len(ranks) == 2 else ()


def _all_present(key: GroupKey, job: Job) -> bool:
    if isinstance(key[1], tuple) and key[1] and key[2] <= len(key[1]):
        return {member.rank for member in job.members}.issuperset(key[1])
    return len(job.members) == job.world_size


def _how(tables: Sequence[CommunicationRows], has_groups: bool) -> str:
    if not any(len(table.start_ns) for table in tables):
        return "no communication recorded"
    if any((table.comms_id >= 0).any() for table in tables):
        return "number of the operation in the job (Comms Id)"
    if has_groups:
        return "process group and order"
    return "order on the stream; the files have no process groups"


def _sequence(
    key: GroupKey,
    description: str,
    pair: tuple[int, ...] | None,
    grouped: bool,
    has_groups: bool,
    of_members: Sequence[OfMember],
    members: Sequence[Member],
    left_out: Unmatched,
) -> Operations | None:
    tables = [members[each.place].tables.communication for each in of_members]
    selected = [each.rows for each in of_members]
    ids = [_ids(table, rows, pair) for table, rows in zip(tables, selected, strict=True)]
    if all(each is not None for each in ids):
        aligned = by_ids([each for each in ids if each is not None])
    else:
        bases = [members[each.place].base_ns for each in of_members]
        aligned = by_order(tables, selected, bases)
    if aligned is None:
        left_out.of_groups[key] = "the order of its operations differs between ranks"
        left_out.incomplete += max(map(len, selected))
        return None
    left_out.incomplete += max(map(len, selected)) - aligned.shape[1]
    rows = np.stack([rows[places] for rows, places in zip(selected, aligned, strict=True)])
    columns = {
        name: np.stack([getattr(table, name)[row] for table, row in zip(tables, rows, strict=True)])
        for name in ("kind", "in_elements", "out_elements", "element_bytes", "start_ns", "end_ns", "split")
    }
    kind = columns["kind"]
    same = (kind == kind[0]).all(0)
    exchanged = kind[0] == Collective.ALL_TO_ALL
    for name in ("in_elements", "element_bytes"):
        same &= (columns[name] == columns[name][0]).all(0) | exchanged
    left_out.inconsistent += int(np.count_nonzero(~same))
    number = np.flatnonzero(same)
    if not len(number):
        if rows.shape[1]:
            left_out.of_groups[key] = "kinds or sizes of its operations differ between ranks"
        return None
    base = np.array([members[each.place].base_ns for each in of_members], np.int64)[:, None]
    size = np.maximum(columns["element_bytes"], 0)
    in_bytes, out_bytes = (
        np.where((columns[name] >= 0) & (size > 0), columns[name] * size, -1)
        for name in ("in_elements", "out_elements")
    )
    return Operations(
        key=key,
        description=description,
        pair=pair is not None,
        ranks=_both(key, pair),
        grouped=grouped,
        stream="" if has_groups else key[0],
        members=np.array([each.place for each in of_members], np.int64),
        rows=rows[:, number],
        start_ns=columns["start_ns"][:, number] + base,
        end_ns=columns["end_ns"][:, number] + base,
        number=number,
        kind=kind[0, number],
        in_bytes=in_bytes[0, number],
        out_bytes=out_bytes[0, number],
        elements=columns["in_elements"][0, number],
        split=columns["split"][:, number].max(0),
    )


def _ids(table: CommunicationRows, rows: Int64s, pair: tuple[int, ...] | None) -> Int64s | None:
    """Numbers that are the same on all ranks; None if the source has none."""
    comms_id = table.comms_id[rows]
    if (comms_id >= 0).all():
        return _unique(comms_id ^ (table.kind[rows] << 58))
    sequence = table.sequence[rows]
    if pair is None and (sequence >= 0).all() and sequence.max(initial=0) < 1 << 40:
        return _unique(sequence)
    return None


def _unique(ids: Int64s) -> Int64s:
    """Ids, with the position among equal ones mixed in: operations that were coalesced share a number."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    heads = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    position = np.arange(len(ids)) - np.repeat(heads, np.diff(np.append(heads, len(ids))))
    numbers = np.empty(len(ids), np.int64)
    numbers[order] = ordered * np.int64(0x1_0000_0001B3) + position
    return numbers
