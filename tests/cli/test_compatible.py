"""What the command line of DLProf 1.8 makes of an export, as scripts written for it call it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.cli.results import names, rows
from tests.database.views import differences, read_only
from tests.shared_data import shared_data

Captured = pytest.CaptureFixture[str]


REPORTS = {
    "dlprof_summary.csv": "System Config",
    "dlprof_detailed.csv": "All Iterations",
    "dlprof_iteration.csv": "Iteration Report",
    "dlprof_kernel.csv": "Kernel Report",
    "dlprof_tensor_core.csv": "Tensor Core Report",
    "dlprof_op_type.csv": "Op Type Summary Report",
    "dlprof_group_op.csv": "Group Op Report",
    "dlprof_expert_systems.csv": "Expert Systems Feedback",
}
"""File -> first line, of all eight."""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mode=pytorch", "--database=nsys_profile.sqlite", "--reports=all", "--output_path=out", "--force=true"],
        ["-m", "pytorch", "--nsys_database", "nsys_profile.sqlite", "--reports", "all", "--output_path", "out"],
        ["-f", "true", "-m=pytorch", "--database", "nsys_profile.sqlite", "--reports=all", "--output-path", "out"],
    ],
)
def test_all_reports_of_an_export_have_the_names_and_titles_of_1_8(
    export: Path, tmp_path: Path, arguments: list[str]
) -> None:
    """However the options are written."""
    assert main(arguments) == 0
    assert names(tmp_path / "out") == {"dlprof_dldb.sqlite", *REPORTS}
    assert {name: (tmp_path / "out" / name).read_text().splitlines()[0] for name in REPORTS} == REPORTS
    assert len(find_event_files(tmp_path / "out")) == 1


def test_the_reports_of_dlprof_itself_come_out_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All eight, but for the two lines of the summary that name the tool; and its database, cell by cell."""
    golden = shared_data() / "dlprof-golden"
    monkeypatch.chdir(tmp_path)
    shutil.copy(golden / "rebuilt_nsys_profile.sqlite", "nsys_profile.sqlite")
    assert main(["--mode=pytorch", "--database=nsys_profile.sqlite", "--reports=all", "--output_path=out"]) == 0
    tool = re.compile(rb"^(DLProf Version|DLProf Build),.*$", re.MULTILINE)
    for name in REPORTS:
        expected, got = (golden / "no_relu" / name).read_bytes(), Path("out", name).read_bytes()
        if name == "dlprof_summary.csv":
            assert len(tool.findall(expected)) == len(tool.findall(got)) == 2
            expected, got = tool.sub(rb"\1", expected), tool.sub(rb"\1", got)
        assert got == expected, name
    with (
        closing(read_only(golden / "dlprof_dldb_1.sqlite")) as expected_views,
        closing(read_only(Path("out/dlprof_dldb.sqlite"))) as views,
    ):
        assert differences(expected_views, views) == {}


def test_results_are_numbered_without_force(export: Path, tmp_path: Path) -> None:
    """The database and each report, as in 1.8; with force they are replaced."""
    line = ["--database=nsys_profile.sqlite", "--reports=summary", "--output_path=out"]
    for _ in range(3):
        assert main(line) == 0
    databases = {"dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite", "dlprof_dldb_2.sqlite"}
    reports = {"dlprof_summary.csv", "dlprof_summary_1.csv", "dlprof_summary_2.csv"}
    assert names(tmp_path / "out") == databases | reports
    assert main([*line, "--profile_name=new", "--force=true"]) == 0
    assert names(tmp_path / "out") == databases | reports | {"new_summary.csv"}
    sql = "SELECT profile_name FROM view_system_config"
    assert rows(tmp_path / "out" / "dlprof_dldb.sqlite", sql) == [("new",)]
    assert rows(tmp_path / "out" / "dlprof_dldb_2.sqlite", sql) == [("",)]


def test_the_choices_reach_the_database_and_the_reports(export: Path, tmp_path: Path) -> None:
    """Key op, range of iterations, name and formats. An end of the key op ends an iteration."""
    line = "--mode=pytorch --database=nsys_profile.sqlite --reports=summary,group_node --formats=csv,json"
    line += " --output_path=out --force=true --iter_start=1 --iter_stop=2 --key_op=/matmul --profile_name=x"
    assert main(line.split()) == 0
    out = tmp_path / "out"
    files = {"x_summary.csv", "x_summary.json", "x_group_op.csv", "x_group_op.json"}
    assert names(out) == {"dlprof_dldb.sqlite", *files}
    iterations = json.loads((out / "x_summary.json").read_text())["Iterations"]
    assert iterations["Start Iteration"] == 1
    assert iterations["Stop Iteration"] == 2
    ends = rows(out / "dlprof_dldb.sqlite", "SELECT stop_time FROM view_iterations_all ORDER BY iter_value")
    assert ends[:3] == [(200_000,), (1_200_000,), (2_200_000,)]


