"""Formats cells and headings for files, so that no spreadsheet program interprets a text as a formula."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES
from tensorboard_plugin_dlprof.queries.rows import Cell
from tensorboard_plugin_dlprof.queries.table import Column

_UNITS = {"duration_ns": " (ns)", "bytes": " (bytes)", "fraction": " (0 to 1)"}

_STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheet programs interpret texts with these first characters as formulas (OWASP, CSV injection)."""


def heading(column: Column) -> str:
    """Label with unit: ``GPU Time (ns)``."""
    return column.label + _UNITS.get(column.type, "")


def harmless(text: str) -> str:
    """The text, with an apostrophe in front if a spreadsheet program would interpret it as a formula."""
    return f"'{text}" if text.startswith(_STARTS_OF_FORMULAS) else text


def shown(column: Column, cell: Cell) -> str | int | float | None:
    """The value to write for a cell: booleans are yes and no, unknown values None."""
    if column.type == "boolean":
        return None if cell is None else "yes" if cell else "no"
    if column.type in TEXT_TYPES:
        return None if cell is None else str(cell)
    return cell
