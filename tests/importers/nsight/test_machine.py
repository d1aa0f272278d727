"""GPUs, versions, rank and environment: what an export tells of the machine and the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.importers.nsight.info import cuda_version, driver_version
from tests.importers.nsight.exports import Table, read_tables, strings
from tests.importers.nsight.rows import (
    GPU_COLUMNS,
    NAMES,
    kernel,
    kernels,
)

A100 = ["A100", 8, 0, 108, 40 << 30]


def test_ordinals_lead_to_gpus_through_their_process(tmp_path: Path) -> None:
    """CUDA_VISIBLE_DEVICES gave process 7 GPU 3 and process 8 GPU 2, both as device 0."""
    tables = {
        **kernels(kernel(0, 1, device=0, pid=7), kernel(2, 3, device=0, pid=8), kernel(4, 5, device=1, pid=8)),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[i, *A100, i] for i in (3, 2, 1, 0)]),
        "TARGET_INFO_CUDA_DEVICE": ("gpuId cudaId pid", [[3, 0, 7], [2, 0, 8], [0, 1, 8]]),
    }
    capture = read_tables(tmp_path, tables)
    assert capture.work.device.tolist() == [3, 2, 0]
    assert [device.device_id for device in capture.devices] == [0, 1, 2, 3]
    assert capture.devices[3] == Device(3, "A100", 8, 0, 108, 40 << 30, 0)
    assert [device.cuda_ordinal for device in capture.devices] == [1, -1, 0, 0]


@pytest.mark.parametrize("gpu", [1 << 16, 1 << 31, (1 << 63) - 1, -5])
def test_a_gpu_number_that_cannot_be_leads_nowhere(tmp_path: Path, gpu: int) -> None:
    """The ordinal itself counts then."""
    tables = {**kernels(kernel(0, 1, device=1, pid=7)), "TARGET_INFO_CUDA_DEVICE": ("gpuId cudaId pid", [[gpu, 1, 7]])}
    assert read_tables(tmp_path, tables).work.device.tolist() == [1]


def test_gpus_of_older_exports_are_known_by_their_ordinal(tmp_path: Path) -> None:
    """Without a map of processes, work and GPUs have one ordinal in common, however the export numbers its list."""
    tables = {
        **kernels(kernel(0, 1, device=0), kernel(2, 3, device=1)),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[0, "A40", 8, 6, 84, 48 << 30, 1], [1, *A100, 0]]),
    }
    capture = read_tables(tmp_path, tables)
    assert capture.work.device.tolist() == [0, 1]
    assert capture.devices == [Device(0, *A100, 0), Device(1, "A40", 8, 6, 84, 48 << 30, 1)]


CUPTI_COLUMNS = "deviceId name computeCapabilityMajor computeCapabilityMinor numMultiprocessors globalMemorySize"


@pytest.mark.parametrize(
    "listed",
    [
        {},
        {"TARGET_INFO_GPU": ("vmId id name busLocation", [[1, 0, "GA100", "3b:00"], [1, 1, "GV100", "af:00"]])},
    ],
)
def test_gpus_of_exports_before_2021_are_told_by_cuda(tmp_path: Path, listed: Mapping[str, Table]) -> None:
    """Their list of the machine's GPUs, where there is one, tells neither capability nor ordinal."""
    v100 = ["Tesla V100", 7, 0, 80, 32 << 30]
    tables = {
        **kernels(kernel(0, 1, device=1), kernel(2, 3, device=0)),
        **listed,
        "TARGET_INFO_CUDA_GPU": (CUPTI_COLUMNS, [[0, *v100], [1, *A100], [-1, *A100], [1 << 40, *A100]]),
    }
    capture = read_tables(tmp_path, tables)
    assert capture.work.device.tolist() == [1, 0]
    assert capture.devices == [Device(0, *v100), Device(1, *A100)]


def test_the_list_of_gpus_goes_before_what_cuda_tells(tmp_path: Path) -> None:
    """It may number them otherwise."""
    tables = {
        **kernels(kernel(0, 1, device=0)),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[1, *A100, 0]]),
        "TARGET_INFO_CUDA_GPU": (CUPTI_COLUMNS, [[0, "another", 7, 0, 80, 1]]),
    }
    capture = read_tables(tmp_path, tables)
    assert (capture.work.device.tolist(), capture.devices) == ([0], [Device(0, *A100, 0)])


