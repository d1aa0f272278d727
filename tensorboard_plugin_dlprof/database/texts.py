"""Assigns ids to the texts of a profile in the order of first use, as DLProf does.

Rows are written op by op. Each op uses its own texts, then those of its calls, then those of its GPU work and CUDA
calls by name. So our database of a profile has the same ids as DLProf's database of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import byte_ranks
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.rows import storable
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import Op, Profile


class Dictionary:
    """The rows of the table ``dictionary``: assigns the next id to each new text.

    Args:
        known: texts that are stored already, with their ids. New ids follow the largest of them, or start at 1.
    """

    def __init__(self, known: Mapping[str, int] = {}) -> None:
        self._ids: dict[str, int] = dict(known)
        self._together: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._known = len(self._ids)
        self._before_new = max(known.values(), default=0) - self._known

    def id(self, text: str) -> int:
        """The id of a text; a new text gets the next id."""
        result = self._ids.get(text)
        if result is None:
            result = self._ids.setdefault(storable(text), self._before_new + len(self._ids) + 1)
        return result

    def ids_together(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The ids of several texts. Cached, because many ops have the same combination of texts."""
        result = self._together.get(texts)
        if result is None:
            result = self._together[texts] = tuple(map(self.id, texts))
        return result

    def ids(self, texts: Iterable[str]) -> Int64s:
        """The ids of several texts, as an array."""
        return np.array([self.id(text) for text in texts], np.int64)

    def rows(self) -> Iterable[tuple[int, str]]:
        """Id and text of each new text, ascending by id."""
        return ((number, text) for text, number in islice(self._ids.items(), self._known, None))


def op_text_ids(op: Op, dictionary: Dictionary) -> tuple[int, ...]:
    """Ids of the texts of an op, in the order of the columns of ``read_only_ops``; the device is the empty text."""
    own, op_type = dictionary.id(op.op_id), dictionary.id(op.op_type)
    return (
        own,
        op_type,
        *dictionary.ids_together(
            ("", op.data_type, op.data_format, op.output_format, op.parameters_format, op.direction)
        ),
    )


def number_texts(profile: Profile, dictionary: Dictionary) -> Int64s:
    """Give every text that the raw tables use its id.

    Returns:
        For each id of ``Profile.strings`` that of the dictionary; 0 for texts that no row uses.
    """
    strings = profile.strings
    op_of_use, string_of_use = _first_uses(profile)
    bounds = np.searchsorted(op_of_use, np.arange(len(profile.ops) + 1)).tolist()
    used = string_of_use.tolist()
    ids: list[int] = []
    for op, begin, end in zip(profile.ops, bounds, bounds[1:], strict=False):
        op_text_ids(op, dictionary)
        ids += [dictionary.id(strings[string]) for string in used[begin:end]]
    numbered = np.zeros(len(strings), np.int64)
    numbered[string_of_use] = ids
    # DLProf has none of these: ids of what it has stay the same.
    more = [profile.idle_frames.function, profile.idle_frames.innermost, profile.host_ranges.name]
    more += [] if profile.kernels.call_name is None else [profile.kernels.call_name]
    for column in more:
        for string in distinct_values(column).tolist():
            numbered[string] = dictionary.id(strings[string])
    return numbered


def _first_uses(profile: Profile) -> tuple[Int64s, Int64s]:
    """Op and string of the first use of each string by each column, in the order of the rows of DLProf's tables."""
    strings = profile.strings
    instances, kernels = profile.instances, profile.kernels
    uses: list[tuple[Int64s, ...]] = []
    """Op, phase (0 instances, 1 work and calls), string of the name, order within it, column, string."""

    def add(column: Int32s, op: Int32s, phase: int, name: Int32s | None, order: Int64s | None, number: int) -> None:
        string, row = _first_rows(column, strings)
        same = np.zeros(len(row), np.int64)
        of_name = same if name is None else name[row].astype(np.int64)
        uses.append((op[row].astype(np.int64), same + phase, of_name, row if order is None else order[row],
                     same + number, string))  # fmt: skip

    inputs = (instances.input_names, instances.input_shapes, instances.output_names, instances.output_shapes)
    for number, column in enumerate((*inputs, instances.parameters)):
        add(column, instances.op, 0, None, None, number)
    for table in (kernels, profile.memcpys, profile.memsets, profile.syncs, profile.calls):
        add(table.name, table.op, 1, table.name, table.api_start_ns, 0)
    add(kernels.long_name, kernels.op, 1, kernels.name, kernels.api_start_ns, 1)
    op, phase, name, order, place, string = (np.concatenate(each) for each in zip(*uses, strict=True))
    in_order = np.lexsort((string, place, order, byte_ranks(strings, name), phase, op))
    return op[in_order], string[in_order]


def _first_rows(column: Int32s, strings: Strings) -> tuple[Int64s, Int64s]:
    """Each string of the column, and the first row that holds it."""
    first = np.full(len(strings), -1, np.int64)
    # Of several rows that write to one place NumPy keeps the last, hence from the end.
    first[column[::-1]] = np.arange(len(column) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    return used, first[used]
