"""Reports as JSON for scripts: one object keyed by the titles, numbers as numbers, unknown as ``null``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from tensorboard_plugin_dlprof.reports.blocks import Block, known

ROW_NAME = "Name"
"""Key of the first column where the report gives it no heading."""


def write_json(blocks: Iterable[Block], stream: TextIO) -> None:
    """Pairs become an object, other rows a list of objects keyed by the headings."""
    json.dump({block.title: _content(block) for block in blocks}, stream, indent=2, ensure_ascii=False, allow_nan=False)
    stream.write("\n")


def _content(block: Block) -> Any:
    if not block.columns:
        return {str(name): known(value) for name, value in block.rows}
    keys = [heading or ROW_NAME for heading in block.columns]
    return [dict(zip(keys, map(known, row), strict=True)) for row in block.rows]
