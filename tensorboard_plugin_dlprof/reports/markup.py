"""Pieces of HTML that the sections of a report are made of, and numbers as people read them: None is ``unknown``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tensorboard_plugin_dlprof.units import narrow_percentage, short_duration

_UNIT = re.compile(r"(?<=±) |(?<=\d) (?=(?:%|ns|µs|ms|s|[kMGT]i?B)(?![A-Za-z]))")

_IN_PATH = re.compile(r"(?<=\w)/(?=\w\w)")


def section(heading: str, note: str, content: str) -> str:
    """A section with its heading, and a sentence about it, if any."""
    return f"<section>{heading_of(heading)}{f'<p>{escape(note)}</p>' if note else ''}{content}</section>"


def heading_of(heading: str) -> str:
    """The heading of a section, which can be jumped to."""
    return f'<h2 id="{re.sub("[^a-z0-9]+", "-", heading.lower())}">{escape(heading)}</h2>'


def contents(page: str) -> str:
    """A line of links to the headings of a page; nothing of a page with few."""
    found = re.findall(r'<h2 id="([^"]*)">(.*?)</h2>', page)
    links = "".join(f'<a href="#{anchor}">{heading}</a>' for anchor, heading in found)
    return f'<nav class=contents aria-label="Contents">{links}</nav>' if len(found) > 2 else ""


def typeset(text: str) -> str:
    """A sentence in which no line ends between a number and its unit, and a path may be broken behind its slashes."""
    return _IN_PATH.sub("/<wbr>", _UNIT.sub("\N{NO-BREAK SPACE}", escape(text)))


CODE = re.compile(
    r"`[^`]*`|(?<![\w/])[\w.~/-]*\w\.py(?:\(\d+\)(?:: [\w.<>]+(?=[:;,.)]|$))?|:\d+)?"
    r"|(?<![\w/#….-])(?:(?:[a-z_]\w* = )?\.?[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)*\((?:[^()]|\([^()]*\))*\)"
    r'|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?![\w/])|[A-Za-z]\w*_\w+(?:=[\w.":]*[\w"])?(?![\w/(]|\.\w)'
    r"|--?[a-z][\w-]+(?:[= ][\w.,:]*\w=\w+|=[\w.,:]*\w)?)"
)
"""Code in a sentence, as the pages find it (``frontend/src/model/links.ts``)."""

_QUANTITY = re.compile(r"((?:at least )?\d[\d.,]*\s?(?:%|ns|µs|ms|s|min|[kMGT]i?B)(?![A-Za-z]))")


def with_code(text: str) -> str:
    """A sentence that says what to do, in which code is set as such."""
    parts, at = [], 0
    for match in CODE.finditer(text):
        parts += [typeset(text[at : match.start()]), f"<code>{escape(match[0].strip('`'))}</code>"]
        at = match.end()
    return "".join([*parts, typeset(text[at:])])


def answer(text: str) -> str:
    """The sentence that a report begins with, as on the Dashboard: numbers stand out, code is between backticks."""
    return "".join(
        f"<code>{path(piece)}</code>" if i % 2 else _with_numbers(piece) for i, piece in enumerate(text.split("`"))
    )


def _with_numbers(text: str) -> str:
    parts = enumerate(_QUANTITY.split(text))
    return "".join(f"<strong>{typeset(part)}</strong>" if i % 2 else typeset(part) for i, part in parts)


def path(name: str) -> str:
    """A path or name that may be broken behind its slashes, colons and underscores, but not before what follows it."""
    return re.sub(r"((?<=.)/|::|_+(?!_))(?=.)", r"\g<0><wbr>", escape(name))


def key(colour: str) -> str:
    """A square in the colour of a mark."""
    return (
        f'<svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="{colour}" width="10" height="10"/></svg>'
    )


def keys(rows: Sequence[tuple[str, str, str]]) -> str:
    """Names and what they amount to, in as few lines as fit; of the legend of a bar, with the class of their colour."""
    items = "".join(
        f"<li>{key(colour) if colour else ''}{escape(name)} <b>{escape(amount)}</b></li>"
        for colour, name, amount in rows
    )
    return f"<ul class=keys>{items}</ul>"


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
    """A duration of about three digits, ``1.25 ms``; of none ``0 s``, as on the pages."""
    return UNKNOWN if time_ns is None else short_duration(time_ns) if time_ns else "0 s"


def at_least(value: str, unknown: int | None) -> str:
    """The value with "at least" in front if ``unknown`` more may belong to it, unless the value itself is unknown."""
    return f"at least {value}" if unknown and not value.startswith(UNKNOWN) else value


def share(fraction: float | None) -> str:
    """A fraction in percent, or that it is unknown."""
    return UNKNOWN if fraction is None else narrow_percentage(fraction)


def number(value: int | None) -> str:
    """An integer with thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"
