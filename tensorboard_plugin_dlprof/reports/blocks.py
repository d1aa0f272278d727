"""What every report is made of, and all that a writer has to know."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

Value: TypeAlias = str | int | float | list[str] | None
"""Integers are exact, floats are averages and percentages, a list is one value in parts; ``None`` is unknown."""


@dataclass(slots=True, frozen=True)
class Block:
    """A titled table. The rows may be a generator, and are read once."""

    title: str
    columns: tuple[str, ...]
    """Headings. No headings: the rows are pairs of a name and its value. An empty first heading: the first column names
    the rows."""
    rows: Iterable[tuple[Value, ...]]


def known(value: Any) -> Value:
    """The value; nothing for what a foreign database may hold in its place: a blob, or a number without end."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, list)) else None
