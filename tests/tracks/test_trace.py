"""``dlprof trace``: every source becomes a trace that holds what the source does, each piece of work once."""

from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.diagnosis.parts import BUSY, Part
from tests.imports.traces import KERNEL_NAME, write_trace
from tests.shared_data import shared_data

Events = list[dict[str, Any]]

IDLE = {part.label for part in Part if part not in BUSY}

PROFILES = (
    "torch/h100_transformer_steps/*.json",
    "torch/a100_resnet50_ddp_nccl/*.gz",
    "torch/mi210_gpu_only/*.gz",
    "torch/a100_copies_only/*",
    "nsight/t4_four_streams_old_schema/*.sqlite",
    "nsight/a100_cuda_graphs/*.sqlite",
    "xplane/mi300x_jax_conv_legacy/*.pb",
    "dlprof-golden/dlprof_dldb.sqlite",
)


def traced(source: Path, folder: Path, *options: str) -> Events:
    """The events that the command writes."""
    output = folder / "out.json"
    assert main(["trace", str(source), "-o", str(output), "--force", *options]) == 0
    data: Events = json.loads(output.read_bytes())["traceEvents"]
    return data


def slices(events: Events, category: str) -> Events:
    """The slices of a category."""
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def ns(microseconds: float) -> int:
    """A time of a trace in nanoseconds."""
    return round(microseconds * 1_000)


def test_a_trace_holds_what_its_source_does(tmp_path: Path) -> None:
    """Kernels with their names, times, streams and calls; ops around the calls; how many launches wait; iterations."""
    source = write_trace(tmp_path / "a.json")
    # As Nsight Systems names calls: with the version of their arguments.
    source.write_text(source.read_text().replace("cudaLaunchKernel", "cudaLaunchKernel_v7000"))
    events = traced(source, tmp_path)
    written = json.loads(source.read_text())["traceEvents"]
    base = min(ns(event["ts"]) for event in written)
    for category in ("kernel", "cuda_runtime", "cpu_op"):
        expected = sorted((ns(e["ts"]) - base, ns(e["dur"])) for e in written if e["cat"] == category)
        assert sorted((ns(e["ts"]), ns(e["dur"])) for e in slices(events, category)) == expected
    assert {event["name"] for event in slices(events, "kernel")} == {KERNEL_NAME}
    assert {event["tid"] for event in slices(events, "kernel")} == {7}
    assert {event["name"] for event in slices(events, "cuda_runtime")} == {"cudaLaunchKernel"}
    calls = {event["args"]["correlation"]: event for event in slices(events, "cuda_runtime")}
    for kernel in slices(events, "kernel"):
        call = calls[kernel["args"]["correlation"]]
        assert kernel["ts"] - call["ts"] == pytest.approx(19)
        (start,) = (e for e in events if e["ph"] == "s" and e["id"] == kernel["args"]["correlation"])
        (finish,) = (e for e in events if e["ph"] == "f" and e["id"] == kernel["args"]["correlation"])
        assert (start["ts"], start["tid"]) == (call["ts"], call["tid"])
        assert (finish["ts"], finish["tid"], finish["bp"]) == (kernel["ts"], kernel["tid"], "e")
    lengths = [event["args"]["launches"] for event in events if event["ph"] == "C"]
    assert lengths == [1, 0] * 6
    assert [event["args"]["iteration"] for event in slices(events, "iteration")] == [0, 1, 2]


