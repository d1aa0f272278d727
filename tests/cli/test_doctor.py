"""``dlprof doctor`` and ``dlprof cache``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli import doctor
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.imports.cache import Cache

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, which is not there yet."""
    monkeypatch.setattr("tensorboard_plugin_dlprof.imports.cache.default_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_the_doctor_tells_what_a_bug_report_needs(cache: Path, capsys: Captured) -> None:
    """And makes no folder."""
    assert main(["doctor", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["passed"] is True
    assert facts["round trip"].startswith("passed")
    assert set(facts) >= {"dlprof", "Python", "SQLite", "tensorboard", "numpy", "cache", "plugin"}
    assert str(cache) in facts["cache"]
    assert not cache.exists()


def test_no_secret_of_the_environment_is_told(cache: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """People paste the output into public reports."""
    monkeypatch.setenv("WANDB_API_KEY", "s3cr3t-planted")
    assert main(["doctor"]) == 0
    assert "s3cr3t-planted" not in capsys.readouterr().out


def test_a_round_trip_that_fails_is_said(cache: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an exit code of 1."""
    monkeypatch.setattr(doctor, "_trace", lambda: {"traceEvents": 5})
    assert main(["doctor"]) == 1
    assert "FAILED: doctor.pt.trace.json has traceEvents that are not a list" in capsys.readouterr().out


def filled(folder: Path) -> Cache:
    """A cache with two databases, beside files that are none of its own."""
    cache = Cache(folder)
    folder.mkdir(exist_ok=True)
    for number in range(2):
        cache.path(Path("/logs/a"), number, 0).write_bytes(bytes(500_000))
    (folder / "mine.dlprof_dldb.sqlite").write_bytes(b"somebody's")
    return cache


def test_the_cache_is_shown_and_emptied(cache: Path, capsys: Captured) -> None:
    """Only of what it made itself: the folder may be one with profiles in it."""
    filled(cache)
    assert main(["cache"]) == 0
    assert "2 databases, 1.0 MB of at most 10 GB" in capsys.readouterr().out
    next(cache.glob("[!m]*.sqlite")).unlink()
    assert main(["cache"]) == 0
    assert "1 database, 0.5 MB of at most 10 GB" in capsys.readouterr().out
    for words, removed in (["cache"], False), (["cache", "--clear"], True):
        assert main([*words, "--format", "json"]) == 0
        usage = {"databases": 1, "size_bytes": 500_000, "max_bytes": 10 << 30, "removed": removed}
        assert json.loads(capsys.readouterr().out) == {"folder": str(cache), **usage}
    filled(cache)
    assert main(["cache", "--clear"]) == 0
    assert "removed 2 databases" in capsys.readouterr().out
    assert [path.name for path in cache.iterdir()] == ["mine.dlprof_dldb.sqlite"]


def test_another_cache_and_one_that_is_not_there(tmp_path: Path, cache: Path, capsys: Captured) -> None:
    """Nothing is made by looking."""
    filled(tmp_path / "other")
    assert main(["cache", "--dir", str(tmp_path / "other")]) == 0
    assert "2 databases" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert "removed 0 databases" in capsys.readouterr().out
    assert not cache.exists()


def test_eviction_leaves_foreign_files_alone(tmp_path: Path) -> None:
    """Whatever the limit."""
    cache = filled(tmp_path / "cache")
    cache.max_bytes = 0
    cache.evict()
    assert [path.name for path in cache.folder.iterdir()] == ["mine.dlprof_dldb.sqlite"]
