"""What holds for every Excel workbook that the package writes: its limits, and texts that stay texts."""

from __future__ import annotations

import re
from pathlib import Path

SHEET_ROWS = 1_048_576
"""Rows of a sheet, the headings included."""

LONGEST_TEXT = 32_767
"""Letters of a cell."""

LARGEST_INTEGER = 2**53
"""Excel's numbers are floats: a larger one would lose its last digits, so it is written as text."""

# Excel cannot hold these, and no XML can.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def options(path: Path) -> dict[str, str | bool]:
    """Those of ``xlsxwriter`` for a workbook at ``path``, whose folder also takes its temporary files.

    Rows go to a temporary file as they come; nothing is taken for a formula, a link or a number by its look.
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
    """A text as a cell can hold it."""
    text = _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
