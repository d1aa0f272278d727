"""``dlprof run``, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.cli.recording import rank_prefix
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.reports.files import MAX_PREFIX_BYTES, checked_prefix
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.run_metadata.reading import read_event_file
from tests.running.programs import torch_python
from tests.waiting import PATIENCE_S, wait_for

Captured = pytest.CaptureFixture[str]

TRAIN = """
import torch
model = torch.nn.Linear(64, 32)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(8):
    optimizer.zero_grad()
    torch.nn.functional.relu(model(torch.randn(16, 64))).mean().backward()
    optimizer.step()
"""


def nsys_calls(programs: Path) -> list[list[str]]:
    """What nsys was called with."""
    return [json.loads(line) for line in (programs / "nsys_calls.jsonl").read_text().splitlines()]


def test_nsight_systems_records_and_the_result_is_imported(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    """In a folder of the date; the program's output is passed through; the way to see it is told."""
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--profile-name", "demo", "--", "python", "-c", "print('hello')"]) == 0
    (folder,) = (tmp_path / "dlprof-runs").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "events.out.tfevents.0000000000.dlprof.nsys_profile",
        "nsys_profile.dlprof_dldb.sqlite",
        "nsys_profile.nsys-rep",
        "nsys_profile.sqlite",
    ]
    (event_file,) = find_event_files(folder)
    metadata = read_event_file(event_file)
    assert metadata is not None
    assert (metadata.headline.iterations, metadata.headline.wall_time_ns) == (3, 3_000_000)
    assert metadata.headline.gpu_utilization_fraction == pytest.approx(0.25)
    captured = capfd.readouterr()
    assert captured.out.startswith("hello\n")
    assert "tensorboard --logdir dlprof-runs" in captured.err
    with closing(open_database(folder / "nsys_profile.dlprof_dldb.sqlite")) as connection:
        assert connection.execute("SELECT profile_name FROM view_system_config").fetchone() == ("demo",)


