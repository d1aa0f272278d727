"""Units of measure, and the only conversions between them.

Everywhere in the package a time or duration is an integer number of nanoseconds in a name that
ends in ``_ns``, a size is an integer number of bytes in ``*_bytes``, a share is a float from 0 to 1
in ``*_fraction``. The exceptions are DLProf's own column names, which we keep as they are
(``gpu_start`` in nanoseconds, ``*_pct`` and ``*_utilization`` from 0 to 100, with six decimals).
"""

from typing import TypeAlias

Percent: TypeAlias = float

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def percent(part: float, whole: float) -> Percent:
    """``part`` of ``whole`` in percent, rounded to six decimals as DLProf stores it; 0 of nothing is 0."""
    return round(100.0 * part / whole, 6) if whole else 0.0


def short_duration(time_ns: int) -> str:
    """A duration in the sentences about a profile: in milliseconds, or in microseconds below one."""
    return f"{time_ns / NS_PER_MS:,.1f} ms" if time_ns >= NS_PER_MS else f"{time_ns / NS_PER_US:,.1f} µs"
