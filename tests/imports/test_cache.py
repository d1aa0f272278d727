"""The folder of the databases that servers made."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.imports.cache import STALE_WORK_SECONDS, Cache, default_folder
from tests.faults.children import open_folder

SOURCE = Path("/logs/a.json")


def test_a_database_is_found_by_the_version_of_its_source(tmp_path: Path) -> None:
    """Another size, time or place is another source."""
    cache = Cache(tmp_path / "cache")
    work = cache.make_work_folder()
    (work / "made").write_bytes(b"database")
    cache.publish(work / "made", cache.path(SOURCE, 10, 20))
    assert cache.find(SOURCE, 10, 20) is not None
    for other in [(SOURCE, 11, 20), (SOURCE, 10, 21), (Path("/logs/b.json"), 10, 20)]:
        assert cache.find(*other) is None


def test_other_rules_for_kernels_are_another_version(tmp_path: Path) -> None:
    """A database that was made with other rules of a user is not found."""
    plain, ruled = Cache(tmp_path), Cache(tmp_path, rules_digest="0123456789abcdef")
    plain.path(SOURCE, 10, 20).write_bytes(b"database")
    assert plain.find(SOURCE, 10, 20) is not None
    assert ruled.find(SOURCE, 10, 20) is None


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_folder_is_nobody_elses(tmp_path: Path) -> None:
    """Even where it was there before, with another mode."""
    (tmp_path / "cache").mkdir(mode=0o755)
    Cache(tmp_path / "cache").make_work_folder()
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_folder_with_other_things_stays_as_it_is(tmp_path: Path) -> None:
    """Who names a folder that others use, such as /tmp, must not shut them out; databases are private all the same."""
    folder = tmp_path / "team"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "notes.txt").touch()
    cache = Cache(folder)
    made = cache.make_work_folder() / "made"
    made.touch()
    made.chmod(0o644)
    cache.publish(made, cache.path(SOURCE, 1, 1))
    assert folder.stat().st_mode & 0o777 == 0o755
    assert cache.path(SOURCE, 1, 1).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_another_user_is_refused() -> None:
    """Who owns it could put other files in the place of ours, be it open to everybody or not."""
    program = (
        "import os, sys; from pathlib import Path; from tensorboard_plugin_dlprof.imports.cache import Cache\n"
        "os.setuid(4242)\n"
        "try: Cache(Path(sys.argv[1])).make_work_folder()\n"
        "except Exception as error: print(error)\n"
    )
    with open_folder() as folder:
        for owner in (4242, 4711):
            os.chown(folder, owner, -1)
            folder.chmod(0o777)
            (folder / "other").touch()
            command = [sys.executable, "-c", program, str(folder)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert ("belongs to another user" in said) is (owner == 4711)


def test_the_longest_unused_databases_go_first(tmp_path: Path) -> None:
    """Three of 100 bytes where 250 fit: the one that was not used for the longest time goes."""
    cache = Cache(tmp_path, max_bytes=250)
    paths = [cache.path(SOURCE, number, 0) for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes(100))
        os.utime(path, ns=(number, 5))
    cache.touch(paths[0])
    cache.evict()
    assert [path.is_file() for path in paths] == [True, False, True]
    assert paths[0].stat().st_mtime_ns == 5


def test_the_newest_database_stays_even_when_it_alone_is_too_large(tmp_path: Path) -> None:
    """Somebody waits for it."""
    cache = Cache(tmp_path / "cache", max_bytes=10)
    work = cache.make_work_folder()
    (work / "made").write_bytes(bytes(100))
    cache.publish(work / "made", cache.path(SOURCE, 1, 1))
    assert cache.find(SOURCE, 1, 1) is not None


def test_what_a_killed_server_left_behind_is_swept(tmp_path: Path) -> None:
    """After a day; another server may be at work in a younger one."""
    cache = Cache(tmp_path)
    old, young = cache.make_work_folder(), cache.make_work_folder()
    long_ago = old.stat().st_mtime - 2 * STALE_WORK_SECONDS
    os.utime(old, (long_ago, long_ago))
    cache.make_work_folder()
    assert (old.exists(), young.exists()) == (False, True)


def test_folders_of_others_are_never_swept(tmp_path: Path) -> None:
    """Somebody may name a folder as the cache in which they work."""
    other = tmp_path / "work-of-last-year"
    other.mkdir()
    (other / "thesis.txt").touch()
    os.utime(other, (0, 0))
    cache = Cache(tmp_path)
    cache.make_work_folder()
    cache.clear()
    assert (other / "thesis.txt").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """With the flag that helps, and without the path of this machine."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputNotWritable, match="--dlprof_cache_dir") as raised:
        Cache(tmp_path / "file" / "cache").make_work_folder()
    assert str(tmp_path) not in str(raised.value)


def test_the_default_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG_CACHE_HOME counts where it is absolute, as its specification says."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x" / "tensorboard_plugin_dlprof"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_folder() == tmp_path / ".cache" / "tensorboard_plugin_dlprof"


@pytest.mark.skipif(os.name != "posix", reason="users by number are POSIX's")
def test_a_user_without_a_home_has_a_folder_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that runs under any number; a folder that is named needs no home."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_folder() == Path(tempfile.gettempdir(), f"tensorboard_plugin_dlprof-{os.getuid()}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "tensorboard_plugin_dlprof"


@pytest.mark.skipif(os.name != "posix", reason="process numbers are told apart so on POSIX")
def test_what_a_killed_server_left_is_swept_at_once(tmp_path: Path) -> None:
    """What a living one is working on stays."""
    cache = Cache(tmp_path / "cache")
    mine = cache.make_work_folder()
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{gone.pid}-"))
    left.mkdir()
    (left / "half.sqlite").write_bytes(bytes(100))
    cache.make_work_folder()
    assert mine.is_dir()
    assert not left.exists()
