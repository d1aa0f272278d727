"""How a finding is known, folded: how its gain is estimated, and its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard_plugin_dlprof.reports.markup import number, path, typeset
from tensorboard_plugin_dlprof.units import column_unit, in_unit

MOST_ROWS = 8
"""Rows of evidence, as many as the pages show unasked; the others are folded once more."""


def proof(finding: Mapping[str, Any], marked: bool) -> str:
    """The fold; nothing where nothing more is to be said. ``marked``: whether there are iterations, of which counts and
    times are."""
    rows: Sequence[Mapping[str, Any]] = finding["evidence"]
    how = (finding["gain"] or {}).get("how") or ""
    if not rows and not how:
        return ""
    named = f"vidence: {len(rows):,} row{'s' * (len(rows) != 1)}" if rows else ""
    summary = "How the gain is estimated" + (f", and e{named}" if rows else "") if how else f"E{named}"
    reason = f"<div class=faint>{typeset(how)}</div>" if how else ""
    each = " per iteration" if marked and finding.get("per") != "once" else ""
    table = _table(rows[:MOST_ROWS], each) if rows else ""
    if more := rows[MOST_ROWS:]:
        table += f"<details class=proof><summary>{len(more):,} more</summary>{_table(more, each)}</details>"
    return f"<details class=proof><summary>{summary}</summary>{reason}{table}</details>"


def _table(rows: Sequence[Mapping[str, Any]], each: str) -> str:
    """Where, call, count and time of rows; columns without any value are left out."""
    unit, length = column_unit([row["time_ns"] for row in rows])
    columns = {
        "Call": ["" if row["call"] == row["path"] else row["call"] or "" for row in rows],
        f"Count{each}": ["" if row["count"] is None else number(row["count"]) for row in rows],
        f"Time ({unit}){each}": ["" if row["time_ns"] is None else in_unit(row["time_ns"], length) for row in rows],
    }
    told = {head: cells for head, cells in columns.items() if any(cells)}
    heads = "".join(f"<th scope=col{_kind(head)}>{head}</th>" for head in told)
    lines = [
        f"<tr><td>{_place(row)}</td>"
        + "".join(f"<td{_kind(head)}>{path(cells[at])}</td>" for head, cells in told.items())
        + "</tr>"
        for at, row in enumerate(rows)
    ]
    return f"<table><thead><tr><th scope=col>Where</th>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _kind(head: str) -> str:
    return "" if head == "Call" else " class=n"


_NAMED = {"iteration": "Iteration ", "device": "GPU "}


def _place(row: Mapping[str, Any]) -> str:
    detail = row["detail"] or ""
    # What stands there already says nothing more.
    besides = f"<div class=faint>{typeset(detail)}</div>" if detail not in ("", row["path"], row["call"]) else ""
    return f"{_NAMED.get(row['kind'], '')}{path(row['path'])}{besides}"
