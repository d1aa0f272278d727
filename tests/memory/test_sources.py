"""Memory timelines and Nsight Systems' memory events: peaks and categories as a plain replay finds them."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import memory_of_source
from tests.importers.nsight.exports import process, thread, write_export
from tests.importers.nsight.rows import GPU_COLUMNS, NAMES, RUNTIME_COLUMNS

NAMED = {0: "parameter", 1: "optimizer state", 2: "input", 3: "temporary", 4: "activation", 5: "gradient"}
NAMED |= {6: "autograd detail", 7: "unknown"}
START_NS = 1_795_298_936_749_247_818


def timeline(rows: int, seed: int) -> list[list[int]]:
    """What PyTorch exports: blocks that were there before, others that come, change their version, and go."""
    chance = random.Random(seed)
    result = [[-1, 1, 512 * chance.randint(1, 9), chance.choice((0, 1, 7))] for _ in range(20)]
    alive = [row[2:] for row in result]
    time = START_NS
    while len(result) < rows:
        time += chance.randint(0, 2_000)
        if alive and chance.random() < 0.45:
            size, category = alive.pop(chance.randrange(len(alive)))
            if chance.random() < 0.2:
                result += [[time, 3, -size, category], [time, 3, size, 5]]
                alive.append([size, 5])
            else:
                result.append([time, 4, -size, category])
        else:
            alive.append([512 * chance.randint(1, 9), chance.randint(2, 7)])
            result.append([time, 2, *alive[-1]])
    return result


def answer(path: Path) -> dict[str, Any]:
    """What ``dlprof memory`` says of the only GPU."""
    memory = memory_of_source(path, None, lambda what, fraction: None)
    (device,) = memory["devices"].values()
    return {**device, "headline": memory["headline"]}


@pytest.mark.parametrize("seed", range(4))
def test_a_timeline_has_the_peak_of_its_running_sum(tmp_path: Path, seed: int) -> None:
    """And at the peak the sums of PyTorch's own categories, what was held before included."""
    rows = timeline(3_000, seed)
    path = tmp_path / "memory.raw.json.gz"
    path.write_bytes(gzip.compress(json.dumps(rows).encode()))
    sums: Counter[str] = Counter()
    peak, at_peak, peak_ns, total = -1, dict[str, int](), -1, 0
    for time, _, size, category in rows:
        total += size
        sums[NAMED[category]] += size
        if time >= 0 and total > peak:
            peak, at_peak, peak_ns = total, {name: held for name, held in sums.items() if held}, time
    assert find_importer(path).name == "pytorch_memory_timeline"
    result = answer(path)
    assert (result["peak_bytes"], result["peak_ns"]) == (peak, peak_ns - START_NS - (rows[20][0] - START_NS))
    assert {row["category"]: row["bytes"] for row in result["at_peak"]} == at_peak
    assert result["peak_reserved_bytes"] is None


def test_a_timeline_is_a_profile_of_its_own(tmp_path: Path) -> None:
    """It is imported like any source, and its database answers like the file."""
    path = tmp_path / "memory.raw.json"
    path.write_text(json.dumps(timeline(500, 9)))
    assert main(["import", str(path), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.glob("*.sqlite")
    assert answer(database) == answer(path)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"[[-1, 1, 512, 7], [5, 2, 864", BrokenSource),
        (b"[[-1, 1, 512, 7], [5, 2, 864, 0]", BrokenSource),
        (b"[[-1, 1, 512, 7], [5, 9, 864, 0]]", BrokenSource),
        (b"[[-1, 1, 512, 7], [5, 2, 1e999, 0]]", BrokenSource),
        (b"[[-1, 1, 512, 7], [5, 2, 99999999999999999999, 0]]", BrokenSource),
        (b"[[-1, 1, 512, 7]," + b"[" * 100_000, BrokenSource),
        (b"[[-1, 1, 512, 7]," + b" " * 8_000_000 + b"[5, 2, 864, 0]]", BrokenSource),
        (b"[[-1, 1, 999999999999999999, 7]" + b",[5, 2, 999999999999999999, 0]" * 9 + b"]", BrokenSource),
        (gzip.compress(b"[[-1, 1, 512, 7]") + gzip.compress(b",[5,2,864,0]" * 4_000_000) * 40, UnsafeFile),
        (b"[[-1, 1, 512, 7]" + b",[5,2,864,0]" * 200_000 + b"]", UnsafeFile),  # more than the memory
    ],
)
def test_a_damaged_timeline_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, error: type[ProfileError]
) -> None:
    """Within the memory of an import, however far it expands."""
    path = tmp_path / "memory.raw.json.gz"
    path.write_bytes(content)
    options = ReadOptions(memory_bytes=20 << 20)
    with pytest.raises(error, match=r"memory\.raw\.json\.gz [^\n]+\.$"):
        find_importer(path).read(path, options, lambda what, fraction: None)


def test_memory_of_nsight_systems_is_taken_from_the_driver(tmp_path: Path) -> None:
    """GPU memory only; frees of what was there before make it relative; other values are counted and left out."""
    columns = "start globalPid deviceId address bytes memKind memoryOperationType correlationId"
    pid = process(7)
    rows = [
        [1_000, pid, 0, 1, 2 << 20, 2, 0, 5],
        [2_000, pid, 0, 2, 20 << 20, 2, 0, 6],
        [2_500, pid, 0, 9, 99 << 20, 1, 0, 6],  # pinned memory of the host
        [3_000, pid, 0, 2, 20 << 20, 2, 1, 7],
        [4_000, pid, 0, 3, 6 << 20, 3, 0, 8],
        [5_000, pid, 0, 3, 6 << 20, 3, 7, 8],
        [5_000, pid, 1, 1, 1 << 20, 2, 0, 8],
    ]
    tables = {
        "StringIds": NAMES,
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[0, "A100", 8, 0, 108, 40 << 30, 0], [1, "A100", 8, 0, 108, 40 << 30, 1]]),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, [[900, 1_100, thread(7, 8), 5, 0]]),
        "CUDA_GPU_MEMORY_USAGE_EVENTS": (columns, rows),
    }
    path = write_export(tmp_path / "report.sqlite", tables)
    memory = memory_of_source(path, None, lambda what, fraction: None)
    first, second = memory["devices"]["0"], memory["devices"]["1"]
    assert (first["peak_bytes"], first["peak_of"], first["relative"]) == (22 << 20, "allocated", False)
    assert first["at_peak"] == [{"category": "taken from the driver", "bytes": 22 << 20, "blocks": 2}]
    assert (first["end_bytes"], second["peak_bytes"], first["capacity_bytes"]) == (8 << 20, 1 << 20, 40 << 30)
    assert memory["headline"] == "Peak 22.0 MiB of 40.0 GiB (0.1 %) taken from the driver on GPU 0."
    capture = find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)
    assert capture.skipped == {"memory events with impossible values": 1}
    without = {**tables, "CUDA_GPU_MEMORY_USAGE_EVENTS": ("start bytes", [[1, 2]])}
    old = write_export(tmp_path / "old.sqlite", without)
    assert memory_of_source(old, None, lambda what, fraction: None)["devices"] == {}
