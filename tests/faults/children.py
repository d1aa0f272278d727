"""Processes that tests kill, starve or strip of their rights."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.digest import is_intact
from tensorboard_plugin_dlprof.queries.extension import info

NOBODY = 65_534


def run_command(*arguments: str, prelude: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """``dlprof`` in a process of its own, after a prelude."""
    return subprocess.run(
        [sys.executable, "-c", f"{prelude}\n{_MAIN}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=120,
    )


def start_command(*arguments: str) -> subprocess.Popen[bytes]:
    """The same, not waited for."""
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


_MAIN = "import sys; from tensorboard_plugin_dlprof.cli.main import main; sys.exit(main())"

AS_NOBODY = f"""
import os
from tests.faults.children import load_everything
load_everything()
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
"""
"""Prelude: root may read and write everything, so it becomes somebody else, who may not even read our modules."""

SMALL_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
"""
"""Prelude: writing beyond some kB fails, as it does on a full disk."""


def load_everything() -> None:
    """Imports every module that an import of a profile needs, by importing one."""
    from tensorboard_plugin_dlprof.cli.main import main
    from tests.imports.traces import write_trace

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        source = write_trace(Path(folder, "warm.json"))
        assert main(["import", str(source), "--scalars"]) == 0
        assert main(["import", str(Path(folder, "gone"))]) == 1


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user reaches: pytest's own are for their owner alone."""
    folder = Path(tempfile.mkdtemp(prefix="dlprof-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in folder.rglob("*"):
            if path.is_dir():
                path.chmod(0o700)
        shutil.rmtree(folder)


def assert_whole(database: Path) -> None:
    """The database is byte for byte as its writer meant it."""
    with closing(open_database(database)) as connection:
        stored = info(connection)["file_sha256"]
    assert is_intact(database, stored)
    assert not list(database.parent.glob("*-journal"))
    assert not list(database.parent.glob("*-wal"))


def names(folder: Path) -> set[str]:
    """All that is in a folder."""
    return {path.name for path in folder.iterdir()}


def visible(folder: Path) -> set[str]:
    """Names of what is not on its way: what TensorBoard and the commands look at."""
    return {name for name in names(folder) if ".tmp-" not in name}
