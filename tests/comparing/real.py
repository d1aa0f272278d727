"""Recordings of real profiles, imported once a session."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tensorboard_plugin_dlprof.comparing.reading import read_recording
from tensorboard_plugin_dlprof.comparing.recording import Recording
from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.database.naming import database_name, is_database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.shared_data import shared_data

SERIES = "compare/a100_batch_series/batch_size_008"


@cache
def recording_of(name: str) -> Recording:
    """The recording of the only profile of a folder of the real profiles, or of a file."""
    return _recording(_source(name))


def series() -> list[Recording]:
    """Eight consecutive batches of one program."""
    return [recording_of(str(path)) for path in sorted((shared_data() / SERIES).iterdir())]


def _source(name: str) -> Path:
    path = shared_data() / name
    return next(iter(sorted(path.glob("*.*")))) if path.is_dir() else path


def _recording(source: Path) -> Recording:
    with tempfile.TemporaryDirectory() as folder:
        database = source
        if not is_database_name(source.name):
            database = Path(folder, database_name(source.name))
            import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
        with opened_database(database) as connection:
            return read_recording(connection, source.name)
