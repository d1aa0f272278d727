"""Numbers as people read them, in pages and notebooks."""

from __future__ import annotations

from tensorboard_plugin_dlprof.units import NS_PER_MS, NS_PER_S, NS_PER_US

UNKNOWN = "unknown"


def duration(time_ns: float | None) -> str:
    """In the largest unit that leaves a whole part."""
    if time_ns is None:
        return UNKNOWN
    for unit_ns, unit in ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, "µs")):
        if abs(time_ns) >= unit_ns:
            return f"{time_ns / unit_ns:,.3f} {unit}"
    return f"{time_ns:,.0f} ns"


def at_least(value: str, unknown: int | None) -> str:
    """Says of what is known that it is the least, where more of it is unknown; what is not known says so itself."""
    return f"at least {value}" if unknown and not value.startswith(UNKNOWN) else value


def share(fraction: float | None) -> str:
    """In percent."""
    return UNKNOWN if fraction is None else f"{100 * fraction:.1f} %"


def number(value: int | None) -> str:
    """With thousands separated."""
    return UNKNOWN if value is None else f"{value:,}"
