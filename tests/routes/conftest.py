"""A log directory with two profiles: a database that our own importer made, and a source that nobody imported yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.database.stranger import drop_extensions
from tests.imports.traces import write_trace
from tests.routes.serving import Server


@pytest.fixture(scope="session")
def made_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of three steps with two kernels each."""
    folder = tmp_path_factory.mktemp("made")
    source = write_trace(folder / "made.json")
    database = folder / database_name(source.name)
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    return database


@pytest.fixture
def logdir(tmp_path: Path, made_database: Path) -> Path:
    """``run/a`` holds the database, ``run/b`` the source."""
    (tmp_path / "logs" / "run" / "a").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "a" / made_database.name).write_bytes(made_database.read_bytes())
    write_trace(tmp_path / "logs" / "run" / "b" / "rank0.pt.trace.json", rank=0)
    return tmp_path / "logs"


@pytest.fixture
def server(logdir: Path, tmp_path: Path) -> Iterator[Server]:
    """The routes over ``logdir``."""
    result = Server(logdir, tmp_path / "cache")
    yield result
    result.app.close()


@pytest.fixture
def foreign(tmp_path: Path, made_database: Path) -> Path:
    """What our importer made, without our own tables and findings: as DLProf would have left it."""
    (tmp_path / "foreign").mkdir()
    path = tmp_path / "foreign" / "dlprof_dldb.sqlite"
    path.write_bytes(made_database.read_bytes())
    drop_extensions(path)
    with closing(sqlite3.connect(path)) as con:
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
    result = Server(tmp_path / "foreign", tmp_path / "cache")
    yield result
    result.app.close()
