"""Storage that fails: each ends in the sentence that the user needs, leaves nothing half-made, and harms no other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.faults.children import AS_NOBODY, SMALL_FILES, assert_whole, names, open_folder, run_command, start_command
from tests.imports.traces import write_trace
from tests.routes.serving import OURS, Server
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits, users and modes are POSIX's")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user reaches."""
    with open_folder() as result:
        yield result


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that the user gets of a command that failed."""
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("dlprof: error: ")
    return line.removeprefix("dlprof: error: ")


def test_a_full_disk(tmp_path: Path) -> None:
    """A write that fails is said; nothing is left, an older database stays as it was."""
    source = write_trace(tmp_path / "a.json", steps=20, adds_per_step=100)
    done = run_command("import", str(source), prelude=SMALL_FILES)
    assert "check the storage, or choose another output folder" in sentence(done)
    assert names(tmp_path) == {"a.json"}
    assert run_command("import", str(source)).returncode == 0
    before = (tmp_path / "a.dlprof_dldb.sqlite").read_bytes()
    sentence(run_command("import", str(source), "--force", prelude=SMALL_FILES))
    assert (tmp_path / "a.dlprof_dldb.sqlite").read_bytes() == before


@contextmanager
def mounted(disk: Path, size: str) -> Iterator[Path]:
    """A file system of this size."""
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here (it takes root); the limit on the size of files stands in")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Too small for a database."""
    with mounted(tmp_path / "disk", "300k") as disk:
        yield disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Large enough for some."""
    with mounted(tmp_path / "disk", "4m") as disk:
        yield disk


def test_a_disk_that_is_really_full(small_disk: Path, tmp_path: Path) -> None:
    """By the command, and by an import on demand into a cache there; other profiles are served on."""
    source = write_trace(tmp_path / "logs" / "a.json", steps=20, adds_per_step=100)
    done = run_command("import", str(source), "-o", str(small_disk))
    assert re.search(r"There is no space left to write \S+; free about \d+ MB there", sentence(done))
    assert names(small_disk) == set()
    good = write_trace(tmp_path / "logs" / "good.json")
    import_source(good, tmp_path / "logs" / "good.dlprof_dldb.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    server = Server(tmp_path / "logs", small_disk / "cache")
    server.change("/import", server.profile("a.json")["id"])
    message = server.wait_for_state("a.json", "failed")["message"]
    assert "There is no space left to write the cache folder of the server" in message
    assert str(small_disk) not in message
    assert server.get(f"/dashboard?profile={server.profile('good.json')['id']}").status_code == 200
    assert [path for path in small_disk.rglob("*") if path.is_file()] == []
    server.app.close()


def test_a_disk_that_is_full_when_iterations_are_aggregated(disk: Path, tmp_path: Path) -> None:
    """What was there is served on; when there is space again, so is the new aggregation."""
    source = write_trace(tmp_path / "logs" / "a.json")
    import_source(source, tmp_path / "logs" / "a.dlprof_dldb.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    server = Server(tmp_path / "logs", disk / "cache")
    profile = server.profile("a.json")["id"]

    def aggregate() -> Any:
        server.client.post("/aggregate", json={"profile": profile, "iter_start": 1}, headers=OURS)
        address = f"/aggregation_jobs?profile={profile}"
        wait_for(lambda: server.get(address).json["jobs"][-1]["finished_at"])
        return server.get(address).json["jobs"][-1]

    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    failed = aggregate()
    assert failed["state"] == "failed"
    assert str(disk) not in failed["message"]
    assert server.get(f"/dashboard?profile={profile}").status_code == 200
    filler.unlink()
    assert aggregate()["state"] == "done"
    server.app.close()


def test_a_folder_that_may_not_be_written_to(folder: Path) -> None:
    """Also for root's tests: the command runs as somebody else."""
    source = write_trace(folder / "a.json")
    source.chmod(0o644)
    done = run_command("import", str(source), prelude=AS_NOBODY)
    assert "cannot be written: the folder is read-only for you" in sentence(done)
    assert names(folder) == {"a.json"}


def test_a_source_that_may_not_be_read(folder: Path) -> None:
    """The other source of the same command is imported."""
    (folder / "logs").mkdir()
    secret, good = write_trace(folder / "logs" / "secret.json"), write_trace(folder / "logs" / "good.json")
    good.chmod(0o644)
    secret.chmod(0)
    (folder / "logs").chmod(0o777)
    done = run_command("import", str(secret), str(good), prelude=AS_NOBODY)
    assert done.returncode == 3
    assert f"{secret} may not be read; give yourself read permission on it." in done.stderr
    assert_whole(folder / "logs" / "good.dlprof_dldb.sqlite")


