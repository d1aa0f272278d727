"""Converts drafts into the ops and instances of a profile, in DLProf's row order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.ops import eligibility
from tensorboard_plugin_dlprof.columns.group import stable_order
from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey
from tensorboard_plugin_dlprof.events.formats import Formats
from tensorboard_plugin_dlprof.events.inputs import NULL, Described
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import Instances, Op

NOTHING = Described("", Formats(), NULL, NULL, NULL, NULL, NULL)
"""Stands for the inputs of an instance without recorded ones."""

_BLOCK = 1 << 18
"""Instances processed at a time."""


class OpTables(msgspec.Struct):
    """The finished tables, and the rows that each draft became."""

    ops: list[Op]
    """Sorted by name, then op id, as UTF-8 bytes."""
    instances: Instances
    """Sorted by op, then start."""
    op_of_draft: Int32s
    """Row of ``ops`` for each draft."""
    instance_of_draft: Int32s
    """Number of each draft among the instances of its op, from 0."""


class DraftTexts(msgspec.Struct):
    """The recorded inputs of each draft, in a form that stores equal inputs once."""

    index: Int32s
    """Index of ``distinct`` and ``data_types`` for each draft."""
    distinct: list[Described]
    data_types: list[str]
    """The data type that the op computes in: that of ``distinct``, unless the inputs of a sub-op correct it."""


def op_tables(
    drafts: Drafts, joined: Int32s, texts: DraftTexts, stack_of: Callable[[int], str], strings: Strings
) -> OpTables:
    """Number, name and sort the ops.

    Args:
        joined: The op of each draft, numbered from 0 without gaps.
        texts: The recorded inputs of the drafts.
        stack_of: Returns the stack trace of a draft, given its row.
        strings: Where the texts of the instances are interned.
    """
    by_time = np.argsort(drafts.start_ns, kind="stable")
    count = int(joined.max(initial=-1)) + 1
    first = _first(joined, by_time, np.full(count, -1, np.int64))
    described_first = _first_described(joined, by_time, texts, first)
    numbers: dict[str, int] = defaultdict(int)
    ops: list[Op] = [None] * count  # type: ignore[list-item]
    kinds: dict[tuple[str, bool], Eligibility] = {}
    for op in np.lexsort((first, drafts.start_ns[first])).tolist():
        draft = int(first[op])
        key = drafts.keys[int(drafts.key[draft])]
        kind = key.op_type, key.associated
        if kind not in kinds:
            kinds[kind] = _eligibility(key)
        upper = key.op_type.upper()
        numbers[upper] += 1
        index = int(texts.index[described_first[op]])
        formats = texts.distinct[index].formats
        ops[op] = Op(
            op_id=f"{upper}_{numbers[upper]}",
            name=key.name,
            op_type=key.op_type,
            direction=key.direction,
            data_type=texts.data_types[index],
            data_format=formats.data,
            output_format=formats.output,
            parameters_format=formats.parameters,
            eligibility=kinds[kind],
            stack_trace=stack_of(draft) if key.associated else "",
        )
    order = sorted(range(count), key=lambda op: (ops[op].name.encode(), ops[op].op_id.encode()))
    op_of_draft = _rank(np.array(order, np.int64)).astype(np.int32)[joined]
    rows = by_time[stable_order(op_of_draft[by_time])]
    op = op_of_draft[rows]
    return OpTables(
        ops=[ops[op] for op in order],
        instances=_instances(drafts, rows, op, texts, strings),
        op_of_draft=op_of_draft,
        instance_of_draft=_numbers_within(rows, op),
    )


def _eligibility(key: OpKey) -> Eligibility:
    """Eligibility by op type; a fused layer (``Conv + Relu``) is eligible if one of its parts is."""
    if not key.associated:
        return Eligibility.UNASSOCIATED
    parts = {eligibility(part) for part in {key.op_type, *key.op_type.split(" + ")}}
    return Eligibility.ELIGIBLE if Eligibility.ELIGIBLE in parts else Eligibility.NOT_ELIGIBLE


def _first(joined: Int32s, by_time: Int64s, values: Int64s) -> Int64s:
    """Write the first draft of each op, among those in ``by_time``, to ``values``, which has one element per op."""
    # NumPy keeps the last of several writes to one element, so the drafts are written from the last to the first.
    for begin in range((len(by_time) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        rows = by_time[begin : begin + _BLOCK][::-1]
        values[joined[rows]] = rows
    return values


def _first_described(joined: Int32s, by_time: Int64s, texts: DraftTexts, first: Int64s) -> Int64s:
    """For each op its first draft with a data type, else its first draft."""
    known = np.array([bool(text) for text in texts.data_types], np.bool_)
    return _first(joined, by_time[known[texts.index[by_time]]], first.copy()) if known.any() else first


def _rank(order: Int64s) -> Int64s:
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _numbers_within(rows: Int64s, ordered: Int32s) -> Int32s:
    heads = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(rows) else rows
    lengths = np.diff(np.append(heads, len(rows)))
    inside = np.arange(len(rows), dtype=np.int32)
    inside -= np.repeat(heads.astype(np.int32), lengths)
    numbers = np.empty(len(rows), np.int32)
    numbers[rows] = inside
    return numbers


def _instances(drafts: Drafts, rows: Int64s, op: Int32s, texts: DraftTexts, strings: Strings) -> Instances:
    index: list[Int32s] = []

    def column(read: Callable[[Described], str]) -> Int32s:
        ids = np.array([strings.intern(read(item)) for item in texts.distinct], np.int32)
        if (ids == ids[0]).all():
            return np.broadcast_to(ids[:1], rows.shape)
        if not index:
            index.append(texts.index[rows])
        return ids[index[0]]

    return Instances(
        op=op,
        start_ns=drafts.start_ns[rows],
        end_ns=drafts.end_ns[rows],
        process_id=drafts.process_id[rows],
        thread_id=drafts.thread_id[rows],
        input_names=column(lambda item: item.input_names),
        input_shapes=column(lambda item: item.input_shapes),
        output_names=column(lambda item: item.output_names),
        output_shapes=column(lambda item: item.output_shapes),
        parameters=column(lambda item: item.parameters),
    )
