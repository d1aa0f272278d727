"""``dlprof reports``, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tests.cli.traces import write_trace
from tests.shared_data import shared_data

Captured = pytest.CaptureFixture[str]


def test_a_source_gives_all_reports(tmp_path: Path, capsys: Captured) -> None:
    """A line on stdout for each file, and no database is left behind."""
    source = write_trace(tmp_path / "a.json")
    assert main(["reports", str(source), "--output_path", str(tmp_path / "out"), "--formats", "csv,json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 16
    assert sorted(Path(line) for line in lines) == sorted((tmp_path / "out").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "out"]
    rows = json.loads((tmp_path / "out" / "dlprof_iteration.json").read_text())["Iteration Report"]
    assert [row["Iteration"] for row in rows] == [0, 1, 2]
    assert {row["GPU Duration (ns)"] for row in rows} == {250_000}


def test_a_database_of_nvidias_gives_dlprofs_files(tmp_path: Path, capsys: Captured) -> None:
    """Under the user's name, and numbered the second time."""
    golden = shared_data() / "dlprof-golden"
    words = ["reports", str(golden / "dlprof_dldb_1.sqlite"), "--reports=kernel,tensor", "--profile_name=net"]
    words.append(f"--output_path={tmp_path}")
    assert main(words) == main(words) == 0
    expected = (golden / "no_relu" / "dlprof_tensor_core.csv").read_bytes()
    assert (tmp_path / "net_tensor_core.csv").read_bytes() == expected
    assert (tmp_path / "net_tensor_core_1.csv").read_bytes() == expected
    assert main([*words, "--force"]) == 0
    assert len(list(tmp_path.iterdir())) == 4
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--reports", "kernels"], 2, "There is no report 'kernels'"),
        (["--formats", "pdf"], 2, "There is no format 'pdf'"),
        (["--aggregation", "7"], 1, "no aggregation 7; it has 1"),
        (["--domain", "mine"], 1, "no domain 'mine'; it has default-domain"),
        (["--profile_name", "../x"], 2, "without slashes"),
        (["--profile_name", "a\nb"], 2, "line breaks"),
        (["--reports", ""], 2, "--reports is empty"),
        (["--formats", ","], 2, "--formats is empty"),
    ],
)
def test_a_wrong_choice_is_one_sentence(
    options: list[str], code: int, message: str, tmp_path: Path, capsys: Captured
) -> None:
    """And nothing is written."""
    database = shared_data() / "dlprof-golden" / "dlprof_dldb_1.sqlite"
    assert main(["reports", str(database), "--output_path", str(tmp_path / "out"), *options]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert not (tmp_path / "out").exists()
