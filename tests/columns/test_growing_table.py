"""Tables that are read piece by piece."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s


class _Times(msgspec.Struct):
    start_ns: Int64s
    thread: Int32s


def test_batches_make_one_table() -> None:
    """Of whole batches, of some rows of batches, and of columns that are known otherwise."""
    growing = GrowingTable(ColumnStore())
    growing.add(start_ns=np.array([1, 2]), extra=np.array([7, 8]))
    growing.add_some(np.array([False, True]), start_ns=np.array([3, 4]), extra=np.array([9, 10]))
    assert growing.take("extra", np.int32).tolist() == [7, 8, 10]
    table = growing.table(_Times, thread=np.zeros(3, np.int32))
    assert table.start_ns.tolist() == [1, 2, 4]


def test_a_table_without_batches_has_columns_of_its_types() -> None:
    """And one whose batches had no rows, too."""
    table = GrowingTable(ColumnStore()).table(_Times)
    growing = GrowingTable(ColumnStore())
    growing.add_some(np.zeros(2, np.bool_), start_ns=np.zeros(2, np.int64), thread=np.zeros(2, np.int32))
    for each in (table, growing.table(_Times)):
        assert (each.start_ns.dtype, each.thread.dtype) == (np.int64, np.int32)
        assert not len(each.start_ns)
