"""``./diagnosis`` answers what ``dlprof diagnose`` prints, and has a body without numbers where that fails."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.pipeline import (
    ImportOptions,
    Selection,
    aggregate_database,
    diagnose_source,
    import_source,
)
from tests.routes.serving import Server


def nothing(_stage: str, _fraction: float) -> None:
    """Nobody watches."""


def test_it_is_of_the_typical_iterations_or_of_those_that_were_chosen(logdir: Path, server: Server) -> None:
    """The first aggregation stands for the typical iterations; an added one is diagnosed as it is."""
    source = next(samples.DATA.rglob("generated-resnet50-amp.pt.trace.json.gz"))
    whole, added = logdir / "run" / "whole.dlprof_dldb.sqlite", logdir / "run" / "amp.dlprof_dldb.sqlite"
    import_source(source, whole, ImportOptions(), nothing)
    number = aggregate_database(whole, added, Selection(None, 2, 3), nothing).aggregation
    profile = server.profile(added.name)["id"]
    typical = server.get(f"/diagnosis?profile={profile}").json
    assert {**typical, "source": source.name} == diagnose_source(source, "typical", ImportOptions(), nothing)
    assert not server.app._questions.advisor._known._values, "the import stored it, so that nobody waits"
    assert typical["mean"]["iterations"] == 4
    response = server.get(f"/diagnosis?profile={profile}&aggregation={number}").json
    assert response["mean"] == diagnose_source(source, (1, 2), ImportOptions(), nothing)["mean"]


@pytest.mark.parametrize("stored", [None, b"no zlib", zlib.compress(b'"no object"')])
def test_a_failure_has_a_body(stored: bytes | None, logdir: Path, server: Server) -> None:
    """Without a GPU and without numbers, so that the page falls back on what the database says."""
    with closing(sqlite3.connect(next(logdir.rglob("made.dlprof_dldb.sqlite")))) as connection, connection:
        connection.execute("DELETE FROM ext_diagnosis")
        connection.execute("INSERT INTO ext_diagnosis (data) VALUES (?)", (stored or b"",))
    server.app._questions.advisor.seconds = (0.0, 0.0)
    answer = server.get(f"/diagnosis?profile={server.profile('made.dlprof_dldb.sqlite')['id']}")
    assert answer.status_code == 200
    assert answer.json["devices"] == []
    assert answer.json["mean"]["devices"] == {}
