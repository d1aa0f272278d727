"""What a trace says about itself, complete, partial and odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tests.importers.kineto.traces import kernel, op, read, trace

H100 = {"id": 0, "name": "H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132, "totalGlobalMem": 85}
MI300 = {"name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4, "numSms": 304, "totalGlobalMem": 206}
GPU_0 = Device(0, "H100", 9, 0, 132, 85)


@pytest.mark.parametrize(
    ("case", "properties", "used", "devices"),
    [
        ("listed and used", [H100], [0], [GPU_0]),
        ("listed, one used", [H100, H100 | {"id": 1}], [1], [GPU_0, Device(1, "H100", 9, 0, 132, 85)]),
        ("absent", None, [0, 2], [Device(0), Device(2)]),
        ("empty", [], [0], [Device(0)]),
        ("not a list", {"id": 0}, [0], [Device(0)]),
        ("without a name", [{"id": 0}], [0], [Device(0)]),
        ("odd types", [{"id": "0", "name": None, "numSms": "many"}, 5], [0], [Device(0)]),
        ("beyond the list", [H100], [1], [GPU_0, Device(1, "H100", 9, 0, 132, 85)]),
        ("AMD's agents", [MI300 | {"id": 0}], [9], [Device(9, "AMD Instinct MI300X", 9, 4, 304, 206)]),
    ],
)
def test_devices_are_those_listed_and_those_used(
    tmp_path: Path, case: str, properties: Any, used: list[int], devices: list[Device]
) -> None:
    """Every device with work is there, named where the trace can tell."""
    metadata = {} if properties is None else {"deviceProperties": properties}
    capture = read(trace(*(kernel(device=number) for number in used), **metadata), tmp_path)
    assert capture.devices == devices, case


def test_a_device_without_a_name_stays_without(tmp_path: Path) -> None:
    """What the trace does not say is not made up; the runtime's version tells the vendor."""
    nameless = MI300 | {"id": 0, "name": ""}
    capture = read(trace(kernel(), deviceProperties=[nameless], hip_runtime_version=60443483), tmp_path)
    assert [device.name for device in capture.devices] == [""]
    assert capture.info.cuda_version == "HIP 6.4.43483"


@pytest.mark.parametrize(
    ("distributed", "rank", "world_size"),
    [
        ({"rank": 3, "world_size": 8}, 3, 8),
        ({"rank": 0}, 0, -1),
        ({"world_size": 8}, -1, 8),
        ({"rank": "3", "world_size": "8"}, 3, 8),
        ({"rank": None}, -1, -1),
        ({"rank": True}, -1, -1),
        ([], -1, -1),
        (None, -1, -1),
    ],
)
def test_rank_and_world_size_may_be_partial(tmp_path: Path, distributed: Any, rank: int, world_size: int) -> None:
    """Unknown is -1."""
    info = read(trace(op(), distributedInfo=distributed), tmp_path).info
    assert (info.rank, info.world_size) == (rank, world_size)


def test_the_rank_in_the_file_is_better_than_the_one_in_its_name(tmp_path: Path) -> None:
    """The name counts where the trace does not say."""
    assert read(trace(op(), distributedInfo={"rank": 3}), tmp_path, "rank-5.pt.trace.json").info.rank == 3
    assert read(trace(op()), tmp_path, "rank-5.pt.trace.json").info.rank == 5


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 0),
        ("rank0_trace.json.gz", 0),
        ("rank-12.json.gz", 12),
        ("host_rank_7.1712195495.pt.trace.json.gz", 7),
        ("trace_rank[3].json", 3),
        ("1712195495-TP-2.trace.json.gz", 2),
        ("profile_trace_rank_0.json.gz", 0),
        ("Rank1.json", 1),
        ("worker3_step_12.1694128201557.pt.trace.json.gz", 3),
        ("frank3.json", -1),
        ("worker0.pt.trace.json", -1),
        ("step_based_trace_2543932.json.gz", -1),
        ("rank.json", -1),
    ],
)
def test_ranks_are_known_by_the_names_that_tools_give(name: str, rank: int) -> None:
    """Robustness, section 5."""
    assert rank_from_name(Path("runs") / name) == rank


def test_versions_are_written_as_people_know_them(tmp_path: Path) -> None:
    """12080 is CUDA 12.8. Of the driver a trace tells only what it supports, which is no version of its own."""
    metadata = {"cuda_runtime_version": 12080, "cuda_driver_version": 13000, "cupti_version": 26}
    info = read(trace(op(), **metadata, pytorch_version="2.9.0"), tmp_path).info
    assert (info.cuda_version, info.driver_version, info.tool_version) == ("12.8", "", "CUPTI 26")
    assert info.framework == "PyTorch 2.9.0"
    info = read(trace(op(), hip_runtime_version=60443483, roctracer_version=4.1), tmp_path).info
    assert (info.cuda_version, info.tool_version) == ("HIP 6.4.43483", "roctracer 4.1")
    info = read(trace(op(), cuda_runtime_version="new"), tmp_path).info
    assert (info.cuda_version, info.driver_version, info.framework) == ("", "", "PyTorch")


def test_the_host_is_in_the_name_that_pytorch_gives(tmp_path: Path) -> None:
    """Only when the name's process is one of the trace."""
    assert read(trace(op()), tmp_path, "gpu-box_100.1724066820235157909.pt.trace.json").info.host_name == "gpu-box"
    assert read(trace(op()), tmp_path, "my_run_7.1724066820235157909.pt.trace.json").info.host_name == ""
