"""The parts of the time of GPUs: small traces worked out by hand, and real profiles against an independent oracle."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.diagnosis import idle
from tensorboard_plugin_dlprof.diagnosis.activity import with_busy_time
from tensorboard_plugin_dlprof.diagnosis.answer import diagnose
from tensorboard_plugin_dlprof.diagnosis.as_data import MOST_DRAWN, as_data
from tensorboard_plugin_dlprof.diagnosis.stored import SEGMENTS_A_ROW, read_activity
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source, import_source
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.queries.diagnosed import stored_diagnosis
from tests.imports.traces import write_trace
from tests.shared_data import shared_data, shared_data_or_none

Event = dict[str, Any]


def event(category: str, name: str, start_us: float, length_us: float, tid: int = 1, **args: object) -> Event:
    """An event of a trace; GPU work is on stream ``tid`` of device 0."""
    on_gpu = category in ("kernel", "gpu_memcpy")
    place = {"device": 0, "stream": tid} if on_gpu else {}
    about = {"ph": "X", "cat": category, "name": name, "ts": start_us, "dur": length_us}
    return {**about, "pid": 0 if on_gpu else 9, "tid": tid, "args": {**place, **args}}


def launch(
    number: int, at_us: float, start_us: float, length_us: float, *, call_us: float = 5, kernel: str = "k",
    tid: int = 1, stream: int = 7, api: str = "cudaLaunchKernel",
) -> list[Event]:  # fmt: skip
    """A call and its kernel."""
    return [
        event("cuda_runtime", api, at_us, call_us, tid, correlation=number),
        event("kernel", kernel, start_us, length_us, stream, correlation=number),
    ]


def step(stop_us: float) -> list[Event]:
    """The mark of an iteration from 0."""
    return [event("user_annotation", "ProfilerStep#0", 0, stop_us)]


FIRST = launch(1, 0, 10, 90)
"""One kernel from 10 to 100 us."""

LATE = launch(2, 4900, 4906, 94)

CASES: dict[str, tuple[list[Event], dict[str, float]]] = {
    "a short gap is launching": (
        step(500) + FIRST + launch(2, 400, 406, 94),
        {"compute_other": 184, "launching": 316},
    ),
    "launched before the gap: queued": (
        step(500) + FIRST + launch(2, 20, 400, 100),
        {"compute_other": 190, "launching": 10, "queued": 300},
    ),
    "launched in the gap: the host's until 10 us after the return": (
        step(500) + FIRST + launch(2, 195, 400, 100),
        {"compute_other": 190, "launching": 120, "queued": 190},
    ),
    "a long gap in an op": (
        step(5000) + FIRST + [event("cpu_op", "aten::randn", 100, 4800)] + LATE,
        {"compute_other": 184, "host_op": 4805, "launching": 11},
    ),
    "a long gap in a user's range": (
        step(5000) + FIRST + [event("user_annotation", "augment", 100, 4800)] + LATE,
        {"compute_other": 184, "host_code": 4800, "host_op": 5, "launching": 11},
    ),
    "a long gap in nothing": (
        step(5000) + FIRST + LATE,
        {"compute_other": 184, "unrecorded": 4800, "host_op": 5, "launching": 11},
    ),
    "a call that blocks": (
        step(5000) + FIRST + [event("cuda_runtime", "hipFree", 100, 4700)] + LATE,
        {"compute_other": 184, "blocked": 4700, "launching": 116},
    ),
    "a launch that loads its module": (
        step(5000) + FIRST + launch(2, 150, 4906, 94, call_us=4750),
        {"compute_other": 184, "blocked": 4750, "launching": 66},
    ),
    "tiny queries set nothing up": (
        step(500)
        + FIRST
        + [event("cuda_runtime", "hipGetDeviceProperties", 200 + 20 * number, 0.3) for number in range(8)]
        + launch(2, 400, 406, 94),
        {"compute_other": 184, "launching": 316},
    ),
    "the data loader, whatever it calls": (
        step(5000)
        + FIRST
        + [event("user_annotation", "enumerate(DataLoader)#x.__next__", 100, 4700)]
        + [event("cuda_runtime", "cudaHostAlloc", 200, 3000)]
        + LATE,
        {"compute_other": 184, "data_loader": 4700, "launching": 116},
    ),
    "the main thread, before autograd's first launch": (
        step(5000) + FIRST + [event("cpu_op", "aten::nll_loss", 100, 4700)] + launch(2, 4900, 4906, 94, tid=2),
        {"compute_other": 184, "host_op": 4705, "unrecorded": 100, "launching": 11},
    ),
    "communication is not computing": (
        step(500) + FIRST + launch(2, 20, 50, 450, kernel="ncclDevKernel_AllReduce", stream=8),
        {"compute_other": 90, "communication": 400, "launching": 10},
    ),
    "no call is recorded": (
        step(500) + FIRST + [event("kernel", "k", 400, 100, 7)],
        {"compute_other": 190, "launching": 10, "launch_unknown": 300},
    ),
    "an op on another thread does not answer for a thread that is in something": (
        step(5000)
        + FIRST
        + [event("user_annotation", "augment", 100, 4800), event("cuda_runtime", "cudaMalloc", 200, 900, 2)]
        + LATE,
        {"compute_other": 184, "host_code": 4800, "host_op": 5, "launching": 11},
    ),
}


def profile_of(path: Path) -> Profile:
    """A source as the commands read it."""
    profile = build_profile(find_importer(path).read(path, ReadOptions(), lambda *_: None))
    profile.activity = with_busy_time(profile)
    return profile


@pytest.mark.parametrize("name", CASES)
def test_each_moment_has_the_first_cause_that_holds(name: str, tmp_path: Path) -> None:
    """Worked out by hand, in microseconds."""
    events, want = CASES[name]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [{**each, "ts": each["ts"] + 1000} for each in events]}))
    data = as_data(diagnose(profile_of(trace)), "trace.json")
    assert [device["process"] for device in data["devices"]] == ["9"]
    parts = data["iterations"][0]["devices"]["0"]["parts"]
    if "compute_other" not in parts or not parts["compute_other"]:
        parts["compute_other"] = parts.pop("compute_unknown")  # no rule knows a kernel called k
    assert {part: time / 1000 for part, time in parts.items() if time} == want


def oracles() -> list[str]:
    """Profiles of which the oracle's numbers are at hand, which it names by their paths with "__" for "/"."""
    data = shared_data_or_none()
    if data is None:
        return []
    paths = {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}
    return sorted(path for path in paths if f"diagnosis/oracle/{path.replace('/', '__')}.json" in paths)


