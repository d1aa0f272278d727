"""Findings of databases that hold none of ours: worked out when they are imported."""

from __future__ import annotations

import shutil
from pathlib import Path

from tensorboard_plugin_dlprof.imports.advising import FIRST_PAUSE_SECONDS, Advisor
from tests.routes.serving import Server
from tests.shared_data import shared_data


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


def test_a_failure_does_not_last(foreign: Path, server_of: Server) -> None:
    """While the cache has no place for a worker the page is told that the rules were not asked; then they are."""
    profile = server_of.profile(foreign.name)["id"]
    clock = [0.0]
    server_of.app._questions.advisor = Advisor(
        server_of.services.imports.cache, 1 << 30, wait_seconds=None, clock=lambda: clock[0]
    )
    folder = server_of.services.imports.cache.folder
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.write_text("no folder")
    answer = server_of.get(f"/findings?profile={profile}")
    assert answer.json["judged"] is False
    assert [finding["problem"] for finding in answer.json["findings"]] == ["No DALI ops detected"]
    folder.unlink()
    clock[0] = FIRST_PAUSE_SECONDS
    said = server_of.get(f"/findings?profile={profile}").json
    assert said["judged"] is True
    assert len(said["findings"]) > 1


def test_dlprofs_own_database_gets_them_too(tmp_path: Path) -> None:
    """What both find is told once; of low use and of DALI DLProf alone speaks."""
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
    assert {"underutilized_gpu_detector", "dataloader_detector"} <= set(detectors)
    assert said["findings"][0]["evidence"]
