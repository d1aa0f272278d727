"""Puts a finding's numbers into its sentences. The name of a number ends with its unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tensorboard_plugin_dlprof.units import percentage, short_duration, size

Number: TypeAlias = int | float | str


def filled(template: str, numbers: Mapping[str, Number]) -> str:
    """The sentence: ``{wait_ns}`` becomes ``12.3 ms``, ``{share_fraction}`` ``12.3 %``, ``{used_bytes}`` ``1.20 GiB``,
    ``{ops} {ops:op takes|ops take}`` ``1 op takes`` or ``2 ops take``."""
    return template.format_map({name: _Shown(name, value) for name, value in numbers.items()})


class _Shown:
    """Formats a number for a sentence; with two words after a colon, selects the word that agrees with the number."""

    def __init__(self, name: str, value: Number) -> None:
        self._name, self._value = name, value

    def __format__(self, words: str) -> str:
        if not words:
            return _shown(self._name, self._value)
        one, several = words.split("|")
        return one if self._value == 1 else several


def _shown(name: str, value: Number) -> str:
    if isinstance(value, str):
        return value
    if name.endswith("_ns"):
        return short_duration(value)
    if name.endswith("_fraction"):
        return percentage(value)
    if name.endswith("_bytes"):
        return size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
