"""The benchmarks run on tiny inputs and measure what they say. No time is judged."""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
from contextlib import closing
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from benchmarks import floor, many_ranks
from benchmarks.__main__ import EXPORT, TRACE, main
from benchmarks.measuring import CommandFailed, compile_modules, paired, percentile, run
from benchmarks.tiled_export import tile_export
from benchmarks.tiled_trace import tile_trace
from tensorboard_plugin_dlprof import metadata
from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

EVENTS = [
    {"ph": "M", "name": "process_name", "ts": 0.0, "pid": 1, "tid": 0, "args": {"name": "100% python"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 10.5, "dur": 4, "args": {"External id": 3}},
    {"ph": "X", "cat": "kernel", "name": 'gemm "ts": 5', "ts": 12.25, "dur": 2.5, "args": {"correlation": 7}},
    {"ph": "s", "cat": "ac2g", "id": 7, "ts": 11, "name": "ac2g"},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "ts": 9, "dur": 9},
]


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_tiled_trace_repeats_its_events_in_time(tmp_path: Path, suffix: str) -> None:
    """Times and the numbers that link events move together; names, durations and metadata stay."""
    source, target = tmp_path / "source.json", tmp_path / f"tiled{suffix}"
    source.write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS, "end": True}))
    copies = tile_trace(source, target, 3 * source.stat().st_size)
    text = gzip.decompress(target.read_bytes()).decode() if suffix == ".json.gz" else target.read_text()
    tiled = json.loads(text)
    assert copies == 3
    assert tiled["end"] is True
    assert len(tiled["traceEvents"]) == 1 + 3 * 4
    second = tiled["traceEvents"][5:9]
    period = second[0]["ts"] - 10.5
    assert period > 4
    assert [event["ts"] for event in second] == [10.5 + period, 12.25 + period, 11 + period, 9 + period]
    assert second[1]["name"] == 'gemm "ts": 5'
    assert second[2]["id"] == second[1]["args"]["correlation"] > 7
    assert second[3]["name"] == "ProfilerStep#5"


def test_a_tiled_export_has_the_kernels_and_ranges_asked_for(tmp_path: Path) -> None:
    """Every copy of a kernel finds its own call; added ranges lie inside those that there are."""
    target = tmp_path / "tiled.sqlite"
    tile_export(EXPORT, target, kernels=2_000, ranges=9_000)
    with closing(sqlite3.connect(target)) as con:
        kernels, linked = con.execute(
            "SELECT count(*), count(DISTINCT correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        ).fetchone()
        assert kernels >= 2_000
        assert linked == kernels
        assert con.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone()[0] >= 9_000
        assert con.execute("SELECT count(*) FROM NVTX_EVENTS WHERE end < start").fetchone()[0] == 0


def test_the_floor_reads_everything(tmp_path: Path) -> None:
    """All events of a trace, all rows of an export: a floor that skips some would flatter nobody."""
    trace = tmp_path / "trace.json"
    tile_trace(TRACE, trace, 1)
    # What stands behind the last separator of the last chunk stays undecoded: one event.
    assert floor.decode_trace(trace) == len(json.loads(trace.read_bytes())["traceEvents"]) - 1
    export = tmp_path / "export.sqlite"
    tile_export(EXPORT, export, kernels=1)
    with closing(sqlite3.connect(export)) as con:
        kernels = con.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    assert floor.read_export(export) > kernels


def test_the_floor_reads_only_the_rows_that_an_import_needs(tmp_path: Path) -> None:
    """Of calls of the system those that move data, of metrics those of Tensor Cores; none where nothing names them."""
    export = tmp_path / "export.sqlite"
    with closing(sqlite3.connect(export)) as con:
        con.executescript(
            "CREATE TABLE OSRT_API (start, end, globalTid, nameId); CREATE TABLE StringIds (id, value);"
            "INSERT INTO OSRT_API VALUES (1, 2, 3, 10), (1, 2, 3, 11), (1, 2, 3, 10);"
            "CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value);"
            "INSERT INTO GPU_METRICS VALUES (1, 2, 3, 4);"
        )
        con.execute("INSERT INTO StringIds VALUES (10, 'read'), (11, 'poll')")
        con.commit()
        assert floor.read_export(export) == 2 + 2
        con.execute("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, metricId, metricName)")
        con.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (2, 3, 'Tensor Active [Throughput %]')")
        con.commit()
        assert floor.read_export(export) == 2 + 2 + 1


def test_all_benchmarks_run_and_write_their_results(tmp_path: Path) -> None:
    """Every number of the table is in the JSON, with the machine and versions; inputs are removed."""
    results = tmp_path / "results.json"
    options = ["--sizes", "1", "--kernels", "500", "--rounds", "1", "--questions", "2"]
    options += ["--serving", "4000", "--one-iteration", "4000"]
    assert main([*options, "--folder", str(tmp_path / "work"), "--results", str(results)]) == 0
    data = json.loads(results.read_text())
    assert {"commit", "machine", "msgspec", "python", "sqlite"} <= data["machine"].keys()
    assert [name.split("_")[0] for name in data["imports"]] == ["trace", "trace", "export"]
    for measured in data["imports"].values():
        assert measured["kernels"] > 0
        assert measured["import_cpu_s"] > 0 < measured["floor_cpu_s"]
        assert measured["wall_over_two_workers"] > 0
    assert list(data["serving"])[1:] == ["4,000 kernels", "4,000 kernels in one iteration"]
    for served in data["serving"].values():
        assert "kernels of iteration: first page" in served["answers"]
        assert served["kernels"] > 0
    assert list((tmp_path / "work").iterdir()) == []


def test_what_is_measured_is_compiled_before() -> None:
    """As it is where it was installed, also where Python writes no bytecode."""
    compiled = [Path(cache_from_source(str(module.__file__))) for module in (floor, metadata)]
    for path in compiled:
        path.unlink(missing_ok=True)
    compile_modules()
    assert all(path.is_file() for path in compiled)


def test_processes_are_measured_in_turn() -> None:
    """Memory is counted; a command that fails says so with its own words."""
    wait = "import time; x = b'.' * {}; time.sleep(0.3)"
    commands = {name: [sys.executable, "-c", wait.format(size)] for name, size in (("large", 50_000_000), ("small", 1))}
    runs = paired(commands, 2)
    assert [len(some) for some in runs.values()] == [2, 2]
    if sys.platform == "linux":
        assert runs["large"][0].peak_bytes > runs["small"][0].peak_bytes + 40_000_000
    with pytest.raises(CommandFailed, match="no such thing"):
        run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_percentile() -> None:
    """The value at the place, not between two."""
    assert percentile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert percentile([1.0, 2.0], 0.95) == 2.0


def test_the_job_step_of_simulated_ranks_finds_the_slow_one(tmp_path: Path) -> None:
    """What imports would store is simulated such that it matches."""
    many_ranks.write_rank_files(tmp_path / "job", 16, 2)
    (made,), unusable = make_jobs(tmp_path / "job")
    assert not unusable
    assert made.sentence.startswith("Rank 5 ")
