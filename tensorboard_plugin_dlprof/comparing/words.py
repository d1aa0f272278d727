"""Numbers of a comparison in words."""

from __future__ import annotations

from tensorboard_plugin_dlprof.units import narrow_percentage, short_duration, three_digits

MANY_TIMES = 10
"""From here on percent have too many digits to be read (``model/comparison.ts`` has the same)."""


def duration(time_ns: float) -> str:
    """A duration with three digits."""
    return ("-" if time_ns < 0 else "") + short_duration(abs(time_ns))


def signed_duration(time_ns: float) -> str:
    """A change of a duration: ``+22.2 ms``."""
    return ("+" if time_ns > 0 else "") + duration(time_ns)


def many_times(ratio: float, digits: int) -> str:
    """How many times, with so many digits and without an exponent: ``1.5``, ``130``."""
    return f"{float(f'{ratio:.{digits}g}'):,.15g} times"


def signed_share(fraction: float) -> str:
    """A change in percent, as in the tables of the page: ``-85.8 %``, ``<0.1 %``; from ten times on what the larger is
    of the smaller: ``×2,139``."""
    if fraction >= MANY_TIMES - 1:
        return f"×{three_digits(1 + fraction)}"
    size = narrow_percentage(abs(fraction))
    if fraction == 0 or size.startswith("<"):
        return size
    is_more = fraction > 0
    return f"{'>+' if is_more else '<-'}{size[1:]}" if size.startswith(">") else f"{'+' if is_more else '-'}{size}"


def share(fraction: float | None) -> str:
    """A share in percent, or that it is unknown."""
    return "unknown" if fraction is None else narrow_percentage(fraction)


def without_middle(name: str, most: int) -> str:
    """A name of at most ``most`` letters: a long one loses its middle."""
    return name if len(name) <= most else f"{name[: most // 3]}…{name[-(most - most // 3 - 1) :]}"


def told_apart(a: str, b: str, most: int) -> tuple[str, str]:
    """Two names of at most ``most`` letters each. What long ones begin with alike gives way, up to a separator."""
    if max(len(a), len(b)) > most:
        pairs = enumerate(zip(a, b, strict=False))
        alike = next((place for place, (x, y) in pairs if x != y), min(len(a), len(b)))
        start = max(a.rfind(separator, 0, alike) for separator in "_:<,") + 1
        if start > 1:
            a, b = (f"…{name[start:]}" for name in (a, b))
    return without_middle(a, most), without_middle(b, most)


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
