"""Converts values of a database to cells of a table; a foreign database may contain anything in any column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, ColumnType
from tensorboard_plugin_dlprof.queries.numbers import number

Cell: TypeAlias = str | int | float | bool | None

_SHOWN_LETTERS = 8_192
_SHOWN_LETTERS_OF_LONG_TEXT = 65_536

_TEXTS: frozenset[type] = frozenset({str, type(None)})
_WHOLE_NUMBERS: frozenset[type] = frozenset({int, type(None)})


def cells(column: ColumnType, values: Sequence[Any]) -> Sequence[Cell]:
    """The values of a column, as SQLite returned them, in a form that JSON can represent."""
    types = set(map(type, values))
    # Most columns contain what they should, and checking each value would take longer than reading it.
    if column in TEXT_TYPES:
        letters = _SHOWN_LETTERS_OF_LONG_TEXT if column == "long_text" else _SHOWN_LETTERS
        if types <= _TEXTS and max(map(len, filter(None, values)), default=0) <= letters:
            return values
        return [_text(value, letters) for value in values]
    if column in _NUMBERS:
        return values if types <= _WHOLE_NUMBERS else [number(value) for value in values]
    shown = _OTHERS[column]
    return [shown(value) for value in values]


def _text(value: object, letters: int) -> Cell:
    if value is None or isinstance(value, bytes):
        return None
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= letters else text[:letters] + "…"


def _boolean(value: object) -> Cell:
    known = number(value)
    return None if known is None else bool(known)


def _fraction(value: object) -> Cell:
    known = number(value)
    return None if known is None else float(known)


_NUMBERS: frozenset[ColumnType] = frozenset({"integer", "number", "duration_ns", "bytes"})

_OTHERS: Mapping[ColumnType, Callable[[object], Cell]] = MappingProxyType({"boolean": _boolean, "fraction": _fraction})
