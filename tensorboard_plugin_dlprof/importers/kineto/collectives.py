"""Reads what PyTorch says about collectives: the ``args`` of kernels and of the op ``record_param_comms``.

Few events have these arguments, so they are found by their text in a piece of the trace and decoded apart. They are
joined to kernels by correlation; a kernel without arguments of its own has those of the op with its ``External id``.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import Collectives, DeviceWork, Int64s, ProcessGroup, Strings
from tensorboard_plugin_dlprof.importers.kineto.events import DECODE_ERRORS, Kind, Scalar
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_KEY = b'"Collective name"'

_CUT = "..."
"""PyTorch writes only the first 30 elements of a list, and then this."""

_MOST_GROUPS = 10_000
_MOST_RANKS = 1_000_000
"""Limits for hostile files."""

_ELEMENT_BYTES = {
    **dict.fromkeys(("byte", "char", "bool", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
    **dict.fromkeys(("float8_e8m0fnu", "qint8", "quint8"), 1),
    **dict.fromkeys(("short", "half", "bfloat16", "uint16"), 2),
    **dict.fromkeys(("int", "float", "uint32", "complexhalf"), 4),
    **dict.fromkeys(("long", "double", "uint64", "complexfloat"), 8),
    "complexdouble": 16,
}
"""PyTorch's names of types, in lower case."""


class Described(msgspec.Struct, frozen=True, gc=False):
    """The arguments of one event that describe a collective. -1 and empty values stand for absent."""

    kind: ClassVar[Kind] = Kind.COLLECTIVE
    correlation: Scalar = -1
    external_id: Scalar = msgspec.field(name="External id", default=-1)
    stream: Scalar = -1
    call: Scalar = msgspec.field(name="Collective name", default="")
    dtype: Scalar = ""
    group_name: Scalar = msgspec.field(name="Process Group Name", default="")
    group_id: Scalar = msgspec.field(name="Process Group ID", default="")
    group_text: Scalar = msgspec.field(name="Process Group Description", default="")
    group_ranks: Any = msgspec.field(name="Process Group Ranks", default="")
    group_size: Scalar = msgspec.field(name="Group size", default=-1)
    in_elements: Scalar = msgspec.field(name="In msg nelems", default=-1)
    out_elements: Scalar = msgspec.field(name="Out msg nelems", default=-1)
    in_split: Any = msgspec.field(name="In split size", default="")
    sequence: Scalar = msgspec.field(name="Seq", default=-1)
    comms_id: Scalar = msgspec.field(name="Comms Id", default=-1)
    source: Scalar = msgspec.field(name="Src Rank", default=-1)
    destination: Scalar = msgspec.field(name="Dst Rank", default=-1)


_decode = msgspec.json.Decoder(Described, strict=False).decode


def described(text: bytes) -> list[Described]:
    """The collectives that a piece of a trace describes; arguments that cannot be decoded are left out."""
    descriptions, place = [], text.find(_KEY)
    while place >= 0:
        begin, end = text.rfind(b"{", 0, place), text.find(b"}", place)
        if begin < 0 or end < 0:
            break
        with contextlib.suppress(*DECODE_ERRORS):
            descriptions.append(_decode(text[begin : end + 1]))
        place = text.find(_KEY, end)
    return descriptions


def list_text(value: object) -> str:
    """A list as text without blanks: ``[0,1]`` for ``"[0, 1]"`` and for ``[0, 1]``."""
    return re.sub(r"\s", "", value if isinstance(value, str) else json.dumps(value) if isinstance(value, list) else "")


def positive_hash(value: object) -> int:
    """An unsigned 64-bit number, as a non-negative 63-bit one; -1 if absent."""
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return -1
    return number if number == -1 else int(number % (1 << 63))


def collectives(
    columns: Columns, work: DeviceWork, external_id: Int64s, strings: Strings, metadata: Mapping[str, Any]
) -> tuple[Collectives, list[ProcessGroup]]:
    """What is known of each collective, and the process groups of the trace.

    Args:
        columns: what events describe, as ``EventTables`` collects it.
        work: all device work; its row is found by correlation.
        external_id: of each row of ``work``; -1 if unknown.
        strings: the texts of ``columns``.
        metadata: the members of the trace besides its events.
    """
    groups = _Groups(metadata)
    if not len(columns["correlation"]):
        return empty(Collectives), groups.groups
    texts = strings.texts()
    own, of_op = columns["correlation"], columns["external_id"]
    row, described_row = _joined(own, work.correlation)
    others, hosts = np.setdiff1d(np.arange(len(work.correlation)), row), np.flatnonzero(own < 0)
    more_rows, more = _joined(of_op[hosts], external_id[others])
    row, described_row = np.append(row, others[more_rows]), np.append(described_row, hosts[more])
    order = np.argsort(row, kind="stable")
    row, described_row = row[order], described_row[order]
    values = {name: column[described_row].astype(np.int64) for name, column in columns.items()}
    names = zip(*(values[f"group_{what}"].tolist() for what in ("name", "text", "ranks", "size")), strict=True)
    group = [groups.number(texts[name], texts[text], texts[ranks], size) for name, text, ranks, size in names]
    sizes = [_ELEMENT_BYTES.get(texts[number].lower(), 0) for number in values["dtype"].tolist()]
    table = Collectives(
        work=row,
        call=values["called"].astype(np.int32),
        process_group=np.array(group, np.int32),
        sequence=values["sequence"],
        comms_id=values["comms_id"],
        in_elements=np.maximum(values["in_elements"], -1),
        out_elements=np.maximum(values["out_elements"], -1),
        element_bytes=np.array(sizes, np.int32),
        split=values["split"].astype(np.int8),
        source=values["source"].astype(np.int32),
        destination=values["destination"].astype(np.int32),
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
        distributed = metadata.get("distributedInfo")
        listed = distributed.get("pg_config") if isinstance(distributed, dict) else None
        listed = listed if isinstance(listed, list) else []
        for entry in listed[:_MOST_GROUPS]:
            if isinstance(entry, dict):
                ranks = _ranks(list_text(entry.get("ranks")))
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
