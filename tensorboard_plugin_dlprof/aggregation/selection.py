"""Selects the iterations to aggregate: by a candidate or the user's key op, and by a range."""

from __future__ import annotations

import difflib

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import covered, union_of
from tensorboard_plugin_dlprof.aggregation.resources import device_work
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.windows import TypicalRange, typical_range
from tensorboard_plugin_dlprof.errors import BadRequest, UnknownKeyOp
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile

KEY_OP = "key_op"
"""``IterationCandidate.source`` of iterations that end where an instance of a key op ends."""

_BLOCK = 1 << 18
"""Times that are handled at once, so that intermediate arrays fit into the processor's cache."""


class Selection(msgspec.Struct, frozen=True):
    """What the user chose; ``None`` stands for the default."""

    key_op: str | None = None
    """Name or id of the op that ends each iteration."""
    iter_start: int | None = None
    """Number of the first iteration to aggregate."""
    iter_stop: int | None = None
    """Number of the last, inclusive."""
    candidate: str | None = None
    """Label of a candidate (``batch N``), or a source (``numbered_range``), which stands for its best candidate. By
    default, the preselected candidate."""
    typical: bool = False
    """Whether to aggregate the typical iterations, unless a first or last one is given."""


def choose_candidate(profile: Profile, selection: Selection) -> IterationCandidate:
    """The chosen way to divide the capture into iterations.

    Raises:
        BadRequest: there is no such op or candidate.
    """
    if selection.key_op:
        stored = profile.iterations[0]
        # Use DLProf's own iterations by this op, because dividing the capture again might find others.
        is_stored = (stored.source, stored.label) == (KEY_OP, selection.key_op)
        return stored if is_stored else _cut_at_key_op(profile, selection.key_op)
    if selection.candidate is None:
        return profile.iterations[0]
    by_label = [candidate for candidate in profile.iterations if candidate.label == selection.candidate]
    by_source = [candidate for candidate in profile.iterations if candidate.source == selection.candidate]
    for candidate in by_label + by_source:
        return candidate
    offered = ", ".join(f"{candidate.source} ({candidate.label})" for candidate in profile.iterations)
    raise BadRequest(f"There are no iterations by {selection.candidate!r} in this profile; choose one of: {offered}.")


def choose_range(profile: Profile, candidate: IterationCandidate, selection: Selection) -> Bools:
    """Which of the candidate's iterations are aggregated.

    Raises:
        BadRequest: the range is empty or reaches beyond the iterations.
    """
    values = candidate.values
    first, last = int(values[0]), int(values[-1])
    start = first if selection.iter_start is None else selection.iter_start
    stop = last if selection.iter_stop is None else selection.iter_stop
    if selection.typical and selection.iter_start is None and selection.iter_stop is None:
        typical = propose(profile, candidate)
        if typical is not None:
            start, stop = typical.iter_start, typical.iter_stop
    selected: Bools = (values >= start) & (values <= stop)
    if not first <= start <= stop <= last or not selected.any():
        raise BadRequest(f"{_wanted(selection)} cannot be selected; this profile has the iterations {first} to {last}.")
    return selected


def propose(profile: Profile, candidate: IterationCandidate) -> TypicalRange | None:
    """The typical ones of some iterations; None if all are typical."""
    works = [(start, stop) for start, stop, _ in device_work(profile) if len(start)]
    has_work: list[bool] | None = None
    if works:
        has_work = (covered(union_of(works), candidate.start_ns, candidate.stop_ns) > 0).tolist()
    return typical_range(candidate.values, candidate.stop_ns - candidate.start_ns, has_work)


def _wanted(selection: Selection) -> str:
    start, stop = selection.iter_start, selection.iter_stop
    if start is None:
        return f"Iterations up to {stop}"
    return f"Iterations from {start} on" if stop is None else f"Iterations {start} to {stop}"


