"""Reports as one Excel workbook, with a sheet per report and frozen headings, written in constant memory.

Texts are written as texts, never as formulas, numbers or links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.exports.xlsx_file import LARGEST_INTEGER, SHEET_ROWS, fitting, options
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Value, known

_WIDTHS = {Kind.TEXT: 40, Kind.WORD: 12, Kind.INTEGER: 18, Kind.DECIMAL: 18, Kind.YES_NO: 12}
_PAIR = (Column("Name", Kind.TEXT), Column("Value", Kind.TEXT))


def write_xlsx(reports: Mapping[str, Iterable[Block]], path: Path, sheet_rows: int = SHEET_ROWS) -> None:
    """Write the workbook.

    Args:
        reports: The blocks of each sheet, by title. A single block has its headings in the first row; if there are
            several, each has its title above its headings, and an empty row below.
        sheet_rows: Most rows of a sheet; a longer table continues in another sheet with the same headings.
    """
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), options(path)) as book:
        book.use_zip64()
        writer = _Workbook(book, sheet_rows)
        for title, blocks in reports.items():
            writer.write(title, list(blocks))


class _Workbook:
    def __init__(self, book: Any, sheet_rows: int) -> None:
        self._book, self._sheet_rows = book, sheet_rows
        self._heading = book.add_format({"bold": True, "bottom": 1})
        self._title = book.add_format({"bold": True, "font_size": 14})
        self._integer = book.add_format({"num_format": "#,##0"})
        self._decimal = book.add_format({"num_format": "#,##0.0"})

    def write(self, title: str, blocks: list[Block]) -> None:
        if len(blocks) == 1 and blocks[0].columns:
            self._write_table(title, blocks[0])
            return
        sheet, row = self._sheet(title, _PAIR), 0
        for block in blocks:
            sheet.write_string(row, 0, fitting(block.title), self._title)
            row += 1
            if block.columns:
                self._write_headings(sheet, row, block.columns)
                row += 1
            for values in block.rows:
                self._write_row(sheet, row, values)
                row += 1
            row += 1

    def _write_table(self, title: str, block: Block) -> None:
        sheet, row, number = None, 0, 0
        for values in block.rows:
            if sheet is None or row == self._sheet_rows:
                self._end(sheet, row, block)
                number += 1
                sheet, row = self._table_sheet(title, number, block), 1
            self._write_row(sheet, row, values)
            row += 1
        self._end(sheet or self._table_sheet(title, 1, block), max(row, 1), block)

    def _table_sheet(self, title: str, number: int, block: Block) -> Any:
        sheet = self._sheet(title if number == 1 else f"{title[:25]} ({number})", block.columns)
        self._write_headings(sheet, 0, block.columns)
        sheet.freeze_panes(1, 0)
        return sheet

    def _end(self, sheet: Any, rows: int, block: Block) -> None:
        if sheet is not None:
            sheet.autofilter(0, 0, rows - 1, len(block.columns) - 1)

    def _sheet(self, title: str, columns: tuple[Column, ...]) -> Any:
        sheet = self._book.add_worksheet(title[:31])
        for position, column in enumerate(columns):
            sheet.set_column(position, position, max(_WIDTHS[column.kind], min(len(column.heading) + 4, 40)))
        return sheet

    def _write_headings(self, sheet: Any, row: int, columns: tuple[Column, ...]) -> None:
        for position, column in enumerate(columns):
            sheet.write_string(row, position, column.heading, self._heading)

    def _write_row(self, sheet: Any, row: int, values: Iterable[Value]) -> None:
        for position, value in enumerate(values):
            value = known(value)
            if value is None:
                continue
            if isinstance(value, bool):
                sheet.write_string(row, position, "yes" if value else "no")
            elif isinstance(value, float):
                sheet.write_number(row, position, value, self._decimal)
            elif isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
                sheet.write_number(row, position, value, self._integer)
            else:
                text = ", ".join(value) if isinstance(value, list) else str(value)
                sheet.write_string(row, position, fitting(text))
