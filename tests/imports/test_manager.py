"""Imports on demand, through the real worker process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.manager import ImportJob, ImportManager, Source, default_memory_bytes
from tests.imports.holding import Held, hold_workers
from tests.imports.traces import write_long_trace, write_trace
from tests.waiting import wait_for

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="Linux says there how much memory there is")
def test_half_of_the_memory_is_an_imports() -> None:
    """At most 8 GB, and one on the smallest machine."""
    (total_kb,) = re.findall(r"MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    assert default_memory_bytes() == pytest.approx(min(8 << 30, max(1 << 30, int(total_kb) << 9)), rel=0.01)


def source_of(path: Path, profile: str = "p") -> Source:
    """What the server knows of a source."""
    status = path.stat()
    return Source(profile, path, status.st_size, status.st_mtime_ns, path.name)


def cached(manager: ImportManager, source: Source) -> Path | None:
    """The database of the source in the cache."""
    return manager.cache.find(source.real, source.size_bytes, source.mtime_ns)


def is_settled(manager: ImportManager) -> bool:
    """Whether no import runs or waits."""
    return not manager.is_busy()


def failed(manager: ImportManager, profile: str = "p") -> ImportJob:
    """How an import stands that did not succeed, once it has ended."""
    wait_for(lambda: is_settled(manager))
    status = manager.status(profile)
    assert status is not None
    return status


def running(manager: ImportManager) -> int:
    """Process id of the worker, which is held, once it reports progress."""
    wait_for(lambda: (status := manager.status("p")) is not None and status.fraction > 0)
    job = manager.status("p")
    assert job is not None
    assert job.child is not None
    return job.child.process_id


def test_a_source_becomes_a_database_in_the_cache(tmp_path: Path) -> None:
    """The database is complete, and nothing else is left in the cache or beside the source."""
    source = source_of(write_trace(tmp_path / "logs" / "a.json"))
    manager = ImportManager(Cache(tmp_path / "cache"))
    manager.start(source)
    wait_for(lambda: is_settled(manager))
    assert manager.status("p") is None
    database = cached(manager, source)
    assert database is not None
    with closing(open_database(database)) as connection:
        assert connection.execute("SELECT count(*) FROM read_only_kernels").fetchone() == (6,)
    assert list((tmp_path / "cache").iterdir()) == [database]
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["a.json"]


def test_a_source_is_imported_with_the_rules_of_the_user(tmp_path: Path) -> None:
    """The process that imports knows the rules that the server read when it started."""
    source = source_of(write_trace(tmp_path / "a.json"))
    rule = {"name": "mine", "function": "vectorized", "matrix_unit": "yes", "family": "gemm"}
    manager = ImportManager(Cache(tmp_path / "cache"), kernel_rules=json.dumps({"rules": [rule]}))
    manager.start(source)
    wait_for(lambda: is_settled(manager))
    database = cached(manager, source)
    assert database is not None
    with closing(open_database(database)) as connection:
        assert connection.execute("SELECT matrix_unit, rule FROM ext_kernel_names").fetchall() == [(1, "user:mine")]
        assert connection.execute("SELECT DISTINCT uses_tc FROM read_only_kernels").fetchall() == [(1,)]


def test_the_second_time_it_is_there_at_once(tmp_path: Path) -> None:
    """A new server with the same cache starts no process."""
    source = source_of(write_trace(tmp_path / "a.json"))
    first = ImportManager(Cache(tmp_path / "cache"))
    first.start(source)
    wait_for(lambda: is_settled(first))
    second = ImportManager(Cache(tmp_path / "cache"))
    second.start(source)
    assert not second.is_busy()
    assert cached(second, source) is not None


def test_one_import_runs_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait in the order of asking."""
    held = hold_workers(monkeypatch, tmp_path / "held")
    manager = ImportManager(Cache(tmp_path / "cache"))
    sources = [source_of(write_trace(tmp_path / f"{number}.json"), str(number)) for number in range(3)]
    for source in sources:
        manager.start(source)
    held.wait()
    states = [status.state for number in "012" if (status := manager.status(number)) is not None]
    assert states == ["running", "queued", "queued"]
    held.release()
    wait_for(lambda: is_settled(manager))
    assert all(cached(manager, source) for source in sources)


