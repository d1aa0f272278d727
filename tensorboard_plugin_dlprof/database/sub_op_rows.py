"""Writes and reads the recorded ops inside the calls of ops, from which FLOPs are counted.

Many calls contain the same ops in the same order, so each such set is stored once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.rows import Value, insert_integers, insert_rows, storable
from tensorboard_plugin_dlprof.database.lookups import RowNumbers, integers, texts_of
from tensorboard_plugin_dlprof.events.tables import Int64s, Strings
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Profile, SubOps


def write_sub_ops(con: sqlite3.Connection, profile: Profile) -> Int64s:
    """Store the recorded ops; each distinct combination of name, shapes, types and parameters once.

    Returns:
        ``sub_op_sets.id`` of each call of an op; 0 for calls without recorded ops.
    """
    sub_ops, strings = profile.sub_ops, profile.strings
    set_of_call = np.zeros(len(profile.instances.op), np.int64)
    if not len(sub_ops.instance):
        return set_of_call
    columns = (sub_ops.name, sub_ops.shapes, sub_ops.dtypes, sub_ops.parameters)
    inputs, first = codes(*columns)
    rows: Iterator[tuple[Value, ...]] = (
        (number, *(storable(strings[int(column[row])]) for column in columns))
        for number, row in enumerate(first.tolist(), 1)
    )
    insert_rows(con, "ext_sub_op_inputs", ("id", "name", "shapes", "dtypes", "parameters"), rows)
    heads = np.flatnonzero(np.diff(sub_ops.instance, prepend=-1))
    counts = np.diff(np.append(heads, len(inputs)))
    number, first = _distinct_sets(inputs, heads, counts)
    set_of_call[sub_ops.instance[heads]] = number + 1
    length = counts[first]
    position = _positions(length)
    insert_integers(
        con,
        "sub_op_sets",
        {
            "id": np.repeat(np.arange(1, len(first) + 1), length),
            "position": position,
            "input_id": inputs[np.repeat(heads[first], length) + position] + 1,
        },
    )
    return set_of_call


def read_sub_ops(con: UntrustedConnection, strings: Strings) -> SubOps:
    """Read the recorded ops.

    Args:
        con: one of our databases, of this version.

    Raises:
        UnfitDatabase: a call refers to a missing set, or a set to a missing combination.
        ValueError: a value is not a number.
    """
    rows = list(texts_of(con, "SELECT id, name, shapes, dtypes, parameters FROM ext_sub_op_inputs ORDER BY id"))
    if not rows:
        return empty(SubOps)
    ids = np.array([int(row[0]) for row in rows], np.int64)
    texts = np.array([[strings.intern(text) for text in row[1:]] for row in rows], np.int32)
    of_row, input_id = integers(con, "SELECT id, input_id FROM sub_op_sets ORDER BY id, position", 2)
    heads = np.flatnonzero(np.diff(of_row, prepend=of_row[:1] - 1))
    lengths = np.diff(np.append(heads, len(of_row)))
    (of_call,) = integers(
        con,
        "SELECT kind.sub_op_set_id FROM op_calls AS call "
        "CROSS JOIN op_call_kinds AS kind ON kind.id = call.kind_id ORDER BY call.id",
        1,
    )
    calls = np.flatnonzero(of_call)
    number = RowNumbers(of_row[heads]).rows(of_call[calls], con.shown_name, "set of recorded ops")
    counts = lengths[number]
    row = np.repeat(heads[number], counts) + _positions(counts)
    result = texts[RowNumbers(ids).rows(input_id[row], con.shown_name, "recorded op")]
    return SubOps(np.repeat(calls, counts), *(np.ascontiguousarray(result[:, column]) for column in range(4)))


def _distinct_sets(inputs: Int64s, heads: Int64s, counts: Int64s) -> tuple[Int64s, Int64s]:
    """Numbers equal sequences of inputs, in the order of first use.

    Args:
        inputs: of all calls, one call after the other.
        heads: where each call begins.
        counts: inputs of each call.

    Returns:
        The number of each call, and the first call with each number.
    """
    known: dict[bytes, int] = {}
    text, begins, ends = inputs.tobytes(), heads * inputs.itemsize, (heads + counts) * inputs.itemsize
    sets = [text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    number = np.array([known.setdefault(each, len(known)) for each in sets], np.int64)
    return number, np.unique(number, return_index=True)[1]


def _positions(counts: Int64s) -> Int64s:
    """The numbers from 0 within each of some adjacent groups of rows."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
