"""Exports PDF 1.4, for reading and passing on: landscape A4, headings on every page, long cells wrapped.

It is written without a library, so that it can be sent page by page. Source: PDF Reference 1.4.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from tensorboard_plugin_dlprof.exports.cells import heading, shown
from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES
from tensorboard_plugin_dlprof.queries.rows import Cell, Row
from tensorboard_plugin_dlprof.queries.table import Column

_WIDTH, _HEIGHT, _MARGIN = 842, 595, 30
"""A4, in points of 1/72 inch."""

_SIZE, _LEADING = 6.5, 8.5
_LETTER = 0.6 * _SIZE
"""Width of a character of Courier, which is built into all PDF viewers: 0.6 of the font size."""

_LETTERS = int((_WIDTH - 2 * _MARGIN) / _LETTER)
_GAP = 2
_SHORT_LABEL = 14
_SAMPLED_ROWS = 500
_UNKNOWN, _CUT = "–", "…"
_MOST_LETTERS = 240
"""Limit of one cell, because full stack traces would fill too many pages. CSV and JSON have the full texts."""

_CATALOG, _PAGES, _PLAIN, _BOLD, _FIRST_FREE = 1, 2, 3, 4, 5


def pdf_chunks(title: str, columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, page by page. Characters that Windows-1252 lacks, and so the viewers' built-in fonts, become ``?``."""
    file = _File()
    yield file.start()
    rest = iter(rows)
    sample = list(islice(rest, _SAMPLED_ROWS))
    widths = _widths(columns, sample)
    head = _wrapped([heading(column) for column in columns], widths, columns)
    room = int((_HEIGHT - 2 * _MARGIN) / _LEADING) - len(head) - 3
    lines: list[str] = []
    for row in chain(sample, rest):
        lines += _wrapped([_text(column, row[column.key]) for column in columns], widths, columns)
        while len(lines) >= room:
            yield file.page(title, head, lines[:room])
            del lines[:room]
    if lines or not file.pages:
        yield file.page(title, head, lines)
    yield file.end()


def _text(column: Column, cell: Cell) -> str:
    value = shown(column, cell)
    if value is None or value == "":
        return _UNKNOWN
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4g}"
    text = " ".join(value.split())
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + _CUT


def _widths(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    """The width of each column in characters: as needed if there is room, else the widest columns are limited."""
    wanted = [
        max([_least(heading(column))] + [len(_text(column, row[column.key])) for row in rows]) for column in columns
    ]
    room = max(_LETTERS - _GAP * (len(columns) - 1), len(columns))
    limit = max(wanted, default=0)
    while sum(min(width, limit) for width in wanted) > room and limit > 1:
        limit -= 1
    return [max(min(width, limit), 1) for width in wanted]


def _least(label: str) -> int:
    """The least width for a label: that of a short label, or of the longest word of a long one."""
    return max(min(len(label), _SHORT_LABEL), *(len(word) for word in label.split()), 1)


def _wrapped(texts: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> list[str]:
    """The lines of one row: texts are aligned to the left, numbers to the right."""
    cells = [
        [piece.ljust(width) if column.type in TEXT_TYPES else piece.rjust(width) for piece in _pieces(text, width)]
        for text, width, column in zip(texts, widths, columns, strict=True)
    ]
    blanks = [" " * width for width in widths]
    return [
        (" " * _GAP).join(piece or blank for piece, blank in zip(line, blanks, strict=True))
        for line in zip_longest(*cells, fillvalue="")
    ]


def _pieces(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` characters, broken at spaces if possible."""
    pieces = []
    while len(text) > width:
        space = text.rfind(" ", 1, width + 1)
        pieces.append(text[: space if space > 0 else width])
        text = text[space + 1 if space > 0 else width :]
    return [*pieces, text]


class _File:
    """Writes the objects of a PDF file, and records their offsets."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self._offsets: dict[int, int] = {}
        self._length = 0
        self._next = _FIRST_FREE

    def start(self) -> bytes:
        """The header, and the objects that do not depend on the rows."""
        # Four bytes beyond ASCII show file transfer programs that the file is binary.
        parts = [self._counted(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")]
        parts.append(self._object(_CATALOG, f"<</Type/Catalog/Pages {_PAGES} 0 R>>".encode()))
        for number, name in ((_PLAIN, "Courier"), (_BOLD, "Courier-Bold")):
            font = f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>"
            parts.append(self._object(number, font.encode()))
        return b"".join(parts)

    def page(self, title: str, head: Sequence[str], lines: Sequence[str]) -> bytes:
        """The objects of one page."""
        number = self._next
        self._next += 2
        self.pages.append(number)
        page = (
            f"<</Type/Page/Parent {_PAGES} 0 R/MediaBox[0 0 {_WIDTH} {_HEIGHT}]/Contents {number + 1} 0 R"
            f"/Resources<</Font<</F1 {_PLAIN} 0 R/F2 {_BOLD} 0 R>>>>>>"
        )
        drawing = zlib.compress(self._drawing(title, head, lines))
        stream = b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(drawing), drawing)
        return self._object(number, page.encode()) + self._object(number + 1, stream)

    def end(self) -> bytes:
        """The list of pages, the table of object offsets, and the trailer."""
        kids = " ".join(f"{number} 0 R" for number in self.pages)
        pages = self._object(_PAGES, f"<</Type/Pages/Count {len(self.pages)}/Kids[{kids}]>>".encode())
        places = "".join(f"{self._offsets[number]:010d} 00000 n \n" for number in range(1, self._next))
        trailer = f"trailer\n<</Size {self._next}/Root {_CATALOG} 0 R>>\nstartxref\n{self._length}\n%%EOF\n"
        return pages + f"xref\n0 {self._next}\n0000000000 65535 f \n{places}{trailer}".encode()

    def _drawing(self, title: str, head: Sequence[str], lines: Sequence[str]) -> bytes:
        page = f"Page {len(self.pages)}"
        title = title[: _LETTERS - len(page) - _GAP]
        top = f"{title.ljust(_LETTERS - len(page))}{page}"
        rule = _HEIGHT - _MARGIN - (len(head) + 2) * _LEADING
        return b"".join(
            [
                f"BT {_LEADING} TL {_MARGIN} {_HEIGHT - _MARGIN - _SIZE} Td /F2 {_SIZE} Tf ".encode(),
                *(_shown_line(line) for line in [top, "", *head, ""]),
                f"/F1 {_SIZE} Tf ".encode(),
                *(_shown_line(line) for line in lines),
                f"ET 0.5 w {_MARGIN} {rule} m {_WIDTH - _MARGIN} {rule} l S".encode(),
            ]
        )

    def _object(self, number: int, body: bytes) -> bytes:
        self._offsets[number] = self._length
        return self._counted(b"%d 0 obj\n%b\nendobj\n" % (number, body))

    def _counted(self, data: bytes) -> bytes:
        self._length += len(data)
        return data


def _shown_line(text: str) -> bytes:
    """The operators that draw a line of text and move to the next line."""
    letters = text.encode("cp1252", "replace")
    escaped = letters.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"(%b) Tj T*\n" % escaped
