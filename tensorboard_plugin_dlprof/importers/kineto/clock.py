"""Converts the timestamps of a trace, microseconds as text, to integer nanoseconds without rounding.

Kineto has written ``ts`` in three ways: whole microseconds since 1970 (until 2024), microseconds
since 1970 with three decimals (2024), and microseconds with three decimals since
``baseTimeNanoseconds`` (since then). A double represents the first and the third exactly. The second it
rounds to a quarter of a microsecond, which is enough to make nested ranges cross. There, the leading
digits, which all timestamps of a trace share, are removed from the text before it is decoded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from tensorboard_plugin_dlprof.units import NS_PER_US

_STAMP = re.compile(rb'("ts"\s*:\s*"?)(\d{13,18})\.\d')

_EXACT_BELOW_US = 1 << 43
"""Below this, neighbouring doubles are less than a nanosecond apart."""

_EXACT_DIGITS = 12
LEAST_SHORT_US = 10**_EXACT_DIGITS
"""Timestamps are shortened to 12 digits (11 days) after a leading 1, so all of them are below twice this."""

MAX_US = float((1 << 63) // NS_PER_US - 1)
"""Beyond, nanoseconds overflow 64 bits."""


class Clock:
    """Converts the timestamps of one trace into doubles that represent them exactly.

    Args:
        sample: text from the start of the events; all timestamps of a trace are written in the same way.
    """

    def __init__(self, sample: bytes) -> None:
        self.origin_us = 0
        """What was subtracted from every timestamp: trace time = origin + decoded value."""
        self._long = self._short = b""
        for stamp in _STAMP.finditer(sample):
            digits = stamp[2]
            if int(digits) >= _EXACT_BELOW_US:
                leading = digits[:-_EXACT_DIGITS]
                self.origin_us = int(leading) * LEAST_SHORT_US - LEAST_SHORT_US
                # Padding with blanks keeps the length of the text, which makes replacing twice as fast.
                padding = b" " * (len(leading) - 1)
                quote = stamp[1][-1:].strip(b": \t\r\n")
                before = stamp[1].removesuffix(quote)
                self._long, self._short = stamp[1] + leading, before + padding + quote + b"1"
                break

    def shorten(self, text: bytes) -> bytes:
        """``text`` with every timestamp shortened so that a double represents it exactly."""
        return text.replace(self._long, self._short) if self._long else text

    def trusts(self, events: Iterable[Any]) -> bool:
        """Whether the times of all events are as exact as they were written; missing ones (NaN) do not matter."""
        if not self._long:
            return True
        return not any(event.ts < LEAST_SHORT_US or event.ts >= 2 * LEAST_SHORT_US for event in events)

    def relative_us(self, stamp: object) -> float:
        """A timestamp of any type as microseconds since ``origin_us``; NaN if it is not a number."""
        if isinstance(stamp, bool) or not isinstance(stamp, (int, float, str, Decimal)):
            return math.nan
        try:
            exact = Decimal(stamp)
            return float(exact - self.origin_us) if exact.is_finite() else math.nan
        except ArithmeticError:  # not a number, or one with an exponent of many digits
            return math.nan