@pytest.mark.parametrize("name", oracles())
def test_parts_and_typical_iterations_are_those_of_the_oracle(name: str) -> None:
    """It reads the raw file and shares no code with us. Only what its iterations are may differ."""
    data = shared_data()
    source = data / name
    oracle = json.loads((data / "diagnosis/oracle" / f"{name.replace('/', '__')}.json").read_text())
    result = as_data(diagnose(profile_of(source)), source.name)
    if [each["wall_ns"] for each in result["iterations"]] != [each["wall_ns"] for each in oracle["iterations"]]:
        pytest.skip("other iterations, which its numbers are not for")
    typical = result["typical"]
    assert [typical[key] for key in ("start", "stop", "left_out", "why")] == [
        oracle["typical"][key] for key in ("start", "stop", "left_out", "why")
    ]
    for ours, theirs in zip(result["iterations"], oracle["iterations"], strict=True):
        assert set(ours["devices"]) == set(theirs["devices"])
        for device, mine in ours["devices"].items():
            parts = dict(mine["parts"])
            assert sum(parts.values()) == ours["wall_ns"]
            parts["compute"] = sum(parts.pop(f"compute_{kind}") for kind in ("tensor", "other", "unknown"))
            assert parts == pytest.approx(theirs["devices"][device]["parts"], abs=ours["wall_ns"] * 0.01)
            rows = {part: sum(row["time_ns"] for row in mine["rows"] if row["part"] == part) for part in parts}
            assert {part: time for part, time in rows.items() if time} == {
                part: time for part, time in parts.items() if time and part not in ("compute", "communication", "copy")
            }
            why = theirs["devices"][device]["why"].get("launching", {})
            nobody = Counter[str | None]()
            for row in mine["rows"]:
                if row["part"] == "launching" and not (row["path"] or row["call"]):
                    nobody[row["class"]] += row["time_ns"]
            for name, word in (("", None), ("(delivery)", "delivery")):
                if why.get(name, 0) > ours["wall_ns"] * 0.02:
                    assert nobody[word] == pytest.approx(why[name], rel=0.02)


