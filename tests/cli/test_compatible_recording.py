"""Programs that are run and recorded by the command line of DLProf 1.8."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tests.cli.results import names, rows
from tests.running.programs import torch_python

Captured = pytest.CaptureFixture[str]


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
    assert "It does not use --delay" in errors
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
    result = rows(tmp_path / "out" / "dlprof_dldb.sqlite", "SELECT iter_value FROM view_iterations_all")
    assert sorted(result) == [(7,), (8,), (9,)]


@pytest.mark.parametrize(
    ("options", "rules", "said"),
    [
        (["--reports=sumary"], "", "There is no report 'sumary'"),
        (["--formats=pdf"], "", "There is no format 'pdf'"),
        (["--iter_start=3", "--iter_stop=2"], "", "give them in order"),
        (["--reports=all", "--profile_name=a/b"], "", "'a/b' cannot begin the name of a file"),
        ([], "gone.json", "gone.json"),
    ],
)
def test_what_is_wrong_is_told_before_the_program_runs(
    options: list[str],
    rules: str,
    said: str,
    programs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    """It may run for hours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DLPROF_KERNEL_RULES", rules)
    assert main(["--mode=pytorch", *options, "python", "-c", "open('ran', 'w')"]) == (1 if rules else 2)
    assert said in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
