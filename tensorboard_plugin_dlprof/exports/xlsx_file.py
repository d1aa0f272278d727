"""Exports Excel workbooks row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.exports.cells import heading, shown
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.table import Column

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook


SHEET_ROWS = 1_048_576
"""Most rows of a sheet, including headings."""

LONGEST_TEXT = 32_767
"""Most characters of a cell."""

LARGEST_INTEGER = 2**53
"""Excel's numbers are doubles. Larger integers would lose their last digits, so they are written as text."""

# Characters that are not allowed in XML, and so not in workbooks.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def options(path: Path) -> dict[str, str | bool]:
    """Options of ``xlsxwriter`` for a workbook at ``path``, whose folder also gets the temporary files.

    Rows are written to a temporary file immediately, to save memory. Texts that look like formulas, links or numbers
    stay texts.
    """
    return {
        "constant_memory": True,
        "tmpdir": str(path.parent),
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": True,
    }


def fitting(text: str) -> str:
    """A text without characters that a cell cannot contain, cut to the length of a cell."""
    text = _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


_WIDTHS = {"long_text": 60, "kernel_name": 60, "path": 60}
_USUAL_WIDTH = 18
_LETTERS_OF_A_SHEET_NAME = 25
_FORBIDDEN_IN_SHEET_NAMES = str.maketrans("[]:*?/\\'", "        ")


def write_xlsx(
    path: Path,
    title: str,
    table: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    rows_of_a_sheet: int = SHEET_ROWS,
) -> None:
    """Write a workbook. Rows that do not fit into a sheet continue in the next one, with the same headings.

    Args:
        path: The new file; its folder also gets temporary files.
        title: Text of the first row, which is left out if this is empty.
        table: Name of the sheets.
        rows_of_a_sheet: Most rows per sheet, including title and headings.
    """
    from xlsxwriter.workbook import Workbook

    workbook = Workbook(path, options(path))
    workbook.use_zip64()
    try:
        sheets = _Sheets(workbook, title, table, columns, rows_of_a_sheet)
        for row in rows:
            sheets.add([shown(column, row[column.key]) for column in columns])
    finally:
        workbook.close()


class _Sheets:
    def __init__(
        self, workbook: Workbook, title: str, table: str, columns: Sequence[Column], rows_of_a_sheet: int
    ) -> None:
        self._workbook = workbook
        self._title, self._table, self._columns = title, table, columns
        self._most = rows_of_a_sheet
        self._bold = workbook.add_format({"bold": True})
        self._count = 0
        self._begin()

    def add(self, cells: Sequence[str | int | float | None]) -> None:
        """Append a row."""
        if self._row >= self._most:
            self._begin()
        for position, cell in enumerate(cells):
            if isinstance(cell, str):
                self._sheet.write_string(self._row, position, fitting(cell))
            elif isinstance(cell, int) and abs(cell) > LARGEST_INTEGER:
                self._sheet.write_string(self._row, position, str(cell))
            elif cell is not None:
                self._sheet.write_number(self._row, position, cell)
        self._row += 1

    def _begin(self) -> None:
        self._count += 1
        name = self._table.translate(_FORBIDDEN_IN_SHEET_NAMES)[:_LETTERS_OF_A_SHEET_NAME]
        self._sheet: Any = self._workbook.add_worksheet(name if self._count == 1 else f"{name} ({self._count})")
        self._row = 0
        for position, column in enumerate(self._columns):
            self._sheet.set_column(position, position, _WIDTHS.get(column.type, _USUAL_WIDTH))
        if self._title:
            self._sheet.write_string(0, 0, fitting(self._title), self._bold)
            self._row = 1
        for position, column in enumerate(self._columns):
            self._sheet.write_string(self._row, position, heading(column), self._bold)
        self._row += 1
        self._sheet.freeze_panes(self._row, 0)
