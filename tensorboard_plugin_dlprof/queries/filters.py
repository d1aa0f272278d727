"""Parses the text of a column filter into an SQL condition with bound values."""

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
    "bytes": {
        **{"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12},
        **{"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40},
    },
    "fraction": {"": 1, "%": Decimal("0.01")},
    "integer": {"": 1},
    "number": {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([a-zA-Zµμ%]*)")
_COMPARISON = re.compile(r"(>=|<=|>|<|=)?\s*(.+)", re.DOTALL)

_EXAMPLES: dict[ColumnType, str] = {"duration_ns": ">1ms or 10us..20us", "bytes": ">1MB", "fraction": ">10%"}

_BOOLEANS = {"yes": "1", "true": "1", "1": "1", "no": "0", "false": "0", "0": "0"}


class Condition(msgspec.Struct, frozen=True):
    """An SQL condition on one column."""

    sql: str
    """``{}`` stands for the column's expression, each ``?`` for one of the values, in order."""
    values: tuple[str | float | int, ...] = ()

    def times(self, factor: int) -> Condition:
        """The same condition on a column whose values are so many times as large."""
        return Condition(self.sql, tuple(value if isinstance(value, str) else value * factor for value in self.values))


LONGEST_PATTERN_BYTES = 200
"""Limit of ``LIKE`` on connections to untrusted databases (``opening.sqlite_file``). Kernel names may be longer."""


def containing(text: str) -> Condition:
    """The condition that a column contains ``text``, ignoring the case of ASCII letters."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"%{escaped}%"
    if len(pattern.encode(errors="replace")) <= LONGEST_PATTERN_BYTES:
        return Condition(r"{} LIKE ? ESCAPE '\'", (pattern,))
    return Condition("instr(lower({}), lower(?)) > 0", (text,))


def condition(label: str, column_type: ColumnType, text: str) -> Condition:
    """The condition for the text of a filter.

    * Text columns: the text is contained, ignoring case; after ``=``, it is the whole value.
    * Numbers: ``>1000``, ``>=``, ``<``, ``<=``, ``=`` or a bare number; ``10..20`` includes both ends. Units may
      follow: ``ns us ms s`` for durations, ``kB MB GB TB KiB MiB GiB TiB`` for sizes, ``%`` for shares.
    * Booleans: yes, no, unknown.

    Raises:
        BadRequest: the text is not a filter for this type.
    """
    given, text = text, text.strip()
    if column_type in TEXT_TYPES:
        if not text.startswith("="):
            return containing(text)
        # Keys of groups without a direction end with a space.
        exact, whole = text[1:].strip(), given.lstrip()[1:]
        return Condition("{} = ?", (exact,)) if exact == whole else Condition("{} IN (?, ?)", (exact, whole))
    if column_type == "boolean":
        return _boolean(label, text)
    low, dots, high = text.partition("..")
    if dots:
        return Condition("{} BETWEEN ? AND ?", (_number(label, column_type, low), _number(label, column_type, high)))
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise _not_understood(label, text, column_type)
    operator = match.group(1) or "="
    return Condition(f"{{}} {operator} ?", (_number(label, column_type, match.group(2)),))


def _boolean(label: str, text: str) -> Condition:
    if text.lower() == "unknown":
        return Condition("{} IS NULL")
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise BadRequest(f"{label}: {_cut(text)!r} is not understood; write yes, no or unknown.")
    return Condition(f"{{}} = {value}")


def _number(label: str, column_type: ColumnType, text: str) -> float | int:
    match = _NUMBER.fullmatch(text.strip())
    factor = _UNITS[column_type].get(match.group(2).lower()) if match else None
    if match is None or factor is None:
        raise _not_understood(label, text, column_type)
    # As decimals, because 1.001 * 1000 is not 1001 in floating point.
    value = Decimal(match.group(1)) * factor
    if abs(value) < 2**63 and value == value.to_integral_value():
        return int(value)
    if not math.isfinite(value):
        raise _not_understood(label, text, column_type)
    return float(value)


def _not_understood(label: str, text: str, column_type: ColumnType) -> BadRequest:
    example = _EXAMPLES.get(column_type, ">1000 or 10..20")
    return BadRequest(f"{label}: {_cut(text)!r} is not understood; write for example {example}.")


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
