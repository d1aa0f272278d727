"""Memory snapshots that are hostile, damaged or too large: nothing in them runs, and reading them has limits."""

from __future__ import annotations

import gzip
import pickle
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES
from tensorboard_plugin_dlprof.imports.child import Child
from tensorboard_plugin_dlprof.memory.peak import by_category
from tensorboard_plugin_dlprof.memory.snapshot import read_snapshot
from tests.memory.test_snapshots import GIGABYTES, only

_KEYS = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces]u"
_ALLOC = {"action": "alloc", "addr": 1, "size": 100}


class _Runs:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return print, ("this must not be printed",)


def nested(depth: int) -> bytes:
    """Lists in lists."""
    return b"\x80\x04" + b"]" * depth + b"a" * (depth - 1) + b"."


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (pickle.dumps({"segments": [_Runs()], "device_traces": []}), UnsafeFile),
        (pickle.dumps({"segments": 3, "device_traces": []}), BrokenSource),
        (pickle.dumps({"segments": [], "device_traces": []}), BrokenSource),
        (pickle.dumps({"segments": [{"device": 0, "blocks": [1, None], "total_size": "x"}]})[:-9], BrokenSource),
        (b"\x80\x04segments device_traces", BrokenSource),
        (nested(100_000), BrokenSource),
        # 2 GB for a place in the memo, 1 TB for a frame or a text; every way to name something.
        (_KEYS + b"r" + struct.pack("<I", 0x07FFFFFF) + b".", UnsafeFile),
        (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + _KEYS[2:] + b".", (UnsafeFile, BrokenSource)),
        (_KEYS + b"\x8d" + struct.pack("<Q", 1 << 40) + b"x.", (UnsafeFile, BrokenSource)),
        # A tuple in 500,000 tuples as a key: to hash it takes more stack than a program has.
        (_KEYS[:-1] + b")" + b"\x85" * 500_000 + b"Nu.", BrokenSource),
        # A tuple of itself twice, sixty times over: to hash it takes years.
        (_KEYS[:-1] + b")" + b"2\x86" * 60 + b"Nu.", UnsafeFile),
        (_KEYS + b"\x96" + struct.pack("<Q", 1 << 40) + b"x.", UnsafeFile),
        (_KEYS + b"\x82\x01.", BrokenSource),
        (_KEYS + b"Pabc\n.", UnsafeFile),
        (_KEYS + b"\x8c\x02os\x8c\x06system\x93.", UnsafeFile),
        (_KEYS + b"(ios\nsystem\n.", UnsafeFile),
        (_KEYS + b"(cos\nsystem\no.", UnsafeFile),
        (_KEYS + b"csubprocess\nPopen\n)}\x92.", UnsafeFile),
        (_KEYS + b"\x8c\x01x)R.", BrokenSource),
        (_KEYS + b"}\x8c\x09__class__Nsb.", BrokenSource),
        # A number of 2 GB, a place in the memo given as text, 5 million lists in lists.
        (_KEYS + b"\x8b" + struct.pack("<I", 0x7FFFFFFF) + b"x.", UnsafeFile),
        (_KEYS + b"p1073741824\n.", UnsafeFile),
        (_KEYS + b"]" * 5_000_000 + b".", UnsafeFile),
        # One list of events in a thousand places, and sizes that no sum holds.
        (pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc"}] * 9_000] * 1_000}), UnsafeFile),
        (pickle.dumps({"segments": [], "device_traces": [[_ALLOC | {"size": 1 << 61}] * 9]}), BrokenSource),
    ],
)
def test_a_hostile_pickle_is_refused_in_one_sentence(
    tmp_path: Path,
    content: bytes,
    error: type[ProfileError] | tuple[Any, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing that it names is called."""
    path = tmp_path / "s.pickle"
    path.write_bytes(content)
    with pytest.raises(error, match=r"s\.pickle [^\n]+\.$"):
        read_snapshot(path, GIGABYTES)
    assert capsys.readouterr() == ("", "")


def test_the_process_of_an_import_refuses_them_within_its_memory(tmp_path: Path) -> None:
    """And says so in the same sentence as the command line."""
    mark = tmp_path / "ran"
    runs = b"cos\nsystem\n(\x8c" + bytes([len(f"touch {mark}")]) + f"touch {mark}".encode() + b"tR."
    path = tmp_path / "s.pickle"
    for content in (_KEYS + runs, _KEYS + b"r" + struct.pack("<I", 0x7FFFFFFF) + b".", _KEYS):
        path.write_bytes(content)
        job = {"kind": "import", "source": str(path), "database": str(tmp_path / "d.sqlite"), "kernel_rules": ""}
        outcome = Child({**job, "memory_bytes": 1 << 30}, tmp_path).listen(lambda stage, fraction: None)
        assert re.fullmatch(r"[^\n]*s\.pickle [^\n]+\.", outcome.error), outcome
        assert not outcome.crash
    assert [each.name for each in tmp_path.iterdir()] == ["s.pickle"]


def test_names_of_megabytes_are_cut_before_they_are_searched(tmp_path: Path) -> None:
    """Thousands of stacks may share one: what stands behind 4,096 letters is not looked for."""
    named = "torch::autograd::Engine::evaluate_function"
    frames = {8_000: "x" * 8_000 + named, 80: "x" * 80 + named}
    phases = {}
    for length, name in frames.items():
        events = [_ALLOC | {"frames": [{"name": name, "filename": "??", "line": 0}]}]
        path = tmp_path / f"{length}.pickle"
        path.write_bytes(pickle.dumps({"segments": [], "device_traces": [events]}))
        phases[length] = [CATEGORIES[category] for category in only(path).blocks.category.tolist()]
    assert phases[80] != phases[8_000]


def test_odd_values_are_read_as_unknown(tmp_path: Path) -> None:
    """Texts where numbers belong, negative sizes, unknown actions, frames that are none."""
    events = [
        {"action": "alloc", "addr": 1, "size": 100, "frames": "none"},
        {"action": 3, "addr": None, "size": "x"},
        {"action": "free_completed", "addr": 1, "size": 100, "frames": [7, {"name": 1, "filename": None, "line": []}]},
        "no event",
        {},
    ]
    content = {"segments": [{"device": 0, "blocks": [{"state": 1}]}], "device_traces": [events]}
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(content))
    history = only(path)
    assert history.in_use_bytes.tolist() == [0, 100, 100, 0, 0]


def test_texts_that_are_none_are_not_written_out(tmp_path: Path) -> None:
    """A list that holds itself a billion times would be; thousands of annotations take no time."""
    doubled: list[Any] = ["x"]
    for _ in range(40):
        doubled = [doubled, doubled]
    frames = [{"name": doubled, "filename": doubled, "line": doubled}]
    events = [_ALLOC | {"frames": frames, "time_us": time} for time in range(30_000)]
    marks = [{"name": "Optimizer.step#Adam.step", "device": 0, "time_us": time // 2} for time in range(60_000)]
    stages = [mark | {"stage": ("START", "END")[number % 2]} for number, mark in enumerate(marks)]
    segment = {"device": 0, "segment_type": doubled, "blocks": [{"state": doubled}]}
    path = tmp_path / "s.pickle"
    content = {"segments": [segment], "device_traces": [events], "external_annotations": stages}
    path.write_bytes(pickle.dumps(content))
    history = only(path)
    assert history.owners == [""]
    assert history.segments[0].pool == ""
    assert {row.name for row in by_category(history, 30_000)} >= {"optimizer state"}


def test_a_compressed_snapshot_is_read_like_any_other(tmp_path: Path) -> None:
    """Within the same limits: what it expands to counts."""
    content = pickle.dumps({"segments": [], "device_traces": [[_ALLOC, _ALLOC | {"addr": 9}]]})
    path = tmp_path / "s.pickle.gz"
    path.write_bytes(gzip.compress(content))
    assert only(path).in_use_bytes.tolist() == [0, 100, 200]
    with pytest.raises(UnsafeFile, match="would need more memory"):
        read_snapshot(path, 6 * len(content) - 1)


@pytest.mark.parametrize("end", [b"", b"\xff" * 4, b"garbage!"])
def test_the_end_of_a_damaged_compressed_snapshot_is_no_size(tmp_path: Path, end: bytes) -> None:
    """A copy that was cut short ends in any bytes: it is not told to need more memory."""
    content = pickle.dumps({"segments": [], "device_traces": [[_ALLOC | {"number": number} for number in range(999)]]})
    path = tmp_path / "s.pickle.gz"
    path.write_bytes(gzip.compress(content)[:-9] + end)
    with pytest.raises(BrokenSource, match=r"cut short|damaged"):
        read_snapshot(path, 256 << 20)


def test_a_snapshot_larger_than_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """With what to record instead."""
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": ["x" * 100_000], "device_traces": []}))
    with pytest.raises(UnsafeFile, match="max_entries"):
        read_snapshot(path, 100_000)
