"""The list of profiles."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.runs import catalog as catalogs
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.hints import Hint
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.scan import Root
from tests.imports.traces import write_trace
from tests.waiting import wait_for


def listed(catalog: Catalog) -> list[ListedProfile]:
    """The list, with everything that the databases say."""
    catalog.rescan()
    catalog.snapshot()
    wait_for(lambda: catalog._thread is None or not catalog._thread.is_alive())
    return list(catalog.snapshot().profiles)


def imported(source: Path) -> Path:
    """The database of a source, beside it."""
    database = source.parent / database_name(source.name)
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    return database


def hint(**changes: object) -> Hint:
    """What an event file could say."""
    values: dict[str, object] = {
        "run": "gone",
        "database_name": "x.dlprof_dldb.sqlite",
        "source_name": "x.pt.trace.json",
        "format": "pytorch",
        "rank": 3,
        "world_size": 8,
        "captured_at": 1.5,
        "headline": None,
    }
    return Hint(**{**values, **changes})  # type: ignore[arg-type]


def test_a_source_and_its_database_are_one_profile(tmp_path: Path) -> None:
    """It goes by the source, and has the database's headline."""
    source = write_trace(tmp_path / "run" / "rank1.pt.trace.json", rank=1)
    imported(source)
    (profile,) = listed(Catalog([Root(tmp_path)]))
    assert (profile.name, profile.kind, profile.format) == (source.name, "source", "pytorch")
    assert (profile.rank, profile.world_size) == (1, 2)
    assert profile.headline is not None
    assert profile.headline["iterations"] == 3


def test_a_list_without_changes_is_the_same_object(tmp_path: Path) -> None:
    """Scans come every few seconds, and what is derived from a list of thousands of ranks is derived once."""
    source = write_trace(tmp_path / "a.pt.trace.json")
    catalog = Catalog([Root(tmp_path)])
    listed(catalog)
    before = catalog.snapshot()
    listed(catalog)
    assert catalog.snapshot().finished_at > before.finished_at
    assert catalog.snapshot().profiles is before.profiles
    write_trace(source, steps=5)
    listed(catalog)
    assert catalog.snapshot().profiles != before.profiles


def test_a_database_of_another_version_of_the_source_is_not_taken_for_its_own(tmp_path: Path) -> None:
    """The source changed after the import: it has to be imported again, and the database stands alone."""
    source = write_trace(tmp_path / "a.pt.trace.json")
    imported(source)
    write_trace(source, steps=5)
    assert [(profile.kind, profile.database is None) for profile in listed(Catalog([Root(tmp_path)]))] == [
        ("database", False),
        ("source", True),
    ]


def test_a_database_of_another_version_of_ours_gives_way_to_its_source(tmp_path: Path) -> None:
    """The source is imported again, as the plugin reads DLProf's tables only of such a database: until then rank and
    headline are known from it. When the source has changed, the database is a profile of its own."""
    source = write_trace(tmp_path / "a.pt.trace.json", rank=1)
    with closing(sqlite3.connect(imported(source))) as connection, connection:
        connection.execute("UPDATE ext_info SET value = '1' WHERE key = 'extension_version'")
    catalog = Catalog([Root(tmp_path)])
    for _ in range(2):
        catalog.rescan()
        (profile,) = listed(catalog)
        assert (profile.kind, profile.database, profile.world_size) == ("source", None, 2)
        assert profile.headline is not None
    (profile,) = listed(Catalog([Root(tmp_path)], imports=False))
    assert profile.database is not None, "it is better than nothing where nothing is imported"
    write_trace(source, steps=5, rank=1)
    database, changed = listed(Catalog([Root(tmp_path)]))
    assert (database.kind, database.format, database.rank) == ("database", "pytorch", 1)
    assert (changed.kind, changed.database) == ("source", None)


def test_a_question_does_not_wait_for_all_databases_to_be_opened(tmp_path: Path) -> None:
    """What is asked about a profile comes from its source, too, if its database is of another version, unread yet."""
    source = write_trace(tmp_path / "a.pt.trace.json")
    with closing(sqlite3.connect(imported(source))) as connection, connection:
        connection.execute("UPDATE ext_info SET value = '1' WHERE key = 'extension_version'")
    catalog = Catalog([Root(tmp_path)])
    catalog._open_databases = lambda publish: None  # type: ignore[method-assign]  # as long as others are opened
    (profile,) = listed(catalog)
    assert profile.database is not None
    assert catalog.find(profile.profile_id).database is None


