"""The style sheets and the components name the same classes."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "frontend" / "src"


def test_every_class_of_a_style_sheet_is_that_of_a_component() -> None:
    """Written out, or put together behind a prefix (``chip-${state}``); what nothing has any more is removed."""
    sheets = "\n".join(
        re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL) for path in SOURCES.rglob("*.css")
    )
    components = "\n".join(path.read_text("utf-8") for path in SOURCES.rglob("*.ts*") if ".test." not in path.name)
    classes = set(re.findall(r"\.([a-zA-Z_][\w-]*)", sheets))
    words = set(re.findall(r"[\w-]+", components))
    prefixes = tuple(re.findall(r"([a-z][\w-]*-)\$\{", components))
    assert len(classes) > 100
    assert sorted(name for name in classes if name not in words and not name.startswith(prefixes)) == []
