"""Reads what PyTorch says about collectives: the ``args`` of kernels and of the op ``record_param_comms``.

They are joined to kernels by correlation; a kernel without arguments of its own has those of the op with its
``External id``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.classify.dtypes import ITEM_BYTES, data_type
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import Collectives, DeviceWork, Int64s, ProcessGroup
from tensorboard_plugin_dlprof.importers.kineto.metadata import distributed_info
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_CUT = "..."
"""PyTorch writes only the first 30 elements of a list, and then this."""

_MOST_GROUPS = 10_000
_MOST_RANKS = 1_000_000
"""Limits for hostile files."""


def list_text(value: bytes) -> str:
    """A list as text without blanks: ``[0,1]`` for ``[0, 1]`` and for that as a text; empty if it is none."""
    text = re.sub(rb'[\s"]', b"", value).decode("utf-8", "replace")
    return text if text.startswith("[") else ""


def positive_hash(value: object) -> int:
    """An unsigned 64-bit number, as a non-negative 63-bit one; -1 if absent."""
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return -1
    return number if number == -1 else int(number % (1 << 63))


def collectives(
    columns: Columns, work: DeviceWork, external_id: Int64s, texts: Sequence[str], metadata: Mapping[str, Any]
) -> tuple[Collectives, list[ProcessGroup]]:
    """What is known of each collective, and the process groups of the trace.

    Args:
        columns: what events describe, as ``EventTables`` collects it.
        work: all device work; its row is found by correlation.
        external_id: of each row of ``work``; -1 if unknown.
        texts: those of ``columns``.
        metadata: the members of the trace besides its events.
    """
    groups = _Groups(metadata)
    if not len(columns["correlation"]):
        return empty(Collectives), groups.groups
    row, description = _joined(columns["correlation"], work.correlation)
    others, hosts = np.delete(np.arange(len(work.correlation)), row), np.flatnonzero(columns["correlation"] < 0)
    more_rows, more = _joined(columns["external_id"][hosts], external_id[others])
    row, description = np.append(row, others[more_rows]), np.append(description, hosts[more])
    order = np.argsort(row, kind="stable")
    of_work = {name: column[description[order]] for name, column in columns.items()}
    names = zip(*(of_work[f"group_{what}"].tolist() for what in ("name", "text", "ranks", "size")), strict=True)
    group = [groups.number(texts[name], texts[text], texts[ranks], size) for name, text, ranks, size in names]
    sizes = [ITEM_BYTES.get(data_type(texts[number].lower()), 0) for number in of_work["dtype"].tolist()]
    table = Collectives(
        work=row[order],
        process_group=np.array(group, np.int32),
        element_bytes=np.array(sizes, np.int32),
        in_elements=np.maximum(of_work.pop("in_elements"), -1),
        out_elements=np.maximum(of_work.pop("out_elements"), -1),
        **{name: column for name, column in of_work.items() if name in Collectives.__struct_fields__},
    )
    return table, groups.groups


def _joined(keys: Int64s, of_work: Int64s) -> tuple[Int64s, Int64s]:
    """Rows of work and of keys with the same number, where both have it once; -1 and 0 are no numbers.

    Several hosts' descriptions of one op repeat it: the first of them counts.
    """
    distinct, first = np.unique(keys, return_index=True)
    place = np.searchsorted(distinct, of_work)
    place[place == len(distinct)] = 0
    rows = np.flatnonzero((of_work > 0) & (distinct[place] == of_work)) if len(distinct) else place[:0]
    return rows, first[place[rows]]


class _Groups:
    """Process groups by name and ranks: names are counters of one process, and disjoint groups may share one."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self.groups: list[ProcessGroup] = []
        self._numbers: dict[tuple[str, str, int], int] = {}
        self._by_ranks: dict[tuple[str, tuple[int, ...] | str], int] = {}
        self._configured: dict[str, tuple[int, ...]] = {}
        listed = distributed_info(metadata).get("pg_config")
        listed = listed if isinstance(listed, list) else []
        for entry in listed[:_MOST_GROUPS]:
            if isinstance(entry, dict):
                ranks = _ranks(list_text(json.dumps(entry.get("ranks")).encode()))
                name, size = str(entry.get("pg_name", "")), whole_number(entry.get("pg_size"))
                if ranks is not None:
                    self._configured[name] = ranks
                self._add(name, str(entry.get("pg_desc", "")), ranks, "", size)

    def number(self, name: str, text: str, ranks_text: str, size: int) -> int:
        """The row of a group in ``groups``; -1 without a name."""
        key = name, ranks_text, size
        if key not in self._numbers:
            ranks = _ranks(ranks_text) or self._configured.get(name)
            if ranks is not None and 0 < size != len(ranks):
                ranks = None
            known = bool(name or ranks_text)
            self._numbers[key] = self._add(name, text, ranks, ranks_text, size) if known else -1
        return self._numbers[key]

    def _add(self, name: str, text: str, ranks: tuple[int, ...] | None, ranks_text: str, size: int) -> int:
        key = name, ranks if ranks is not None else f"{ranks_text} {size}"
        if key not in self._by_ranks:
            if len(self.groups) >= _MOST_GROUPS:
                return -1
            self._by_ranks[key] = len(self.groups)
            size = len(ranks) if ranks is not None else size
            self.groups.append(ProcessGroup(name, text, ranks or (), max(size, -1), "" if ranks else ranks_text))
        return self._by_ranks[key]


def _ranks(text: str) -> tuple[int, ...] | None:
    """The sorted ranks in ``[0,1]``; None if the list is absent, cut or no list of ranks."""
    if len(text) < 3 or _CUT in text or not re.fullmatch(r"\[\d{1,7}(?:,\d{1,7})*\]", text):
        return None
    ranks = sorted({int(rank) for rank in text[1:-1].split(",")})
    return tuple(ranks) if len(ranks) <= _MOST_RANKS else None
