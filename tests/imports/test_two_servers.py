"""Two servers with one cache aggregate the same profile at once: both aggregations are there in the end."""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.adding import add_aggregation
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.opening.locking import exclusive
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import write_trace
from tests.waiting import PATIENCE_S

SERVER = """
import sys, threading, time
from pathlib import Path
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager, Request, Subject

cache, database, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
manager = ReaggregationManager(Cache(cache), 1 << 31, threading.Lock())
sys.stdin.readline()
manager.start(Subject("p", database, database.name), Request("aggregate", first, 4))
while (job := manager.jobs("p")[0]).finished_at is None:
    time.sleep(0.02)
print(job.state, job.aggregation, job.message)
"""

HOLDER = """
import sys
from pathlib import Path
from tensorboard_plugin_dlprof.opening.locking import exclusive

print("asking", flush=True)
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def started(script: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that waits for a line."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """One of five iterations."""
    source = write_trace(tmp_path / "a.json", steps=5)
    path = tmp_path / "logs" / "a.dlprof_dldb.sqlite"
    path.parent.mkdir()
    import_source(source, path, ImportOptions(), lambda _stage, _fraction: None)
    return path


def test_no_aggregation_of_two_processes_is_lost(tmp_path: Path, database: Path) -> None:
    """The one that comes second begins again, on top of the first."""
    cache = tmp_path / "cache"
    servers = [started(SERVER, cache, database, first) for first in (1, 2)]
    for server in servers:
        assert server.stdin is not None
        server.stdin.write("go\n")
        server.stdin.flush()
    said = [server.communicate(timeout=PATIENCE_S)[0].split() for server in servers]
    assert [words[0] for words in said] == ["done", "done"]
    assert {words[1] for words in said} == {"2", "3"}
    with closing(open_database(Cache(cache).newest(database))) as con:
        rows = con.execute("SELECT aggr_id, iter_start, iter_stop FROM model_summary ORDER BY aggr_id").fetchall()
    starts = {int(words[1]): first for words, first in zip(said, (1, 2), strict=True)}
    assert rows == [(1, 0, 4), (2, starts[2], 4), (3, starts[3], 4)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_the_lock_is_held_across_processes(tmp_path: Path) -> None:
    """A second process waits until the first is done, or dead."""
    with ExitStack() as stack:
        first = stack.enter_context(holding(tmp_path))
        assert first.stdout is not None
        assert [first.stdout.readline(), first.stdout.readline()] == ["asking\n", "held\n"]
        second = stack.enter_context(holding(tmp_path))
        assert second.stdout is not None
        assert second.stdout.readline() == "asking\n"
        # Without the lock it would go on at once; that it waits can only be seen by waiting.
        assert not select.select([second.stdout], [], [], 1.0)[0]
        first.kill()
        assert second.stdout.readline() == "held\n"
    with exclusive(tmp_path):
        pass


@contextmanager
def holding(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock of a folder, or waits for it."""
    process = started(HOLDER, folder)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_database_replaced_meanwhile_is_not_overwritten(database: Path) -> None:
    """As by ``dlprof aggregate`` in two terminals: the second is told, and the first's work stays."""
    other = database.read_bytes()
    with closing(open_database(database)) as con:
        profile = read_profile(con)
        aggregation = aggregate(profile)

        def replaced(fraction: float) -> None:
            if fraction == 1.0:
                made = database.with_name("other")
                made.write_bytes(other)
                made.replace(database)

        with pytest.raises(UnfitDatabase, match="changed while it was copied; try again"):
            add_aggregation(database, database, con, profile, aggregation, [], replaced)
    assert database.read_bytes() == other
    assert [path.name for path in database.parent.iterdir()] == [database.name]
