"""Pieces of HTML that the sections of a report are made of, and numbers as people read them: None is ``unknown``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tensorboard_plugin_dlprof.units import short_duration

_UNIT = re.compile(r"(?<=\d) (?=(?:%|ns|µs|ms|s|[kMGT]i?B)(?![A-Za-z]))")

_IN_PATH = re.compile(r"/(?=\w\w)")


def section(heading: str, note: str, content: str) -> str:
    """A section with its heading, and a sentence about it, if any."""
    return f"<section><h2>{escape(heading)}</h2>{f'<p>{escape(note)}</p>' if note else ''}{content}</section>"


def typeset(text: str) -> str:
    """A sentence in which no line ends between a number and its unit, and a path may be broken behind its slashes."""
    return _IN_PATH.sub("/<wbr>", _UNIT.sub("\N{NO-BREAK SPACE}", escape(text)))


def path(name: str) -> str:
    """A path that may be broken behind its slashes and colons."""
    return escape(name).replace("/", "/<wbr>").replace("::", "::<wbr>")


def key(colour: str) -> str:
    """A square in the colour of a mark."""
    return (
        f'<svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="{colour}" width="10" height="10"/></svg>'
    )


def keys(rows: Sequence[tuple[str, str, str]]) -> str:
    """The legend of a bar, in as few lines as fit: classes of colours, names, and what they amount to."""
    items = "".join(f"<li>{key(colour)}{escape(name)} <b>{escape(amount)}</b></li>" for colour, name, amount in rows)
    return f"<ul class=keys>{items}</ul>"


def folded(heading: str, note: str, content: str) -> str:
    """A section that opens when its heading is chosen, and is not printed while it is closed."""
    about = f" <span class=faint>{escape(note)}</span>" if note else ""
    return f"<details><summary><h2>{escape(heading)}</h2>{about}</summary>{content}</details>"


def legend(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that explains a chart; each row begins with the class of its colour and its name."""
    head = "".join(f"<th scope=col>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr><th scope=row>{key(colour)}{escape(name)}</th>"
        + "".join(f"<td class=n>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for colour, name, *cells in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


UNKNOWN = "unknown"


def duration(time_ns: float | None) -> str:
    """A duration of about three digits: ``1.25 ms``."""
    return UNKNOWN if time_ns is None else short_duration(time_ns)


def at_least(value: str, unknown: int | None) -> str:
    """The value with "at least" in front if ``unknown`` more may belong to it, unless the value itself is unknown."""
    return f"at least {value}" if unknown and not value.startswith(UNKNOWN) else value


def share(fraction: float | None) -> str:
    """A fraction in percent with one decimal, as on the pages: ``5.8 %``, ``12.2 %``, ``<0.1 %``, ``100 %``."""
    if fraction is None:
        return UNKNOWN
    percent = 100 * fraction
    if 0 < percent < 0.05:
        return "<0.1 %"
    if 99.95 <= percent < 100:
        return ">99.9 %"
    return f"{percent:.0f} %" if percent == 0 or percent >= 100 else f"{percent:.1f} %"


def number(value: int | None) -> str:
    """An integer with thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"