@pytest.mark.parametrize("name", ["torch/t4_vgg16_minimal/vgg16_trace.json", "xplane/v100_tensorflow_multi_gpu"])
def test_gaps_are_explained_alike_in_blocks_of_any_size(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every gap has its own causes, whichever gaps it is explained together with."""
    path = shared_data() / name
    source = next(path.glob("*.xplane.pb")) if path.is_dir() else path
    whole = profile_of(source).activity
    monkeypatch.setattr(idle, "_BLOCK", 100)
    monkeypatch.setattr(idle, "_MOST_BLOCKS", 1 << 30)
    blocks = profile_of(source).activity
    for one, other in zip(whole.devices, blocks.devices, strict=True):
        assert len(one.start_ns) > 400
        np.testing.assert_array_equal(one.start_ns, other.start_ns)
        np.testing.assert_array_equal(one.stop_ns, other.stop_ns)
        assert [whole.causes[row] for row in one.cause] == [blocks.causes[row] for row in other.cause]


def test_a_database_keeps_the_whole_partition(tmp_path: Path) -> None:
    """So that pages clip it to any window without reading kernels."""
    source = next((shared_data() / "torch/t4_amp").glob("*.json"))
    database = tmp_path / "made.sqlite"
    import_source(source, database, ImportOptions(), lambda *_: None)
    read = profile_of(source)
    with closing(open_database(database)) as con:
        stored = read_activity(con)
        again = read_profile(con)
        (device,) = stored.devices
        middle = int(device.start_ns[len(device.start_ns) // 2])
        (part,) = read_activity(con, middle, middle + 1).devices
        with pytest.raises(ValueError, match="too many segments"):  # a small file can be made to hold endlessly many
            read_activity(con, most=-SEGMENTS_A_ROW)
    assert stored.causes == read.activity.causes
    for column in ("start_ns", "stop_ns", "cause"):
        np.testing.assert_array_equal(getattr(device, column), getattr(read.activity.devices[0], column))
    assert part.start_ns[0] <= middle < part.stop_ns[-1]
    assert as_data(diagnose(again), "x")["iterations"] == as_data(diagnose(read), "x")["iterations"]


def test_pages_get_no_more_iterations_than_they_draw(tmp_path: Path) -> None:
    """Ten thousand would make the answer larger than a page may be; the command tells all of them."""
    source = write_trace(tmp_path / "trace.json", steps=MOST_DRAWN + 1)
    import_source(source, tmp_path / "made.sqlite", ImportOptions(), lambda *_: None)
    whole = diagnose_source(source, "typical", ImportOptions(), lambda *_: None)
    with closing(open_database(tmp_path / "made.sqlite")) as con:
        stored = stored_diagnosis(con, None, "trace.json")
    assert len(whole["iterations"]) == MOST_DRAWN + 1
    assert stored == {**whole, "iterations": [], "mean": {**whole["mean"], "selected": []}}


def test_the_command_prints_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a trace; and the same in words."""
    trace = tmp_path / "trace.json"
    events, _ = CASES["a long gap in a user's range"]
    trace.write_text(json.dumps({"traceEvents": events}))
    assert main(["diagnose", str(trace), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "dlprof-diagnosis-1"
    assert data["mean"]["devices"]["0"]["parts"]["host_code"] == 4_800_000
    assert main(["diagnose", str(trace)]) == 0
    described = capsys.readouterr().out
    assert "GPU 0, the iteration: 5.00 ms" in described
    assert "96.0 %  Idle: Other code on the CPU" in described
    assert "4.80 ms  augment" in described
    assert main(["diagnose", str(trace), "--iterations", "0-3"]) == 1
    assert main(["diagnose", str(trace), "--iterations", "3-0"]) == 2


def test_a_trace_without_gpu_work_has_no_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Though its iterations are marked."""
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [*step(500), event("cpu_op", "aten::mm", 10, 100)]}))
    assert main(["diagnose", str(trace), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["devices"], data["iterations"]) == ([], [])
    assert data["headline"] == (
        "This recording holds no GPU work. `/mm` takes most of the CPU time of its ops, summed over all threads: "
        "100 µs per iteration (100 %). To see kernels, record with `ProfilerActivity.CUDA`."
    )


@pytest.mark.parametrize(
    ("between_us", "said"),
    [(5, ""), (10, "9.1 % of the GPU's work is in no iteration.")],
)
def test_work_in_no_iteration_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], between_us: float, said: str
) -> None:
    """From a twentieth of all on; what means are of is told of the iterations that were asked for."""
    steps = [event("user_annotation", f"ProfilerStep#{n}", at, 100) for n, at in enumerate((0, 300, 400, 500))]
    work = [launch(1, 5, 20, 70), *(launch(2 + n, 305 + 100 * n, 320 + 100 * n, 10) for n in range(3))]
    trace = tmp_path / "trace.json"
    trace.write_text(
        json.dumps({"traceEvents": [*steps, *(each for one in work for each in one), *launch(9, 150, 180, between_us)]})
    )

    def line(*words: str) -> str:
        assert main(["diagnose", str(trace), *words]) == 0
        return capsys.readouterr().out.splitlines()[1]

    assert line() == f"Iterations 0 to 3: 4 of 4 recorded. {said}".rstrip()
    assert line("--iterations", "1-2") == "2 of 4 iterations."
