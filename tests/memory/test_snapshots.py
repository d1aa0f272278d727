"""Memory snapshots: peaks and sums, held against facts counted from the files by other code."""

from __future__ import annotations

import functools
import io
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.events.memory_tables import STAYS, History
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.memory.pairing import pair
from tensorboard_plugin_dlprof.memory.peak import by_category, by_owner, peak_of
from tensorboard_plugin_dlprof.memory.snapshot import read_snapshot
from tensorboard_plugin_dlprof.pipeline import memory_of_source
from tests.shared_data import shared_data

GIGABYTES = 4 << 30


def snapshots() -> list[Path]:
    """All snapshots that were recorded by others."""
    return sorted((shared_data() / "memory").glob("*/*.pickle"))


def stated(path: Path) -> dict[str, int]:
    """What MANIFEST.md says of a snapshot."""
    text = (shared_data() / "memory" / "MANIFEST.md").read_text()
    part = text[text.index(f"* memory/{path.parent.name}/") :]
    words = ("peak requested", "peak reserved", "requested before the first event", "largest free block")
    return {
        word: int(re.search(rf"{word} ([\d,]+)", part)[1].replace(",", ""))  # type: ignore[index]
        for word in words
    }


@functools.cache
def only(path: Path) -> History:
    """The memory of the only GPU in a snapshot."""
    (history,) = read_snapshot(path, GIGABYTES)
    return history


def test_peaks_are_those_of_an_independent_replay() -> None:
    """Requested and reserved bytes, and what was held before the first event."""
    for path in snapshots():
        history, facts = only(path), stated(path)
        assert peak_of(history).in_use_bytes == facts["peak requested"], path
        assert int(history.reserved_bytes.max()) == facts["peak reserved"], path
        assert int(history.in_use_bytes[0]) == facts["requested before the first event"], path
        free = [size for segment in history.segments for size, state, _ in segment.blocks if state == "inactive"]
        assert max(free) == facts["largest free block"], path


def test_the_rows_of_any_moment_add_up_to_it() -> None:
    """At the peak, at the ends and between."""
    for path in snapshots():
        history = only(path)
        last = len(history.in_use_bytes) - 1
        for state in {0, last // 3, peak_of(history).state, last}:
            for rows in (by_category(history, state), by_owner(history, state)):
                assert sum(row.num_bytes for row in rows) == history.in_use_bytes[state], (path, state)


def test_a_step_of_adam_holds_two_to_one_to_one() -> None:
    """Optimizer state is twice the gradients, which are as large as the parameters that were there before."""
    (path,) = (path for path in snapshots() if path.parent.name == "snapshot_xl_full_step")
    history = only(path)
    held = {row.name: row.num_bytes for row in by_category(history, peak_of(history).state)}
    assert held["optimizer state"] == pytest.approx(2 * held["gradient"], rel=0.01)
    assert held["held before the recording"] == pytest.approx(held["gradient"], rel=0.01)
    device = memory_of_source(path, None, lambda stage, fraction: None)["devices"]["0"]
    assert device["held_before"].endswith("as large as the gradients: probably the parameters.")
    trace = shared_data() / "torch" / "t4_fp32" / "fp32.pt.trace.json"
    device = memory_of_source(trace, None, lambda stage, fraction: None)["devices"]["0"]
    assert device["held_before"].startswith("Of what was held before the recording, 14.2 MiB are probably")
    (path,) = (path for path in snapshots() if path.parent.name == "snapshot_xl_fp32_forward")
    assert memory_of_source(path, None, lambda stage, fraction: None)["devices"]["0"]["held_before"] is None


def test_pairs_by_address() -> None:
    """Addresses are used again; a free without allocation and an allocation at an address in use are told apart."""
    address = np.array([1, 1, 2, 1, 3, 2, 2, -1], np.int64)
    change = np.array([10, -10, 5, 20, -7, 6, -6, 4], np.int64)
    result = pair(address, change)
    assert result.allocated.tolist() == [0, 2, 3, 5]
    assert result.freed.tolist() == [1, 5, STAYS, 6]
    assert result.num_bytes.tolist() == [10, 5, 20, 6]
    assert result.freed_unseen.tolist() == [4]
    assert result.lost_frees == 1


def test_blocks_that_wait_for_a_stream_are_in_use(tmp_path: Path) -> None:
    """Their free was asked for and is not complete: nothing negative was held before the recording."""
    events = [
        {"action": "alloc", "addr": 1, "size": 100},
        {"action": "alloc", "addr": 2, "size": 40},
        {"action": "free_requested", "addr": 1, "size": 100},
        {"action": "free_completed", "addr": 2, "size": 40},
    ]
    block = {"size": 512, "requested_size": 100, "state": "active_pending_free"}
    content = {"segments": [{"device": 0, "total_size": 512, "blocks": [block]}], "device_traces": [events]}
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(content))
    assert only(path).in_use_bytes.tolist() == [0, 100, 140, 140, 100]
    assert [row.num_bytes for row in by_category(only(path), 2)] == [140]


