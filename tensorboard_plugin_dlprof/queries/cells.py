"""What a value of a database is in a table: a foreign database may hold anything in any column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from tensorboard_plugin_dlprof.queries.filters import ColumnType

Cell: TypeAlias = str | int | float | bool | None

_SHOWN_LETTERS = 8_192
_SHOWN_LETTERS_OF_LONG_TEXT = 65_536


def _text(value: object, letters: int = _SHOWN_LETTERS) -> Cell:
    if value is None or isinstance(value, bytes):
        return None
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= letters else text[:letters] + "…"


def _long_text(value: object) -> Cell:
    return _text(value, _SHOWN_LETTERS_OF_LONG_TEXT)


def _number(value: object) -> int | float | None:
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _boolean(value: object) -> Cell:
    number = _number(value)
    return None if number is None else bool(number)


def _fraction(value: object) -> Cell:
    number = _number(value)
    return None if number is None else float(number)


CELLS: Mapping[ColumnType, Callable[[object], Cell]] = MappingProxyType(
    {
        "text": _text,
        "long_text": _long_text,
        "kernel_name": _text,
        "path": _text,
        "integer": _number,
        "number": _number,
        "boolean": _boolean,
        "duration_ns": _number,
        "fraction": _fraction,
        "bytes": _number,
    }
)
"""Column type -> what makes of a value, as SQLite gave it, one that JSON can hold."""
