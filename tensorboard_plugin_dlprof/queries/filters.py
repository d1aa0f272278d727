"""What a user types into the filter of a column -> an SQL condition with bound values."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal, TypeAlias

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest

ColumnType: TypeAlias = Literal[
    "text", "long_text", "kernel_name", "path", "integer", "number", "boolean", "duration_ns", "fraction", "bytes"
]

TEXT_TYPES: frozenset[ColumnType] = frozenset({"text", "long_text", "kernel_name", "path"})

_UNITS: dict[ColumnType, dict[str, int | Decimal]] = {
    "duration_ns": {"": 1, "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9},
    "bytes": {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30},
    "fraction": {"": 1, "%": Decimal("0.01")},
    "integer": {"": 1},
    "number": {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([a-zA-Zµμ%]*)")
_COMPARISON = re.compile(r"(>=|<=|>|<|=)?\s*(.+)", re.DOTALL)

_EXAMPLES: dict[ColumnType, str] = {"duration_ns": ">1ms or 10us..20us", "bytes": ">1MB", "fraction": ">10%"}

_BOOLEANS = {"yes": "1", "true": "1", "1": "1", "no": "0", "false": "0", "0": "0"}


class Condition(msgspec.Struct, frozen=True):
    """``{}`` in the text stands for the column's expression, ``?`` for the values in turn."""

    sql: str
    values: tuple[str | float | int, ...] = ()


LONGEST_PATTERN_BYTES = 200
"""Of a ``LIKE`` on a connection to a database of others (``opening.sqlite_file``); names of kernels are longer."""


def containing(text: str) -> Condition:
    """The condition of texts that contain ``text``, whatever the case of ASCII letters."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"%{escaped}%"
    if len(pattern.encode(errors="replace")) <= LONGEST_PATTERN_BYTES:
        return Condition(r"{} LIKE ? ESCAPE '\'", (pattern,))
    return Condition("instr(lower({}), lower(?)) > 0", (text,))


def condition(column_key: str, column_type: ColumnType, text: str) -> Condition:
    """The condition that ``text`` puts on a column.

    Texts: a case-insensitive part, or all of it after ``=``. Numbers: ``>1000``, ``>=``, ``<``, ``<=``, ``=`` or a bare
    number, ``10..20`` with both ends; durations take ``ns us ms s``, sizes ``kB MB GB KiB MiB GiB``, shares
    ``%``. Booleans: yes, no, unknown.

    Raises:
        BadRequest: the text is no such filter.
    """
    text = text.strip()
    if column_type in TEXT_TYPES:
        return Condition("{} = ?", (text[1:].strip(),)) if text.startswith("=") else containing(text)
    if column_type == "boolean":
        return _boolean(column_key, text)
    low, dots, high = text.partition("..")
    if dots:
        return Condition(
            "{} BETWEEN ? AND ?", (_number(column_key, column_type, low), _number(column_key, column_type, high))
        )
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise _not_understood(column_key, text, column_type)
    operator = match.group(1) or "="
    return Condition(f"{{}} {operator} ?", (_number(column_key, column_type, match.group(2)),))


def _boolean(column_key: str, text: str) -> Condition:
    if text.lower() == "unknown":
        return Condition("{} IS NULL")
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise BadRequest(f"where.{column_key}={_cut(text)!r} is not understood; write yes, no or unknown.")
    return Condition(f"{{}} = {value}")


def _number(column_key: str, column_type: ColumnType, text: str) -> float | int:
    match = _NUMBER.fullmatch(text.strip())
    factor = _UNITS[column_type].get(match.group(2).lower()) if match else None
    if match is None or factor is None:
        raise _not_understood(column_key, text, column_type)
    # In decimals: 1.001 us are 1001 ns, which doubles miss.
    value = Decimal(match.group(1)) * factor
    if abs(value) < 2**63 and value == value.to_integral_value():
        return int(value)
    if not math.isfinite(value):
        raise _not_understood(column_key, text, column_type)
    return float(value)


def _not_understood(column_key: str, text: str, column_type: ColumnType) -> BadRequest:
    example = _EXAMPLES.get(column_type, ">1000 or 10..20")
    return BadRequest(f"where.{column_key}={_cut(text)!r} is not understood; write for example {example}.")


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
