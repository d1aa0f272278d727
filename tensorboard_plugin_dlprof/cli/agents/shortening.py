"""Shortens answers: an agent reads every letter, and asks for more where it needs more."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.routes.responses import to_json

LONGEST_TEXT = 400
"""Letters of a text; names of C++ kernels may have thousands."""

MOST_BYTES = 60_000
"""Most bytes of an answer."""


def shortened(value: Any, rows: int) -> tuple[Any, dict[str, int]]:
    """The value with only the first rows of every list, and what was left out.

    Args:
        value: Plain data.
        rows: Most items of a list; fewer where the answer would be too large.

    Returns:
        The value, and by place (``findings[].evidence``) how many items the longest list there has, or for a text how
        many letters.
    """
    while True:
        left_out: dict[str, int] = {}
        result = _shortened(value, max(rows, 1), "", left_out)
        if rows <= 1 or len(to_json(result)) <= MOST_BYTES:
            return result, left_out
        rows //= 2


def _shortened(value: Any, rows: int, place: str, left_out: dict[str, int]) -> Any:
    if isinstance(value, dict):
        dot = "." if place else ""
        return {key: _shortened(item, rows, f"{place}{dot}{key}", left_out) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > rows:
            _note(left_out, place, len(value))
        return [_shortened(item, rows, f"{place}[]", left_out) for item in value[:rows]]
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        _note(left_out, place, len(value))
        return f"{value[: LONGEST_TEXT - 1]}…"
    return value


def _note(left_out: dict[str, int], place: str, count: int) -> None:
    left_out[place] = max(left_out.get(place, 0), count)
