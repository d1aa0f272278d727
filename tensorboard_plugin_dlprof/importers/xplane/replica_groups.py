"""Which devices a collective is among, as ``hlo.proto`` tells it in one of four ways."""

from __future__ import annotations

from math import prod

from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, Source

_LISTED, _LISTED_OR_COUNTED, _COUNTED, _ALONG_AXES = 49, 87, 92, 93
REPLICA_GROUPS = frozenset((_LISTED, _LISTED_OR_COUNTED, _COUNTED, _ALONG_AXES))
"""Fields of ``HloInstructionProto``: ``replica_groups`` (repeated), ``collective_device_list``,
``iota_collective_device_list`` and ``mesh_axes_replica_group_list``."""
_MOST_MEMBERS = 64
_MOST_AXES = 8


def replica_groups(source: Source, field: int, begin: int, end: int) -> str:
    """The groups between two offsets: each, as ``[0,1]``, or how many of how many devices, as ``[2x4]``."""
    if field == _LISTED:
        return _group(source, begin, end)
    if field == _COUNTED:
        return _counted(source, begin, end)
    if field == _ALONG_AXES:
        return _along_axes(source, begin, end)
    groups = ""
    for number, wire, size, stop in source.fields(begin, end):
        if wire == BYTES and number in (1, 2):
            groups += (_group if number == 1 else _counted)(source, stop - size, stop)
    return groups


def _group(source: Source, begin: int, end: int) -> str:
    members = [each for n, w, v, stop in source.fields(begin, end) if n == 1 for each in source.integers(w, v, stop)]
    return "[" + ",".join(map(str, members[:_MOST_MEMBERS])) + "]"


def _counted(source: Source, begin: int, end: int) -> str:
    """Of an ``IotaReplicaGroupListProto``."""
    counts = source.values(begin, end)
    return f"[{counts.get(1, 0)}x{counts.get(2, 0)}]"


def _along_axes(source: Source, begin: int, end: int) -> str:
    """Of a ``MeshAxesReplicaGroupListProto``: the devices along some axes of a mesh, or parts of axes, are a group."""
    sizes: list[int] = []
    along: list[int] = []
    for number, wire, length, stop in source.fields(begin, end):
        if wire != BYTES:
            continue
        first, whole = stop - length, source.values(stop - length, stop)
        parts = [
            source.values(last - size, last)
            for key, kind, size, last in source.fields(first, stop)
            if (key, kind) == (number, BYTES)
        ]
        if number == 1:
            sizes = [axis.get(2, 1) for axis in parts]
        elif number == 2:
            # Without a part it is the whole axis; the first one's number is not written.
            axis = whole.get(1, 0)
            along.append(parts[0].get(2, 0) if parts else sizes[axis] if axis < len(sizes) else 0)
    devices, members = prod(sizes[:_MOST_AXES]), prod(along[:_MOST_AXES])
    return f"[{devices // members}x{members}]" if members else ""
