"""Device work of the GPU planes: kernels, copies, sets and whole graphs, with what each event says of its op."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import DeviceWork, Int64s, MemoryEvents, Strings, WorkKind
from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tensorboard_plugin_dlprof.importers.xplane.planes import EventReader, Events, Lookup, Plane
from tensorboard_plugin_dlprof.importers.xplane.wire import Source

MOST_REGISTERS = 65_535
MOST_SHARED_BYTES = 1 << 20
"""Old ROCm collectors write larger numbers, which are garbage."""

_COPY_NAME = re.compile(r"Memcpy|Copy\w+To\w+$", re.IGNORECASE)
_PAIR = re.compile(r"([\w-]+):(\S+)")
_HOST = ("pageable", "pinned", "host")
_DIRECTIONS = {"htod": 1, "hosttodevice": 1, "dtoh": 2, "devicetohost": 2, "dtod": 8, "devicetodevice": 8, "ptop": 10}
_COPY_TEXTS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
_BLIT = {"__amd_rocclr_copyBuffer": "copy", "__amd_rocclr_fillBufferAligned": "memset"}

TEXTS = ("hlo_op", "hlo_module", "op_name", "name", "prefix", "tf_op", "annotation", "level 0")
NUMBERS = ("program_id", "cuda_graph_id")
"""Stats that say to which op a piece of work belongs."""


class Work(msgspec.Struct):
    """Device work of all planes, one row each, by device and line."""

    table: DeviceWork
    described: Int64s
    """Row of ``descriptions`` for each."""
    descriptions: list[dict[str, int]]
    """Distinct values of ``TEXTS`` (text ids), ``NUMBERS`` (-1 if absent) and ``kernel``: the name (text id) of a
    kernel in a command buffer that says nothing else of its op, else 0."""


class _Launch(msgspec.Struct, frozen=True):
    """What the text ``kernel_details`` says."""

    grid: tuple[int, int, int] = (0, 0, 0)
    block: tuple[int, int, int] = (0, 0, 0)
    registers: int = -1
    static_shared_bytes: int = -1
    dynamic_shared_bytes: int = -1
    occupancy_percent: int = -1


Flags = npt.NDArray[np.bool_]


class ColumnParts:
    """Columns of a table that is read piece by piece."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Int64s]] = {}

    def add(self, chosen: Flags, **columns: Int64s) -> None:
        """Append the chosen rows of some columns."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(column[chosen])

    def joined(self, name: str) -> Int64s:
        """One column of all pieces."""
        parts = self._parts.get(name)
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def read_work(source: Source, planes: list[Plane], strings: Strings, skipped: Counter[str]) -> Work:
    """All device work. Lines that repeat it in another form (steps, modules, scopes) are passed over."""
    lines = ColumnParts()
    for plane in planes:
        reader = EventReader(source, plane, strings)
        names = Lookup({key: strings.intern(each.name) for key, each in plane.metadata.items()}, -1)
        for line in plane.lines:
            if line.name.startswith("Stream #"):
                for events in reader.read(line):
                    _add(lines, plane.gpu, line.id, events, names, strings, skipped)
    return _tables(lines, strings, skipped)


def _add(
    lines: ColumnParts,
    gpu: int,
    stream: int,
    events: Events,
    names: Lookup,
    strings: Strings,
    skipped: Counter[str],
) -> None:
    name = named(names(events.metadata), strings, skipped)
    kind = _kinds(events, name, strings)
    kept = kind >= 0
    every = {
        "event_name": name,
        "kind": kind,
        "start_ps": events.start_ps,
        "duration_ps": events.duration_ps,
        "correlation": events.integers("correlation_id"),
        "kernel_details": events.texts("kernel_details"),
        "memcpy_details": events.texts("memcpy_details"),
        "memset_details": events.texts("memset_details"),
        "occupancy": events.integers("theoretical_occupancy_pct"),
        "graph_node": events.integers("cuda_graph_node_id"),
        "device": np.full(len(events), gpu, np.int64),
        "stream": np.full(len(events), stream, np.int64),
        **{text: events.texts(text) for text in TEXTS},
        **{number: events.integers(number) for number in NUMBERS},
    }
    lines.add(kept, **every)


def named(name: Int64s, strings: Strings, skipped: Counter[str]) -> Int64s:
    """Names (text ids) of events; those without one (-1) are called so, and counted."""
    missing = name < 0
    if missing.any():
        skipped["events without a name"] += int(np.count_nonzero(missing))
        name[missing] = strings.intern("unnamed")
    return name


def _kinds(events: Events, name: Int64s, strings: Strings) -> Int64s:
    """``WorkKind`` of each event; -1 for what is no work, such as allocations."""
    distinct, inverse = np.unique(name, return_inverse=True)
    texts = [strings[text] for text in distinct.tolist()]
    inverse = inverse.reshape(-1)
    is_copy = np.array([_COPY_NAME.match(text) is not None for text in texts], np.bool_)[inverse]
    is_set = np.array([text.lower().startswith("memset") for text in texts], np.bool_)[inverse]
    is_graph = np.array([text.startswith("CudaGraph") for text in texts], np.bool_)[inverse]
    kind = np.full(len(events), WorkKind.KERNEL, np.int64)
    kind[is_graph & events.has("cuda_graph_exec_id")] = WorkKind.GRAPH
    kind[events.has("memalloc_details") | events.has("memfree_details") | events.has("memoryresidency_details")] = -1
    kind[events.has("memset_details") | is_set] = WorkKind.MEMSET
    kind[events.has("memcpy_details") | (is_copy & ~events.has("kernel_details"))] = WorkKind.MEMCPY
    return kind


def _tables(lines: ColumnParts, strings: Strings, skipped: Counter[str]) -> Work:
    start_ps, kind = lines.joined("start_ps"), lines.joined("kind")
    start_ns = start_ps // 1000
    details, launch = _launches(lines, strings, skipped)
    copies = _copies(lines, kind, strings)
    kernel = kind == WorkKind.KERNEL
    name, short = _names(lines.joined("event_name"), kernel, strings)
    told = {each: lines.joined(each) for each in (*TEXTS, *NUMBERS)}
    in_graph = kernel & (told["hlo_op"] == 0) & (told["cuda_graph_id"] >= 0)
    told["kernel"] = np.where(in_graph, name, 0)
    described, first = _distinct(np.stack(list(told.values())))
    columns = [column[first].tolist() for column in told.values()]
    name[~kernel] = copies[2][~kernel]
    occupancy = lines.joined("occupancy")
    estimated = launch("occupancy_percent")
    table = DeviceWork(
        kind=kind.astype(np.int8),
        start_ns=start_ns,
        end_ns=start_ns + lines.joined("duration_ps") // 1000,
        process=np.zeros(len(kind), np.int32),
        device=lines.joined("device").astype(np.int32),
        stream=lines.joined("stream"),
        correlation=lines.joined("correlation"),
        name=name.astype(np.int32),
        short_name=short.astype(np.int32),
        grid=np.array([each.grid for each in details], np.int32).reshape(-1, 3)[launch.rows],
        block=np.array([each.block for each in details], np.int32).reshape(-1, 3)[launch.rows],
        registers=launch("registers").astype(np.int32),
        static_shared_bytes=launch("static_shared_bytes"),
        dynamic_shared_bytes=launch("dynamic_shared_bytes"),
        # 0 is what the collector writes where it does not know.
        occupancy_percent=np.where(occupancy > 0, occupancy, np.where(estimated > 0, estimated, -1)).astype(np.int32),
        num_bytes=copies[0],
        copy_kind=copies[1].astype(np.int32),
        graph_node=lines.joined("graph_node"),
    )
    descriptions = [dict(zip(told, row, strict=True)) for row in zip(*columns, strict=True)]
    return Work(table, described, descriptions)


def _distinct(columns: Int64s) -> tuple[Int64s, Int64s]:
    """The number of each column's combination of values, and the first row of each."""
    number = np.zeros(columns.shape[1], np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + codes.reshape(-1), return_inverse=True)[1].reshape(-1)
    first = np.unique(number, return_index=True)[1]
    return number, first


