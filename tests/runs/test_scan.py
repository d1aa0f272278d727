"""Files below the log directory that may be profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.runs import scan as scanning
from tensorboard_plugin_dlprof.runs.scan import Root, scan


def touch(path: Path) -> Path:
    """A file of one byte."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def scanned(logdir: Path, allowed: tuple[Path, ...] = ()) -> list[tuple[str, str]]:
    """Run and name of each file."""
    return [(file.run, file.name) for file in scan([Root(logdir)], allowed).files]


def test_finds_profiles_anywhere_and_names_runs_as_tensorboard_does(tmp_path: Path) -> None:
    """The run of a file is its folder relative to the log directory; the log directory itself is a dot."""
    touch(tmp_path / "root.pt.trace.json")
    touch(tmp_path / "run" / "dlprof_dldb.sqlite")
    touch(tmp_path / "run" / "plugins" / "profile" / "s1" / "w.pt.trace.json.gz")
    touch(tmp_path / "jax" / "plugins" / "profile" / "2026_11_22" / "host.xplane.pb")
    touch(tmp_path / "plugins" / "profile" / "t2" / "h.xplane.pb")
    assert scanned(tmp_path) == [
        (".", "root.pt.trace.json"),
        ("run", "dlprof_dldb.sqlite"),
        (".", "t2/h.xplane.pb"),
        ("jax", "2026_11_22/host.xplane.pb"),
        ("run/plugins/profile/s1", "w.pt.trace.json.gz"),
    ]


@pytest.mark.parametrize("name", ["events.out.tfevents.1.gz", ".hidden.json", "notes.txt", "x.rpd", "a.tmp-h-1.sqlite"])
def test_other_files_are_not_looked_at(tmp_path: Path, name: str) -> None:
    """Event files, hidden and unfinished files and other formats are no candidates."""
    touch(tmp_path / name)
    assert scanned(tmp_path) == []


def test_hidden_folders_are_not_entered(tmp_path: Path) -> None:
    """A folder whose name begins with a dot is left alone."""
    touch(tmp_path / ".git" / "a.json")
    assert scanned(tmp_path) == []


def test_links_inside_are_followed_and_loops_end(tmp_path: Path) -> None:
    """A folder goes by its own name where a link leads to it as well, and is visited once."""
    touch(tmp_path / "z_real" / "a.json")
    (tmp_path / "a_link").symlink_to(tmp_path / "z_real")
    (tmp_path / "z_real" / "loop").symlink_to(tmp_path)
    (tmp_path / "z_real" / "self").symlink_to("self")
    (tmp_path / "linked.json").symlink_to(tmp_path / "z_real" / "a.json")
    assert scanned(tmp_path) == [(".", "linked.json"), ("z_real", "a.json")]


def test_links_out_of_the_log_directory_are_refused_and_listed(tmp_path: Path) -> None:
    """Neither a folder nor a file outside is opened, unless who starts the server allows its folder."""
    outside = touch(tmp_path / "scratch" / "secret.json").parent
    logdir = tmp_path / "logs"
    (logdir / "run").mkdir(parents=True)
    (logdir / "run" / "folder").symlink_to(outside)
    (logdir / "file.json").symlink_to(outside / "secret.json")
    result = scan([Root(logdir)])
    assert result.files == []
    assert [(refusal.run, refusal.name) for refusal in result.refused] == [(".", "file.json"), ("run", "folder")]
    assert scanned(logdir, (outside,)) == [(".", "file.json"), ("run/folder", "secret.json")]


def test_reports_of_other_tools_are_told_of(tmp_path: Path) -> None:
    """They are no profiles as they are, but who put them there expects to see them."""
    for name in ("run/report1.nsys-rep", "amd/trace.rpd", "run/notes.txt", "run/.hidden.nsys-rep"):
        touch(tmp_path / name)
    result = scan([Root(tmp_path)])
    assert result.files == []
    assert [(seen.run, seen.name) for seen in result.reports] == [
        ("amd", "trace.rpd"),
        ("run", "report1.nsys-rep"),
    ]


def test_a_folder_whose_name_begins_like_the_log_directory_is_outside(tmp_path: Path) -> None:
    """``logs-private`` is not below ``logs``."""
    touch(tmp_path / "logs-private" / "a.json")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "logs-private")
    assert scanned(tmp_path / "logs") == []


def test_bounds_are_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files, folders or levels end the walk, and the result says so."""
    for number in range(5):
        touch(tmp_path / f"run{number}" / "a.json")
        touch(tmp_path / f"run{number}" / "b.pt.trace.json")
    monkeypatch.setattr(scanning, "MAX_UNNAMED", 3)
    result = scan([Root(tmp_path)])
    assert (len(result.files), result.truncated) == (8, True), "settings must not push out profiles"
    monkeypatch.setattr(scanning, "MAX_NAMED", 2)
    assert sum(file.name == "b.pt.trace.json" for file in scan([Root(tmp_path)]).files) == 2
    monkeypatch.setattr(scanning, "MAX_UNNAMED", 100)
    monkeypatch.setattr(scanning, "MAX_NAMED", 100)
    assert not scan([Root(tmp_path)]).truncated
    monkeypatch.setattr(scanning, "MAX_DIRECTORIES", 2)
    assert scan([Root(tmp_path)]).truncated
    monkeypatch.setattr(scanning, "MAX_DIRECTORIES", 100)
    monkeypatch.setattr(scanning, "MAX_DEPTH", 0)
    assert scan([Root(tmp_path)]).truncated


def test_roots_of_a_logdir_spec_carry_their_names(tmp_path: Path) -> None:
    """A named root is ``name/.``, as TensorBoard calls it; one that does not exist is skipped."""
    touch(tmp_path / "one" / "a.json")
    touch(tmp_path / "two" / "sub" / "b.json")
    roots = [Root(tmp_path / "one", "first"), Root(tmp_path / "two"), Root(tmp_path / "three", "third")]
    assert [file.run for file in scan(roots).files] == ["first/.", "sub"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_skipped(tmp_path: Path) -> None:
    """The other folders are searched all the same."""
    touch(tmp_path / "closed" / "a.json").parent.chmod(0)
    touch(tmp_path / "open" / "b.json")
    try:
        assert scanned(tmp_path) == [("open", "b.json")]
    finally:
        (tmp_path / "closed").chmod(0o700)