def fitting(profile: Profile, selection: Selection) -> tuple[Selection, list[str]]:
    """The part of a selection that fits the profile, and a sentence for each part that does not.

    For scripts written for DLProf, whose program may have run for hours: DLProf ignores a key op that it cannot find.
    """
    left_out: list[str] = []
    try:
        candidate = choose_candidate(profile, selection)
    except UnknownKeyOp as error:
        left_out.append(f"{error} The run goes on without it.")
        selection = msgspec.structs.replace(selection, key_op=None)
        candidate = choose_candidate(profile, selection)
    try:
        choose_range(profile, candidate, selection)
    except BadRequest:
        values = candidate.values
        first, last = int(values[0]), int(values[-1])
        start = first if selection.iter_start is None else selection.iter_start
        stop = last if selection.iter_stop is None else selection.iter_stop
        inside = values[(values >= start) & (values <= stop)]
        bounds = (int(inside[0]), int(inside[-1])) if len(inside) else (None, None)
        selected = f"{bounds[0]} to {bounds[1]}" if len(inside) else "all of them"
        left_out.append(
            f"{_wanted(selection)} are not all in this profile, which has {first} to {last}; {selected} are aggregated."
        )
        selection = msgspec.structs.replace(selection, iter_start=bounds[0], iter_stop=bounds[1])
    return selection, left_out


def iteration_of(time: Int64s, candidate: IterationCandidate) -> Int64s:
    """Row of the iteration that contains each time; -1 outside all. Only the last iteration includes its end."""
    if candidate.source == "whole_capture":
        return np.zeros(len(time), np.int64)  # what is launched before the first GPU work belongs to it
    rows = np.empty(len(time), np.int64)
    for begin in range(0, len(time), _BLOCK):
        some = time[begin : begin + _BLOCK]
        row = np.searchsorted(candidate.start_ns, some, side="right") - 1
        end = candidate.stop_ns[row]
        inside = (row >= 0) & ((some < end) | ((row == len(candidate.values) - 1) & (some == end)))
        rows[begin : begin + _BLOCK] = np.where(inside, row, -1)
    return rows


def _cut_at_key_op(profile: Profile, key_op: str) -> IterationCandidate:
    wanted = [row for row, op in enumerate(profile.ops) if key_op in (op.name, op.op_id)]
    if not wanted:
        raise UnknownKeyOp(_unknown_key_op(profile, key_op))
    instances = profile.instances
    ends = distinct_values(instances.end_ns[are_among(instances.op, wanted)])
    start = np.concatenate(([_start_of(profile)], ends))
    stop = np.append(ends, max(_end_of(profile), int(ends[-1])))
    begins_after = instances.start_ns >= ends[-1]
    # DLProf keeps a last iteration without ops, which would only make the mean too small.
    if not profile.dlprof_markers and not begins_after.any():
        start, stop = start[:-1], stop[:-1]
    name = profile.ops[wanted[0]].name
    # The id if other ops share the name, so that the label selects the same iterations again.
    label = name if sum(op.name == name for op in profile.ops) == len(wanted) else key_op
    return IterationCandidate(KEY_OP, label, np.arange(len(start)), start, stop)


def _start_of(profile: Profile) -> int:
    """Start of the capture: of its first op or GPU work; 0 with DLProf's markers."""
    whole = next((int(way.start_ns[0]) for way in profile.iterations if way.source == "whole_capture"), 0)
    return min(whole, int(profile.instances.start_ns.min(initial=whole)))


def _end_of(profile: Profile) -> int:
    """End of the capture: the latest end of an op, as in DLProf, or of GPU work if the ops are not from its markers."""
    last_op = int(profile.instances.end_ns.max(initial=0))
    return last_op if profile.dlprof_markers else max(last_op, profile.info.end_ns)


def _unknown_key_op(profile: Profile, key_op: str) -> str:
    known = [text for op in profile.ops for text in (op.op_id, op.name)]
    # Comparing with every one of a hundred thousand paths would take minutes.
    near = difflib.get_close_matches(key_op, dict.fromkeys(known[:20_000]), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "choose one from the table of ops."
    return f"No op has the name or id {key_op!r}; {hint}"
