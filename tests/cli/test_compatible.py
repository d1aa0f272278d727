"""The command line of DLProf 1.8, as scripts written for it call it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.compatible import is_meant
from tensorboard_plugin_dlprof.cli.compatible_options import OPTIONS, help_text, parse
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.database.views import differences, read_only
from tests.running.programs import small_export, torch_python
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


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``nsys_profile.sqlite`` in the working directory."""
    monkeypatch.chdir(tmp_path)
    return small_export(tmp_path / "nsys_profile.sqlite")


def names(folder: Path) -> set[str]:
    """Files without the event file."""
    return {path.name for path in folder.iterdir() if "tfevents" not in path.name}


def rows(database: Path, sql: str) -> list[Any]:
    """What a program that knows nothing of us would read."""
    with closing(read_only(database)) as connection:
        return connection.execute(sql).fetchall()


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
    found = [re.search(step, output, re.MULTILINE) for step in steps]
    assert None not in found, steps[found.index(None)]
    places = [match.start() for match in found if match]
    assert places == sorted(places)


@pytest.mark.parametrize(("verbosity", "lines"), [("quiet", 0), ("minimal", 5), ("normal", 12), ("diagnostic", 13)])
def test_the_verbosity_says_how_much_is_printed(export: Path, capsys: Captured, verbosity: str, lines: int) -> None:
    """Nothing, the results, the steps, and details."""
    assert main(["--database=nsys_profile.sqlite", "-v", verbosity]) == 0
    output = capsys.readouterr().out
    assert (output == "") is (lines == 0)
    assert output.count("\n") >= lines


