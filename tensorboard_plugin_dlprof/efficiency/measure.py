"""Computes the work of every op instance, from its recorded sub-ops, else from its own inputs.

Formulas are evaluated once for each distinct combination of op and inputs; everything per instance is NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, codes
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.efficiency import convolutions
from tensorboard_plugin_dlprof.efficiency.calls import Call, make_call, parse_call
from tensorboard_plugin_dlprof.efficiency.formulas import product_family, telling, work_of
from tensorboard_plugin_dlprof.efficiency.work import Work, undecided
from tensorboard_plugin_dlprof.events.inputs import recorded_list
from tensorboard_plugin_dlprof.events.tables import Int8s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Op, Profile

_Number = TypeVar("_Number", np.int8, np.int64)

MOST = 10**16
"""More operations or bytes than a call can have (minutes on any GPU); shapes with more are damaged."""

UNKNOWN = -1
"""Stands for unknown in the columns of ``InstanceWork``."""


class InstanceWork(msgspec.Struct):
    """One row per row of ``Profile.instances``. -1 is unknown: shapes were not recorded, or are not enough."""

    flops: Int64s
    """Products as counted by ``FlopCounterMode``, without what a causal kernel leaves out; others approximately."""
    product_flops: Int64s
    """The part of it that matrix units could do. -1, like ``flops``, if a product among the sub-ops is undecided."""
    masked_flops: Int64s
    """What fused causal attention left out; else 0. With ``product_flops``, it gives ``FlopCounterMode``'s count."""
    min_bytes: Int64s
    """Every input read once, every output written once; -1 also if a data type is unknown."""
    elements: Int64s
    """The elements behind ``min_bytes``, which are known even without data types."""
    shape: Int64s
    """Index into ``works``: the product, else the op, with the most work in the instance; -1 if none is known."""
    works: list[Work]
    """The distinct works of the profile."""
    complete: Int8s
    """1 if the work of every sub-op that launched any is known, else 0."""


class _Pieces(msgspec.Struct):
    """The recorded ops that make up instances."""

    instance: Int64s
    """Row of ``Profile.instances``."""
    work: npt.NDArray[np.int64]
    """Index into the works; -1 if unknown."""


def measure(profile: Profile) -> InstanceWork:
    """The work of all instances of a profile."""
    works: list[Work] = []
    from_sub_ops = _sub_op_pieces(profile, works)
    from_ops = _op_pieces(profile, works, from_sub_ops.instance)
    pieces = _Pieces(
        np.concatenate([from_sub_ops.instance, from_ops.instance]), np.concatenate([from_sub_ops.work, from_ops.work])
    )
    return _summed(profile, pieces, works)


def _sub_op_pieces(profile: Profile, works: list[Work]) -> _Pieces:
    sub_ops = profile.sub_ops
    if not len(sub_ops.instance):
        return _Pieces(np.zeros(0, np.int64), np.zeros(0, np.int64))
    number, first = codes(sub_ops.name, sub_ops.shapes, sub_ops.dtypes, sub_ops.parameters)
    strings = profile.strings
    # Of most ops, which only look at a tensor in another way, no shapes need to be read.
    names = strings.some(sub_ops.name[first])
    tell = telling(set(names))
    parsed = np.flatnonzero([name in tell for name in names])
    calls = [
        parse_call(
            strings[int(sub_ops.name[row])],
            strings[int(sub_ops.shapes[row])],
            strings[int(sub_ops.dtypes[row])],
            strings[int(sub_ops.parameters[row])],
        )
        for row in first[parsed].tolist()
    ]
    work = np.full(len(first), UNKNOWN, np.int64)
    work[parsed] = _indices(calls, works)
    return _Pieces(sub_ops.instance, work[number])


def _op_pieces(profile: Profile, works: list[Work], described: Int64s) -> _Pieces:
    """Instances without sub-ops that are described by their own inputs. CPU ops are left out."""
    instances = profile.instances
    wanted = np.ones(len(instances.op), np.bool_)
    wanted[described] = False
    # Filter by name first, because there may be a great many ranges named by users, for which there is no formula.
    functions = [_function(op.op_type) for op in profile.ops]
    tell = telling(set(functions))
    usable = np.array(
        [name in tell and _is_usable(op) for name, op in zip(functions, profile.ops, strict=True)], np.bool_
    )
    if not len(usable) or (not profile.dlprof_markers and len(profile.sub_ops.instance)):
        return _Pieces(np.zeros(0, np.int64), np.zeros(0, np.int64))
    wanted &= usable[instances.op]
    rows = np.flatnonzero(wanted)
    if not len(rows):
        return _Pieces(rows, rows)
    kind = _kinds(profile)[instances.op[rows]]
    number, first = codes(kind, instances.input_shapes[rows], instances.parameters[rows])
    calls = [_call_of_op(profile, int(rows[position])) for position in first.tolist()]
    return _Pieces(rows, _indices(calls, works)[number])


def _kinds(profile: Profile) -> Int64s:
    """A number for each op that identifies its type and data type, which is all that ``_call_of_op`` uses."""
    numbers: dict[tuple[str, str], int] = {}
    return np.array([numbers.setdefault((op.op_type, op.data_type), len(numbers)) for op in profile.ops], np.int64)


