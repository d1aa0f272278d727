"""A log directory of years: ten thousand runs, a thousand profiles."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import write_trace
from tests.routes.serving import Server

RUNS = 10_000
PROFILES = 1_000
IS_MEASURED = "DLPROF_LOAD_SECONDS" in os.environ


def test_ten_thousand_runs_and_a_thousand_profiles(tmp_path: Path) -> None:
    """All are listed, by a scan that no request waits for; opening one of them opens no other."""
    source = write_trace(tmp_path / "made" / "a.json")
    made = tmp_path / "made" / database_name(source.name)
    import_source(source, made, ImportOptions(), lambda _stage, _fraction: None)
    database, trace = made.read_bytes(), source.read_bytes()
    for number in range(RUNS):
        folder = tmp_path / "logs" / f"group{number // 100}" / f"run{number}"
        folder.mkdir(parents=True)
        (folder / "events.out.tfevents.1.host").write_bytes(b"")
        if number % (RUNS // PROFILES) == 0:
            name, content = ("p.pt.trace.json", trace) if number % 20 else (made.name, database)
            (folder / name).write_bytes(content)
    server = Server(tmp_path / "logs", tmp_path / "cache")
    started = time.monotonic()
    server.get("/profiles")
    first = time.monotonic() - started
    profiles = server.profiles()
    listed = time.monotonic() - started
    assert len(profiles) == PROFILES
    assert {profile["state"] for profile in profiles} == {"ready", "not_imported"}
    ready = next(profile for profile in profiles if profile["state"] == "ready")
    assert server.get(f"/dashboard?profile={ready['id']}").status_code == 200
    thread = server.services.catalog._thread
    if thread is not None:
        thread.join()
    headlines = [profile["headline"] for profile in server.profiles() if profile["state"] == "ready"]
    assert all(headline["iterations"] == 3 for headline in headlines)
    server.app.close()
    if IS_MEASURED:
        assert first < 1.0
        assert listed < 2.0
