"""Numbers of a comparison in words."""

from __future__ import annotations

from tensorboard_plugin_dlprof.units import short_duration, three_digits

MANY_TIMES = 10
"""From here on percent have too many digits to be read (``model/comparison.ts`` has the same)."""


def duration(time_ns: float) -> str:
    """A duration with three digits."""
    return ("-" if time_ns < 0 else "") + short_duration(abs(time_ns))


def signed_duration(time_ns: float) -> str:
    """A change of a duration: ``+22.2 ms``."""
    return ("+" if time_ns > 0 else "") + duration(time_ns)


def percent(fraction: float) -> str:
    """A positive fraction in percent; one decimal below 10 %."""
    share = 100 * fraction
    return f"{share:.1f} %" if share < 9.95 else f"{share:,.0f} %"


def signed_percent(fraction: float) -> str:
    """A change in percent, ``+1.2 %``; from ten times on what the larger is of the smaller: ``×2,139``."""
    if fraction >= MANY_TIMES - 1:
        return f"×{three_digits(1 + fraction)}"
    if round(abs(1000 * fraction)) == 0:
        return "0.0 %"
    return ("+" if fraction > 0 else "-") + percent(abs(fraction))


def share(fraction: float | None) -> str:
    """A share in percent with one decimal."""
    return "unknown" if fraction is None else f"{100 * fraction:.1f} %" if fraction else "0 %"


def rate(per_second: float) -> str:
    """A number a second with three significant digits: ``16,000``."""
    return f"{float(f'{per_second:.3g}'):,.0f}" if per_second >= 1_000 else three_digits(per_second)


def of_both(a: str, b: str, unit: str = "") -> str:
    """What both sides have, as a change where it differs."""
    return f"{a} -> {b}{unit}" if a != b else f"{a}{unit} in both"