def test_one_iteration_holds_its_work_with_calls_from_before(tmp_path: Path) -> None:
    """Whatever overlaps the window, and the calls and ops that launched it."""
    source = write_trace(tmp_path / "a.json")
    events = traced(source, tmp_path, "--iteration", "1")
    assert len(slices(events, "kernel")) == 2
    assert {event["ts"] // 1_000 for event in slices(events, "kernel")} == {1}
    (kernel, _) = sorted(slices(traced(source, tmp_path), "kernel"), key=lambda event: event["ts"])[:2]
    start = ns(kernel["ts"])
    alone = traced(source, tmp_path, "--from", str(start), "--to", str(start + 1))
    assert [event["ts"] for event in slices(alone, "kernel")] == [kernel["ts"]]
    assert len(slices(alone, "cuda_runtime")) == len(slices(alone, "cpu_op")) == 1
    assert slices(alone, "cuda_runtime")[0]["ts"] < kernel["ts"]


def check_host_slices(events: Events) -> None:
    """Perfetto reads threads as unsigned numbers, and drops what begins with a shorter slice that came before it."""
    last: dict[tuple[int, int, float], float] = {}
    for event in events:
        if event["ph"] == "X" and event["cat"] in ("user_annotation", "cpu_op", "cuda_runtime"):
            assert 0 <= event["tid"] < 2**31
            place = (event["pid"], event["tid"], event["ts"])
            assert event["dur"] <= last.get(place, event["dur"])
            last[place] = event["dur"]


@pytest.mark.parametrize("pattern", PROFILES)
def test_recorded_profiles_hold_each_piece_of_work_once(pattern: str, tmp_path: Path) -> None:
    """As many as the database, with the same times; nothing on a thread of a GPU overlaps, and every arrow has two
    ends."""
    (source,) = shared_data().glob(pattern)
    if "golden" not in pattern:
        assert main(["import", str(source), "-o", str(tmp_path)]) == 0
        (source,) = tmp_path.glob("*.sqlite")
    events = traced(source, tmp_path)
    check_host_slices(events)
    with closing(sqlite3.connect(source)) as con:
        for table, category in (("memcpys", "gpu_memcpy"), ("memsets", "gpu_memset")):
            expected = con.execute(
                f"SELECT gpu_start, gpu_stop - gpu_start FROM read_only_{table} ORDER BY 1, 2"
            ).fetchall()
            assert sorted((ns(e["ts"]), ns(e["dur"])) for e in slices(events, category)) == expected
        kernels = con.execute("SELECT gpu_start, gpu_stop - gpu_start FROM read_only_kernels").fetchall()
        if con.execute("SELECT count(*) FROM sqlite_master WHERE name = 'ext_graph_launches'").fetchone()[0]:
            kernels += con.execute("SELECT gpu_start, gpu_stop - gpu_start FROM ext_graph_launches").fetchall()
    work = slices(events, "kernel")
    assert sorted((ns(e["ts"]), ns(e["dur"])) for e in work) == sorted(kernels)
    lanes = defaultdict(list)
    for event in work + slices(events, "gpu_memcpy") + slices(events, "gpu_memset"):
        lanes[event["pid"], event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    for lane in lanes.values():
        lane.sort()
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(lane))
    ends = [Counter(event["id"] for event in events if event["ph"] == phase) for phase in "sf"]
    assert ends[0] == ends[1]


def test_a_name_that_ends_with_gz_is_compressed(tmp_path: Path) -> None:
    """The same text; and an existing file is replaced only with --force."""
    source = write_trace(tmp_path / "a.json")
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    assert main(["trace", str(source), "-o", str(plain)]) == main(["trace", str(source), "-o", str(packed)]) == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert main(["trace", str(source), "-o", str(plain)]) == 1


@pytest.mark.parametrize(
    "options", [["--from", "1"], ["--from", "5", "--to", "5"], ["--iteration", "0", "--from", "0", "--to", "5"]]
)
def test_windows_that_make_no_sense(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and nothing is written."""
    source = write_trace(tmp_path / "a.json")
    assert main(["trace", str(source), "-o", str(tmp_path / "t.json"), *options]) == 2
    assert "--from" in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


def test_an_iteration_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence."""
    source = write_trace(tmp_path / "a.json")
    assert main(["trace", str(source), "-o", str(tmp_path / "t.json"), "--iteration", "77"]) == 1
    assert "no iteration 77" in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize("pattern", ["torch/a100_resnet50_ddp_nccl/*.gz", "nsight/h100_2gpu_torchrun_nccl/*.sqlite"])
def test_idle_slices_are_those_of_the_diagnosis(
    pattern: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Part by part, for each GPU in each iteration, to the nanosecond."""
    (source,) = shared_data().glob(pattern)
    assert main(["diagnose", str(source), "--format", "json", "--iterations", "all"]) == 0
    diagnosis = json.loads(capsys.readouterr().out)
    assert main(["import", str(source), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.glob("*.sqlite")
    idle = slices(traced(database, tmp_path), "idle")
    assert idle
    for iteration in diagnosis["iterations"]:
        for device, result in iteration["devices"].items():
            sums: Counter[str] = Counter()
            for event in idle:
                if event["pid"] % 1_000_000_000 == int(device):
                    start, stop = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
                    sums[event["name"]] += max(min(stop, iteration["stop_ns"]) - max(start, iteration["start_ns"]), 0)
            expected = {name: length for name, length in result["parts"].items() if length and name in IDLE}
            assert +sums == expected, (iteration["index"], device)