def test_other_makers_adapters_are_not_gpus_of_the_profile(tmp_path: Path) -> None:
    """They are listed with capability 0.0, and a cuDevice of 0 that is not theirs."""
    tables = {
        **kernels(kernel(0, 1)),
        "TARGET_INFO_GPU": (
            GPU_COLUMNS,
            [
                [1, "Intel(R) Iris(R)", 0, 0, 0, 0, 0],
                [0, *A100, 0],
                [2, "Microsoft Basic Render Driver", 0, 0, 0, 0, 0],
            ],
        ),
    }
    capture = read_tables(tmp_path, tables)
    assert [device.name for device in capture.devices] == ["A100"]
    assert capture.work.device.tolist() == [0]


def test_work_on_a_gpu_that_is_not_listed_has_a_nameless_device(tmp_path: Path) -> None:
    """No map and no list: the ordinal is the id."""
    capture = read_tables(tmp_path, kernels(kernel(0, 1, device=3), kernel(0, 1, device=1)))
    assert capture.devices == [Device(1), Device(3)]


def test_work_that_names_no_gpu_is_of_one(tmp_path: Path) -> None:
    """Tools that trim exports leave the column out."""
    columns, rows = kernels(kernel(0, 1))["CUPTI_ACTIVITY_KIND_KERNEL"]
    assert columns.startswith("start end deviceId ")
    trimmed = columns.replace("deviceId ", ""), [[*row[:2], *row[3:]] for row in rows]
    tables = {
        "CUPTI_ACTIVITY_KIND_KERNEL": trimmed,
        "StringIds": NAMES,
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[0, *A100, 0]]),
    }
    capture = read_tables(tmp_path, tables)
    assert (capture.work.device.tolist(), capture.devices) == ([0], [Device(0, *A100, 0)])


@pytest.mark.parametrize(
    ("number", "version"),
    [
        ("5154304", "515.43.04"),
        ("5509007", "550.90.07"),
        ("52510517", "525.105.17"),
        ("440100", "440.100"),
        ("58160", "581.60"),
        ("570.172.08", "570.172.08"),
        ("", ""),
        ("0", ""),
    ],
)
def test_driver_versions(number: str, version: str) -> None:
    """Linux and Windows pack them differently, newer exports not at all; a machine without a GPU has none."""
    assert driver_version(number) == version


@pytest.mark.parametrize(
    ("number", "version"), [("11070", "11.7"), ("12080", "12.8"), ("13000", "13.0"), ("", ""), ("0", "")]
)
def test_cuda_versions(number: str, version: str) -> None:
    """CUPTI packs them in thousands and tens."""
    assert cuda_version(number) == version


def with_environment(environment: str) -> Mapping[str, Table]:
    """An export with a process environment."""
    columns = "name value"
    return {"StringIds": NAMES, "TARGET_INFO_SYSTEM_ENV": (columns, [["DeviceEnvironment", environment]])}


@pytest.mark.parametrize(
    ("environment", "rank", "world_size"),
    [
        ("HOME=/root\0RANK=3\0WORLD_SIZE=8\0", 3, 8),
        ("HOME=/root;RANK=3;WORLD_SIZE=8", 3, 8),
        ("SLURM_PROCID=5", 5, -1),
        ("OMPI_COMM_WORLD_RANK=2;SLURM_PROCID=5", 2, -1),
        ("MY_RANK=3;RANKS=4;RANK=x", -1, -1),
        ("RANK=99999999999999999999", -1, -1),
        ("", -1, -1),
    ],
)
def test_rank_from_the_environment(tmp_path: Path, environment: str, rank: int, world_size: int) -> None:
    """By an allow-list, digits only, whichever way the variables are separated."""
    info = read_tables(tmp_path, with_environment(environment)).info
    assert (info.rank, info.world_size) == (rank, world_size)


def test_no_secret_of_the_environment_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the capture nor in the log."""
    caplog.set_level("DEBUG")
    secret = "s3cr3t-4f1c"
    tables = {**with_environment(f"WANDB_API_KEY={secret}\0RANK=1\0"), **kernels(kernel(0, 1))}
    tables["StringIds"] = strings(*[text for _, text in NAMES[1]], f"WANDB_API_KEY={secret}")
    capture = read_tables(tmp_path, tables)
    assert capture.info.rank == 1
    assert secret not in "\n".join([*capture.strings.texts(), repr(capture), caplog.text])