def importing_while(path: Path, database: Path, event: object) -> None:
    """Imports, and lets something happen in the middle of it."""
    happened = False

    def progress(_stage: str, fraction: float) -> None:
        nonlocal happened
        if fraction >= 1 and not happened:
            happened = True
            event()  # type: ignore[operator]

    import_source(path, database, ImportOptions(), progress)


def test_a_source_that_is_still_growing(tmp_path: Path) -> None:
    """Else the database of its first half would pass for that of the whole."""
    source = write_trace(tmp_path / "a.json")

    def grow() -> None:
        with source.open("a") as file:
            file.write(" ")

    with pytest.raises(BrokenSource, match=r"a\.json changed while it was read"):
        importing_while(source, tmp_path / "a.sqlite", grow)
    assert names(tmp_path) == {"a.json"}


def test_a_source_that_is_replaced_or_deleted_while_it_is_read(tmp_path: Path) -> None:
    """What was read is not taken for the file that is there now."""
    source = write_trace(tmp_path / "a.json")
    other = write_trace(tmp_path / "other", steps=9)
    with pytest.raises(BrokenSource, match="changed while it was read"):
        importing_while(source, tmp_path / "a.sqlite", lambda: other.replace(source))
    with pytest.raises(NotFound, match=r"a\.json does not exist"):
        importing_while(source, tmp_path / "a.sqlite", source.unlink)
    assert names(tmp_path) == set()


def test_a_source_that_goes_before_its_import_on_demand_starts(tmp_path: Path) -> None:
    """The list knew it; TensorBoard serves on."""
    write_trace(tmp_path / "logs" / "a.pt.trace.json")
    write_trace(tmp_path / "logs" / "b.pt.trace.json")
    server = Server(tmp_path / "logs", tmp_path / "cache")
    first, second = (profile["id"] for profile in server.profiles())
    (tmp_path / "logs" / "a.pt.trace.json").unlink()
    server.change("/import", first)
    server.change("/import", second)
    wait_for(lambda: not server.services.imports.is_busy())
    server.rescan()
    assert [profile["state"] for profile in server.profiles()] == ["ready"]
    assert server.get(f"/dashboard?profile={second}").status_code == 200
    server.app.close()


def test_two_imports_of_one_source_at_once(tmp_path: Path) -> None:
    """Both end well, with one result."""
    source = write_trace(tmp_path / "a.json", steps=20, adds_per_step=100)
    processes = [start_command("import", str(source), "--force") for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert_whole(tmp_path / "a.dlprof_dldb.sqlite")
    assert len(names(tmp_path)) == 3


def test_two_servers_with_one_cache_at_once(tmp_path: Path) -> None:
    """Neither removes what the other is working on."""
    write_trace(tmp_path / "logs" / "a.pt.trace.json", steps=20, adds_per_step=100)
    servers = [Server(tmp_path / "logs", tmp_path / "cache") for _ in range(2)]
    for server in servers:
        server.change("/import", server.profiles()[0]["id"])
    for server in servers:
        wait_for(lambda server=server: not server.services.imports.is_busy())
        server.rescan()
        assert server.profiles()[0]["state"] == "ready"
        server.app.close()
    (database,) = (tmp_path / "cache").iterdir()
    assert_whole(database)


@pytest.mark.parametrize("seconds", [0, -86_400, 4_102_444_800], ids=["1970", "1969", "2100"])
def test_files_from_the_past_and_the_future(tmp_path: Path, seconds: int) -> None:
    """A clock that goes backwards leaves such times behind."""
    source = write_trace(tmp_path / "logs" / "a.pt.trace.json")
    os.utime(source, (seconds, seconds))
    server = Server(tmp_path / "logs", tmp_path / "cache")
    server.change("/import", server.profiles()[0]["id"])
    server.wait_for_state(source.name, "ready")
    database = next((tmp_path / "cache").glob("*.sqlite"))
    os.utime(database, (seconds, seconds))
    answer = server.get(f"/dashboard?profile={server.profiles()[0]['id']}")
    assert answer.status_code == 200
    assert len(list((tmp_path / "cache").glob("*.sqlite"))) == 1
    server.app.close()


def test_a_clock_that_goes_backwards_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait depends on the time of day."""
    now = iter(range(10**9, 0, -3_600))
    monkeypatch.setattr("time.time", lambda: float(next(now)))
    write_trace(tmp_path / "logs" / "a.pt.trace.json")
    server = Server(tmp_path / "logs", tmp_path / "cache")
    server.change("/import", server.profiles()[0]["id"])
    server.wait_for_state("a.pt.trace.json", "ready")
    database = next((tmp_path / "cache").glob("*.sqlite"))
    with closing(open_database(database)) as connection:
        assert connection.execute("SELECT count(*) FROM read_only_kernels").fetchone() == (6,)
    server.app.close()
