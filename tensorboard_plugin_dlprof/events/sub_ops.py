"""Finds the recorded ops that launched an instance's work: ``aten::addmm`` inside ``aten::linear``.

They show what was really computed: in which data type (autocast casts inside the op), on which shapes (the backward of
a product is two products), with which stride and padding. The innermost op with recorded shapes around each launch is
kept. In a capture without device work, the innermost ops that multiply matrices are kept instead.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.drafts import Drafts, Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_tables import OpTables
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind
from tensorboard_plugin_dlprof.events.trees import nearest_of
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import SubOps

COUNTED: Final = frozenset({
    "mm", "addmm", "addmm_", "bmm", "baddbmm", "baddbmm_", "mv", "addmv", "addmv_", "dot", "vdot", "_addmm_activation",
    "_scaled_mm", "_int_mm", "_weight_int8pack_mm", "_weight_int4pack_mm_for_cpu", "mkldnn_rnn_layer",
    "mkldnn_rnn_layer_backward", "convolution", "_convolution", "convolution_backward",
    "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_backward",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_efficient_attention_backward",
    "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_cudnn_attention_backward",
    "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
})  # fmt: skip
"""Bare names. ``efficiency`` has a formula for each. If one op is inside another, such as ``_convolution`` in
``convolution``, the inner one is counted."""


_HALF = Expression(r"(?:cudnn|miopen)_convolution(?:_transpose)?_backward_(?:input|weight)\Z")
"""The two halves of a backward convolution, which PyTorch before 1.11 ran as separate ops. An argument of each is the
size of its result, which traces of that time do not record; the op around both has all shapes."""


def find_sub_ops(
    capture: Capture, nesting: Nesting, links: Links, drafts: Drafts, owners: Owners, tables: OpTables
) -> SubOps:
    """The sub-ops of all instances, ordered by instance, then start; no rows if there are none."""
    if capture.graph_ops:
        return _of_graph_ops(capture, nesting, drafts, tables)
    if not len(links.work_call):
        return _described(capture, nesting, tables, *_products(capture, nesting, drafts))
    ranges = capture.ranges
    calls = distinct_values(links.work_call[links.work_call >= 0])
    draft = owners.of_call[calls].astype(np.int64)
    in_range = (draft < len(drafts.place)) & (links.call_place[calls] >= 0)
    in_range[in_range] = drafts.place[draft[in_range]] >= 0
    calls, draft = calls[in_range], draft[in_range]
    if not len(calls):
        return empty(SubOps)
    is_op = ((ranges.kind == RangeKind.OP) & (ranges.shapes > 0))[nesting.row]
    place = nearest_of(links.call_place[calls], is_op, nesting.parent)
    inside = place >= drafts.place[draft]
    return _described(capture, nesting, tables, place[inside], draft[inside])


def _of_graph_ops(capture: Capture, nesting: Nesting, drafts: Drafts, tables: OpTables) -> SubOps:
    """The matrix products in ops that the source describes."""
    strings = capture.strings
    placed = np.flatnonzero(drafts.place >= 0)
    text = capture.ranges.name[nesting.row[drafts.place[placed]]]
    columns: list[list[int]] = []
    drafts_of: list[Int64s] = []
    for name, op in capture.graph_ops.items():
        own = placed[text == name] if op.products else placed[:0]
        for product in op.products if len(own) else ():
            columns.append(strings.intern_all(product))
            drafts_of.append(own)
    if not columns:
        return empty(SubOps)
    draft = np.concatenate(drafts_of)
    ids = np.repeat(np.array(columns, np.int32), [len(own) for own in drafts_of], axis=0)
    first = np.searchsorted(tables.instances.op, np.arange(len(tables.ops)))
    instance = (first[tables.op_of_draft[draft]] + tables.instance_of_draft[draft]).astype(np.int64)
    order = np.argsort(instance, kind="stable")
    none = np.zeros(len(order), np.int32)
    return SubOps(instance[order], ids[order, 0], ids[order, 1], ids[order, 2], none)


def _products(capture: Capture, nesting: Nesting, drafts: Drafts) -> tuple[Int64s, Int64s]:
    """Places of the innermost ops that multiply matrices, and the drafts that they are in: for captures without device
    work."""
    ranges = capture.ranges
    names_here = distinct_values(ranges.name[ranges.kind == RangeKind.OP]).tolist()
    counted = [text for text in names_here if names.bare_name(capture.strings[text]) in COUNTED]
    row = nesting.row
    own = (ranges.kind[row] == RangeKind.OP) & (ranges.shapes[row] > 0) & are_among(ranges.name[row], counted)
    around = nesting.above(nesting.inherit(own))[own]
    own[around[around >= 0]] = False
    of_place = np.full(len(row), -1, np.int32)
    described = np.flatnonzero(drafts.place >= 0)
    of_place[drafts.place[described]] = described
    draft = nesting.inherit(of_place >= 0, of_place)
    place = np.flatnonzero(own & (draft >= 0))
    return place, draft[place].astype(np.int64)


def _described(capture: Capture, nesting: Nesting, tables: OpTables, place: Int64s, draft: Int64s) -> SubOps:
    """The sub-ops at some places, each in the instance that the draft became."""
    ranges = capture.ranges
    if not len(place):
        return empty(SubOps)
    first = np.searchsorted(tables.instances.op, np.arange(len(tables.ops)))
    instance = first[tables.op_of_draft[draft]] + tables.instance_of_draft[draft]
    _, retained = np.unique(combine(instance, place), return_index=True)
    place, instance = place[retained], instance[retained]
    name, half = _names(capture, ranges.name[nesting.row[place]].astype(np.int64))
    described = np.where(half & (nesting.parent[place] >= 0), nesting.parent[place], place)
    row = nesting.row[described]
    return SubOps(
        instance=instance.astype(np.int64),
        name=name.astype(np.int32),
        shapes=ranges.shapes[row],
        dtypes=ranges.dtypes[row],
        parameters=ranges.parameters[row],
    )


def _names(capture: Capture, name: Int64s) -> tuple[Int64s, npt.NDArray[np.bool_]]:
    """Bare names as text ids, and which are halves of a backward convolution."""
    distinct, inverse = numbered(name)
    bare = [names.bare_name(capture.strings[text]) for text in distinct.tolist()]
    ids = np.array([capture.strings.intern(text) for text in bare], np.int64)
    halves = np.array([_HALF.match(text) is not None for text in bare], np.bool_)
    return ids[inverse.reshape(-1)], halves[inverse.reshape(-1)]