def test_two_sources_of_one_stem_do_not_share_a_database(tmp_path: Path) -> None:
    """``a.json`` and ``a.pt.trace.json`` would have databases of the same name; the one inside says whose it is."""
    imported(write_trace(tmp_path / "a.pt.trace.json"))
    write_trace(tmp_path / "a.json")
    databases = {profile.name: profile.database for profile in listed(Catalog([Root(tmp_path)]))}
    assert databases["a.json"] is None
    assert databases["a.pt.trace.json"] is not None


def test_files_that_are_no_profiles_are_told_apart_from_profiles(tmp_path: Path) -> None:
    """A log directory holds many JSON files; only content tells. The sentence names no folder outside of it. What the
    package itself writes beside profiles is not listed."""
    (tmp_path / "run").mkdir()
    for ours in ("rank0.dlprof_rank.sqlite", "eight.dlprof_job.sqlite"):
        (tmp_path / "run" / ours).write_bytes(b"SQLite format 3\0")
    (tmp_path / "run" / "config.json").write_text('{"learning_rate": 0.1}')
    (tmp_path / "empty.sqlite").touch()
    catalog = Catalog([Root(tmp_path)])
    assert listed(catalog) == []
    assert not catalog.any_profiles()
    assert sorted((each.run, each.name, each.reason) for each in catalog.snapshot().others) == [
        (".", "empty.sqlite", "is empty; record or copy the profile again."),
        ("run", "config.json", "is JSON, but holds no trace events."),
    ]


def test_a_trace_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """By its name it is a trace, so silence would leave its owner guessing; the message names no folder."""
    (tmp_path / "w.pt.trace.json").write_text("<html>404</html>")
    (profile,) = listed(Catalog([Root(tmp_path)]))
    assert "w.pt.trace.json" in profile.message
    assert str(tmp_path) not in profile.message


