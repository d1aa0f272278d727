"""``dlprof summary``, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.answers.diagnosis import Parts
from tensorboard_plugin_dlprof.cli.diagnose import PARTS
from tensorboard_plugin_dlprof.cli.main import main
from tests.cli.traces import write_trace
from tests.queries.events import work
from tests.shared_data import shared_data

Captured = pytest.CaptureFixture[str]


def test_a_source_is_summarised_without_leaving_anything_behind(tmp_path: Path, capsys: Captured) -> None:
    """Three steps of 1 ms with a kernel of 0.25 ms each."""
    source = write_trace(tmp_path / "a.json")
    assert main(["summary", str(source), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["System Config", "Summary Report", "Iterations", "All Ops", "All Kernels"]
    assert report["System Config"]["GPU Name(s)"] == ["Test GPU"]
    assert report["Summary Report"]["Wall Clock Time (ns)"] == 3_000_000
    assert report["Summary Report"]["GPU Utilization %"] == 25.0
    assert report["Iterations"]["Total Iterations"] == 3
    assert report["All Kernels"][0] == {
        "Name": "All kernels",
        "GPU Time (ns)": 750_000,
        "CPU Time (ns)": 60_000,
        "# Kernels": 1,
    }
    assert list(tmp_path.iterdir()) == [source]


def test_other_iterations(tmp_path: Path, capsys: Captured) -> None:
    """Of a source or a database, in every report of numbers; the database stays as it is."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    database = tmp_path / "a.dlprof_dldb.sqlite"
    before = database.read_bytes()
    for profile in (source, database):
        capsys.readouterr()
        assert main(["summary", str(profile), "--iterations", "1-2", "--format", "json"]) == 0
        data = json.loads(capsys.readouterr().out)["Iterations"]
        assert (data["Aggregated Iterations"], data["Start Iteration"], data["Stop Iteration"]) == (2, 1, 2)
    assert main(["table", str(database), "ops", "--iterations", "1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["calls"] == 1
    assert main(["compare", str(source), str(database), "--iterations", "1-2"]) == 0
    assert main(["reports", str(database), "--iterations", "1-2", "--output-path", str(tmp_path / "out")]) == 0
    assert main(["summary", str(source), "--iterations", "7-9"]) == 1
    assert main(["table", str(source), "ops", "--iterations", "all", "--aggregation", "1"]) == 2
    assert database.read_bytes() == before


def test_the_database_beside_a_source_gives_the_same_report(tmp_path: Path, capsys: Captured) -> None:
    """Whether from the source, from the database beside it, or from the database itself."""
    source = write_trace(tmp_path / "a.json")
    assert main(["summary", str(source)]) == 0
    expected = capsys.readouterr().out
    assert main(["import", str(source)]) == 0
    capsys.readouterr()
    (tmp_path / "renamed.db").write_bytes((tmp_path / "a.dlprof_dldb.sqlite").read_bytes())
    for profile in ("a.json", "a.dlprof_dldb.sqlite", "renamed.db"):
        assert main(["summary", str(tmp_path / profile)]) == 0
        assert capsys.readouterr().out == expected


def test_a_profile_without_gpu_work_has_no_utilisation(tmp_path: Path, capsys: Captured) -> None:
    """Unknown is null, not 0."""
    trace = json.loads(write_trace(tmp_path / "a.json").read_text())
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event["cat"] in ("cpu_op", "user_annotation")]
    (tmp_path / "a.json").write_text(json.dumps(trace))
    assert main(["summary", str(tmp_path / "a.json"), "--format", "json"]) == 0
    times = json.loads(capsys.readouterr().out)["Summary Report"]
    assert times["GPU Utilization %"] is None
    assert times["Tensor Core Kernel Utilization %"] is None


def test_a_database_of_nvidias_is_summarised_as_it_is(capsys: Captured) -> None:
    """The text report of a golden database holds the numbers of DLProf's own report."""
    assert main(["summary", str(shared_data() / "dlprof-golden" / "dlprof_dldb.sqlite")]) == 0
    text = capsys.readouterr().out
    assert "GPU Name(s)         NVIDIA GeForce RTX 2070 SUPER\n" in text
    assert "2,864,091,540" in text


@pytest.mark.parametrize("content", ["not a profile", ""])
def test_what_is_no_profile_is_named(tmp_path: Path, capsys: Captured, content: str) -> None:
    """One sentence on stderr, nothing on stdout."""
    path = tmp_path / "notes.txt"
    path.write_text(content)
    assert main(["summary", str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "notes.txt" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("gpu_utilization<20%", 0),
        ("gpu_utilization<30%", 4),
        ("iteration_time>1.5ms", 0),
        ("iteration_time>0.5ms", 4),
        ("op:/mm<1us", 0),
        ("memory_peak>1GB", 5),
        ("iteration_time>3%", 2),
        ("iteration_time>+3ms", 2),
    ],
)
def test_a_limit_on_a_value_ends_with_its_exit_code(tmp_path: Path, limit: str, code: int) -> None:
    """A quarter of each millisecond is GPU time; no memory was recorded; a change takes two profiles."""
    assert main(["summary", str(write_trace(tmp_path / "a.json")), "--fail-on", limit]) == code


@pytest.mark.parametrize(
    ("limit", "code"), [("idle>80%", 0), ("idle>70%", 4), ("idle>700us", 4), ("copy>0.5%", 0), ("launching>10us", 4)]
)
def test_a_limit_on_a_part_of_the_time(tmp_path: Path, limit: str, code: int) -> None:
    """Idle time is three quarters; each part that the answer names can be limited."""
    assert main(["diagnose", str(write_trace(tmp_path / "a.json")), "--fail-on", limit]) == code


def test_all_parts_can_be_limited() -> None:
    """Under the names of the answer."""
    assert Parts.__struct_fields__ == PARTS


def test_a_limit_on_the_peak_of_memory() -> None:
    """In bytes, and as a share where the memory of the GPU is known."""
    source = str(shared_data() / "memory" / "snapshot_second_device" / "snapshot.pickle")
    for limit, code in (("memory_peak>500MB", 4), ("memory_peak>600MB", 0), ("memory_peak>90%", 5)):
        assert main(["memory", source, "--fail-on", limit]) == code


def test_a_row_of_a_table_stays_on_one_line(tmp_path: Path, capsys: Captured) -> None:
    """Names and stacks may have several."""
    trace = tmp_path / "a.json"
    trace.write_text(json.dumps({"traceEvents": work(1, "kernel", "first\nsecond", 20, 5, 12)}))
    assert main(["table", str(trace), "kernels_of_iteration", "--iteration", "0"]) == 0
    _heads, row, _said = capsys.readouterr().out.splitlines()
    assert "first; second" in row
