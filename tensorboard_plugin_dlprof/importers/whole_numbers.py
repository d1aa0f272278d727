"""Whole numbers in files of any origin: as numbers, as text, or absent."""

from __future__ import annotations

from decimal import Decimal

_MOST_DIGITS = 20
"""Somewhat more than the digits of any 64-bit number."""


def whole_number(value: object, missing: int = -1) -> int:
    """``value``, a number or the text of one, as a 64-bit integer; ``missing`` if it is neither or does not fit."""
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() > _MOST_DIGITS:
        return missing  # int() would write out all the digits of 1e999999999
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return missing
    return number if -(1 << 63) <= number < 1 << 63 else missing
