"""The strip of the phases of a training step above memory over time, as on Memory
(``frontend/src/panels/memory/phase_span.tsx``)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tensorboard_plugin_dlprof.queries.memory_answers import MemoryPhase
from tensorboard_plugin_dlprof.reports import markup

_COLOURS = {"forward": "activation", "backward": "gradient", "optimizer": "optimizer"}
_HEIGHT = 14
_LETTER = 0.6
"""What a letter takes at most, in percent of the width."""
_HAIR = 0.3
"""Parts of one phase that are nearer look like stripes."""


def strip(phases: Sequence[MemoryPhase], first: int, last: int, left: float) -> tuple[str, str]:
    """A drawing of the phases between two moments, ``left`` percent from the edge, and a legend where not each is named
    in it. Empty without phases."""
    if not phases:
        return "", ""
    parts: list[tuple[str, float, float]] = []
    for each in phases:
        begin, end = ((each[key] - first) * (100 - left) / max(last - first, 1) for key in ("from", "to"))
        if parts and parts[-1][0] == each["phase"] and begin - parts[-1][2] < _HAIR:
            parts[-1] = (each["phase"], parts[-1][1], max(end, parts[-1][2]))
        else:
            parts.append((each["phase"], begin, end))
    names = list(dict.fromkeys(name for name, _, _ in parts))
    with_room = {name for name, begin, end in parts if _has_room(name, end - begin)}
    marks = "".join(
        f'<rect class="{_colour(name)}" x="{left + begin:.2f}%" width="{max(end - begin, 0.05):.2f}%" '
        f'height="{_HEIGHT}"><title>{escape(name)}</title></rect>'
        + (
            f'<text x="{left + begin + 0.3:.2f}%" y="11">{escape(name)}</text>'
            if with_room == set(names) and _has_room(name, end - begin)
            else ""
        )
        for name, begin, end in parts
    )
    legend = "" if with_room == set(names) else markup.keys([(_colour(name), name, "") for name in names])
    return f'<svg role="img" class="phases" aria-label="Phases: {", ".join(names)}">{marks}</svg>', legend


def _has_room(name: str, wide: float) -> bool:
    return wide > _LETTER * len(name) + 0.6


def _colour(name: str) -> str:
    return _COLOURS.get(name, "outside")
