"""Reads the metadata of a trace: devices, versions, ranks, options."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.events.tables import CaptureInfo, Device, valid_text
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number
from tensorboard_plugin_dlprof.units import NS_PER_S

_EARLIEST_NS = 1_262_304_000 * NS_PER_S
_LATEST_NS = 4_102_444_800 * NS_PER_S
"""2010 and 2100. Times outside count from some other event, such as the start of the machine."""

_HANDLER_NAME = re.compile(r"(?P<host>.+)_(?P<process>\d+)\.\d{10,}\.pt\.trace\.json")
"""``<host>_<pid>.<time>.pt.trace.json``, as ``tensorboard_trace_handler`` names its files."""


def read_info(
    metadata: Mapping[str, Any],
    path: Path,
    rank_in_name: int,
    processes: Collection[int],
    first_ns: int,
    end_ns: int,
    recorded: frozenset[str],
    thinned: int,
) -> CaptureInfo:
    """What the trace says about its origin, and when it was recorded.

    Args:
        metadata: the members of the trace besides ``traceEvents``.
        path: the file, whose name may contain the host.
        rank_in_name: for a trace that does not tell its rank; -1 if the name does not either.
        processes: ids of the host processes in the trace.
        first_ns: start of the first event on the trace's clock; 0 without events.
        end_ns: end of the last event since then.
        recorded: what the trace holds, as ``CaptureInfo`` names it.
        thinned: whether a part of all events is missing, as ``CaptureInfo`` has it.
    """
    distributed = distributed_info(metadata)
    rank = _number(distributed.get("rank"))
    host = _HANDLER_NAME.match(path.name)
    offset_ns = max(0, _number(metadata.get("baseTimeNanoseconds")))  # 0: times are absolute
    base_ns = first_ns + offset_ns
    return CaptureInfo(
        source_format="pytorch",
        base_time_ns=base_ns,
        base_offset_ns=offset_ns,
        utc_start_ns=base_ns if _EARLIEST_NS < base_ns < _LATEST_NS else -1,
        end_ns=end_ns,
        recorded=recorded,
        thinned=thinned,
        tool_version=_tool_version(metadata),
        framework=f"PyTorch {_text(metadata, 'pytorch_version', 'torch_version')}".strip(),
        cuda_version=_cuda_version(metadata.get("cuda_runtime_version")) or _hip_version(metadata),
        host_name=host["host"] if host and int(host["process"]) in processes else "",
        rank=rank if rank >= 0 else rank_in_name,
        world_size=max(-1, _number(distributed.get("world_size"))),
    )


def distributed_info(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What the trace says about the job that it is a rank of; empty without one."""
    info = metadata.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def read_devices(metadata: Mapping[str, Any], used: Iterable[int]) -> list[Device]:
    """The devices that the trace lists, and those that its events name in ``used``, by id.

    AMD's events number devices by agent, including CPUs, but the list numbers them by ordinal: work may be on device 9
    of a machine with one listed GPU. If all listed devices are of one model, a device that is not listed is assumed to
    be of that model too; the numbers in the list are not used then.
    """
    listed = {device.device_id: device for device in map(_device, _listed(metadata)) if device.device_id >= 0}
    used_numbers = set(used)
    unlisted = used_numbers - listed.keys()
    models = {msgspec.structs.replace(device, device_id=0) for device in listed.values()}
    common = models.pop() if len(models) == 1 else Device(0)
    devices = {} if unlisted and listed and _is_amd(metadata) else dict(listed)
    for number in used_numbers - devices.keys():
        devices[number] = listed.get(number) or msgspec.structs.replace(common, device_id=number)
    return [devices[number] for number in sorted(devices)]


def _listed(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    properties = metadata.get("deviceProperties")
    return [entry for entry in properties if isinstance(entry, dict)] if isinstance(properties, list) else []


def _device(entry: Mapping[str, Any]) -> Device:
    return Device(
        device_id=_number(entry.get("id")),
        name=_text(entry, "name"),
        capability_major=max(0, _number(entry.get("computeMajor"))),
        capability_minor=max(0, _number(entry.get("computeMinor"))),
        sm_count=max(0, _number(entry.get("numSms"))),
        memory_bytes=max(0, _number(entry.get("totalGlobalMem"))),
    )


def _is_amd(metadata: Mapping[str, Any]) -> bool:
    if any(key in metadata for key in ("hip_runtime_version", "hip_driver_version", "roctracer_version")):
        return True
    return any("AMD" in _text(entry, "name") for entry in _listed(metadata))


def _number(value: object) -> int:
    return -1 if isinstance(value, bool) else whole_number(value)


def _text(fields: Mapping[str, Any], *keys: str) -> str:
    """The value of the first key with a text or number, as text; empty if there is none."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return valid_text(str(value)).strip()
    return ""


def _cuda_version(value: object) -> str:
    """12080 -> ``12.8``."""
    number = _number(value)
    return f"{number // 1000}.{number % 1000 // 10}" if number >= 1000 else ""


def _hip_version(metadata: Mapping[str, Any]) -> str:
    """60443483 -> ``HIP 6.4.43483``, as ``HIP_VERSION`` is made."""
    number = _number(metadata.get("hip_runtime_version"))
    return f"HIP {number // 10**7}.{number // 10**5 % 100}.{number % 10**5}" if number >= 10**7 else ""


def _tool_version(metadata: Mapping[str, Any]) -> str:
    for key, name in (("cupti_version", "CUPTI"), ("roctracer_version", "roctracer")):
        if version := _text(metadata, key):
            return f"{name} {version}"
    return ""
