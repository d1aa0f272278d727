"""What the notes say of a recording, and of the version of a database: what is missing, and what to do."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.checking.sources import check_file
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source, import_source
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tracks import recorded_tracks
from tests.imports.traces import write_trace
from tests.queries.events import event, work
from tests.queries.profiles import ignore


def test_a_recording_without_gpu_work_says_how_to_record_it(tmp_path: Path) -> None:
    """In the notes, with the option; at once when it is imported, checked or diagnosed. One with a copy holds some."""
    database = tmp_path / "dldb.sqlite"
    trace = tmp_path / "trace.json"
    op = event("cpu_op", "aten::mm", 10, 5, 1)
    trace.write_text(json.dumps({"traceEvents": [op]}))
    imported = import_source(trace, database, ImportOptions(), ignore).warnings
    assert imported == ["This recording holds no GPU work."]
    with closing(open_database(database)) as connection:
        (note,) = coverage_notes(connection, find_scope(connection))
    assert note["message"] == imported[0]
    assert note["hint"] == "To see kernels, record with `ProfilerActivity.CUDA`."
    assert check_file(trace, ignore).missing == [f"{note['message']} {note['hint']}"]
    assert diagnose_source(trace, "typical", ImportOptions(), ignore)["headline"].endswith(f". {note['hint']}")
    trace.write_text(json.dumps({"traceEvents": [op, *work(1, "gpu_memcpy", "Memcpy HtoD", 20, 5, 0)]}))
    assert imported[0] not in import_source(trace, database, ImportOptions(), ignore).warnings


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (event("cuda_runtime", "cudaLaunchKernel", 11, 2, 1), "1 call that launches kernels was recorded"),
        (event("mtia_ccp_events", "job", 11, 2, 1), "1 skipped: work of MTIA, which is not a GPU."),
    ],
)
def test_who_asked_for_the_gpu_is_not_told_to_ask_for_it(
    tmp_path: Path, call: dict[str, object], sentence: str
) -> None:
    """Its calls were recorded but not its work, or there was none to record."""
    database, trace = tmp_path / "dldb.sqlite", tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [event("cpu_op", "aten::mm", 10, 5, 1), call]}))
    import_source(trace, database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        notes = coverage_notes(connection, find_scope(connection))
    assert {note["message"][: len(sentence)] for note in notes} == {
        "This recording holds no GPU work."[: len(sentence)],
        sentence,
    }
    assert not any("ProfilerActivity" in note["hint"] for note in notes)
    headline = diagnose_source(trace, "typical", ImportOptions(), ignore)["headline"]
    assert (sentence in headline, "ProfilerActivity" in headline) == (True, False)


def test_a_file_cut_short_before_its_gpu_work_is_not_told_to_record_any(tmp_path: Path) -> None:
    """What was cut off may have been just that."""
    database = tmp_path / "dldb.sqlite"
    trace = tmp_path / "trace.json"
    whole = json.dumps({"traceEvents": [event("cpu_op", "aten::mm", 10, 5, 1), *work(1, "kernel", "k", 20, 5, 0)]})
    trace.write_text(whole[: whole.index("}") + 8])
    import_source(trace, database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        cut, missing = coverage_notes(connection, find_scope(connection))
    assert cut["severity"] == "warning"
    assert "cut short" in cut["message"]
    assert missing["message"] == "This recording holds no GPU work."
    assert missing["hint"] == ""


@pytest.mark.parametrize(("version", "which"), [("1", "An older"), ("9999", "A newer"), ("²", "Another")])
def test_a_database_of_another_version_is_read_as_far_as_dlprofs_goes(tmp_path: Path, version: str, which: str) -> None:
    """It says so first, and does not take the iterations whose origin it does not read for none."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_info SET value = ? WHERE key = 'extension_version'", [version])
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        (note,) = coverage_notes(connection, scope)
        assert note["severity"] == "warning"
        assert note["message"].startswith(f"{which} version of this plugin made this database")
        with pytest.raises(NotFound, match=f"^{which} version of this plugin made this database, so its timeline"):
            recorded_tracks(connection)
        assert iteration_source(connection, scope) == {"kind": "", "label": "", "candidates": []}
        kernels = "SELECT busy_ns > 0, kernels FROM ext_device_times"
        assert connection.execute(kernels).fetchall() == [(1, None)], "kernels of a busy GPU are not known, not none"


def test_a_database_of_other_rules_for_kernels_says_so(tmp_path: Path) -> None:
    """All of it is read; today's rules might tell some kernels otherwise."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        before = coverage_notes(connection, find_scope(connection))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_info SET value = '1' WHERE key = 'classification_version'")
    with closing(open_database(database)) as connection:
        (note,) = [note for note in coverage_notes(connection, find_scope(connection)) if note not in before]
    assert note["severity"] == "info"
    assert "classified by another version" in note["message"]
    assert note["hint"] == "Import its source again: dlprof import SOURCE."
