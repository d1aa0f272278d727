"""Allocator events of PyTorch traces: peaks and blocks, held against facts counted from the files by other code."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.memory_tables import STAYS, History, Phase
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.memory.from_events import histories
from tensorboard_plugin_dlprof.memory.leak import find_leak
from tensorboard_plugin_dlprof.memory.pairing import bridged
from tensorboard_plugin_dlprof.memory.peak import by_category, by_owner, peak_of
from tensorboard_plugin_dlprof.pipeline import memory_of_source
from tensorboard_plugin_dlprof.queries.memory import memory as memory_of_database
from tensorboard_plugin_dlprof.units import size
from tests.importers.kineto.traces import MAIN, kernel, op, trace
from tests.shared_data import shared_data

GB = 1 << 30


def stated() -> list[tuple[str, list[int]]]:
    """Rows of MANIFEST.md of traces with events of a GPU with totals, and their numbers."""
    text = (shared_data() / "memory" / "MANIFEST.md").read_text()
    rows = re.findall(r"^\| (\S+\.json(?:\.gz)?) \| (?:GPU 0|6/0) \|(.*)\| yes \|$", text, re.MULTILINE)
    return [(path, [int(each) for each in re.sub(r",|\(.*?\)", "", cells).split("|")]) for path, cells in rows]


@functools.cache
def only(path: str) -> History:
    """The memory of the only GPU in a trace."""
    source = shared_data() / path
    capture = find_importer(source).read(source, ReadOptions(), lambda what, fraction: None)
    (history,) = histories(build_profile(capture))
    return history


def test_peaks_and_blocks_are_those_of_an_independent_count() -> None:
    """Events, pairs, open blocks, peak allocated and reserved."""
    rows = stated()
    assert len(rows) > 5
    for path, (events, _, paired, unseen, still_open, allocated, reserved) in rows:
        history = only(path)
        blocks = history.blocks
        assert len(history.in_use_bytes) - 1 == events, path
        assert int(np.count_nonzero(blocks.freed != STAYS)) == paired, path
        assert int(np.count_nonzero(blocks.freed == STAYS)) == still_open, path
        assert events - 2 * paired - still_open == unseen, path
        assert int(history.in_use_bytes[1:].max()) == allocated, path
        assert int(history.reserved_bytes.max()) == reserved, path
        peak = peak_of(history)
        for held in (by_category(history, peak.state), by_owner(history, peak.state)):
            assert sum(row.num_bytes for row in held) == peak.in_use_bytes, path


def test_gradients_are_what_zero_grad_frees() -> None:
    """Those of the T4's model are as large as its parameters, 14.86 MB."""
    history = only("torch/t4_fp32/fp32.pt.trace.json")
    held = {row.name: row.num_bytes for row in by_category(history, peak_of(history).state)}
    assert held["gradient"] == 14_864_896


def test_phases_follow_one_another_as_in_the_program() -> None:
    """The data (which is of no phase), forward, zero_grad (frees the gradients of the step before), forward, backward,
    a free that nobody's range holds, and optimizer, three times."""
    history = only("torch/t4_fp32/fp32.pt.trace.json")
    runs = history.phase[np.flatnonzero(np.diff(history.phase, prepend=-1))]
    step = [Phase.FORWARD, Phase.ZERO_GRAD, Phase.FORWARD, Phase.BACKWARD, Phase.UNKNOWN, Phase.OPTIMIZER]
    assert runs.tolist() == [Phase.UNKNOWN, *step] * 3
    assert not len(only("torch/h100_bert_small/gaunernst_bert-small-uncased__1016001.json.gz").phase)


def test_a_trace_without_totals_is_relative() -> None:
    """The values of 2021 count from the start, and say so."""
    path = shared_data() / "torch" / "v100_resnet50_memory" / "worker0.1623143089861.pt.trace.json.gz"
    answer = memory_of_source(path, None, lambda what, fraction: None)
    device = answer["devices"]["0"]
    assert device["relative"]
    assert device["peak_reserved_bytes"] is None
    assert "more than at the start" in answer["headline"]
    assert answer["headline"].endswith("; what holds it was not recorded.")
    assert sum(row["bytes"] for row in device["at_peak"]) == device["peak_bytes"]


def test_a_peak_that_iterations_reach_again_is_said_of_all_of_them() -> None:
    """At its first moment, as it is defined, which may be a warm-up; a higher one is of its iteration alone."""
    source = samples.DATA / "generated-resnet50-amp.pt.trace.json.gz"
    answer = memory_of_source(source, None, lambda what, fraction: None)
    device = answer["devices"]["0"]
    assert {each["peak_bytes"] for each in device["iterations"]} == {device["peak_bytes"]}
    assert " on GPU 0 in each of the 5 iterations, reached in" in answer["headline"]
    # What the page tells first, and the command, too.
    assert [each["rule"] for each in device["findings"]] == ["batch_size_detector", "activation_detector"]
    taken, all_of_it = device["peak_reserved_bytes"], device["capacity_bytes"]
    assert device["findings"][0]["title"].endswith(f" at most {size(taken)} of the GPU's {size(all_of_it)} are taken")


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ([5, 10, 20, 30, 40, 50], "leak"),
        ([5, 10, 10, 10, 10, 10], "none"),
        ([5, 10, 20, 15, 25, 30], "none"),
        ([5, 10, 20, 30], "cannot_tell"),
    ],
)
def test_a_leak_grows_in_every_iteration(ends: list[int], verdict: str) -> None:
    """The first iteration allocates what stays; fewer than four after it cannot tell."""
    leak = find_leak(np.array(ends, np.int64) << 20, 100 << 20)
    assert leak.verdict == verdict
    if verdict == "leak":
        assert (leak.bytes_per_iteration, leak.iterations_until_full) == (10 << 20, 5)


