"""Charts as inline SVG, without scripts. Colours are CSS classes of the page, so that they follow its theme.

Every chart is an image with an accessible name; the numbers of each mark are in its tooltip and in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH = 720
"""Width in SVG units; the page scales the drawing."""

_BAR_HEIGHT = 28
_COLUMNS_HEIGHT = 180


class Part(NamedTuple):
    """The size, CSS class of the colour, and tooltip of one mark."""

    size: float
    colour: str
    tooltip: str


def stacked_bar(name: str, parts: Sequence[Part], whole: float | None = None) -> str:
    """One bar, divided into parts; ``whole`` has the whole width, by default their sum. What is longer is cut there."""
    of_all = sum(part.size for part in parts)
    total = of_all if whole is None else whole
    marks, x = [], 0.0
    for part in cut_at(parts, total):
        width = WIDTH * part.size / total if total else 0.0
        if width:
            marks.append(_rect(x, 0, width, _BAR_HEIGHT, part))
        x += width
    if of_all > total:
        at = BROKEN_AT * WIDTH
        marks.append(_break((at, _BAR_HEIGHT), (at + 8, 0), (at + 14, 0), (at + 6, _BAR_HEIGHT)))
    return _svg(name, _BAR_HEIGHT, marks)


_LETTER = 7.5
_MOST_WIDE = 1_134
"""Pixels of a letter, and of the bar of an iteration on a wide screen."""


def named_bar(name: str, parts: Sequence[tuple[Part, Sequence[str]]]) -> str:
    """One bar, divided into parts, with words on those that have room: of the texts of each, the first that fits.

    Its units are those of the page, so that the words are not stretched.
    """
    total = sum(part.size for part, _ in parts)
    marks, x = [], 0.0
    for part, texts in parts:
        wide = 100 * part.size / total if total else 0.0
        room = _MOST_WIDE * wide / 100
        text = next((text for text in texts if room >= max(90, _LETTER * len(text) + 16)), "")
        # On a screen of half the width there is half the room.
        narrow = "" if room / 2 >= _LETTER * len(text) + 16 else " narrow"
        words = f'<text class="on-{part.colour}{narrow}" x="8" y="18">{escape(text)}</text>' if text else ""
        rect = f'<rect class="{part.colour}" width="100%" height="100%"><title>{escape(part.tooltip)}</title></rect>'
        if wide:
            marks.append(f'<svg x="{x:.3f}%" width="{wide:.3f}%" height="{_BAR_HEIGHT}">{rect}{words}</svg>')
        x += wide
    stripes = _STRIPES if any(part.colour == "missing" for part, _ in parts) else ""
    return f'<svg role="img" aria-label="{escape(name)}" class="named">{stripes}{"".join(marks)}</svg>'


_STRIPES = (
    '<defs><pattern id="missing" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="queued" width="7" height="7"/><rect class="stripe" width="3" height="7"/></pattern></defs>'
)
"""Of queued time in which GPU work is missing, as on the pages."""


BROKEN_AT = 0.88
"""Where a bar that goes on beyond its scale has its gap."""


def cut_at(parts: Sequence[Part], most: float) -> Sequence[Part]:
    """The parts as far as a scale goes: a bar that goes on beyond it ends, behind its gap, with the part that is most
    of it, as on the pages (``frontend/src/model/chart.ts``)."""
    if sum(part.size for part in parts) <= most:
        return parts
    drawn, room = [], BROKEN_AT * most
    for part in parts:
        drawn.append(part._replace(size=min(part.size, room)))
        room -= drawn[-1].size
    return [*drawn, max(parts, key=lambda part: part.size)._replace(size=(1 - BROKEN_AT) * most)]


def _break(*corners: tuple[float, float]) -> str:
    """A slanted gap in a bar, which says that it is longer than it is drawn."""
    return f'<polygon class="break" points="{" ".join(f"{x:.2f},{y:.2f}" for x, y in corners)}"/>'


def line(name: str, paths: Sequence[tuple[str, float, str]], marks: Sequence[tuple[float, float, Part]]) -> str:
    """What happened over time: shapes with their colour and opacity, and above them rectangles at their places."""
    shapes = [f'<path class="{colour}" opacity="{opacity:g}" d="{shape}"/>' for colour, opacity, shape in paths]
    return _svg(name, _BAR_HEIGHT, [*shapes, *(_rect(x, 0, width, _BAR_HEIGHT, part) for x, width, part in marks)])


def outline(name: str, share: float) -> str:
    """A time on a scale from 0 to 1 of which nothing is known to be gained."""
    marks = [(Part(1, "scale", name), 1.0), (Part(share, "about", name), min(max(share, 0.0), 1.0))]
    return _svg(name, _BAR_HEIGHT, [_rect(0, 0, WIDTH * wide, _BAR_HEIGHT, part) for part, wide in marks])


def whisker(name: str, low: float, high: float) -> str:
    """A range on a scale from 0 to 1: dark up to its low end, pale up to its high end."""
    scale = _rect(0, 0, WIDTH, _BAR_HEIGHT, Part(1, "scale", name))
    ends = [
        _rect(0, 0, WIDTH * min(max(share, 0.0), 1.0), _BAR_HEIGHT, Part(share, colour, name))
        for share, colour in ((high, "gain-high"), (low, "gain-low"))
    ]
    return _svg(name, _BAR_HEIGHT, [scale, *ends])


def columns(name: str, stacks: Sequence[Sequence[Part]], most: float | None = None) -> str:
    """Columns, each a stack of parts from the bottom up.

    The highest column has the whole height; what is higher than ``most``, where it is given, is cut there.
    """
    highest = max((sum(part.size for part in stack) for stack in stacks), default=0)
    if most is not None:
        highest = min(highest, most)
    broken_at = (1 - BROKEN_AT) * _COLUMNS_HEIGHT
    width = WIDTH / max(len(stacks), 1)
    gap = 2 if width > 6 else 0
    marks = []
    for position, stack in enumerate(stacks):
        y = float(_COLUMNS_HEIGHT)
        for part in cut_at(stack, highest):
            height = _COLUMNS_HEIGHT * part.size / highest if highest else 0.0
            y -= height
            if height:
                marks.append(_rect(position * width, y, max(width - gap, 0.5), height, part))
        if highest < sum(part.size for part in stack):
            left, right, at = position * width, (position + 1) * width - gap, broken_at
            marks.append(_break((left, at), (right, at - 6), (right, at), (left, at + 6)))
    return _svg(name, _COLUMNS_HEIGHT, marks)


def _rect(x: float, y: float, width: float, height: float, part: Part) -> str:
    return (
        f'<rect class="{escape(part.colour)}" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}">'
        f"<title>{escape(part.tooltip)}</title></rect>"
    )


def _svg(name: str, height: int, marks: Sequence[str]) -> str:
    # Rectangles alone: the page chooses width and height.
    return (
        f'<svg role="img" aria-label="{escape(name)}" viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none">'
        f"{''.join(marks)}</svg>"
    )