def test_a_trace_that_was_cut_short_says_so_before_it_is_opened(tmp_path: Path) -> None:
    """A whole one beside it does not, nor one of two that were joined, which gzip allows."""
    whole = gzip.compress(write_trace(tmp_path / "a.json").read_bytes())
    (tmp_path / "a.json").unlink()
    for name, content in (("cut", whole[: len(whole) // 2]), ("joined", whole + gzip.compress(b" ")), ("whole", whole)):
        (tmp_path / f"{name}.pt.trace.json.gz").write_bytes(content)
    cut, *others = listed(Catalog([Root(tmp_path)]))
    assert cut.message == "cut.pt.trace.json.gz is cut short: its gzip data ends too early; copy or record it again."
    assert [profile.message for profile in others] == ["", ""]


def test_a_database_that_cannot_be_read_says_why_and_harms_no_other(tmp_path: Path) -> None:
    """One broken file, one good one."""
    (tmp_path / "dlprof_dldb.sqlite").write_bytes(b"SQLite format 3\0" + bytes(84))
    write_trace(tmp_path / "good.pt.trace.json")
    broken, good = listed(Catalog([Root(tmp_path)]))
    assert broken.message.startswith("dlprof_dldb.sqlite")
    assert good.message == ""


def test_a_renamed_database_is_known_by_its_content(tmp_path: Path) -> None:
    """Format is found by content."""
    database = imported(write_trace(tmp_path / "source" / "a.json"))
    (tmp_path / "logs").mkdir()
    shutil.copy(database, tmp_path / "logs" / "renamed.sqlite")
    (profile,) = listed(Catalog([Root(tmp_path / "logs")]))
    assert (profile.kind, profile.headline is None) == ("database", False)


def test_profiles_are_ordered_by_run_then_rank(tmp_path: Path) -> None:
    """Runs in TensorBoard's order, ranks by number, unknown ranks last."""
    for run, name in [("r10", "a"), ("r2", "rank10"), ("r2", "rank9"), ("r2", "b")]:
        write_trace(tmp_path / run / f"{name}.pt.trace.json")
    assert [(profile.run, profile.name.split(".")[0]) for profile in listed(Catalog([Root(tmp_path)]))] == [
        ("r2", "rank9"),
        ("r2", "rank10"),
        ("r2", "b"),
        ("r10", "a"),
    ]


def test_metadata_alone_is_a_profile(tmp_path: Path) -> None:
    """A server that sees only the event file lists the run."""
    (profile,) = listed(Catalog([Root(tmp_path)], read_hints=lambda: [hint()]))
    assert (profile.kind, profile.run, profile.name, profile.rank) == ("metadata", "gone", "x.pt.trace.json", 3)


def test_metadata_joins_the_files_that_it_is_about(tmp_path: Path) -> None:
    """No second entry; what the file does not tell comes from the metadata."""
    write_trace(tmp_path / "gone" / "x.pt.trace.json")
    (profile,) = listed(Catalog([Root(tmp_path)], read_hints=lambda: [hint()]))
    assert (profile.kind, profile.rank, profile.world_size) == ("source", 3, 8)


def test_metadata_of_a_database_that_has_no_source_here(tmp_path: Path) -> None:
    """By the name of the database; two event files about one profile whose files are elsewhere are one entry."""
    database = imported(write_trace(tmp_path / "gone" / "x.pt.trace.json"))
    database.with_name("x.pt.trace.json").unlink()
    moved = [hint(run="moved", world_size=None), hint(run="moved", source_name="")]
    moved += [hint(run="moved", database_name="x.pt.trace.json", source_name="")]
    profiles = listed(Catalog([Root(tmp_path)], read_hints=lambda: [hint(), *moved]))
    assert [(profile.run, profile.kind, profile.name) for profile in profiles] == [
        ("gone", "database", database.name),
        ("moved", "metadata", "x.dlprof_dldb.sqlite"),
        ("moved", "metadata", "x.pt.trace.json"),
    ]
    assert [profile.world_size for profile in profiles] == [8, 8, 8]


def test_ids_are_stable_and_opaque(tmp_path: Path) -> None:
    """The same id after a restart, and nothing of the path in it."""
    write_trace(tmp_path / "run" / "a.pt.trace.json")
    first, second = (listed(Catalog([Root(tmp_path)]))[0].profile_id for _ in range(2))
    assert first == second
    assert len(first) == 16
    assert int(first, 16) >= 0


def test_new_and_removed_files_are_noticed(tmp_path: Path) -> None:
    """The list follows the folder."""
    catalog = Catalog([Root(tmp_path)])
    assert listed(catalog) == []
    source = write_trace(tmp_path / "a.pt.trace.json")
    assert len(listed(catalog)) == 1
    assert catalog.any_profiles()
    source.unlink()
    assert listed(catalog) == []


def test_the_only_profile_among_many_runs(tmp_path: Path) -> None:
    """Every folder is looked into, and told of."""
    for number in range(500):
        (tmp_path / f"run{number}").mkdir()
    write_trace(tmp_path / "run377" / "a.pt.trace.json")
    catalog = Catalog([Root(tmp_path)])
    (profile,) = listed(catalog)
    assert profile.run == "run377"
    assert catalog.snapshot().directories == 501
    assert catalog.any_profiles()


def test_nobody_waits_for_slow_scans_that_are_only_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for the first, and for one that a change asked for."""
    started = []

    def slow(*arguments: Any) -> Any:
        started.append(time.monotonic())
        time.sleep(2 * catalogs.QUICK_SECONDS)
        return scan(*arguments)

    scan = catalogs.scan
    monkeypatch.setattr(catalogs, "scan", slow)
    monkeypatch.setattr(catalogs, "RESCAN_SECONDS", 0.0)
    monkeypatch.setattr(catalogs, "REST_FACTOR", 0)
    catalog = Catalog([Root(tmp_path)])
    waited = []
    for change in (False, False, True):
        if change:
            catalog.rescan()
        catalog.snapshot()
        waited.append(time.monotonic() - started[-1] > catalogs.QUICK_SECONDS)
        wait_for(lambda: not catalog.is_scanning())
    assert waited == [True, False, True]
