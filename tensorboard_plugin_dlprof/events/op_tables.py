"""Drafts -> the ops and instances of a profile, in DLProf's row order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.ops import eligibility
from tensorboard_plugin_dlprof.distinct import steady
from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey
from tensorboard_plugin_dlprof.events.formats import Formats
from tensorboard_plugin_dlprof.events.inputs import NULL, Described
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import Instances, Op

NOTHING = Described("", Formats(), NULL, NULL, NULL, NULL, NULL)
"""What is known of the inputs of an op without any recorded."""


class OpTables(msgspec.Struct):
    """The finished tables, and where each draft went."""

    ops: list[Op]
    instances: Instances
    op_of_draft: Int64s
    """Row of ``ops``."""
    instance_of_draft: Int32s
    """Number among the instances of its op, from 0."""


class DraftTexts(msgspec.Struct):
    """What the inputs of each draft say: an index of ``distinct`` per draft."""

    index: Int64s
    distinct: list[Described]
    data_types: list[str]
    """By draft's index: the data type the op computes in, which sub-ops may know better."""


def op_tables(
    drafts: Drafts, joined: Int64s, texts: DraftTexts, stack_of: Callable[[int], str], strings: Strings
) -> OpTables:
    """Numbers, names and sorts the ops.

    Args:
        drafts: The instances.
        joined: The op of each, from 0 without gaps.
        texts: What is known of their inputs.
        stack_of: Stack trace of a draft.
        strings: Interns the texts of the instances.
    """
    by_time = np.argsort(drafts.start_ns, kind="stable")
    count = int(joined.max(initial=-1)) + 1
    first = np.full(count, -1, np.int64)
    first[joined[by_time[::-1]]] = by_time[::-1]
    described_first = _first_described(joined, by_time, texts, count)
    numbers: dict[str, int] = defaultdict(int)
    ops: list[Op] = [None] * count  # type: ignore[list-item]
    kinds: dict[tuple[str, bool], Eligibility] = {}
    for op in np.argsort(_rank(by_time)[first], kind="stable").tolist():
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
    final = _rank(np.array(order, np.int64))
    op_of_draft = final[joined]
    rows = by_time[_order_by_op(op_of_draft[by_time])]
    return OpTables(
        ops=[ops[op] for op in order],
        instances=_instances(drafts, rows, op_of_draft, texts, strings),
        op_of_draft=op_of_draft,
        instance_of_draft=_numbers_within(rows, op_of_draft),
    )


def _eligibility(key: OpKey) -> Eligibility:
    """Eligibility by type; of a fused layer (``Conv + Relu``) that of its parts."""
    if not key.associated:
        return Eligibility.UNASSOCIATED
    parts = [eligibility(part) for part in (key.op_type, *key.op_type.split(" + "))]
    return Eligibility.ELIGIBLE if Eligibility.ELIGIBLE in parts else Eligibility.NOT_ELIGIBLE


def _first_described(joined: Int64s, by_time: Int64s, texts: DraftTexts, count: int) -> Int64s:
    """For each op its first instance with a data type, else its first."""
    known = np.array([bool(text) for text in texts.data_types], np.bool_)[texts.index[by_time]]
    found = np.full(count, -1, np.int64)
    found[joined[by_time[::-1]]] = by_time[::-1]
    typed = by_time[known][::-1]
    found[joined[typed]] = typed
    return found


def _order_by_op(op: Int64s) -> Int64s:
    """Rows by op, those of one op as they are. Numbers of 16 bits are sorted digit by digit, six times as fast."""
    narrow = op.astype(np.uint16) if not len(op) or int(op.max()) < 1 << 16 else op
    return np.argsort(narrow, kind="stable")


def _rank(order: Int64s) -> Int64s:
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _numbers_within(rows: Int64s, op: Int64s) -> Int32s:
    ordered = op[rows]
    heads = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(rows) else rows
    lengths = np.diff(np.append(heads, len(rows)))
    inside = np.arange(len(rows), dtype=np.int32)
    inside -= np.repeat(heads.astype(np.int32), lengths)
    numbers = np.empty(len(rows), np.int32)
    numbers[rows] = inside
    return numbers


def _instances(drafts: Drafts, rows: Int64s, op: Int64s, texts: DraftTexts, strings: Strings) -> Instances:
    index = texts.index[rows]

    def column(read: Callable[[Described], str]) -> Int32s:
        ids = np.array([strings.intern(read(item)) for item in texts.distinct], np.int32)
        return np.broadcast_to(ids[:1], index.shape) if (ids == ids[0]).all() else ids[index]

    return Instances(
        op=op[rows].astype(np.int32),
        cpu_start=drafts.start_ns[rows],
        cpu_stop=drafts.end_ns[rows],
        process_id=steady(drafts.process_id[rows]),
        thread_id=steady(drafts.thread_id[rows]),
        input_names=column(lambda item: item.input_names),
        input_shapes=column(lambda item: item.input_shapes),
        output_names=column(lambda item: item.output_names),
        output_shapes=column(lambda item: item.output_shapes),
        parameters=column(lambda item: item.parameters),
    )
