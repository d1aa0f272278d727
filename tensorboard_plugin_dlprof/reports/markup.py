"""Pieces of HTML that the sections of a report are made of."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def section(heading: str, note: str, content: str) -> str:
    """A section with its heading, and a sentence about it, if any."""
    return f"<section><h2>{escape(heading)}</h2>{f'<p>{escape(note)}</p>' if note else ''}{content}</section>"


def legend(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that explains a chart; each row begins with the class of its colour and its name."""
    head = "".join(f"<th scope=col>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        '<tr><th scope=row><svg class="key" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect class="{colour}" width="10" height="10"/></svg>{escape(name)}</th>'
        + "".join(f"<td class=n>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for colour, name, *cells in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
