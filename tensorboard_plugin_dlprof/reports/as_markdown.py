"""Reports as Markdown tables, for issues and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from tensorboard_plugin_dlprof.reports.blocks import NUMERIC, Block, for_people

_MARKUP = re.compile(r"([\\`*_\[\]|~$])")


def write_markdown(blocks: Iterable[Block], stream: TextIO) -> None:
    """Write the blocks, each as a heading with its title and a table."""
    for position, block in enumerate(blocks):
        stream.write(f"{chr(10) if position else ''}## {_text(block.title)}\n\n")
        headings = [column.heading for column in block.columns] or ["", ""]
        numeric = [column.kind in NUMERIC for column in block.columns] or [False, False]
        _write_row([_text(heading) for heading in headings], stream)
        _write_row(["---:" if right else "---" for right in numeric], stream)
        for row in block.rows:
            _write_row([for_people(value, _text) for value in row], stream)


def _write_row(cells: Sequence[str], stream: TextIO) -> None:
    stream.write(f"| {' | '.join(cells)} |\n")


def _text(text: str) -> str:
    """A text of the profile, escaped so that it is shown as it is: as neither markup nor HTML."""
    lines = _MARKUP.sub(r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").splitlines()
    return "<br>".join(lines)