def test_a_program_is_run_and_recorded(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With DLProf's own defaults for Nsight Systems; its exit code is ours."""
    monkeypatch.chdir(tmp_path)
    line = ["--mode=pytorch", "--output_path=out", "--reports=summary", "-y=10", "-d", "5", "--nsys_profile_range=true"]
    assert main([*line, "python", "-c", "raise SystemExit(3)", "--mode=x"]) == 3
    assert names(tmp_path / "out") == {
        *("dlprof_dldb.sqlite", "dlprof_summary.csv", "nsys_profile.nsys-rep", "nsys_profile.sqlite"),
    }
    call = json.loads((programs / "nsys_calls.jsonl").read_text().splitlines()[0])
    assert call[2:] == [
        *("--delay=10", "--duration=5", "--capture-range=cudaProfilerApi", "--capture-range-end=stop"),
        *("-t", "cuda,nvtx", "-s", "none", "python", "-c", "raise SystemExit(3)", "--mode=x"),
    ]


def test_options_of_nsys_and_the_base_name(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own options replace the default ones."""
    monkeypatch.chdir(tmp_path)
    assert main(["--nsys_opts=-t cuda,nvtx,osrt -s cpu", "--nsys_base_name=base", "python", "-c", "pass"]) == 0
    assert {"base.nsys-rep", "base.sqlite", "dlprof_dldb.sqlite"} <= names(tmp_path)
    call = json.loads((programs / "nsys_calls.jsonl").read_text().splitlines()[0])
    assert call[2:-3] == ["-t", "cuda,nvtx,osrt", "-s", "cpu"]


def test_options_of_nsys_may_have_the_quotes_of_dlprofs_help(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--nsys_opts='"-t cuda,nvtx -s none"'``, and words with quotes of their own."""
    monkeypatch.chdir(tmp_path)
    assert main(['--nsys_opts="-t cuda,nvtx -s none"', "python", "-c", "pass"]) == 0
    assert main(["--nsys_opts", "--sample=cpu -t 'nvtx,cuda,osrt'", "python", "-c", "pass"]) == 0
    calls = [json.loads(line) for line in (programs / "nsys_calls.jsonl").read_text().splitlines()]
    profiles = [call[2:-3] for call in calls if call[0] == "profile"]
    assert profiles == [["-t", "cuda,nvtx", "-s", "none"], ["--sample=cpu", "-t", "nvtx,cuda,osrt"]]


def test_every_rank_has_a_database_and_reports(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbered, also with force: one must not replace the other."""
    monkeypatch.chdir(tmp_path)
    line = [
        "--output_path=out",
        "--force=true",
        "--reports=summary",
        "mpirun",
        "-np",
        "2",
        "-x",
        "A",
        "python",
        "-c",
        "",
    ]
    assert main(line) == 0
    assert {"dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite"} <= names(tmp_path / "out")
    assert {"dlprof_rank0_summary.csv", "dlprof_rank1_summary.csv"} <= names(tmp_path / "out")


def test_without_nsys_the_pytorch_profiler_records(
    without_nsys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """And it is told, with the options that mean nothing then."""
    monkeypatch.chdir(tmp_path)
    program = "import torch\nmodel = torch.nn.Linear(64, 32)\nfor _ in range(3): model(torch.randn(16, 64))\n"
    (tmp_path / "infer.py").write_text(program)
    assert main(["--mode=pytorch", "--delay=3", "--output_path=out", torch_python(), "infer.py"]) == 0
    errors = capfd.readouterr().err
    assert "the PyTorch profiler records instead" in errors
    assert "It has no use for --delay" in errors
    names_of_ops = rows(tmp_path / "out" / "dlprof_dldb.sqlite", "SELECT op_node_name FROM view_op_nodes")
    assert any("linear" in name for (name,) in names_of_ops)


def test_without_nsys_the_wanted_iterations_are_recorded(
    without_nsys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PyTorch profiler counts steps as DLProf counts iterations."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import torch\nmodel = torch.nn.Linear(8, 4)\nsgd = torch.optim.SGD(model.parameters())\n"
        "for _ in range(12):\n    model(torch.randn(2, 8)).sum().backward()\n    sgd.step()\n"
    )
    line = ["--mode=pytorch", "--iter_start=7", "--iter_stop=9", "--output_path=out", torch_python(), "train.py"]
    assert main(line) == 0
    found = rows(tmp_path / "out" / "dlprof_dldb.sqlite", "SELECT iter_value FROM view_iterations_all")
    assert sorted(found) == [(7,), (8,), (9,)]


def test_a_key_op_that_is_not_there_stops_nothing(export: Path, tmp_path: Path, capsys: Captured) -> None:
    """As in DLProf: the run goes on without it, and says so."""
    assert main(["--database=nsys_profile.sqlite", "--key_op=global_step"]) == 0
    captured = capsys.readouterr()
    assert "No op has the name or id 'global_step'" in captured.err
    assert 'using key_op ""' in captured.out


@pytest.mark.parametrize(
    ("arguments", "chosen", "words"),
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
    export: Path, capsys: Captured, arguments: list[str], chosen: tuple[int, int], words: str
) -> None:
    """The program has run for hours perhaps: what there is of the range is aggregated, and it is said."""
    assert main(["--database=nsys_profile.sqlite", *arguments]) == 0
    assert words in capsys.readouterr().err
    assert rows(Path("dlprof_dldb.sqlite"), "SELECT iter_start, iter_stop FROM model_summary") == [chosen]


def test_what_has_no_effect_here_is_said_and_stops_nothing(export: Path, capsys: Captured) -> None:
    """Options that changed none of the numbers."""
    line = ["--database=nsys_profile.sqlite", "--dump_model_data=true", "--graphdef=auto"]
    assert main(line) == 0
    errors = capsys.readouterr().err
    assert "--dump_model_data has no effect: the raw data are in the tables read_only_*" in errors
    assert "--graphdef has no effect: the Graph page" in errors
    assert main([line[0], "--dump_model_data=false"]) == 0
    assert capsys.readouterr().err == ""


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


def test_every_option_of_1_8_is_known() -> None:
    """Accepted, or refused with a sentence that says what to use."""
    known = {name for option in OPTIONS for name in (option.name, *option.synonyms)}
    assert known >= {
        *(
            "force",
            "verbosity",
            "mode",
            "database",
            "nsys_database",
            "nsys_base_name",
            "nsys_opts",
            "nsys_profile_range",
        ),
        *(
            "delay",
            "duration",
            "key_node",
            "key_op",
            "iter_start",
            "iter_stop",
            "output_path",
            "profile_name",
            "reports",
        ),
        *("formats", "domains", "dump_model_data", "graphdef", "tb_dir", "suppress_tb_files"),
    }
    assert {option.short for option in OPTIONS if option.short} == set("fvmydb")
    assert all(option.name in help_text() for option in OPTIONS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode=onnx", "python", "x.py"], "one of pytorch, tensorflow1"),
        (["--domains=a", "python", "x.py"], "leave it out; all domains are read"),
        (["--force=yes", "--database=x"], "true or false"),
        (["--iter_start=-1", "--database=x"], "the number of an iteration"),
        (["--delay=soon", "python", "x.py"], "a number of seconds"),
        (["--delay=nan", "python", "x.py"], "a number of seconds"),
        (["--databse=x"], "did you mean --database?"),
        (["--zzz"], "lists the options"),
        (["--database"], "--database needs a value"),
        (["--reports=all"], "Name a program to run, or an export with --database"),
        (["--force=true", "import", "x"], "Put the command first: `dlprof import ...`"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_use(
    capsys: Captured, arguments: list[str], words: str, without_nsys: Path
) -> None:
    """On stderr."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "usage: dlprof" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--database=absent.sqlite"], "absent.sqlite: there is no such file"),
        (["--database=nsys_profile.sqlite", "--reports=sumary"], "There is no report 'sumary'"),
        (["--database=nsys_profile.sqlite", "--formats=pdf"], "There is no format 'pdf'"),
        (["--database=nsys_profile.sqlite", "--iter_start=3", "--iter_stop=2"], "give them in order"),
        (["--database=nsys_profile.sqlite", "--output_path=nsys_profile.sqlite/x"], "the folder cannot be made"),
        (['--nsys_opts="-t', "python", "x.py"], "a quote is not closed"),
        (["--nsys_base_name=a/b", "python", "x.py"], "choose one without slashes"),
    ],
)
def test_a_run_that_fails_does_not_end_with_0(export: Path, capsys: Captured, arguments: list[str], words: str) -> None:
    """And says why in one sentence; no database is left."""
    assert main(arguments) == 1
    assert words in capsys.readouterr().err
    assert names(export.parent) == {"nsys_profile.sqlite"}


