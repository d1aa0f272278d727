"""The rows of the Nsight Systems export that describe the machine and the export itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scripts.samples.gpus import A100

VM_ID: Final = 281_474_976_710_656
"""Serialised id of the host, to which Nsight Systems adds process and thread ids."""

TARGET_GPU: Final[Mapping[str, object]] = {
    "vmId": VM_ID,
    "id": 0,
    "name": A100.name,
    "busLocation": "0000:00:04.0",
    "isDiscrete": 1,
    "l2CacheSize": 41_943_040,
    "totalMemory": A100.memory_bytes,
    "memoryBandwidth": round(A100.bytes_per_second),
    "clockRate": 1_410_000_000,
    "smCount": A100.sm_count,
    "pwGpuId": 0,
    "uuid": "00000000-0000-0000-0000-000000000000",
    "luid": 0,
    "chipName": "GA100",
    "cuDevice": 0,
    "ctxswDevPath": "",
    "ctrlDevPath": "",
    "revision": 161,
    "nodeMask": 0,
    "constantMemory": 65536,
    "maxIPC": 4,
    "maxRegistersPerBlock": 65536,
    "maxShmemPerBlock": 49152,
    "maxShmemPerBlockOptin": 166912,
    "maxShmemPerSm": 167936,
    "maxRegistersPerSm": 65536,
    "threadsPerWarp": 32,
    "asyncEngines": 8,
    "maxWarpsPerSm": 64,
    "maxBlocksPerSm": 32,
    "maxThreadsPerBlock": 1024,
    "maxBlockDimX": 1024,
    "maxBlockDimY": 1024,
    "maxBlockDimZ": 64,
    "maxGridDimX": 2147483647,
    "maxGridDimY": 65535,
    "maxGridDimZ": 65535,
    "computeMajor": 8,
    "computeMinor": 0,
    "smMajor": 8,
    "smMinor": 0,
}
"""The row of ``TARGET_INFO_GPU``, by column in the order of the table."""

EXPORT: Final = (
    ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
    ("EXPORT_PRODUCT_VERSION", "2025.3.1.90"),
    ("EXPORT_SCHEMA_VERSION", "3.20.0"),
    ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
    ("EXPORT_SCHEMA_VERSION_MINOR", "20"),
    ("EXPORT_SCHEMA_VERSION_MICRO", "0"),
    ("EXPORT_PARAM_EXPORT_TYPE", "SQLite"),
)
"""The rows of ``META_DATA_EXPORT``."""
