"""What the tests of the page share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.cli.traces import write_trace


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A database of a hostile trace: names are markup."""
    source = write_trace(tmp_path / "a.json", steps=4)
    hostile = (
        source.read_text().replace("Test GPU", "<script>alert(1)</script>").replace("aten::mm", "aten::<img src=x>")
    )
    source.write_text(hostile)
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    return database