class _Launches:
    """What is known of each kernel's launch, by rows of distinct ones."""

    def __init__(self, details: list[_Launch], rows: Int64s) -> None:
        self._details, self.rows = details, rows

    def __call__(self, name: str) -> Int64s:
        return np.array([getattr(each, name) for each in self._details], np.int64)[self.rows]


def _launches(lines: ColumnParts, strings: Strings, skipped: Counter[str]) -> tuple[list[_Launch], _Launches]:
    text = lines.joined("kernel_details")
    distinct, rows = np.unique(text, return_inverse=True)
    details = [_launch(strings[each]) for each in distinct.tolist()] or [_Launch()]
    garbage = sum(_is_garbage(strings[each]) for each in distinct.tolist())
    if garbage:
        skipped["impossible numbers of registers or sizes of shared memory"] += garbage
    return details, _Launches(details, rows.reshape(-1))


def _pairs(text: str) -> dict[str, str]:
    return dict(_PAIR.findall(text))


def _launch(text: str) -> _Launch:
    pairs = _pairs(text)

    def number(most: int, *names: str) -> int:
        value = next((pairs[name] for name in names if name in pairs), "")
        return int(value) if value.isdecimal() and len(value) < 12 and int(value) <= most else -1

    return _Launch(
        _three(pairs.get("grid", "")),
        _three(pairs.get("block", "")),
        number(MOST_REGISTERS, "regs"),
        number(MOST_SHARED_BYTES, "static_shared", "shm", "group_mem"),
        number(MOST_SHARED_BYTES, "dynamic_shared"),
        number(100, "occ_pct"),
    )