def test_a_source_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """The worker's sentence, which names the file as the list does; asking again tries again."""
    path = tmp_path / "logs" / "broken.json"
    path.parent.mkdir()
    path.write_text('{"traceEvents": 5}')
    manager = ImportManager(Cache(tmp_path / "cache"))
    manager.start(source_of(path))
    status = failed(manager)
    assert status.state == "failed"
    assert status.of_source
    assert "broken.json" in status.message
    assert str(tmp_path) not in status.message
    write_trace(path)
    manager.start(source_of(path))
    wait_for(lambda: is_settled(manager))
    assert manager.status("p") is None


@posix
def test_cancelling_ends_the_process_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be started again afterwards."""
    source = source_of(write_trace(tmp_path / "a.json"))
    hold_workers(monkeypatch, tmp_path / "held")
    manager = ImportManager(Cache(tmp_path / "cache"))
    manager.start(source)
    process_id = running(manager)
    manager.cancel("p")
    wait_for(lambda: is_settled(manager))
    status = manager.status("p")
    assert status is not None
    assert status.state == "cancelled"
    assert not is_alive(process_id)
    assert list((tmp_path / "cache").iterdir()) == []
    manager.start(source)
    assert manager.is_busy()
    manager.cancel("p")
    wait_for(lambda: is_settled(manager))


def test_what_waits_can_be_cancelled(tmp_path: Path) -> None:
    """It never starts."""
    manager = ImportManager(Cache(tmp_path / "cache"))
    first = source_of(write_trace(tmp_path / "1.json"), "1")
    second = source_of(write_trace(tmp_path / "2.json"), "2")
    manager.start(first)
    manager.start(second)
    manager.cancel("2")
    wait_for(lambda: is_settled(manager))
    assert cached(manager, first) is not None
    assert cached(manager, second) is None


@posix
def test_a_process_that_is_killed_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason in a sentence, and nothing half-made in the cache. It would take as much memory again."""
    source = source_of(write_trace(tmp_path / "a.json"))
    hold_workers(monkeypatch, tmp_path / "held")
    manager = ImportManager(Cache(tmp_path / "cache"))
    manager.start(source)
    os.kill(running(manager), signal.SIGKILL)
    status = failed(manager)
    assert status.state == "failed"
    assert not status.of_source
    assert "memory" in status.message
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of written memory is Linux's")
def test_an_import_may_not_use_more_memory_than_its_limit(tmp_path: Path) -> None:
    """It ends with the flag that helps."""
    source = source_of(write_long_trace(tmp_path / "long.json"))
    manager = ImportManager(Cache(tmp_path / "cache"), memory_bytes=90 << 20)
    manager.start(source)
    status = failed(manager)
    assert status.state == "failed"
    assert "--dlprof_memory_limit" in status.message


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The import fails with the flag that helps; the server goes on."""
    (tmp_path / "file").write_bytes(b"")
    manager = ImportManager(Cache(tmp_path / "file" / "cache"))
    manager.start(source_of(write_trace(tmp_path / "a.json")))
    assert "--dlprof_cache_dir" in failed(manager).message


@posix
def test_the_process_does_not_outlive_the_server(tmp_path: Path) -> None:
    """The server is killed without a chance to tell the worker."""
    write_trace(tmp_path / "a.json")
    python = Held(tmp_path / "held").python
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(tmp_path / "a.json"), str(tmp_path / "cache"), str(python)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    with server:
        assert server.stdout is not None
        process_id = int(server.stdout.readline())
        assert is_alive(process_id)
        server.kill()
    wait_for(lambda: not is_alive(process_id))


_SERVER = """
import sys, time
from pathlib import Path
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.manager import ImportManager, Source
path, sys.executable = Path(sys.argv[1]), sys.argv[3]
status = path.stat()
manager = ImportManager(Cache(Path(sys.argv[2])))
manager.start(Source("p", path, status.st_size, status.st_mtime_ns, path.name))
while (job := manager.status("p")).state == "queued" or job.state == "running" and not job.fraction:
    time.sleep(0.02)
print(job.child.process_id, flush=True)
time.sleep(60)
"""


def is_alive(process_id: int) -> bool:
    """Whether the process runs: a dead one that nobody waited for does not count."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc").is_dir():
            return False
        return subprocess.run(["kill", "-0", str(process_id)], check=False, capture_output=True).returncode == 0
    return state != "Z"


def test_a_process_that_the_system_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no bug of ours, and the next import may be luckier."""
    monkeypatch.setattr(sys, "executable", str(tmp_path))
    manager = ImportManager(Cache(tmp_path / "cache"))
    manager.start(source_of(write_trace(tmp_path / "a.json")))
    assert "No process could be started for it (Permission denied)" in failed(manager).message
    assert not list((tmp_path / "cache").iterdir())
