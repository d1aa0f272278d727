"""Writes and reads the recorded ops inside the calls of ops, from which FLOPs are counted."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.columns.packing import pack, parts_of, unpack
from tensorboard_plugin_dlprof.columns.rows import insert_rows, storable
from tensorboard_plugin_dlprof.columns.store import joined
from tensorboard_plugin_dlprof.database.lookups import Ids, ids_of, texts_of
from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Profile, SubOps, no_sub_ops


def write_sub_ops(con: sqlite3.Connection, profile: Profile) -> None:
    """Store the recorded ops; each distinct combination of name, shapes, types and parameters once."""
    sub_ops, strings = profile.sub_ops, profile.strings
    count = len(sub_ops.instance)
    if not count:
        return
    number, first = codes(sub_ops.name, sub_ops.shapes, sub_ops.dtypes, sub_ops.parameters)
    columns = (sub_ops.name, sub_ops.shapes, sub_ops.dtypes, sub_ops.parameters)
    insert_rows(
        con,
        "ext_sub_op_inputs",
        ("id", "name", "shapes", "dtypes", "parameters"),
        (
            (position + 1, *(storable(strings[int(column[row])]) for column in columns))
            for position, row in enumerate(first.tolist())
        ),
    )
    insert_rows(
        con,
        "ext_sub_ops",
        ("first_op_instance_id", "last_op_instance_id", "data"),
        (
            (int(instance[0]) + 1, int(instance[-1]) + 1, pack([instance + 1, number[begin:end] + 1]))
            for begin, end in parts_of(sub_ops.instance)
            for instance in (sub_ops.instance[begin:end],)
        ),
    )


def read_sub_ops(con: UntrustedConnection, strings: Strings, instances: int) -> SubOps:
    """Read the recorded ops.

    Args:
        con: one of our databases, of this version.
        strings: interns the texts.
        instances: number of calls of ops in the database.

    Raises:
        UnfitDatabase: a recorded op refers to a missing call or combination.
        ValueError: a value is not a number.
    """
    rows = list(texts_of(con, "SELECT id, name, shapes, dtypes, parameters FROM ext_sub_op_inputs ORDER BY id"))
    if not rows:
        return no_sub_ops()
    ids = np.array([int(row[0]) for row in rows], np.int64)
    texts = np.array([[strings.intern(text) for text in row[1:]] for row in rows], np.int32)
    parts = con.execute("SELECT data FROM ext_sub_ops ORDER BY id")
    instance, inputs = joined((np.stack(unpack(data, 2), axis=1) for (data,) in parts), 2)
    calls = Ids(ids_of(con, "op_calls", instances))
    found = texts[Ids(ids).rows(inputs, con.shown_name, "recorded op")]
    return SubOps(
        calls.rows(instance, con.shown_name, "call of an op"),
        *(np.ascontiguousarray(found[:, column]) for column in range(4)),
    )
