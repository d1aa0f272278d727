"""The parts of a report, which are the interface between reports and writers."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec


class Unknown(NamedTuple):
    """A value that is unknown or partly unknown, although DLProf writes a number."""

    dlprof: float
    """DLProf's number, 0 for no; only the compatible CSV files contain it."""
    rest: int | None = None
    """The part that is known."""


class Ours(tuple["Value", ...]):
    """A row that DLProf's report does not have: the compatible CSV files leave it out."""


Value: TypeAlias = str | int | float | bool | list[str] | Unknown | None
"""Integers are exact, floats are averages and percentages, a list is one value in parts; ``None`` is unknown."""


class Kind(enum.Enum):
    """The type of a column, by which writers choose alignment, number format, and double quotes in CSV."""

    TEXT = enum.auto()
    """Names, shapes, stack traces: quoted in CSV."""
    WORD = enum.auto()
    """Short plain words: not quoted in CSV."""
    INTEGER = enum.auto()
    DECIMAL = enum.auto()
    """Averages and percentages: one decimal."""
    YES_NO = enum.auto()


NUMERIC = frozenset({Kind.INTEGER, Kind.DECIMAL})


class Column(msgspec.Struct, frozen=True):
    """A column, with DLProf's heading."""

    heading: str
    """Empty for a first column that names the rows."""
    kind: Kind


class Block(msgspec.Struct, frozen=True):
    """A table with a title. The rows may be a generator, so they can be read only once."""

    title: str
    columns: tuple[Column, ...]
    """Empty if the rows are pairs of a name and its value."""
    rows: Iterable[tuple[Value, ...]]
    count: Callable[[], int] | None = None
    """Returns the number of rows if they come from a cursor; it may be slow."""
    about: str = ""
    """What it is for, in a few words, where its title stands in a list."""


def known(value: Any) -> str | int | float | bool | list[str] | None:
    """The known value; None for values that only foreign databases contain: blobs, and numbers that are not finite."""
    if isinstance(value, Unknown):
        return value.rest
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, list)) else None


USUAL: Mapping[Kind, type] = {Kind.TEXT: str, Kind.WORD: str, Kind.INTEGER: int}
"""Types of values that need no ``fit``, for callers with millions of values."""


def fit(value: Any, kind: Kind) -> Value:
    """Convert a value from SQLite to its kind, since foreign databases may contain anything in any column."""
    result: Value = value
    if type(value) is USUAL.get(kind):
        return result
    if kind in (Kind.TEXT, Kind.WORD):
        return value if isinstance(value, (str, list)) else "" if value is None else str(known(value) or "")
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    if kind is Kind.YES_NO:
        return bool(value)
    return float(value) if kind is Kind.DECIMAL else round(value)


def for_people(value: Value, written: Callable[[str], str]) -> str:
    """A cell of a report for people, in which ``written`` makes texts what the format needs."""
    value = known(value)
    if value is None or value == []:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, list)):
        return written(value if isinstance(value, str) else ", ".join(value))
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
