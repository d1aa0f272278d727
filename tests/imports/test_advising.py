"""What is worked out when somebody asks: remembered, and nobody waits for the databases of others."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import QueueFull
from tensorboard_plugin_dlprof.imports import advising
from tensorboard_plugin_dlprof.imports.advising import (
    _TOO_LONG,
    FIRST_PAUSE_SECONDS,
    MAX_SECOND_ATTEMPTS,
    SECONDS,
    Advisor,
)
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Outcome
from tensorboard_plugin_dlprof.imports.manager import GIGABYTE
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.database.stranger import drop_extensions
from tests.imports.traces import write_trace
from tests.waiting import wait_for


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Three steps."""
    source = write_trace(tmp_path / "a.json")
    import_source(source, tmp_path / database_name(source.name), ImportOptions(), lambda _stage, _fraction: None)
    return tmp_path / database_name(source.name)


def test_nobody_waits_for_databases_of_others(database: Path, tmp_path: Path) -> None:
    """With hostile databases in all but one place, and in the queue for second attempts, another is read at once;
    those who ask for the hostile ones are told to ask again, and what is known is given."""
    started: dict[str, int] = {}
    is_over = threading.Event()

    class Hostile(Advisor):
        def _attempt(self, job: Any, seconds: float, memory_bytes: int) -> Outcome:
            started[job.database.name] = started.get(job.database.name, 0) + 1
            if job.database == database:
                return super()._attempt(job, seconds, memory_bytes)
            is_over.wait(60 if seconds == SECONDS or job.database.name == "held" else 0)
            return Outcome(False, error=_TOO_LONG)

    advisor = Hostile(Cache(tmp_path / "cache"), 4 * GIGABYTE, wait_seconds=0.05)
    names = [f"late{number}" for number in range(MAX_SECOND_ATTEMPTS + 2)] + ["held"]
    for name in names:
        (tmp_path / name).touch()
        with suppress(QueueFull):
            assert advisor.diagnosis(tmp_path / name, None) is None
    advisor.wait_seconds = 60
    try:
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(lambda _: advisor.diagnosis(database, (0, 1)), range(2))
        assert first is second
        assert first
        assert started[database.name] == 1
        advisor.wait_seconds = 0
        assert advisor.diagnosis(database, (0, 1)) is first
        with pytest.raises(QueueFull):
            advisor.diagnosis(tmp_path / "held", None)
    finally:
        is_over.set()
    wait_for(lambda: not advisor._jobs)
    before = dict(started)
    assert advisor.diagnosis(tmp_path / "late0", None) is None, "not tried again"
    assert started == before
    assert not list((tmp_path / "cache").iterdir())
    assert advisor.diagnosis(tmp_path / "gone.sqlite", None) is None


def test_jobs_do_not_pile_up(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Further ones are put off at once; what a first attempt lacks, memory for instance, a second one has."""
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, seconds=(0, 60), wait_seconds=None)
    monkeypatch.setattr(advising, "MAX_JOBS", 0)
    with pytest.raises(QueueFull):
        advisor.diagnosis(database, None)
    monkeypatch.undo()
    assert advisor.diagnosis(database, None)


def test_a_database_of_dlprof_is_imported_once(database: Path, tmp_path: Path) -> None:
    """Into the cache, for each version of it; one of ours is used as it is."""
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, wait_seconds=None)
    assert advisor.in_our_schema(database) == database
    drop_extensions(database)
    os.utime(database, ns=(0, 0))
    made = advisor.in_our_schema(database)
    assert [path for path in (tmp_path / "cache").iterdir() if not path.name.startswith(".")] == [made]
    with closing(open_database(made)) as con:
        assert con.execute("SELECT count(*) FROM main.ext_op_efficiency").fetchone()[0] > 0
    advisor.wait_seconds = 0
    assert advisor.in_our_schema(database) == made
    os.utime(database, ns=(1, 1))
    with pytest.raises(QueueFull):
        advisor.in_our_schema(database)
    wait_for(lambda: not advisor._jobs)
    gone = tmp_path / "gone.sqlite"
    assert advisor.in_our_schema(gone) == gone


def test_what_failed_is_tried_again(database: Path, tmp_path: Path) -> None:
    """A file that was half copied, with the time and size that it has when it is whole: not at once, but soon."""
    clock = [0.0]
    drop_extensions(database)
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, wait_seconds=None, clock=lambda: clock[0])
    whole, status = database.read_bytes(), database.stat()

    def put(content: bytes) -> None:
        database.write_bytes(content)
        os.utime(database, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert advisor.diagnosis(database, (0, 1))  # and the file is known to be foreign
    put(whole[:4096] + bytes(len(whole) - 4096))
    assert advisor.diagnosis(database, None) is None
    put(whole)
    assert advisor.diagnosis(database, None) is None
    clock[0] = FIRST_PAUSE_SECONDS
    assert advisor.diagnosis(database, None)


def test_the_log_says_what_took_too_long(database: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And not that a process died, which we ended ourselves."""
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, seconds=(0, 0), wait_seconds=None)
    assert advisor.diagnosis(database, None) is None
    assert "took too long" in caplog.text
