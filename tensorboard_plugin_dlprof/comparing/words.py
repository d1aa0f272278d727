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


def without_middle(name: str, most: int) -> str:
    """A name of at most ``most`` letters: a long one loses its middle."""
    return name if len(name) <= most else f"{name[: most // 3]}…{name[-(most - most // 3 - 1) :]}"


def short_path(path: str, most: int) -> str:
    """A path of at most ``most`` letters: a long one loses whole parts after the first, since its end tells most."""
    if len(path) <= most:
        return path
    parts = path.split("/")
    first = 1 if parts[0] else 2
    for place in range(first + 1, len(parts)):
        short = "/".join((*parts[:first], "…", *parts[place:]))
        if len(short) <= most:
            return short
    # Not even the first and the last part fit.
    return without_middle(parts[-1], most)


def of_both(a: str, b: str, unit: str = "") -> str:
    """What both sides have, as a change where it differs."""
    return f"{a} -> {b}{unit}" if a != b else f"{a}{unit} in both"
