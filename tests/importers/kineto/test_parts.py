"""Traces that a tool merged from those of several ranks, with the rank before each number of a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.events.linking import link
from tensorboard_plugin_dlprof.events.nesting import nest
from tensorboard_plugin_dlprof.events.tables import Capture
from tests.importers.kineto.traces import kernel, read, texts, trace, x


def of_rank(rank: int, *, process: int = 100, device: int = 0, ts: float = 0) -> list[dict[str, Any]]:
    """An op of a rank that launches a kernel, waits for it and allocates memory, as SGLang merges it."""
    host = {"pid": f"[TP{rank:02}] {process}", "tid": 7}
    gpu = {"pid": f"[TP{rank:02}] {device}", "tid": 7}
    memory = {"Bytes": 8, "Device Type": 1, "Device Id": device}
    return [
        x("cpu_op", f"op{rank}", ts + 10, 5, host),
        x("cuda_runtime", "cudaLaunchKernel", ts + 11, 1, host, correlation=1),
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **host, "ts": ts + 12, "args": memory},
        kernel(f"kernel{rank}", ts + 12, 3, device=device) | gpu,
        x("cuda_sync", "Stream Sync", ts + 12, 1, gpu, device=device, stream=7, correlation=1),
    ]


def launched_in(capture: Capture) -> list[str]:
    """The op that launched each kernel."""
    nesting = nest(capture.ranges)
    links = link(capture, nesting)
    rows = nesting.row[links.call_place[links.work_call]]
    return texts(capture, capture.ranges.name[rows])


def test_correlations_hold_within_a_rank(tmp_path: Path) -> None:
    """Both ranks count their launches from 1, run as process 100 of a container, and see one GPU, their device 0."""
    capture = read(trace(*of_rank(0), *of_rank(1)), tmp_path)
    assert texts(capture, capture.work.name) == ["kernel0", "kernel1"]
    assert launched_in(capture) == ["op0", "op1"]
    processes = [thread.process_id for thread in capture.threads]
    assert processes[0] == 100
    assert processes[1] < 0, "no number that an operating system gives"
    assert capture.work.process.tolist() == capture.syncs.process.tolist() == processes


def test_gpus_of_ranks_are_several(tmp_path: Path) -> None:
    """One number in two ranks means two GPUs, whose work and memory are told apart; other numbers stay."""
    capture = read(trace(*of_rank(1, device=1), *of_rank(0, device=0)), tmp_path)
    assert capture.work.device.tolist() == capture.syncs.device.tolist() == capture.memory.device.tolist() == [1, 0]
    capture = read(trace(*of_rank(0, device=1), *of_rank(1, device=1), *of_rank(2, device=0)), tmp_path)
    assert capture.work.device.tolist() == capture.syncs.device.tolist() == capture.memory.device.tolist() == [1, 2, 0]
    assert [device.device_id for device in capture.devices] == [0, 1, 2]


def test_numbers_of_processes_stay_where_they_differ(tmp_path: Path) -> None:
    """The rank stands before them in no number, but they are found again in lists of processes."""
    capture = read(trace(*of_rank(0, process=100), *of_rank(1, process=200)), tmp_path)
    assert [thread.process_id for thread in capture.threads] == capture.work.process.tolist() == [100, 200]


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5_000, str(1 << 31)])
def test_a_labelled_number_that_no_system_gives(tmp_path: Path, number: str) -> None:
    """It is a process all the same."""
    host = {"pid": f"[TP00] {number}", "tid": 7}
    launch = x("cuda_runtime", "cudaLaunchKernel", 1, 1, host, correlation=1)
    capture = read(trace(launch, kernel() | {"pid": "[TP00] 0"}), tmp_path)
    assert capture.work.process.tolist() == [capture.threads[0].process_id]


def test_arrows_join_ops_of_one_rank(tmp_path: Path) -> None:
    """Their numbers, too, are those of each rank."""
    events: list[dict[str, Any]] = []
    for rank in (0, 1):
        forward, backward = ({"pid": f"[TP{rank:02}] 100", "tid": tid} for tid in (7, 8))
        events += [x("cpu_op", "forward", 1 + rank, 1, forward), x("cpu_op", "backward", 5 + rank, 1, backward)]
        events.append({"ph": "s", "cat": "fwdbwd", "id": 1, **forward, "ts": 1 + rank})
        events.append({"ph": "f", "cat": "fwdbwd", "id": 1, **backward, "ts": 5 + rank})
    capture = read(trace(*events), tmp_path)
    links = capture.forward_links
    assert links.forward_thread.tolist() == [0, 2]
    assert links.backward_thread.tolist() == [1, 3]
    assert (links.backward_ns - links.forward_ns).tolist() == [4_000, 4_000]


def test_a_name_before_the_number_of_a_gpu_alone_makes_no_part(tmp_path: Path) -> None:
    """The program's processes are numbers as ever: the work is that of the only one."""
    launch = x("cuda_runtime", "cudaLaunchKernel", 1, 1, {"pid": 100, "tid": 7}, correlation=1)
    capture = read(trace(launch, *(kernel(device=n) | {"pid": f"GPU {n}"} for n in (0, 1))), tmp_path)
    assert capture.work.process.tolist() == [100, 100]
    assert capture.work.device.tolist() == [0, 1]


