"""Stores the recorded ops inside the instances, and reads them back: what FLOPs are counted from."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.database.lookups import Ids, integers, texts_of
from tensorboard_plugin_dlprof.database.rows import insert_integers, insert_rows, storable
from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.profile.tables import Profile, SubOps, no_sub_ops


def write_sub_ops(con: sqlite3.Connection, profile: Profile) -> None:
    """Store them; what is the same in many of them once."""
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
    heads = np.searchsorted(sub_ops.instance, sub_ops.instance)
    insert_integers(
        con,
        "ext_sub_ops",
        {
            "op_instance_id": sub_ops.instance + 1,
            "position": np.arange(count) - heads,
            "inputs_id": number + 1,
        },
        count,
    )


def read_sub_ops(con: UntrustedConnection, strings: Strings) -> SubOps:
    """Read them back.

    Args:
        con: a database of ours, of this version.
        strings: interns the texts.

    Raises:
        UnfitDatabase: they refer to what is not there.
        ValueError: a value is no number.
    """
    rows = list(texts_of(con, "SELECT id, name, shapes, dtypes, parameters FROM ext_sub_op_inputs ORDER BY id"))
    if not rows:
        return no_sub_ops()
    ids = np.array([int(row[0]) for row in rows], np.int64)
    texts = np.array([[strings.intern(text) for text in row[1:]] for row in rows], np.int32)
    instance, inputs = integers(
        con, "SELECT op_instance_id, inputs_id FROM ext_sub_ops ORDER BY op_instance_id, position", 2
    )
    instances = Ids(integers(con, "SELECT id FROM read_only_op_instances ORDER BY id", 1)[0])
    found = texts[Ids(ids).rows(inputs, con.shown_name, "recorded op")]
    return SubOps(
        instances.rows(instance, con.shown_name, "call of an op"),
        *(np.ascontiguousarray(found[:, column]) for column in range(4)),
    )
