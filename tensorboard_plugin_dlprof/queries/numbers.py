"""Numbers from a foreign database: NULL, text, blobs and infinity, which any column may contain, are unknown."""

from __future__ import annotations

import math

_TOO_LARGE = 2.0**63


def number(value: object) -> int | float | None:
    """The value if it is a finite number, else None."""
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def whole(value: object) -> int | None:
    """The value rounded to an integer of 64 bits if it is a number that has one, else None."""
    if type(value) is int:
        return value
    result = number(value)
    return None if result is None or abs(result) >= _TOO_LARGE else round(result)


def plus(*values: int | None) -> int | None:
    """The sum; None if any value is."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def minus(left: int | None, right: int | None) -> int | None:
    """The difference; None if either value is."""
    return None if left is None or right is None else left - right


def fraction(part: float | None, of: float | None) -> float | None:
    """``part / of``; None if ``of`` is 0 or either is None."""
    return None if part is None or not of else part / of