@pytest.mark.parametrize(("options", "wall_ns"), [([], 2_000_000), (["--iterations", "all"], 12_000_000)])
def test_a_recording_is_imported_as_dlprof_import_does(
    options: list[str], wall_ns: int, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The typical iterations, without a warm-up of ten times the length, if others are not asked for."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect(programs / "export.sqlite")) as con, con:
        for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"):
            con.execute(f"UPDATE {table} SET end = end + 9000000 WHERE end >= 1000000")
            con.execute(f"UPDATE {table} SET start = start + 9000000 WHERE start >= 1000000")
    assert main(["run", *options, "-o", "out", "--", "python", "-c", ""]) == 0
    metadata = read_event_file(find_event_files(tmp_path / "out")[0])
    assert metadata is not None
    assert metadata.headline.wall_time_ns == wall_ns


def test_the_choices_reach_nsys_the_import_and_the_reports(programs: Path, tmp_path: Path) -> None:
    """The range of iterations, the reports and their names."""
    out = tmp_path / "out"
    options = ["--delay", "1", "--duration", "2", "--capture-range", "--nsys-opts", "--pytorch=autograd-nvtx -w true"]
    options += ["--iter-start", "1", "--iter-stop", "2", "--reports", "summary,kernel", "--formats", "csv,json"]
    assert main(["run", "-o", str(out), *options, "--profile-name", "x", "python", "-c", "pass"]) == 0
    assert nsys_calls(programs)[0][2:-3] == [
        *("--trace=cuda,nvtx,osrt", "--sample=none", "--delay=1", "--duration=2", "--capture-range=cudaProfilerApi"),
        *("--capture-range-end=stop", "--pytorch=autograd-nvtx", "-w", "true"),
    ]
    reports = {path.name for path in out.iterdir() if path.name.startswith("x_")}
    assert reports == {"x_summary.csv", "x_summary.json", "x_kernel.csv", "x_kernel.json"}
    summary = json.loads((out / "x_summary.json").read_text())
    assert summary["Iterations"]["Aggregated Iterations"] == 2


@pytest.mark.parametrize("command", ["raise SystemExit(7)", "import os; os.kill(os.getpid(), 9)"])
def test_the_exit_code_is_that_of_the_program_and_its_profile_is_kept(
    programs: Path, tmp_path: Path, command: str
) -> None:
    """A run that fails late is still worth looking at."""
    code = main(["run", "-o", str(tmp_path / "out"), "--", "python", "-c", command])
    assert code == (7 if "Exit" in command else 137)
    assert (tmp_path / "out" / "nsys_profile.dlprof_dldb.sqlite").exists()


def test_every_rank_gets_a_profile_and_reports(programs: Path, tmp_path: Path) -> None:
    """Each under its own name."""
    out = tmp_path / "out"
    command = ["mpirun", "-np", "2", "-x", "A", "python", "-c", "pass"]
    assert main(["run", "-o", str(out), "--reports", "summary", "--", *command]) == 0
    names = {path.name for path in out.iterdir()}
    for rank in (0, 1):
        assert f"nsys_profile.rank{rank}.dlprof_dldb.sqlite" in names
        assert f"dlprof_rank{rank}_summary.csv" in names
    ranks = [metadata.rank for file in find_event_files(out) if (metadata := read_event_file(file))]
    assert ranks == [0, 1]


def test_when_nothing_is_recorded_the_run_has_failed(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Even if the program has not; the export's error is told."""
    monkeypatch.setenv("NSYS_EXPORT_FAILS", "1")
    assert main(["run", "-o", str(tmp_path / "out"), "--", "python", "-c", "pass"]) == 1
    assert "nsys export failed with code 1: Export failed" in capsys.readouterr().err
    monkeypatch.setenv("NSYS_LEAVES_NOTHING", "1")
    assert main(["run", "-o", str(tmp_path / "out"), "--", "python", "-c", "pass"]) == 1
    assert "nothing was recorded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--iter-start", "3", "--iter-stop", "2", "python", "x.py"], "give them in order"),
        (["--reports", "sumary", "python", "x.py"], "There is no report 'sumary'"),
        (["--formats", "pdf", "python", "x.py"], "There is no format 'pdf'"),
        (["--reports", "all", "--profile-name", "a/b", "python", "x.py"], "'a/b' cannot begin the name of a file"),
        (["--steps", "1:2:3", "python", "x.py"], "--steps is an option of the PyTorch profiler"),
        (["--with", "torch", "--delay", "3", "python", "x.py"], "--delay is an option of Nsight Systems"),
        (["--with", "torch", "--steps", "1:2", "python", "x.py"], "such as 5:2:10"),
        (["--nsys-opts", "'-t cuda", "python", "x.py"], "--nsys-opts='-t cuda: a quote is not closed"),
    ],
)
def test_wrong_choices_are_told_before_anything_runs(
    programs: Path, tmp_path: Path, capsys: Captured, arguments: list[str], words: str
) -> None:
    """One sentence, and nothing is left."""
    assert main(["run", "-o", str(tmp_path / "out"), *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("program", "words"), [(["./a.out"], "records Python programs"), (["python", "-m"], "given no program")]
)
def test_a_program_that_cannot_be_recorded_is_told_before_it_runs(
    programs: Path, tmp_path: Path, capsys: Captured, program: list[str], words: str
) -> None:
    """And no folder is made for it."""
    assert main(["run", "--with", "torch", "-o", str(tmp_path / "out"), *program]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nsys_cannot_be_asked_for_where_there_is_none(without_nsys: Path, capsys: Captured) -> None:
    """The other way is named."""
    assert main(["run", "--with", "nsys", "python", "x.py"]) == 1
    assert "--with torch" in capsys.readouterr().err


def test_being_told_to_end_ends_the_program_and_skips_the_import(programs: Path, tmp_path: Path) -> None:
    """Batch systems kill what does not end soon. The report stays."""
    ready, passing = tmp_path / "ready", tmp_path / "passing"
    code = f"import signal, time; signal.signal(15, lambda *_: exit(9)); open({str(ready)!r}, 'w'); time.sleep(60)"
    nsys = programs / "nsys"
    # A stand-in that passes signals on, as nsys does.
    nsys.write_text(
        nsys.read_text().replace(
            "code = subprocess.run(words).returncode",
            "import signal; child = subprocess.Popen(words); signal.signal(15, lambda *_: child.terminate()); "
            f"open({str(passing)!r}, 'w').close(); code = child.wait()",
        )
    )
    command = ["-m", "tensorboard_plugin_dlprof", "run", "-o", str(tmp_path / "out"), "--", "python", "-c", code]
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True) as run:
        wait_for(lambda: ready.exists() and passing.exists())
        os.kill(run.pid, signal.SIGTERM)
        _, errors = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 9
    assert "ended by a signal: nothing is imported" in errors
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["nsys_profile.nsys-rep"]


def test_without_nsys_the_pytorch_profiler_records_and_that_is_told(
    without_nsys: Path, tmp_path: Path, capfd: Captured
) -> None:
    """Five steps after the first three, with an op of each kind; shapes make eligibility known."""
    (tmp_path / "train.py").write_text(TRAIN)
    out = tmp_path / "out"
    assert main(["run", "-o", str(out), "--", torch_python(), str(tmp_path / "train.py")]) == 0
    assert "nsys) is not on the PATH, so the PyTorch profiler records" in capfd.readouterr().err
    (database,) = out.glob("*.dlprof_dldb.sqlite")
    with closing(open_database(database)) as connection:
        assert connection.execute("SELECT iter_value FROM view_iterations_all").fetchall() == [
            (3,),
            (4,),
            (5,),
            (6,),
            (7,),
        ]
        types = dict(connection.execute("SELECT op_node_type, COUNT(*) FROM view_op_nodes GROUP BY 1").fetchall())
        eligible = connection.execute("SELECT COUNT(*) FROM view_op_nodes WHERE tc_eligible = 1").fetchone()
    assert {"linear", "relu", "mean"} <= {name.lower().rpartition("::")[2] for name in types}
    assert eligible[0] > 0


def test_torchrun_gives_a_profile_of_each_rank(without_nsys: Path, tmp_path: Path) -> None:
    """With the recorder inside of each."""
    (tmp_path / "train.py").write_text(TRAIN)
    out = tmp_path / "out"
    launcher = [torch_python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    assert main(["run", "--with", "torch", "-o", str(out), "--", *launcher, str(tmp_path / "train.py")]) == 0
    ranks = [metadata.rank for file in find_event_files(out) if (metadata := read_event_file(file))]
    assert sorted(ranks) == [0, 1]
    iterations = [metadata.headline.iterations for file in find_event_files(out) if (metadata := read_event_file(file))]
    assert iterations == [5, 5]


@pytest.mark.parametrize(
    ("source", "prefix"),
    [
        ("nsys_profile.rank3.sqlite", "dlprof_rank3"),
        ("nsys_profile.rankp4711.sqlite", "dlprof_rankp4711"),
        ("rank-box_12.rank3.pt.trace.json.gz", "dlprof_rank3"),
        ("node1.cluster_12.pt.trace.json.gz", "dlprof_node1.cluster_12"),
        ("node1_12.pt.trace.json.gz", "dlprof_node1_12"),
    ],
)
def test_reports_of_several_processes_have_names_of_their_own(source: str, prefix: str) -> None:
    """By the rank; where nobody tells it by the process, whatever its host is called."""
    assert rank_prefix("dlprof", Path(source), alone=False) == prefix
    assert rank_prefix("dlprof", Path(source), alone=True) == "dlprof"


@pytest.mark.parametrize("source", ["nsys_profile.rankp4711.sqlite", f"{'h' * 200}_12.pt.trace.json.gz"])
def test_reports_of_several_processes_have_names_that_fit(source: str) -> None:
    """A program that ran for hours is not lost because of them: the name that the user gave is cut."""
    prefix = rank_prefix("é" * (MAX_PREFIX_BYTES // 2), Path(source), alone=False)
    assert checked_prefix(prefix) == prefix
    assert len(prefix.encode()) in (MAX_PREFIX_BYTES - 1, MAX_PREFIX_BYTES)
    assert prefix.endswith(rank_prefix("", Path(source), alone=False))
