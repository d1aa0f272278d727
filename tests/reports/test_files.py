"""Names and numbers of files, and that each appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import BadRequest, OutputNotWritable
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports import files
from tensorboard_plugin_dlprof.reports.catalog import REPORTS, selected_reports
from tensorboard_plugin_dlprof.reports.files import FORMATS, MAX_PREFIX_BYTES, Target, selected_formats, write_reports
from tests.reports.writing import golden

EIGHT = ["summary", "detailed", "iteration", "kernel", "tensor_core", "op_type", "group_op", "expert_systems"]


@pytest.fixture
def connection() -> Iterator[UntrustedConnection]:
    """A real database."""
    with closing(open_database(golden("dlprof_dldb_1.sqlite"))) as connection:
        yield connection


def names(connection: UntrustedConnection, target: Target, words: str = "all", formats: str = "csv") -> list[str]:
    """Names of the files that are written."""
    paths = write_reports(
        connection, find_scope(connection), selected_reports(words.split(",")), formats.split(","), target
    )
    return [path.name for path in paths]


def test_files_have_dlprofs_names(connection: UntrustedConnection, tmp_path: Path) -> None:
    """In the order of its reports."""
    assert names(connection, Target(tmp_path)) == [f"dlprof_{stem}.csv" for stem in EIGHT]


def test_every_format_has_its_files(connection: UntrustedConnection, tmp_path: Path) -> None:
    """Some a file for each report, some one for all; nothing else is left in the folder."""
    written = names(connection, Target(tmp_path / "new" / "folder", "net"), "kernel,summary", ",".join(FORMATS))
    assert written == [
        "net_summary.csv", "net_kernel.csv", "net_summary.json", "net_kernel.json", "net_reports.xlsx",
        "net_summary.md", "net_kernel.md", "net_reports.html",
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(written)


def test_existing_files_are_kept_and_new_ones_numbered(connection: UntrustedConnection, tmp_path: Path) -> None:
    """As DLProf did without --force."""
    (tmp_path / "dlprof_kernel.csv").write_text("mine")
    target = Target(tmp_path)
    assert names(connection, target, "kernel") == ["dlprof_kernel_1.csv"]
    assert names(connection, target, "kernel") == ["dlprof_kernel_2.csv"]
    assert (tmp_path / "dlprof_kernel.csv").read_text() == "mine"


def test_existing_files_are_replaced_on_demand(connection: UntrustedConnection, tmp_path: Path) -> None:
    """With --force."""
    (tmp_path / "dlprof_kernel.csv").write_text("mine")
    assert names(connection, Target(tmp_path, replace=True), "kernel") == ["dlprof_kernel.csv"]
    assert (tmp_path / "dlprof_kernel.csv").read_text().startswith("Kernel Report\n")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_report_that_fails_leaves_nothing(
    connection: UntrustedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half file, no temporary one, and what was there before stays."""
    (tmp_path / "dlprof_kernel.csv").write_text("mine")

    def fails(blocks: object, stream: object, safe: bool) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_csv", fails)
    with pytest.raises(OutputNotWritable, match="No space left on device"):
        names(connection, Target(tmp_path, replace=True), "kernel")
    assert [path.name for path in tmp_path.iterdir()] == ["dlprof_kernel.csv"]
    assert (tmp_path / "dlprof_kernel.csv").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_named(connection: UntrustedConnection, tmp_path: Path) -> None:
    """A file stands in its place."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputNotWritable, match=r"file.*choose another folder"):
        names(connection, Target(tmp_path / "file"))


@pytest.mark.parametrize("prefix", ["../up", "a/b", "", "nul\0"])
def test_a_name_cannot_leave_the_folder(connection: UntrustedConnection, tmp_path: Path, prefix: str) -> None:
    """It is the beginning of a file name and nothing else."""
    with pytest.raises(BadRequest, match="without slashes"):
        names(connection, Target(tmp_path / "out", prefix))
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_the_longest_name(connection: UntrustedConnection, tmp_path: Path) -> None:
    """Every report fits behind it, numbered too; one more byte is refused before anything is made."""
    longest = "é" * (MAX_PREFIX_BYTES // 2)
    for _ in range(2):
        written = names(connection, Target(tmp_path / "out", longest), "expert_systems,kernel", ",".join(FORMATS))
    assert written[0] == f"{longest}_kernel_1.csv"
    assert len(list((tmp_path / "out").iterdir())) == 2 * len(written)
    with pytest.raises(BadRequest, match=f"it has {MAX_PREFIX_BYTES + 1} bytes; .* at most {MAX_PREFIX_BYTES}"):
        names(connection, Target(tmp_path / "none", longest + "n"))
    assert not (tmp_path / "none").exists()


def test_words_of_reports_and_formats() -> None:
    """``all`` and the name of versions before 1.7; each once; unknown words are named with those that there are."""
    assert selected_reports(["all", "summary"]) == list(REPORTS.values())
    assert [report.word for report in selected_reports(["group_node", "detail"])] == ["detail", "group_op"]
    assert selected_formats(["json", "csv", "csv"]) == ["csv", "json"]
    with pytest.raises(BadRequest, match=r"'kernels'.*summary, detail"):
        selected_reports(["kernels"])
    with pytest.raises(BadRequest, match=r"'pdf'.*csv, json"):
        selected_formats(["pdf"])
