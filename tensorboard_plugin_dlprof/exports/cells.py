"""How cells and headings look in files for spreadsheets: as text that no program takes for a formula."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.cells import Cell
from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES
from tensorboard_plugin_dlprof.queries.table import Column

_UNITS = {"duration_ns": " (ns)", "bytes": " (bytes)", "fraction": " (0 to 1)"}

_STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""OWASP, CSV injection: with these a spreadsheet takes a text for a formula and runs it."""


def heading(column: Column) -> str:
    """Label with unit: ``GPU Time (ns)``."""
    return column.label + _UNITS.get(column.type, "")


def harmless(text: str) -> str:
    """The text, with an apostrophe before it where a spreadsheet would run it."""
    return f"'{text}" if text.startswith(_STARTS_OF_FORMULAS) else text


def shown(column: Column, cell: Cell) -> str | int | float | None:
    """A cell as a spreadsheet shows it: booleans are yes and no, unknown is empty."""
    if column.type == "boolean":
        return None if cell is None else "yes" if cell else "no"
    if column.type in TEXT_TYPES:
        return None if cell is None else str(cell)
    return cell