def test_stacks_name_lines_ops_and_nodes_of_autograd(tmp_path: Path) -> None:
    """Innermost first; a gradient, which no line of the program computes, belongs to its node."""
    line = {"name": "forward", "filename": "/home/me/net/model.py", "line": 7}
    ops = ("at::_ops::add__Tensor::call(at::Tensor&)", "at::_ops::add__Scalar::call()", "c10::impl::wrap<x>()")
    forward = [*({"name": name, "filename": "??"} for name in ops), line]
    names = ("at::_ops::mm::call(at::Tensor)", "torch::autograd::generated::MmBackward0::apply(std::vector)")
    backward = [{"name": name} for name in (*names, "torch::autograd::Engine::thread_init(int)")]
    events = [
        {"action": "alloc", "addr": number, "size": 512, "frames": frames}
        for number, frames in enumerate((forward, backward, [], forward), 1)
    ]
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [events]}))
    history = only(path)
    described = [
        (history.owners[owner], history.stacks[stack])
        for owner, stack in zip(history.blocks.owner, history.blocks.stack, strict=True)
    ]
    place = "me/net/model.py(7): forward"
    assert described[:3] == [(place, f"aten::add_ < {place}"), ("MmBackward0", "aten::mm < MmBackward0"), ("", "")]
    assert described[3] == described[0]


@pytest.mark.parametrize("freed", [400, 300])
def test_state_that_the_optimizer_makes_anew_is_told_of_what_was_held_before(tmp_path: Path, freed: int) -> None:
    """After the peak, as much as it makes; anything else that it frees is not told apart."""
    backward = [{"name": "torch::autograd::Engine::thread_init(int)"}]
    step = [{"name": "step", "filename": "torch/optim/adamw.py", "line": 7}]
    forward = [{"name": "forward", "filename": "net.py", "line": 7}]
    events = [
        {"action": "alloc", "addr": 1, "size": 900, "frames": forward},
        {"action": "alloc", "addr": 2, "size": 200, "frames": backward},
        {"action": "free_completed", "addr": 1, "size": 900, "frames": backward},
        {"action": "alloc", "addr": 3, "size": 400, "frames": step},
        {"action": "free_completed", "addr": 4, "size": freed, "frames": step},
    ]
    sizes = ((2, 200), (3, 400), (5, 200))
    blocks = [{"address": place, "size": size, "state": "active_allocated"} for place, size in sizes]
    content = {"segments": [{"device": 0, "total_size": 4_096, "blocks": blocks}], "device_traces": [events]}
    said = memory_of(tmp_path, content)["devices"]["0"]["held_before"]
    parameters = (
        "Of what was held before the recording, 200 bytes are probably the parameters, as large as the gradients."
    )
    state = " 400 bytes are probably the optimizer's state, of which its step makes as much anew."
    assert said == parameters + (state if freed == 400 else "")


def test_what_is_cached_is_what_the_peak_leaves_of_the_reserved(tmp_path: Path) -> None:
    """Where everything was reserved before the recording, not what was in use when it began."""
    events = [
        {"action": "alloc", "addr": 1, "size": 900, "time_us": 1},
        {"action": "free_completed", "addr": 1, "size": 900, "time_us": 2},
    ]
    segment = {"device": 0, "total_size": 1_000, "blocks": [{"size": 1_000, "state": "inactive"}]}
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events]}))
    headline = memory_of_source(path, None, lambda stage, fraction: None)["headline"]
    assert "At most 1000 bytes were reserved, 100 bytes of it then cached" in headline


def test_a_last_small_segment_does_not_make_what_the_peak_used_cached(tmp_path: Path) -> None:
    """While nearly all of it was reserved, 900 bytes were in use."""
    events = [
        {"action": "alloc", "addr": 1, "size": 900, "time_us": 1},
        {"action": "free_completed", "addr": 1, "size": 900, "time_us": 2},
        {"action": "segment_alloc", "addr": 5_000, "size": 20, "time_us": 3},
        {"action": "alloc", "addr": 5_000, "size": 20, "time_us": 4},
    ]
    segments = [
        {"device": 0, "address": 1, "total_size": 1_000, "blocks": [{"size": 1_000, "state": "inactive"}]},
        {"device": 0, "address": 5_000, "total_size": 20, "blocks": [{"size": 20, "state": "active_allocated"}]},
    ]
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": [events]}))
    memory = memory_of_source(path, None, lambda stage, fraction: None)
    assert "At most 1020 bytes were reserved, 120 bytes of it then cached" in memory["headline"]


def memory_of(tmp_path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """The answer about a snapshot with this content."""
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(content))
    return memory_of_source(path, None, lambda stage, fraction: None)


