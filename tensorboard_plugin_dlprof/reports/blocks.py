"""What every report is made of, and all that a writer has to know."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import msgspec


class Unknown(NamedTuple):
    """What the profile cannot tell, or only a part of, where DLProf wrote a number nevertheless."""

    dlprof: float
    """Its number, 0 for no; only the compatible CSV files show it."""
    rest: int | None = None
    """What is known."""


class Ours(tuple["Value", ...]):
    """A row that DLProf's report has not: the compatible CSV files leave it out."""


Value: TypeAlias = str | int | float | bool | list[str] | Unknown | None
"""Integers are exact, floats are averages and percentages, a list is one value in parts; ``None`` is unknown."""


class Kind(enum.Enum):
    """What a column holds: alignment, number format, and whether CSV has it in double quotes."""

    TEXT = enum.auto()
    """Names, shapes, stacks: in quotes."""
    WORD = enum.auto()
    """Short plain words: not in quotes."""
    INTEGER = enum.auto()
    DECIMAL = enum.auto()
    """Averages and percentages: one decimal."""
    YES_NO = enum.auto()


NUMERIC = frozenset({Kind.INTEGER, Kind.DECIMAL})


class Column(msgspec.Struct, frozen=True):
    """A heading of DLProf's and what stands below it."""

    heading: str
    """Empty for a first column that names the rows."""
    kind: Kind


class Block(msgspec.Struct, frozen=True):
    """A titled table. The rows may be a generator, and are read once."""

    title: str
    columns: tuple[Column, ...]
    """No columns: the rows are pairs of a name and its value."""
    rows: Iterable[tuple[Value, ...]]
    count: Callable[[], int] | None = None
    """Number of the rows, where they come from a cursor; nobody asks unless it has to."""


def known(value: Any) -> str | int | float | bool | list[str] | None:
    """The value; nothing for what a foreign database may hold in its place: a blob, or a number without end."""
    if isinstance(value, Unknown):
        return value.rest
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, list)) else None


USUAL: Mapping[Kind, type] = MappingProxyType({Kind.TEXT: str, Kind.WORD: str, Kind.INTEGER: int})
"""Types that need no fitting: who has millions of values looks here first."""


def fit(value: Any, kind: Kind) -> Value:
    """A value as SQLite gave it -> one of the kind: a foreign database may hold anything in any column."""
    found: Value = value
    if type(value) is USUAL.get(kind):
        return found
    if kind in (Kind.TEXT, Kind.WORD):
        return value if isinstance(value, (str, list)) else "" if value is None else str(known(value) or "")
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    if kind is Kind.YES_NO:
        return bool(value)
    return float(value) if kind is Kind.DECIMAL else round(value)
