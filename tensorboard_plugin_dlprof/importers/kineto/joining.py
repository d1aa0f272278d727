"""Joins the events of the parts of one trace, which several processes read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.importers.kineto.ids import numbered_in
from tensorboard_plugin_dlprof.importers.kineto.tables import COLUMNS, Events

_ITEMS: dict[str, tuple[str, ...]] = {
    "texts": ("name", "stack", "group", "track", "called", "dtype", "group_name", "group_text", "group_ranks"),
    "threads": ("thread",),
    "inputs": ("inputs",),
    "triples": ("grid", "block"),
    "metrics": ("metric",),
}
"""Items of ``Events`` -> the columns that hold their numbers."""


def joined(parts: Sequence[Events], store: ColumnStore) -> Events:
    """The events of the parts of one trace, in the order of the file. Items are numbered as if one had read them all:
    by first appearance. Empties the tables of ``parts``."""
    if len(parts) == 1:
        return parts[0]
    whole = Events({}, [], [], [], [], [], {}, Counter(), Counter(), set())
    numbers: dict[str, list[npt.NDArray[np.int32]]] = {}
    for items, columns in _ITEMS.items():
        known: dict[Any, int] = {}
        number = numbered_in(known)
        of_parts = [np.array([number(item) for item in getattr(part, items)], np.int32) for part in parts]
        setattr(whole, items, list(known))
        numbers |= dict.fromkeys(columns, of_parts)
    for name, typecodes in COLUMNS.items():
        whole.tables[name] = {}
        for column, typecode in typecodes.items():
            values = [part.tables[name].pop(column) for part in parts]
            target = whole.tables[name][column] = store.empty(sum(map(len, values)), typecode)
            begin = 0
            for place, each in enumerate(values):
                end = begin + len(each)
                target[begin:end] = numbers[column][place][each] if column in numbers and len(each) else each
                begin = end
    for part in parts:
        whole.thread_names |= part.thread_names
        whole.skipped.update(part.skipped)
        whole.categories.update(part.categories)
        whole.other_categories |= part.other_categories
    return whole
