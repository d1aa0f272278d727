"""Units of measure, and the conversions between them.

Throughout the package, a time or duration is an integer number of nanoseconds in a name that ends in ``_ns``, a size is
an integer number of bytes in ``*_bytes``, and a fraction is a float from 0 to 1 in ``*_fraction``. The exceptions are
DLProf's own column names, which are kept (``gpu_start`` in nanoseconds, ``*_pct`` and ``*_utilization`` from 0 to 100,
with six decimals).
"""

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeAlias

Percent: TypeAlias = float

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def percent(part: float, whole: float) -> Percent:
    """``part`` of ``whole`` in percent, rounded to six decimals as DLProf stores it; 0 if ``whole`` is 0."""
    return round(100.0 * part / whole, 6) if whole else 0.0


def short_duration(time_ns: float) -> str:
    """A duration for sentences, with a unit that leaves about three digits: ``7.81 s``, ``12.3 ms``, ``840 ns``."""
    for unit, length in (("s", NS_PER_S), ("ms", NS_PER_MS), ("µs", NS_PER_US)):
        if time_ns >= 0.9995 * length:  # Otherwise 999.7 µs would be shown as 1,000 µs.
            return f"{three_digits(time_ns / length)} {unit}"
    return f"{round(time_ns)} ns"


def short_range(low_ns: float, high_ns: float) -> str:
    """A range for sentences, both ends in the unit of the upper: ``0.935 to 1.87 ms``; ``up to 59.3 ms`` from 0."""
    high = short_duration(high_ns)
    if not low_ns:
        return f"up to {high}"
    low = in_unit(low_ns, column_unit([high_ns])[1])
    return high if low == high.rsplit(" ", 1)[0] else f"{low} to {high}"


_TIME_UNITS = (("s", NS_PER_S), ("ms", NS_PER_MS), ("µs", NS_PER_US), ("ns", 1))


def column_unit(times_ns: Iterable[float | None]) -> tuple[str, int]:
    """The unit of a column of durations, by its largest, as on the pages: its name and its nanoseconds."""
    largest = max((abs(time_ns) for time_ns in times_ns if time_ns is not None), default=0)
    return next((unit for unit in _TIME_UNITS if largest >= 0.9995 * unit[1]), _TIME_UNITS[-1])


def in_unit(time_ns: float, unit_ns: int) -> str:
    """A duration in the unit of its column, as on the pages: three digits, but no more than three decimals, and of what
    is less than a hundredth two digits; tiny ones ``<0.0001``."""
    value = abs(time_ns) / unit_ns
    sign = "-" if time_ns < 0 else ""
    if value == 0:
        return "0"
    if unit_ns == 1:
        return f"{time_ns:,.0f}"
    if value < 0.0001:
        return f"{sign}<0.0001"
    if value < 0.00995:
        return f"{sign}{rounded(value, 1 - math.floor(math.log10(float(f'{value:.2g}'))))}"
    return f"{sign}{rounded(value, 3) if value < 0.9995 else three_digits(value)}"


def three_digits(value: float) -> str:
    """A number with at least three digits, and all digits before the decimal point: ``1.23``, ``12.3``, ``1,234``."""
    return rounded(value, 2 if value < 9.995 else 1 if value < 99.95 else 0)


_EXACT = 1 << 53
"""From here on a float has no decimals."""


def rounded(value: float, decimals: int) -> str:
    """A number with so many decimals, or with so many zeros at its end where they are negative; of two that are as near
    the larger one, as on the pages: 11.25 is 11.3."""
    if not abs(value) < _EXACT:  # A damaged database may hold any number.
        return f"{value:,.{max(decimals, 0)}f}"
    return f"{Decimal(value).quantize(Decimal((0, (1,), -decimals)), ROUND_HALF_UP):,f}"


def percentage(fraction: float) -> str:
    """A share in percent with one decimal, as on the pages: ``84.2 %``; 0 % only of none, 100 % only of all."""
    percent = 100 * fraction
    if 0 < percent < 0.05:
        return "under 0.1 %"
    if 99.95 <= percent < 100:
        return "over 99.9 %"
    return f"{rounded(percent, 0 if percent == 0 or percent >= 100 else 1)} %"


def shares(parts: Sequence[int], whole: int) -> list[float | None]:
    """Each part of the whole. None where one of them is not within it: values that count from the start of the
    recording, or contradict each other, consist of nothing."""
    known = whole > 0 and all(0 <= part <= whole for part in parts)
    return [part / whole if known else None for part in parts]


def narrow_percentage(fraction: float) -> str:
    """``percentage`` in at most seven letters, for columns of text: ``<0.1 %``, ``>99.9 %``."""
    return percentage(fraction).replace("under ", "<").replace("over ", ">")


def bandwidth(bytes_per_s: float) -> str:
    """A rate of bytes in units of powers of 1000, as GPUs' are published: ``5.02 GB/s``."""
    for unit, power in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_s >= 0.9995 * power:
            return f"{three_digits(bytes_per_s / power)} {unit}"
    return f"{round(bytes_per_s)} B/s"


def significant(value: float) -> str:
    """A positive number with three significant digits, as on the pages: ``1.23``, ``1,620``."""
    return three_digits(value) if value < 1_000 else rounded(value, 2 - int(math.log10(min(value, _EXACT))))


def size(count: float) -> str:
    """A size in units of powers of 1024, as on the pages."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{three_digits(count / (1 << power))} {unit}"
    return f"{round(count)} bytes"


def finite(value: Any) -> Any:
    """What JSON can hold of a value made of lists and dictionaries: numbers that are infinite or none are null."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