def test_what_contradicts_itself_has_no_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks of 500 % of their segment, frees of more than there was, and more in use than reserved."""
    blocks = [{"size": 5_000, "state": "active_allocated"}]
    events = [
        {"action": "alloc", "addr": 1, "size": 5_000},
        {"action": "alloc", "addr": 1, "size": 4_000},
        {"action": "free_completed", "addr": 9, "size": 3_900},
    ]
    small = {"device": 0, "total_size": 1_000, "blocks": blocks}
    for content in ({"segments": [small], "device_traces": [events]}, {"segments": [], "device_traces": [events]}):
        result = memory_of(tmp_path, content)
        assert result["devices"]["0"]["peak_reserved_bytes"] is None
        assert result["devices"]["0"]["fragmentation"]["cached_fraction"] is None
        for form in ("text", "html"):
            assert main(["memory", str(tmp_path / "s.pickle"), "--format", form]) == 0
            shares = re.findall(r"([\d.]+) %", capsys.readouterr().out)
            assert all(float(share) <= 100 for share in shares)
    (history,) = read_snapshot(tmp_path / "s.pickle", GIGABYTES)
    assert history.relative
    assert history.in_use_bytes.tolist() == [0, 5_000, 9_000, 5_100]


def test_a_snapshot_without_allocations_tells_no_peak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what was held when it was taken; the key of events may be absent, and keys of newer versions are there."""
    blocks = [{"address": 0, "size": 1_024, "requested_size": 1_000, "state": "active_allocated", "frames": []}]
    segment = {"device": 2, "address": 0, "total_size": 4_096, "segment_pool_id": (0, 3), "is_expandable": True}
    segments = [{**segment, "blocks": blocks, "user_metadata": "x"}]
    for traces in (
        {},
        *(
            {"device_traces": [[], [], [{"action": action, "addr": 9, "size": 512}]]}
            for action in ("snapshot", "free_completed")
        ),
    ):
        result = memory_of(tmp_path, {"segments": segments, **traces})
        assert result["headline"] == (
            "1000 bytes requested on GPU 2 when the snapshot was taken, which recorded no allocation: neither the peak "
            "is known nor who allocated. 4.00 KiB were reserved, 3.02 KiB of it cached or lost to rounding, not in use."
        )
        assert list(result["devices"]) == ["2"]
        assert result["devices"]["2"]["events"] == 0
    assert main(["summary", str(tmp_path / "s.pickle")]) == 0
    assert "Peak" not in capsys.readouterr().out


def test_expandable_segments_are_known_by_either_setting(tmp_path: Path) -> None:
    """A program may set them without the environment's variable; ROCm has one of its own name."""
    segment = {"device": 0, "total_size": 4_096, "blocks": [{"size": 4_096, "state": "inactive"}]}
    events = [{"action": "segment_map", "addr": 0, "size": 4_096, "user_metadata": "x", "compile_context": "0/0"}]
    for settings in (
        {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": True},
        {"PYTORCH_HIP_ALLOC_CONF": "expandable_segments:True"},
        {"PYTORCH_ALLOC_CONF": "max_split_size_mb:1,expandable_segments:True"},
    ):
        content = {"segments": [segment], "device_traces": [[], events], "allocator_settings": settings}
        path = tmp_path / "s.pickle"
        path.write_bytes(pickle.dumps(content))
        histories = read_snapshot(path, GIGABYTES)
        assert [history.device for history in histories] == [0, 1]
        assert all("expandable_segments:True" in history.settings for history in histories)


def test_a_snapshot_is_a_profile_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is imported like any source, and its database answers like the file."""
    (path,) = (path for path in snapshots() if path.parent.name == "snapshot_mostly_cached")
    assert find_importer(path).name == "pytorch_memory_snapshot"
    assert main(["import", str(path), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.glob("*.sqlite")
    assert "warning" not in capsys.readouterr().err
    answers = []
    for source in (path, database):
        assert main(["memory", str(source), "--format", "json"]) == 0
        answers.append({**json.load(io.StringIO(capsys.readouterr().out)), "source": ""})
    assert answers[0] == answers[1]
    device = answers[0]["devices"]["0"]
    assert device["peak_bytes"] == stated(path)["peak requested"] == sum(row["bytes"] for row in device["at_peak"])


def test_the_page_shows_all_that_is_held_and_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its bar is as wide as the sum of its rows, and names of files are text."""
    frames = [{"name": "<script>", "filename": "/a/<b>&.py", "line": 1}]
    events = [{"action": "alloc", "addr": number, "size": 1 << 20, "frames": frames} for number in range(3)]
    blocks = [{"size": 1 << 20, "state": "active_allocated"}] * 4
    segment = {"device": 0, "total_size": 8 << 20, "blocks": blocks}
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [events]}))
    assert main(["memory", str(path), "--format", "html", "--top", "1"]) == 0
    page = capsys.readouterr().out
    bar = page[page.index("<svg role") : page.index("</svg>")]
    assert sum(float(width) for width in re.findall(r' width="([\d.]+)"', bar)) == 720
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "The largest 1 of 2." in page
    assert page.endswith("</html>\n")
