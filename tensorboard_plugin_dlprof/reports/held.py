"""What holds the memory of a GPU, as a section of a report."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.reports import charts, markup
from tensorboard_plugin_dlprof.units import narrow_percentage, shares, size

_COLOURS = {
    **{"parameter": "parameter", "taken from the driver": "parameter", "input": "input"},
    **{"optimizer state": "optimizer", "optimizer temporary": "optimizer-temporary"},
    **{"gradient": "gradient", "backward temporary": "backward-temporary", "autograd detail": "backward-temporary"},
    **{"activation": "activation", "activation or output": "output"},
    **{"forward temporary": "forward-temporary", "temporary": "forward-temporary", "unknown": "unknown-memory"},
}
"""Category -> class of its colour, as ``memory_categories.ts`` has them; all others are grey."""


def when(each: dict[str, Any]) -> str:
    """``the peak of 1.00 GiB``, or ``that moment, of 1.00 GiB``; without events only the end is known."""
    whole = each["in_use_bytes"]
    moment = "the peak of" if whole == each["peak_bytes"] else "that moment, of"
    return f"{moment if each['events'] else 'the end,'} {size(whole)}"


def held(device: str, each: dict[str, Any]) -> str:
    """The section about a GPU of an answer about memory: a bar of its categories, and a table that is its legend."""
    whole, rows = max(each["in_use_bytes"], 1), rows_of(each)
    parts = [
        charts.Part(min(max(row["bytes"], 0), whole), colour, f"{name}: {amount}{share and f' ({share})'}")
        for row, (colour, name, amount, share, _) in zip(each["at_peak"], rows, strict=True)
    ]
    bar = charts.stacked_bar(f"Memory of GPU {device} by category", parts, whole)
    note = " ".join(["By when it was allocated and freed; the rows add up.", each["held_before"] or ""]).strip()
    table = markup.legend(("Category", "Size", "Share", "Blocks"), rows)
    return markup.section(f"GPU {device}, {each['peak_of']} bytes at {when(each)}", note, bar + table)


def colour_of(category: str) -> str:
    """The class of its colour."""
    return _COLOURS.get(category, "outside")


def rows_of(each: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Of each category at the peak the class of its colour, its name, size, share and blocks."""
    shares = shares_of(each["at_peak"], max(each["in_use_bytes"], 1))
    return [
        (colour_of(row["category"]), row["category"], size(row["bytes"]), share, _count(row["blocks"]))
        for row, share in zip(each["at_peak"], shares, strict=True)
    ]


def _count(blocks: int | None) -> str:
    return "" if blocks is None else f"{blocks:,}"


def shares_of(rows: list[dict[str, Any]], whole: int) -> list[str]:
    """The share of each row; empty where it cannot be told."""
    percentages = shares([row["bytes"] for row in rows], whole)
    return ["" if share is None else narrow_percentage(share) for share in percentages]
