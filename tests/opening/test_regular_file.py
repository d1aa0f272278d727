"""Only regular files are opened, and nothing hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import NotFound, UnsafeFile
from tensorboard_plugin_dlprof.opening.regular_file import inside, open_regular, shown


def test_reads_a_regular_file_from_its_start(tmp_path: Path) -> None:
    """The bytes are those of the file."""
    (tmp_path / "a").write_bytes(b"hello")
    with open_regular(tmp_path / "a") as file:
        assert file.read() == b"hello"


def test_follows_a_symbolic_link_to_a_regular_file(tmp_path: Path) -> None:
    """Runs are often links to scratch disks."""
    (tmp_path / "a").write_bytes(b"hello")
    (tmp_path / "link").symlink_to("a")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"hello"


def test_names_what_is_missing(tmp_path: Path) -> None:
    """A missing file, and a file used as a folder, do not exist."""
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "gone", tmp_path / "file" / "below"):
        with pytest.raises(NotFound, match="does not exist"):
            open_regular(path)


def test_refuses_a_folder(tmp_path: Path) -> None:
    """It is named as what it is."""
    with pytest.raises(UnsafeFile, match="is a folder; name a profile in it"):
        open_regular(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no FIFOs")
def test_refuses_a_fifo_without_waiting_for_its_writer(tmp_path: Path) -> None:
    """A plain open would hang for ever."""
    os.mkfifo(tmp_path / "pipe.sqlite")
    with pytest.raises(UnsafeFile, match="is not a regular file"):
        open_regular(tmp_path / "pipe.sqlite")


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="this platform has no device files")
def test_refuses_a_device() -> None:
    """Devices may do anything when they are read."""
    with pytest.raises(UnsafeFile, match="is not a regular file"):
        open_regular(Path(os.devnull))


def test_refuses_a_loop_of_links(tmp_path: Path) -> None:
    """The sentence says that it is a loop."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnsafeFile, match="loop of symbolic links"):
        open_regular(tmp_path / "a")


def test_refuses_a_name_with_nul() -> None:
    """Such a name cannot be a file."""
    with pytest.raises((UnsafeFile, NotFound)):
        open_regular(Path("a\0b"))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_names_a_missing_permission(tmp_path: Path) -> None:
    """The sentence says what to do."""
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "a").chmod(0)
    with pytest.raises(UnsafeFile, match="may not be read"):
        open_regular(tmp_path / "a")


def test_a_file_is_inside_the_folder_that_holds_it_and_not_inside_others(tmp_path: Path) -> None:
    """Also where one folder's name begins like the other's."""
    for name in ("runs", "runs2"):
        (tmp_path / name).mkdir()
    file = tmp_path / "runs2" / "a"
    file.write_bytes(b"")
    assert inside(file, [tmp_path / "runs2"])
    assert not inside(file, [tmp_path / "runs"])
    assert inside(file, [tmp_path / "runs", tmp_path])
    assert not inside(file, [])


def test_a_link_is_where_it_leads(tmp_path: Path) -> None:
    """A link inside a root may lead out of it, and a root may itself be a link."""
    (tmp_path / "root").mkdir()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "a").write_bytes(b"")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "scratch" / "a")
    (tmp_path / "alias").symlink_to(tmp_path / "scratch")
    assert not inside(tmp_path / "root" / "out", [tmp_path / "root"])
    assert not inside(tmp_path / "root" / ".." / "scratch" / "a", [tmp_path / "root"])
    assert inside(tmp_path / "root" / "out", [tmp_path / "root", tmp_path / "alias"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.sqlite", "plain.sqlite"),
        ("größe 1.sqlite", "größe 1.sqlite"),
        ("two\nlines", "two�lines"),
        ("\x1b[31mred", "�[31mred"),
        ("right\u202eleft", "right�left"),
        (os.fsdecode(b"bad\xff"), "bad�"),
    ],
)
def test_any_name_is_shown_as_one_line_of_text(name: str, expected: str) -> None:
    """Terminal escapes, direction marks and undecodable bytes become a replacement character."""
    assert shown(Path(name)) == expected
