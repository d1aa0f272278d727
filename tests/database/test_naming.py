"""Names of the files that the package writes."""

from __future__ import annotations

import fnmatch

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name, event_file_name, run_and_prefix, source_stem
from tensorboard_plugin_dlprof.metadata import DATABASE_GLOB, EVENT_FILE_NAME


@pytest.mark.parametrize(
    ("source", "stem"),
    [
        ("worker0.1623143089861.pt.trace.json.gz", "worker0.1623143089861"),
        ("trace.json", "trace"),
        ("TRACE.JSON.GZ", "TRACE"),
        ("report1.sqlite", "report1"),
        ("report1.nsys-rep.sqlite", "report1"),
        ("rank.0", "rank.0"),
        ("rank.1", "rank.1"),
        ("gpt", "gpt"),
        (".json", ".json"),
        ("résumé 1.json", "résumé 1"),
    ],
)
def test_the_stem_loses_what_names_the_format_and_keeps_what_names_the_capture(source: str, stem: str) -> None:
    """Only endings that name a format go, so that captures of several ranks stay apart."""
    assert source_stem(source) == stem


@pytest.mark.parametrize("source", ["trace.json", "a" * 250, "ä" * 120 + ".json", "x"])
def test_a_database_is_found_by_its_name_and_its_name_fits_a_file_system(source: str) -> None:
    """The scan of a log directory recognises every database that an import makes."""
    name = database_name(source)
    assert fnmatch.fnmatch(name, DATABASE_GLOB)
    assert len(event_file_name(name).encode()) < 255


def test_long_names_that_differ_at_the_end_stay_apart() -> None:
    """What is cut is replaced by a digest of the whole name."""
    assert database_name("a" * 200 + "1.json") != database_name("a" * 200 + "2.json")


@pytest.mark.parametrize("database", ["trace.dlprof_dldb.sqlite", "dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite"])
def test_the_event_file_sorts_before_those_of_a_training_job(database: str) -> None:
    """TensorBoard's slow reader never goes back to a file that sorts before the one it reads."""
    name = event_file_name(database)
    assert name.startswith(EVENT_FILE_NAME)
    assert name < "events.out.tfevents.1623143089.host.1.0"
    assert "tfevents" in name


def test_the_folders_of_jax_belong_to_the_run_above_them() -> None:
    """Only for profiles of that layout; two captures of one host keep different databases."""
    assert run_and_prefix("logs/run/plugins/profile/t1", "h.xplane.pb") == ("logs/run", "t1/")
    assert run_and_prefix("plugins/profile/t1", "h.xplane.pb") == (".", "t1/")
    assert run_and_prefix("/plugins/profile/t1", "h.xplane.pb") == ("/", "t1/")
    assert run_and_prefix("run/plugins/profile/t1", "w.pt.trace.json") == ("run/plugins/profile/t1", "")
    assert database_name("t1/h.xplane.pb") == "t1_h.dlprof_dldb.sqlite"
