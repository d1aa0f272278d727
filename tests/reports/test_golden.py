"""All eight reports against the files that DLProf 1.8.0 itself wrote, byte for byte."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.reports.writing import dlprof_csv, golden, written
from tests.shared_data import shared_data

MEASURED = {"expert_systems"}
"""The database of the live run has one row more: it knows the GPU's memory."""

OF_THE_TOOL = (b"NSys Version,", b"DLProf Version,", b"DLProf Build,")
"""Lines that tell which tool made the database."""


@pytest.mark.parametrize("word", REPORTS)
def test_the_csv_files_come_out_byte_for_byte(word: str) -> None:
    """From the database that DLProf wrote in the same run."""
    assert written(golden("dlprof_dldb_1.sqlite"), word) == dlprof_csv(word)


@pytest.mark.parametrize("word", sorted(REPORTS.keys() - MEASURED))
def test_the_other_database_of_the_run_gives_the_same(word: str) -> None:
    """The one that was written while the program ran."""
    assert written(golden("dlprof_dldb.sqlite"), word) == dlprof_csv(word)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our database of the rebuilt export."""
    path = tmp_path_factory.mktemp("rebuilt") / "rebuilt.dlprof_dldb.sqlite"
    import_source(golden("rebuilt_nsys_profile.sqlite"), path, ImportOptions(), lambda _what, _fraction: None)
    return path


@pytest.mark.parametrize("word", REPORTS)
def test_importing_the_export_gives_the_same_files(imported: Path, word: str) -> None:
    """All but the lines that name the tools."""
    ours, dlprofs = (
        [line for line in text.splitlines(keepends=True) if not line.startswith(OF_THE_TOOL)]
        for text in (written(imported, word), dlprof_csv(word))
    )
    assert ours == dlprofs


@pytest.mark.parametrize("word", sorted(REPORTS.keys() - {"summary"}))
def test_json_has_the_title_and_the_headings_of_the_csv(word: str) -> None:
    """One object keyed by the title, a list of rows keyed by the headings."""
    title, headings = dlprof_csv(word).decode().splitlines()[:2]
    report = json.loads(written(golden("dlprof_dldb_1.sqlite"), word, write_json))
    assert list(report) == [title]
    assert all(list(row) == headings.split(",") for row in report[title])


def test_json_of_launches_is_what_scripts_read() -> None:
    """Numbers are numbers, booleans yes or no, as in the JSON that DLProf wrote."""
    report = json.loads(written(golden("dlprof_dldb_1.sqlite"), "iteration", write_json))
    first = report["Iteration Report"][0]
    assert first["GPU Duration (ns)"] == 2176
    assert first["Uses TC"] == "no"
    assert first["Input Shapes"] == "<N:1, C:3, H:32, W:32>; <K:6, C:3, R:3, S:3>; <6>"


def test_the_summary_of_another_machine_has_the_same_lines(tmp_path: Path) -> None:
    """Four GPUs and a cuDNN version, as in a published report of 1.7: same names, same order, GPUs unquoted."""
    published = (shared_data() / "nsight" / "dlprof_report_a100_pytorch" / "dlprof_summary.csv").read_text()
    path = tmp_path / "dlprof_dldb.sqlite"
    shutil.copyfile(golden("dlprof_dldb_1.sqlite"), path)
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("UPDATE read_only_system_config SET cudnn_version = '8.3.0', num_gpus = '4'")
        con.execute("UPDATE read_only_gpu_infos SET gpu_name = 'NVIDIA A100-SXM4-40GB'")
        con.executemany(
            "INSERT INTO read_only_gpu_infos "
            "(device_id, gpu_name, compute_capability_major, compute_capability_minor, sm_count) "
            "VALUES (?, 'NVIDIA A100-SXM4-40GB', 8, 0, 108)",
            [(1,), (2,), (3,)],
        )
    ours = written(path, "summary").decode()
    assert [line.split(",")[0] for line in ours.splitlines()] == [line.split(",")[0] for line in published.splitlines()]
    assert ours.splitlines()[1:3] == published.splitlines()[1:3]


@pytest.mark.parametrize("word", REPORTS)
def test_a_database_of_an_older_version_gives_every_report(word: str, tmp_path: Path) -> None:
    """What it lacks is empty; nothing fails."""
    path = tmp_path / "dlprof_dldb.sqlite"
    shutil.copyfile(golden("dlprof_dldb_1.sqlite"), path)
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("UPDATE db_version SET current_version = '1.3.0'")
        for view in con.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            con.execute(f"DROP VIEW {view[0]}")
        con.execute("ALTER TABLE model_summary DROP COLUMN io_duration_pct")
        con.execute("ALTER TABLE read_only_ops DROP COLUMN stack_trace")
        con.execute("DROP TABLE group_ops")
        con.execute("DROP TABLE read_only_grid_block")
    lines = written(path, word).decode().splitlines()
    assert lines[:2] == dlprof_csv(word).decode().splitlines()[:2]
