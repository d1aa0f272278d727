"""What is worked out when somebody asks: remembered, and never more waiting than a few."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import QueueFull
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.failures import FIRST_PAUSE_SECONDS
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


def test_requests_do_not_pile_up(database: Path, tmp_path: Path) -> None:
    """While the places are taken, others are put off at once, and what is known is given at once."""
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, places=2)
    known = advisor.diagnosis(database, None)
    assert known
    with ThreadPoolExecutor(2) as threads:
        with advisor._one_at_a_time:
            waiting = [threads.submit(advisor.diagnosis, database, (0, 1)) for _ in range(2)]
            wait_for(lambda: advisor._places._value == 0)
            with pytest.raises(QueueFull):
                advisor.diagnosis(database, (1, 1))
            assert advisor.diagnosis(database, None) is known
        first, second = (future.result() for future in waiting)
    assert first is second
    assert not list((tmp_path / "cache").iterdir())
    assert advisor.diagnosis(tmp_path / "gone.sqlite", None) is None


def test_a_database_of_dlprof_is_imported_once(database: Path, tmp_path: Path) -> None:
    """Into the cache, for each version of it; one of ours is used as it is."""
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, places=1)
    assert advisor.in_our_schema(database) == database
    drop_extensions(database)
    os.utime(database, ns=(0, 0))
    made = advisor.in_our_schema(database)
    assert [path for path in (tmp_path / "cache").iterdir() if not path.name.startswith(".")] == [made]
    with closing(open_database(made)) as con:
        assert con.execute("SELECT count(*) FROM main.ext_op_efficiency").fetchone()[0] > 0
    advisor._places.acquire()
    assert advisor.in_our_schema(database) == made
    os.utime(database, ns=(1, 1))
    with pytest.raises(QueueFull):
        advisor.in_our_schema(database)
    gone = tmp_path / "gone.sqlite"
    assert advisor.in_our_schema(gone) == gone


def test_what_failed_is_tried_again(database: Path, tmp_path: Path) -> None:
    """A file that was half copied, with the time and size that it has when it is whole: not at once, but soon."""
    clock = [0.0]
    drop_extensions(database)
    advisor = Advisor(Cache(tmp_path / "cache"), GIGABYTE, clock=lambda: clock[0])
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
    assert Advisor(Cache(tmp_path / "cache"), GIGABYTE, seconds=0).diagnosis(database, None) is None
    assert "took too long" in caplog.text
