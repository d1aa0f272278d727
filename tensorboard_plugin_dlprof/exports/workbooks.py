"""Limits and options of all Excel workbooks that the package writes."""

from __future__ import annotations

import re
from pathlib import Path

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
