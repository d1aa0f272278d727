"""Numbers of a foreign database: any column may hold NULL, text, a blob or infinity. Such a value is unknown."""

from __future__ import annotations

import math


def number(value: object) -> int | float | None:
    """The value where it is a finite number."""
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def whole(value: object) -> int | None:
    """The value where it is a finite number, rounded."""
    if type(value) is int:
        return value
    found = number(value)
    return None if found is None else round(found)


def flag(value: object) -> bool:
    """Whether the value is a number other than 0."""
    return bool(number(value))


def flag_or_unknown(value: object) -> bool | None:
    """As ``flag``; NULL is unknown."""
    return None if value is None else flag(value)


def plus(*values: int | None) -> int | None:
    """The sum; unknown where a part is."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def minus(left: int | None, right: int | None) -> int | None:
    """The difference; unknown where a part is."""
    return None if left is None or right is None else left - right


def fraction(part: float | None, of: float | None) -> float | None:
    """``part`` of a whole from 0 to 1; unknown of nothing, and where either is unknown."""
    return None if part is None or not of else part / of