def test_thousands_of_iterations_are_judged_in_little_memory() -> None:
    """Each is compared with each only as far as that is cheap: JAX's iterations may be runs of a module."""
    tracemalloc.start()
    leak = find_leak(np.arange(4_000, dtype=np.int64) << 10, 1 << 40)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (leak.verdict, leak.bytes_per_iteration, leak.low_bytes) == ("leak", 1 << 10, 1 << 10)
    assert most < 32 << 20


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("torch/t4_vgg16_minimal/vgg16_trace.json", "profile(profile_memory=True)"),
        ("nsight/h200_nvfuser/report1.sqlite", "nsys profile --cuda-memory-usage=true"),
    ],
)
def test_the_answer_names_its_file(name: str, option: str) -> None:
    """Without memory events there are no devices, and the headline says what brings them."""
    path = shared_data() / name
    answer = memory_of_source(path, None, lambda what, fraction: None)
    assert (answer["source"], answer["devices"]) == (path.name, {})
    assert option in answer["headline"]


def test_an_unknown_event_has_a_phase_only_between_two_of_the_same() -> None:
    """What the optimizer is followed by, the loading of data, is not the optimizer."""
    unknown, forward, optimizer = Phase.UNKNOWN, Phase.FORWARD, Phase.OPTIMIZER
    events = np.array([unknown, forward, unknown, forward, optimizer, unknown, forward, unknown], np.int8)
    expected = [unknown, forward, forward, forward, optimizer, unknown, forward, unknown]
    assert bridged(events).tolist() == expected
    assert not len(bridged(events[:0]))


def test_memory_of_the_host_is_not_that_of_a_gpu(tmp_path: Path) -> None:
    """Some builds record no other: to ask for profile_memory=True would not help. The database says the same."""
    args = {"Device Type": 0, "Device Id": -1, "Bytes": 8, "Addr": 4096, "Total Allocated": 8, "Total Reserved": 0}
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", **MAIN, "ts": 11, "args": args}
    path = tmp_path / "trace.json"
    path.write_bytes(trace(op(), kernel(), event))
    assert main(["import", str(path), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.glob("*.sqlite")
    for source in (path, database):
        memory = memory_of_source(source, None, lambda what, fraction: None)
        assert memory["devices"] == {}
        assert memory["headline"] == "Memory was recorded for the host only; a memory snapshot tells what GPUs hold."
    with closing(open_database(database)) as con:
        assert memory_of_database(con)["headline"] == memory["headline"]


def test_a_failed_allocation_of_a_trace_is_found(tmp_path: Path) -> None:
    """PyTorch writes it as an instant of its own, with the totals after the allocator has given back what it could."""

    def instant(name: str, ts: int, size: int, reserved: int, device: int = 1, **more: int) -> dict[str, Any]:
        args = {"Device Type": device, "Device Id": 0, "Bytes": size, "Total Allocated": 3 * GB}
        where = {"ph": "i", "cat": "cpu_instant_event", "name": name, "s": "t", **MAIN, "ts": ts}
        return {**where, "args": {**args, "Total Reserved": reserved, **more}}

    path = tmp_path / "trace.json"
    events = [
        instant("[memory]", 11, 3 * GB, 9 * GB, Addr=4096),
        instant("[OutOfMemory]", 12, 13 * GB, 4 * GB),
        instant("[OutOfMemory]", 13, 13 * GB, 4 * GB, device=0),
    ]
    gpu = {"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 16 * GB}
    path.write_bytes(trace(op(), kernel(), *events, deviceProperties=[gpu]))
    memory = memory_of_source(path, None, lambda what, fraction: None)
    assert memory["headline"].endswith(" An allocation of 13.0 GiB failed on GPU 0.")
    device = memory["devices"]["0"]
    assert (device["events"], device["peak_bytes"], device["peak_reserved_bytes"]) == (2, 3 * GB, 9 * GB)
    (failed,) = device["out_of_memory"]
    assert (failed["event"], failed["asked_bytes"], failed["free_bytes"]) == (1, 13 * GB, None)
    (said,) = (each for each in device["findings"] if each["rule"] == "oom_detector")
    assert said["title"] == (
        "An allocation of 13.0 GiB failed; 3.00 GiB of 4.00 GiB reserved were allocated, and the GPU has 16.0 GiB"
    )


def test_the_csv_has_the_rows_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the list that is asked for; what is unknown is empty."""
    path = str(shared_data() / "torch" / "t4_fp32" / "fp32.pt.trace.json")
    assert main(["memory", path, "--format", "json"]) == 0
    device = json.loads(capsys.readouterr().out)["devices"]["0"]
    for by, rows in (("category", "at_peak"), ("owner", "by_owner")):
        assert main(["memory", path, "--format", "csv", "--by", "op" if by == "owner" else by]) == 0
        table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert len(table) > 3
        assert table == [
            {"device": "0", "at_ns": str(device["peak_ns"]), by: row[by], "bytes": str(row["bytes"])}
            | {"blocks": "" if row["blocks"] is None else str(row["blocks"])}
            for row in device[rows]
        ]
