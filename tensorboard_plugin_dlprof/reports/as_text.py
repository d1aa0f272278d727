"""Reports as text for people: aligned columns, thousands separated, one decimal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from tensorboard_plugin_dlprof.opening.regular_file import printable
from tensorboard_plugin_dlprof.reports.blocks import NUMERIC, Block, for_people


def write_text(blocks: Iterable[Block], stream: TextIO) -> None:
    """Write the blocks, with an empty line between them."""
    for position, block in enumerate(blocks):
        if position:
            stream.write("\n")
        stream.write(f"{block.title}\n{'-' * len(block.title)}\n")
        cells = [[for_people(value, printable) for value in row] for row in block.rows]
        if block.columns:
            headings = [column.heading for column in block.columns]
            numeric = [column.kind in NUMERIC for column in block.columns]
            lines = aligned([headings, *cells], numeric)
        else:
            # Values of one column may be texts or numbers, so all of them are aligned to the left.
            lines = aligned(cells, [False, False])
        stream.writelines(f"{line}\n" for line in lines)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """The lines of a table, with each column at its left or right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, right, strict=True)
        yield "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in cells
        ).rstrip()
