"""Reports as CSV files, byte for byte as DLProf 1.8 wrote them.

A block is a line with the title, a line with the headings, and the rows; between blocks is an empty line. Lines end in
LF, and there is no byte order mark. Only columns of texts are in double quotes, averages and percentages have one
decimal, booleans are ``yes`` and ``no``. Scripts depend on these bytes, so texts that spreadsheet programs interpret as
formulas are only changed on request: then they get an apostrophe in front.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tensorboard_plugin_dlprof.exports.cells import harmless
from tensorboard_plugin_dlprof.reports.blocks import Block, Kind, Ours, Unknown, Value, known

_SPECIAL = frozenset(',"\r\n')


def write_csv(blocks: Iterable[Block], stream: TextIO, safe: bool = False) -> None:
    """Write the blocks. The stream must not translate line endings. ``safe`` keeps texts from being formulas."""
    for position, block in enumerate(blocks):
        if position:
            stream.write("\n")
        stream.write(f"{block.title}\n")
        if block.columns:
            stream.write(",".join(column.heading for column in block.columns) + "\n")
            kinds = [column.kind for column in block.columns]
            for row in _of_dlprof(block.rows):
                stream.write(",".join(map(_cell, map(_safe, row) if safe else row, kinds)) + "\n")
        else:
            for name, value in _of_dlprof(block.rows):
                # DLProf does not quote these values: four names of GPUs add three commas.
                text = " ".join(_plain(_safe(value) if safe else value).splitlines())
                stream.write(f"{name},{text}\n")


def _of_dlprof(rows: Iterable[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    return (row for row in rows if not isinstance(row, Ours))


def _safe(value: Value) -> Value:
    if isinstance(value, list):
        value = _plain(value)
    return harmless(value) if isinstance(value, str) else value


def _cell(value: Value, kind: Kind) -> str:
    if type(value) is int:
        return str(value)
    text = value if type(value) is str else _plain(value, kind)
    if kind is Kind.TEXT or not _SPECIAL.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _plain(value: Value, kind: Kind | None = None) -> str:
    if isinstance(value, Unknown):
        value = bool(value.dlprof) if kind is Kind.YES_NO else value.dlprof
    value = known(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.1f}" if isinstance(value, float) else str(value)