def _is_garbage(text: str) -> bool:
    pairs = _pairs(text)
    limits = {"regs": MOST_REGISTERS, "static_shared": MOST_SHARED_BYTES, "group_mem": MOST_SHARED_BYTES}
    return any(pairs.get(name, "").isdecimal() and int(pairs[name][:20]) > most for name, most in limits.items())


def _three(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 11 for part in parts):
        return (0, 0, 0)
    x, y, z = (min(int(part), (1 << 31) - 1) for part in parts)
    return (x, y, z)


def _names(name: Int64s, kernel: Int64s, strings: Strings) -> tuple[Int64s, Int64s]:
    """Full names, and short names of kernels. ROCm's ending of kernels is no part of a name."""
    distinct, inverse = np.unique(name, return_inverse=True)
    texts = [strings[text].removesuffix(".kd") for text in distinct.tolist()]
    full = np.array([strings.intern(text) for text in texts], np.int64)[inverse.reshape(-1)]
    short = np.array([strings.intern(short_kernel_name(text)) for text in texts], np.int64)[inverse.reshape(-1)]
    return full, np.where(kernel, short, 0)


def _copies(lines: ColumnParts, kind: Int64s, strings: Strings) -> tuple[Int64s, Int64s, Int64s]:
    """Bytes (-1 if unknown), CUPTI's kind (0 if unknown) and name (text id) of copies and sets."""
    memcpy, memset, name = (lines.joined(each) for each in ("memcpy_details", "memset_details", "event_name"))
    number, first = _distinct(np.stack([memcpy, memset, name, kind]))
    rows = zip(*(column[first].tolist() for column in (memcpy, memset, name, kind)), strict=True)
    found = [_copy(strings[a] or strings[b], strings[c], d, strings) for a, b, c, d in rows]
    columns = np.array(found, np.int64).reshape(-1, 3)
    return columns[number, 0], columns[number, 1], columns[number, 2]


def _copy(details: str, name: str, kind: int, strings: Strings) -> tuple[int, int, int]:
    if kind not in (WorkKind.MEMCPY, WorkKind.MEMSET):
        return -1, -1, strings.intern(name)
    pairs = _pairs(details)
    size = pairs.get("size") or pairs.get("num_bytes") or ""
    # A size of 0 is what ROCm's collector writes where it does not know.
    num_bytes = int(size) if size.isdecimal() and 0 < len(size) < 16 and int(size) else -1
    if kind == WorkKind.MEMSET:
        return num_bytes, -1, strings.intern(name)
    source, target = pairs.get("kind_src", "").lower(), pairs.get("kind_dst", "").lower()
    if source and target:
        direction = _direction(source, target)
        label = f"Memcpy {_COPY_TEXTS[direction]} ({source.title()} -> {target.title()})" if direction else name
        return num_bytes, direction, strings.intern(label)
    lowered = name.lower()
    return num_bytes, next((value for text, value in _DIRECTIONS.items() if text in lowered), 0), strings.intern(name)


def _direction(source: str, target: str) -> int:
    from_host, to_host = source in _HOST, target in _HOST
    if from_host and to_host:
        return 0
    return 1 if from_host else 2 if to_host else 8


def blit_type(kernel_name: str) -> str:
    """``copy`` or ``memset`` for the kernels with which ROCm copies and fills memory; else empty."""
    return _BLIT.get(kernel_name, "")


def no_memory_events() -> MemoryEvents:
    """A table of memory events without rows."""
    long, short = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return MemoryEvents(long, short, short, long, long, long)
