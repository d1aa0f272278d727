"""What stands where an output belongs: files are replaced, and nothing else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.opening.outputs import refuse_special
from tests.imports.traces import write_trace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="FIFOs and such links are POSIX's")


def test_only_files_are_replaced(tmp_path: Path) -> None:
    """Nor what a link leads to, if it is no file: /dev/stdout is such a link."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "file_link").symlink_to("file")
    for name in ("fifo", "link", "loop"):
        with pytest.raises(OutputNotWritable, match="is no file that could be replaced"):
            refuse_special(tmp_path / name)
    with pytest.raises(OutputNotWritable, match="it is a folder"):
        refuse_special(tmp_path)
    for name in ("file", "file_link", "nothing"):
        refuse_special(tmp_path / name)


def test_no_command_replaces_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither as file nor as database; it could be /dev/null, and a rename needs no permission to write to it."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    database = str(source.with_name(database_name(source.name)))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for command in ("trace", "export"):
        assert main([command, database, "-o", str(fifo), "--force"]) == 1
        assert "choose another name" in capsys.readouterr().err
        assert stat.S_ISFIFO(fifo.stat().st_mode)