def _is_usable(op: Op) -> bool:
    """Whether the op's inputs describe its work. DLProf's backward ops only repeat the inputs of forward, from which it
    is not known which gradients were wanted."""
    return op.eligibility != Eligibility.UNASSOCIATED and op.direction != "bprop"


def _function(op_type: str) -> str:
    return _FUNCTIONS.get(op_type.lower(), op_type)


def _call_of_op(profile: Profile, instance: int) -> Call:
    """The op as a call. DLProf stores tensors only, and ``[[stride], [padding], [dilation], [groups]]`` for
    convolutions."""
    instances, strings = profile.instances, profile.strings
    op = profile.ops[int(instances.op[instance])]
    shapes = _lists(strings[int(instances.input_shapes[instance])])
    parameters = _lists(strings[int(instances.parameters[instance])])
    name = _function(op.op_type)
    if "conv" in name and len(shapes) >= 2 and len(parameters) == 4:
        arguments = [shapes[0], shapes[1], [], [], [], [], []]
        return make_call(name, arguments, [], (None, None, None, *parameters[:3], parameters[3][0]), op.data_type)
    return make_call(name, shapes, [], (), op.data_type)


_FUNCTIONS = {"__matmul__": "matmul"}


def _lists(text: str) -> list[list[object]]:
    """A JSON list of lists, none of them empty; an empty list if the text is something else."""
    entries = recorded_list(text)
    parts = [part for part in entries if isinstance(part, list) and part]
    return parts if len(parts) == len(entries) else []


def _indices(calls: Sequence[Call], works: list[Work]) -> Int64s:
    """Append the works of calls to ``works``; returns the index for each, or -1 if it has none.

    Products always have one, because it is known that they multiply, whatever the shapes.
    """
    learnt: convolutions.Outputs = {}
    for call in calls:
        convolutions.learn(call, learnt)
    indices = np.full(len(calls), UNKNOWN, np.int64)
    for position, call in enumerate(calls):
        work = work_of(call, learnt)
        if work is not None and max(work.flops or 0, work.elements or 0, work.min_bytes or 0) >= MOST:
            work = None
        if work is None and (family := product_family(call.name)):
            work = undecided(family)
        if work is not None:
            indices[position] = len(works)
            works.append(work)
    return indices


def _summed(profile: Profile, pieces: _Pieces, works: list[Work]) -> InstanceWork:
    # Sums are computed only for instances with pieces, because there may be millions of others.
    instances, number = numbered(pieces.instance)
    of_instance = Groups.of(number, len(instances))

    def of_all(values: npt.NDArray[_Number], nothing: int) -> npt.NDArray[_Number]:
        """The column for all instances; a view of ``nothing`` if that is the value everywhere."""
        rows = len(profile.instances.op)
        if (values == nothing).all():
            return np.broadcast_to(np.array([nothing], values.dtype), rows)
        if len(values) == rows:
            return values
        column = np.full(rows, nothing, values.dtype)
        column[instances] = values
        return column

    def column(read: list[int | None]) -> Int64s:
        """A number of each piece's work; -1, the last value, for pieces without work."""
        return np.array([*(UNKNOWN if each is None else each for each in read), UNKNOWN], np.int64)[pieces.work]

    product = [work.family in PRODUCT_FAMILIES for work in works]
    spent = [None if work.flops is None else work.flops - work.skipped_flops for work in works]
    done = column(spent)
    of_products = column([None if each is None else each * p for each, p in zip(spent, product, strict=True)])
    size = column([work.min_bytes for work in works])
    moved = column([work.elements for work in works])
    known = done >= 0
    # The largest piece is a product, if there is any, and else the one with the most operations.
    is_product = np.array([*product, False], np.bool_)[pieces.work]
    weight = np.array([*(float(work.flops or 0) + (work.elements or 0) for work in works), -1.0])[pieces.work]
    masked = np.maximum(column([work.skipped_flops for work in works]), 0)

    # If a product is undecided, the sum over the other pieces says little about the op.
    undecided_products = of_instance.sum(is_product & ~known) > 0
    some = (of_instance.sum(known) > 0) & ~undecided_products

    def total(values: Int64s, all_known: bool) -> Int64s:
        sums = of_instance.sum(np.maximum(values, 0))
        missing = of_instance.sum(values < 0) > 0
        return of_all(np.where(~missing if all_known else some, sums, UNKNOWN), UNKNOWN)

    complete = of_instance.sum(~known) == 0
    shape = np.full(len(instances), UNKNOWN, np.int64)
    order = np.lexsort((weight, is_product, number))
    shape[number[order]] = pieces.work[order]
    return InstanceWork(
        flops=total(done, False),
        product_flops=total(of_products, False),
        masked_flops=of_all(np.where(undecided_products, 0, of_instance.sum(masked)), 0),
        min_bytes=total(size, True),
        elements=of_all(np.where(complete, of_instance.sum(np.maximum(moved, 0)), UNKNOWN), UNKNOWN),
        shape=of_all(shape, UNKNOWN),
        works=works,
        complete=of_all(complete.astype(np.int8), 0),
    )
