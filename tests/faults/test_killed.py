"""``kill -9`` at random moments: no half of a database is ever seen, and the next attempt cleans up and succeeds.
A process that is told to end cleans up itself.

``DLPROF_KILLS`` makes it more often.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.one_job import exit_on_sigterm
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.faults.children import assert_whole, names, run_command, start_command, visible
from tests.imports.traces import write_trace
from tests.run_metadata.reading import read_event_file
from tests.waiting import PATIENCE_S, wait_for

KILLS = int(os.environ.get("DLPROF_KILLS", "12"))

STEPS = 60
SELECTIONS = list(combinations(range(STEPS), 2))
"""First and last iteration: enough different aggregations for any number of kills."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")


def medium_trace(folder: Path) -> Path:
    """One whose import takes long enough to be hit in each of its parts."""
    return write_trace(folder / "a.json", steps=STEPS, adds_per_step=150)


def seconds_of(process: subprocess.Popen[bytes]) -> float:
    """How long it takes when nobody kills it."""
    started = time.monotonic()
    assert process.wait() == 0
    return time.monotonic() - started


def test_an_import_that_is_killed(tmp_path: Path) -> None:
    """The database is whole or not there, and so is the event file."""
    source = medium_trace(tmp_path / "warm")
    whole = seconds_of(start_command("import", str(source)))
    chance = random.Random(6)
    started = killed = 0
    source = medium_trace(tmp_path / "logs")
    database = tmp_path / "logs" / "a.dlprof_dldb.sqlite"
    while started < KILLS or killed < KILLS // 4:
        started += 1
        # Most of it is the start of Python; what counts is at the end.
        process = start_command("import", str(source), "--force", "--scalars")
        time.sleep(whole * chance.uniform(0.3, 0.98))
        process.kill()
        ended_before = process.wait() == 0
        killed += not ended_before
        if ended_before:
            # The first run may have taken long for other reasons: it compiled the modules, on a busy machine.
            whole *= 0.8
        assert visible(tmp_path / "logs") <= {
            "a.json",
            database.name,
            *(path.name for path in find_event_files(tmp_path / "logs")),
        }
        if database.exists():
            assert_whole(database)
        for path in find_event_files(tmp_path / "logs"):
            assert read_event_file(path) is not None
    done = run_command("import", str(source), "--force")
    assert (done.returncode, done.stderr) == (0, "")
    assert_whole(database)
    left = names(tmp_path / "logs") - visible(tmp_path / "logs")
    assert left == set(), "temporary files are swept"


_HELD = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests where it is ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from pathlib import Path
from tensorboard_plugin_dlprof.database import writer

def hold(*_):
    Path(os.environ["HELD"]).touch()
    time.sleep(60)

writer.count_rows = hold
from tensorboard_plugin_dlprof.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_import_that_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    """By a batch system, the end of a terminal, or Ctrl-C: nothing is left, and nothing is said of where it was."""
    logs, held = tmp_path / "logs", tmp_path / "held"
    logs.mkdir()
    source = write_trace(logs / "a.json")
    with subprocess.Popen(
        [sys.executable, "-c", _HELD, "import", str(source)],
        env={**os.environ, "HELD": str(held)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for(lambda: held.exists() or process.poll() is not None)
        assert any(".tmp-" in name for name in names(logs))
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, names(logs)) == (128 + number, {"a.json"})
    assert errors == ("dlprof: interrupted\n" if number == signal.SIGINT else "")


def test_an_import_goes_on_where_the_end_of_its_terminal_is_ignored() -> None:
    """As it is below ``nohup``."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        exit_on_sigterm()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_AGGREGATE = """
import sys
from pathlib import Path
from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database
first, last = int(sys.argv[2]), int(sys.argv[3])
aggregate_database(Path(sys.argv[1]), Path(sys.argv[1]), Selection(None, first, last), lambda *_: None)
"""


def test_a_new_aggregation_that_is_killed(tmp_path: Path) -> None:
    """The database is the old one or the new one, and what was added before is still there."""
    source = medium_trace(tmp_path)
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)

    def start(number: int) -> subprocess.Popen[bytes]:
        first, last = SELECTIONS[number]
        command = [sys.executable, "-c", _AGGREGATE, str(database), str(first), str(last)]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    whole = seconds_of(start(0))
    chance = random.Random(7)
    known = aggregations(database)
    assert known == 2
    started = killed = 0
    while started < KILLS // 2 or killed < KILLS // 8:
        started += 1
        process = start(started)
        time.sleep(whole * chance.uniform(0.3, 0.98))
        process.kill()
        ended_before = process.wait() == 0
        killed += not ended_before
        if ended_before:
            whole *= 0.8
        assert_whole(database)
        assert aggregations(database) in ((known + 1,) if ended_before else (known, known + 1))
        known = aggregations(database)
    seconds_of(start(started + 1))
    assert aggregations(database) == known + 1
    assert names(tmp_path) == {"a.json", database.name}


def aggregations(database: Path) -> int:
    """How many the database has."""
    with closing(open_database(database)) as connection:
        count: int = connection.execute("SELECT count(*) FROM model_summary").fetchone()[0]
        return count