def test_values_in_all_spellings() -> None:
    """A switch alone means true; what follows the program is its own."""
    line = parse(["--force", "-y=1.5", "--iter-start", "2", "--profile_name=", "python", "--force=false"])
    assert line.switch("force")
    assert (line.seconds("delay"), line.iteration("iter_start"), line.text("profile_name")) == (1.5, 2, "")
    assert line.program == ["python", "--force=false"]
    assert parse(["-f", "false", "--", "-x"]).program == ["-x"]
    assert parse(["--verbosity=QUIET"]).text("verbosity") == "quiet"
    with pytest.raises(BadRequest, match="There is no option -x"):
        parse(["-x"])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", False),
        ("--help", False),
        ("-V", False),
        ("sumary x", False),
        ("python x.py", True),
        ("--mode=pytorch --help", True),
        ("-f true python x.py", True),
    ],
)
def test_the_two_forms_are_told_apart(line: str, expected: bool, without_nsys: Path) -> None:
    """A mistyped command of ours is no program."""
    assert is_meant(line.split()) is expected


def test_a_command_of_ours_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a program has its name."""
    program = tmp_path / "summary"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert main(["summary", "missing"]) == 1
    assert "missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"), [(["-V"], f"dlprof {VERSION}"), (["--mode=pytorch", "-h"], "usage: dlprof [")]
)
def test_help_and_version(arguments: list[str], words: str, capsys: Captured) -> None:
    """On stdout, and with 0."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(words)


def test_the_database_is_plain_sqlite_for_other_programs(export: Path) -> None:
    """One file, with the views of 1.8."""
    assert main(["--database=nsys_profile.sqlite", "-v=quiet"]) == 0
    with closing(sqlite3.connect("dlprof_dldb.sqlite")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM view_op_nodes").fetchone()[0] > 0
