"""Formats numbers for people, in HTML reports and notebooks. None is formatted as ``unknown``."""

from __future__ import annotations

from tensorboard_plugin_dlprof.units import percentage, short_duration

UNKNOWN = "unknown"


def duration(time_ns: float | None) -> str:
    """A duration of about three digits: ``1.25 ms``."""
    return UNKNOWN if time_ns is None else short_duration(time_ns)


def at_least(value: str, unknown: int | None) -> str:
    """The value with "at least" in front if ``unknown`` more may belong to it, unless the value itself is unknown."""
    return f"at least {value}" if unknown and not value.startswith(UNKNOWN) else value


def share(fraction: float | None) -> str:
    """A fraction in percent: ``5.8 %``, ``12 %``."""
    return UNKNOWN if fraction is None else percentage(fraction)


def number(value: int | None) -> str:
    """An integer with thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"
