"""Numbers of the HTML report, which are written as on the pages."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.reports.markup import share
from tensorboard_plugin_dlprof.units import column_unit, in_unit, significant


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (None, "unknown"),
        (0.0, "0 %"),
        (0.0004, "<0.1 %"),
        (0.0005, "0.1 %"),
        (0.249, "24.9 %"),
        (0.9996, ">99.9 %"),
        (1.0, "100 %"),
        (1.254, "125 %"),
    ],
)
def test_shares_have_one_decimal(fraction: float | None, text: str) -> None:
    """What is not quite none and not quite all says so, as ``format/share.ts`` does."""
    assert share(fraction) == text


@pytest.mark.parametrize(
    ("times_ns", "unit", "texts"),
    [
        ([17_400_000, 793_000, 400, None], "ms", ["17.4", "0.793", "0.00040"]),
        ([-26_200_000, 0, 1_234_000_000], "s", ["-0.026", "0", "1.23"]),
        ([999_600, -1_500], "ms", ["1.00", "-0.0015"]),
        ([840, 3], "ns", ["840", "3"]),
    ],
)
def test_a_column_has_the_unit_of_its_largest_time(times_ns: list[int | None], unit: str, texts: list[str]) -> None:
    """With the digits of ``format/unit.ts``."""
    name, length = column_unit(times_ns)
    assert (name, [in_unit(time, length) for time in times_ns if time is not None]) == (unit, texts)


def test_rates_have_three_significant_digits() -> None:
    """As on the tiles of the Dashboard."""
    assert [significant(rate) for rate in (1.234, 50.51, 1_616.4, 208_951)] == ["1.23", "50.5", "1,620", "209,000"]
    assert [significant(rate) for rate in (1_625, 9_995, 12_350)] == ["1,630", "10,000", "12,400"]
