"""Numbers the texts of a profile as DLProf does: in the order in which its rows first use them.

Rows are written op by op. Each op uses its own texts, then those of its instances, then those of its
device work and calls by name; so a database made from the same profile has the same ids as DLProf's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import sort_bytes
from tensorboard_plugin_dlprof.database.rows import storable
from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import Op, Profile


class Dictionary:
    """Texts with their ids, as the table ``dictionary`` holds them: from 1, or on from those that are ``known``."""

    def __init__(self, known: Mapping[str, int] = MappingProxyType({})) -> None:
        self._ids: dict[str, int] = dict(known)
        self._together: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._known = len(self._ids)
        self._before_new = max(known.values(), default=0) - self._known

    def id(self, text: str) -> int:
        """The id of a text, new if it was not used before."""
        found = self._ids.get(text)
        if found is None:
            found = self._ids.setdefault(storable(text), self._before_new + len(self._ids) + 1)
        return found

    def ids_together(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The ids of texts that are asked for together again and again, as those of alike ops are."""
        found = self._together.get(texts)
        if found is None:
            found = self._together[texts] = tuple(map(self.id, texts))
        return found

    def ids(self, texts: Iterable[str]) -> Int64s:
        """The ids of some texts."""
        return np.array([self.id(text) for text in texts], np.int64)

    def rows(self) -> Iterable[tuple[int, str]]:
        """Ids and texts of those that were not known, in the order of their ids."""
        return ((number, text) for text, number in islice(self._ids.items(), self._known, None))


def op_text_ids(op: Op, dictionary: Dictionary) -> tuple[int, ...]:
    """Ids of the texts of an op, in the order of the columns of ``read_only_ops``; the third is its empty device."""
    own = dictionary.id(op.op_id)
    return own, *dictionary.ids_together(
        (op.op_type, "", op.data_type, op.data_format, op.output_format, op.parameters_format, op.direction)
    )


def number_texts(profile: Profile, dictionary: Dictionary) -> Int64s:
    """Give every text that the raw tables use its id.

    Returns:
        For each id of ``Profile.strings`` that of the dictionary; 0 for texts that no row uses.
    """
    strings = profile.strings
    numbered = np.zeros(len(strings), np.int64)
    uses = sorted(_first_uses(profile))
    position = 0
    for row, op in enumerate(profile.ops):
        op_text_ids(op, dictionary)
        while position < len(uses) and uses[position][0] == row:
            string = uses[position][-1]
            numbered[string] = dictionary.id(strings[string])
            position += 1
    # DLProf has none of these: ids of what it has stay the same.
    for column in (profile.idle_frames.function, profile.idle_frames.innermost):
        for string in distinct_values(column).tolist():
            numbered[string] = dictionary.id(strings[string])
    return numbered


_Use = tuple[int, int, bytes, int, int, int]
"""Op, phase (0 instances, 1 work and calls), name, order within it, column, string."""


def _first_uses(profile: Profile) -> Iterable[_Use]:
    """The first use of each string by each column: few, however long the tables are."""
    instances = profile.instances
    columns = [
        instances.input_names,
        instances.input_shapes,
        instances.output_names,
        instances.output_shapes,
        instances.parameters,
    ]
    for column, strings in enumerate(columns):
        for string, row in _first_rows(strings, profile.strings):
            yield int(instances.op[row]), 0, b"", row, column, string
    kernels = profile.kernels
    for table in (kernels, profile.memcpys, profile.memsets, profile.syncs, profile.calls):
        for string, row in _first_rows(table.name, profile.strings):
            yield int(table.op[row]), 1, sort_bytes(profile.strings[string]), int(table.api_start[row]), 0, string
    for string, row in _first_rows(kernels.long_name, profile.strings):
        name = sort_bytes(profile.strings[int(kernels.name[row])])
        yield int(kernels.op[row]), 1, name, int(kernels.api_start[row]), 1, string


def _first_rows(column: Int32s, strings: Strings) -> Iterable[tuple[int, int]]:
    """Each string of the column with the first row that holds it."""
    first = np.full(len(strings), -1, np.int64)
    # Of several rows that write to one place NumPy keeps the last, hence from the end.
    first[column[::-1]] = np.arange(len(column) - 1, -1, -1)
    used: Sequence[int] = np.flatnonzero(first >= 0).tolist()
    return zip(used, first[used].tolist(), strict=True)
