"""Findings of databases that hold none of ours: worked out when the page asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.cache import Cache
from tests.routes.serving import Server
from tests.shared_data import shared_data


@pytest.fixture
def foreign(tmp_path: Path, made_database: Path) -> Path:
    """What our importer made, without our own tables and findings: as DLProf would have left it."""
    (tmp_path / "foreign").mkdir()
    path = tmp_path / "foreign" / "dlprof_dldb.sqlite"
    path.write_bytes(made_database.read_bytes())
    with closing(sqlite3.connect(path)) as con:
        for (name,) in con.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ext%'"
        ).fetchall():
            con.execute(f"DROP TABLE {name}")
        con.execute("DELETE FROM expert_systems_feedback")
        con.execute(
            "INSERT INTO expert_systems_feedback "
            "VALUES (1, 1, 'dataloader_detector', 'No DALI ops detected', 'Consider NVIDIA DALI', '', '')"
        )
        con.commit()
    return path


@pytest.fixture
def server_of(tmp_path: Path) -> Iterator[Server]:
    """The routes over the folder of ``foreign``."""
    found = Server(tmp_path / "foreign", tmp_path / "cache")
    yield found
    found.app.close()


def test_a_foreign_database_gets_our_findings_before_its_own(foreign: Path, server_of: Server) -> None:
    """With the length of an iteration and evidence; what its own detectors say besides comes last."""
    profile = server_of.profile(foreign.name)["id"]
    said = server_of.get(f"/findings?profile={profile}").json
    assert said["iteration_ns"] > 0
    assert said["findings"][-1]["detector"] == "dataloader_detector"
    assert said["findings"][-1]["problem"] == "No DALI ops detected"
    ours = said["findings"][:-1]
    assert ours
    assert any(finding["evidence"] for finding in ours)
    assert {each["detector"] for each in said["undecided"]} >= {"batch_size_detector"}
    assert not list((server_of.services.imports.cache.folder).glob("work-*"))


def test_an_answer_is_remembered(foreign: Path, tmp_path: Path) -> None:
    """Until the database changes."""
    advisor = Advisor(Cache(tmp_path / "cache"), 1 << 30)
    first = advisor.findings(foreign, 1, None, None)
    assert first["findings"]
    assert advisor.findings(foreign, 1, None, None) is first


def test_no_answer_in_time_is_none(foreign: Path, tmp_path: Path) -> None:
    """Nor for a file that is gone, or is no database."""
    cache = Cache(tmp_path / "cache")
    assert Advisor(cache, 1 << 30, seconds=0.0).findings(foreign, 1, None, None) == {}
    assert Advisor(cache, 1 << 30).findings(tmp_path / "gone.sqlite", 1, None, None) == {}
    (tmp_path / "broken.sqlite").write_bytes(b"SQLite format 3\0")
    assert Advisor(cache, 1 << 30).findings(tmp_path / "broken.sqlite", 1, None, None) == {}


def test_dlprofs_own_database_gets_them_too(tmp_path: Path) -> None:
    """Low use of the GPU is found by both and told once; of DALI DLProf alone knows."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "dlprof_dldb.sqlite").write_bytes(
        (shared_data() / "dlprof-golden/dlprof_dldb.sqlite").read_bytes()
    )
    server = Server(tmp_path / "logs", tmp_path / "cache")
    try:
        said = server.get(f"/findings?profile={server.profile('dlprof_dldb.sqlite')['id']}").json
    finally:
        server.app.close()
    detectors = [finding["detector"] for finding in said["findings"]]
    assert detectors.count("underutilized_gpu_detector") == 1
    assert detectors[-2:] == ["amp_detector", "dataloader_detector"]
    assert said["findings"][0]["evidence"]