def test_one_label_for_program_and_gpu_is_the_process(tmp_path: Path) -> None:
    """Where a tool writes the rank in place of the number."""
    events = []
    for rank in (0, 1):
        track = {"pid": f"rank_{rank}", "tid": 7}
        events += [x("cuda_runtime", "cudaLaunchKernel", 1, 1, track, correlation=1), kernel() | track]
    capture = read(trace(*events), tmp_path)
    assert capture.work.process.tolist() == [thread.process_id for thread in capture.threads]


def plain_ranks(*, lag: float, gpus: tuple[int, int] = (0, 1)) -> list[dict[str, Any]]:
    """Two ranks that nothing stands before: each counts its five launches from 1; rank 1 runs this much later."""
    events: list[dict[str, Any]] = []
    for rank, gpu in enumerate(gpus):
        host = {"pid": 100 + rank, "tid": 7}
        for number in range(1, 6):
            ts = 100 * number + rank * lag
            events += [
                x("cpu_op", f"op{rank}", ts, 50, host),
                x("cuda_runtime", "cudaLaunchKernel", ts + 1, 1, host, correlation=number),
                kernel(f"kernel{rank}", ts + 4, 30, device=gpu, correlation=number) | {"pid": gpu, "tid": 7},
            ]
    return events


@pytest.mark.parametrize("lag", [-10_000, -7, 7, 10_000])
def test_work_is_launched_by_the_process_that_fits_in_time(tmp_path: Path, lag: float) -> None:
    """Though each correlation is there in both: rank 1's GPU is that of rank 1, whether it runs beside or after."""
    capture = read(trace(*plain_ranks(lag=lag)), tmp_path)
    assert capture.work.process.tolist() == [100] * 5 + [101] * 5
    assert launched_in(capture) == [f"op{name[-1]}" for name in texts(capture, capture.work.name)]


def test_work_of_a_gpu_that_two_processes_share_keeps_its_links(tmp_path: Path) -> None:
    """Where correlations differ, they alone tell; beside work of another GPU whose process is known."""
    events = plain_ranks(lag=7)
    for number, pid in ((11, 100), (12, 101)):
        host = {"pid": pid, "tid": 8}
        events += [
            x("cpu_op", f"op{number}", 900, 50, host),
            x("cuda_runtime", "cudaLaunchKernel", 901, 1, host, correlation=number),
            kernel(f"kernel{number}", 910, 30, device=2, correlation=number) | {"pid": 2, "tid": 7},
        ]
    capture = read(trace(*events), tmp_path)
    assert capture.work.process[-2:].tolist() == [0, 0]
    assert launched_in(capture) == [name.replace("kernel", "op") for name in texts(capture, capture.work.name)]