def test_the_console_tells_the_steps_in_the_order_of_1_8(export: Path, tmp_path: Path, capsys: Captured) -> None:
    """With the time; the iterations; and what the detectors found at the end."""
    assert main(["--database=nsys_profile.sqlite", "--reports=kernel", "--output_path=out", "--key_node=/matmul"]) == 0
    output = capsys.readouterr().out
    steps = [
        r"\[DLProf-\d\d:\d\d:\d\d\] Initializing the database",
        r"\[DLProf-\d\d:\d\d:\d\d\] Reading NVTX ranges",
        r"\[DLProf-\d\d:\d\d:\d\d\] Correlating",
        r'\[DLProf-\d\d:\d\d:\d\d\] Found \d iterations using key_op "/matmul"',
        r"^Iterations: \[200000, 1200000, 2200000",
        r"iteration 0 start \(\d+ ns\) to iteration \d end \(\d+ ns\)$",
        r"\] Aggregating",
        r"\] Creating the DLProf database at out/dlprof_dldb.sqlite",
        r"\] Writing profile data",
        r"\] Writing aggregated data",
        r"\] Writing report to out/dlprof_kernel.csv",
        r"\] Writing expert_systems report to \(stdout\)",
        r"^Expert Systems Feedback: \d issues? found",
        r"^Problem detected:\n  \S",
        r"^Recommended change:\n  \S",
    ]
    result = [re.search(step, output, re.MULTILINE) for step in steps]
    assert None not in result, steps[result.index(None)]
    places = [match.start() for match in result if match]
    assert places == sorted(places)


def test_the_verbosity_says_how_much_is_printed(export: Path, capsys: Captured) -> None:
    """Nothing, the database and what the detectors found, the steps to it, and the choices among these."""

    def printed(verbosity: str) -> list[str]:
        assert main(["--database=nsys_profile.sqlite", "--force=true", "-v", verbosity]) == 0
        return [re.sub(r"^\[DLProf-[\d:]+\] ", "", line) for line in capsys.readouterr().out.splitlines()]

    quiet, minimal, normal, detailed = map(printed, ("quiet", "minimal", "normal", "detailed"))
    assert quiet == []
    assert minimal[0] == "Creating the DLProf database at dlprof_dldb.sqlite"
    assert {"Problem detected:", "Recommended change:"} < set(minimal) < set(normal) < set(detailed)
    assert set(detailed) - set(normal) == {"Mode pytorch, key op none"}
    assert printed("diagnostic") == detailed


def test_a_key_op_that_is_not_there_stops_nothing(export: Path, tmp_path: Path, capsys: Captured) -> None:
    """As in DLProf: the run goes on without it, and says so."""
    assert main(["--database=nsys_profile.sqlite", "--key_op=global_step"]) == 0
    captured = capsys.readouterr()
    assert "No op has the name or id 'global_step'" in captured.err
    assert 'using key_op ""' in captured.out


@pytest.mark.parametrize(
    ("arguments", "selected", "words"),
    [
        (
            ["--iter_stop=99"],
            (0, 2),
            "Iterations up to 99 are not all in this profile, which has 0 to 2; 0 to 2 are aggregated",
        ),
        (["--iter_start=1", "--iter_stop=80"], (1, 2), "which has 0 to 2; 1 to 2 are aggregated"),
        (
            ["--iter_start=20", "--iter_stop=80"],
            (0, 2),
            "Iterations 20 to 80 are not all in this profile, which has 0 to 2; all of them are aggregated",
        ),
    ],
)
def test_a_range_beyond_the_iterations_stops_nothing(
    export: Path, capsys: Captured, arguments: list[str], selected: tuple[int, int], words: str
) -> None:
    """The program has run for hours perhaps: what there is of the range is aggregated, and it is said."""
    assert main(["--database=nsys_profile.sqlite", *arguments]) == 0
    assert words in capsys.readouterr().err
    assert rows(Path("dlprof_dldb.sqlite"), "SELECT iter_start, iter_stop FROM model_summary") == [selected]


def test_in_simple_mode_one_op_stands_for_the_program(export: Path, tmp_path: Path) -> None:
    """Id, name and type as in a published report; its kernels are all kernels, and there is one iteration."""
    line = "--mode=simple --database=nsys_profile.sqlite --reports=all --output_path=out --key_op=/matmul"
    assert main(line.split()) == 0
    out = tmp_path / "out"
    op = '"SIMPLE_MODE_GLOBAL_NODE_OP_TYPE_1","simple_mode_global_node_name",,"simple_mode_global_node_op_type"'
    (detail,) = (out / "dlprof_detailed.csv").read_text().splitlines()[2:]
    assert detail.startswith(f"{op},1,")
    kernels = rows(
        out / "dlprof_dldb.sqlite", "SELECT count(*), count(DISTINCT read_only_ops_id) FROM read_only_kernels"
    )
    launches = (out / "dlprof_iteration.csv").read_text().splitlines()[2:]
    assert kernels == [(len(launches), 1)]
    assert all(launch.startswith(f"0,{op},") for launch in launches)
    assert rows(out / "dlprof_dldb.sqlite", "SELECT mode_string FROM read_only_system_config") == [("simple",)]
    (model,) = (out / "dlprof_group_op.csv").read_text().splitlines()[2:]
    assert model.startswith('"_CompleteModel_",1,')


def test_no_event_file_where_none_is_wanted(export: Path, tmp_path: Path) -> None:
    """``-b true`` of the first versions."""
    assert main(["--database=nsys_profile.sqlite", "-b", "true", "--output_path=out", "--tb_dir=events"]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["dlprof_dldb.sqlite"]


def test_the_database_is_plain_sqlite_for_other_programs(export: Path) -> None:
    """One file, with the views of 1.8."""
    assert main(["--database=nsys_profile.sqlite", "-v=quiet"]) == 0
    with closing(sqlite3.connect("dlprof_dldb.sqlite")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM view_op_nodes").fetchone()[0] > 0
