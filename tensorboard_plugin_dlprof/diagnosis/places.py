"""What sentences call the places that idle time is lost in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.diagnosis.calls import without_decoration
from tensorboard_plugin_dlprof.diagnosis.parts import Part

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.diagnosis.answer import Row

_LONGEST = 80
"""Letters of a name in a sentence."""
_LONGEST_PATH = 60
"""Letters of a path in a sentence, of which its evidence tells the whole."""

NO_MARKS = str.maketrans("{}`", "()'")
"""Sentences have fields between braces, and code between backticks."""


def place_of(row: Row) -> str:
    """``cudaFree in /train/conv2d``; what a part is if nothing is named."""
    return " in ".join(names_of(row)) or Part(row.cause.part).label.replace("_", " ")


def names_of(row: Row) -> list[str]:
    """The call and the path of a row, if it has them, as a sentence holds them."""
    path = without_decoration(path_of(row))
    longest = _LONGEST if row.cause.kind == "frame" else _LONGEST_PATH
    if len(path) > longest:
        # From a level of the model on; its last, or a name without levels, loses its end at most.
        at = path.find("/", len(path) - longest)
        at = path.rfind("/") if at < 0 else at
        path = cut_name(path) if at < 0 else f"\N{HORIZONTAL ELLIPSIS}{cut_name(path[at:])}"
    return [name.translate(NO_MARKS) for name in (row.cause.call, path) if name]


def by_place(rows: Sequence[Row]) -> list[tuple[Row, int]]:
    """A row of each place that has a name, with the time of all rows of that place, most first."""
    # By the whole path: what is left of two that are cut may be alike.
    result: dict[tuple[str, str], tuple[Row, int]] = {}
    for row in rows:
        key = (row.cause.call, path_of(row))
        if any(key):
            first, time_ns = result.get(key, (row, 0))
            result[key] = (first, time_ns + row.time_ns)
    return sorted(result.values(), key=lambda each: -each[1])


def path_of(row: Row) -> str:
    """The path of a row; of the root of all ops nothing."""
    return "" if row.cause.path == "/" else row.cause.path


def cut_name(name: str) -> str:
    """The name of a kernel as a sentence holds it: some have a thousand letters."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"
