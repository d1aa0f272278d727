"""Device work of the GPU planes: kernels, copies, sets and whole graphs, with what each event says of its op."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import DeviceWork, Int32s, Int64s, Strings, WorkKind
from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tensorboard_plugin_dlprof.importers.xplane.events import EventReader, Events
from tensorboard_plugin_dlprof.importers.xplane.lanes import Flags
from tensorboard_plugin_dlprof.importers.xplane.planes import Lookup, Plane
from tensorboard_plugin_dlprof.importers.xplane.wire import Source

MOST_REGISTERS = 65_535
MOST_SHARED_BYTES = 1 << 20
"""Old ROCm collectors write larger numbers, which are garbage."""

_ODD = np.uint64(0x9E3779B97F4A7C15)

_COPY_NAME = re.compile(r"Memcpy|Copy\w+To\w+$", re.IGNORECASE)
RUNTIMES_KERNELS = "__amd_rocclr_"
"""How names of kernels begin by which AMD's runtime copies and fills."""
_PAIR = re.compile(r"([\w-]+):(\S+)")
_HOST = ("pageable", "pinned", "host")
_DEVICE = ("device", "array", "managed", "device_static", "managed_static")
_DIRECTIONS = {
    **dict.fromkeys(("h2d", "htod", "hosttodevice"), 1), **dict.fromkeys(("d2h", "dtoh", "devicetohost"), 2),
    **dict.fromkeys(("d2d", "dtod", "devicetodevice"), 8), **dict.fromkeys(("p2p", "ptop"), 10),
}  # fmt: skip
_COPY_TEXTS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}

TEXTS = ("hlo_op", "hlo_module", "op_name", "name", "prefix", "tf_op", "annotation", "level 0", "source_file")

NUMBERS = ("program_id", "cuda_graph_id", "source_line")
"""Stats that say to which op a piece of work belongs."""


class Work(msgspec.Struct):
    """Device work of all planes, one row each, by device and line."""

    table: DeviceWork
    described: Int32s
    """Row of ``descriptions`` for each."""
    descriptions: list[dict[str, int]]
    """Distinct values of ``TEXTS`` (text ids), ``NUMBERS`` (-1 if absent) and ``kernel``: the name (text id) of a
    kernel in a command buffer, or of one of the runtime's own, else 0."""


class _Kinds:
    """Distinct combinations of what events say: few, however many events there are."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}

    def add(self, columns: list[Int64s]) -> npt.NDArray[np.int32]:
        """The number of the combination in each row."""
        number, first = _distinct(np.stack(columns))
        rows = zip(*(column[first].tolist() for column in columns), strict=True)
        numbers = [self._numbers.setdefault(row, len(self._numbers)) for row in rows]
        kinds: npt.NDArray[np.int32] = np.array(numbers, np.int32)[number]
        return kinds

    def columns(self, names: tuple[str, ...]) -> dict[str, Int64s]:
        """The combinations, by the names of their columns."""
        table = np.array(list(self._numbers), np.int64).reshape(-1, len(names))
        return {name: table[:, place] for place, name in enumerate(names)}


_SAID = (
    *("event_name", "kind", "kernel_details", "memcpy_details", "memset_details", "occupancy", "device", "stream"),
    *TEXTS,
    *NUMBERS,
)
"""What a combination consists of."""
_WANTED = frozenset(
    (
        *(*TEXTS, *NUMBERS, "correlation_id", "kernel_details", "memcpy_details", "memset_details"),
        *("theoretical_occupancy_pct", "cuda_graph_node_id", "cuda_graph_exec_id"),
        *("memalloc_details", "memfree_details", "memoryresidency_details"),
    )
)


def read_work(source: Source, planes: list[Plane], strings: Strings, skipped: Counter[str], store: ColumnStore) -> Work:
    """All device work. Lines that repeat it in another form (steps, modules, scopes) are passed over."""
    lines, kinds = GrowingTable(store), _Kinds()
    for plane in planes:
        reader = EventReader(source, plane, strings, _WANTED)
        names = Lookup({key: strings.intern(each.name) for key, each in plane.metadata.items()}, -1)
        for line in plane.lines:
            if line.name.startswith("Stream #"):
                for events in reader.read(line):
                    name = named(names(events.metadata), strings, skipped)
                    _add(lines, kinds, (plane.gpu, line.id), events, name, strings)
    return _tables(lines, kinds.columns(_SAID), strings, skipped)


def _add(
    lines: GrowingTable, kinds: _Kinds, place: tuple[int, int], events: Events, name: Int64s, strings: Strings
) -> None:
    kind = _kinds(events, name, strings)
    said = [
        *(name, kind, events.texts("kernel_details"), events.texts("memcpy_details"), events.texts("memset_details")),
        events.integers("theoretical_occupancy_pct"),
        *(np.full(len(events), each, np.int64) for each in place),
        *(events.texts(text) for text in TEXTS),
        *(events.integers(number) for number in NUMBERS),
    ]
    lines.add_some(
        kind >= 0,
        said=kinds.add(said),
        start_ps=events.start_ps,
        duration_ps=events.duration_ps,
        correlation=events.integers("correlation_id"),
        graph_node=events.integers("cuda_graph_node_id"),
    )


def named(name: Int64s, strings: Strings, skipped: Counter[str]) -> Int64s:
    """Names (text ids) of events; those without one (-1) are called so, and counted."""
    missing = name < 0
    if missing.any():
        skipped["events without a name"] += int(np.count_nonzero(missing))
        name[missing] = strings.intern("unnamed")
    return name


def _kinds(events: Events, name: Int64s, strings: Strings) -> Int64s:
    """``WorkKind`` of each event; -1 for what is no work, such as allocations."""
    distinct, inverse = numbered(name)
    texts = [strings[text] for text in distinct.tolist()]
    is_copy = np.array([_COPY_NAME.match(text) is not None for text in texts], np.bool_)[inverse]
    is_set = np.array([text.lower().startswith("memset") for text in texts], np.bool_)[inverse]
    is_graph = np.array([text.startswith("CudaGraph") for text in texts], np.bool_)[inverse]
    kind = np.full(len(events), WorkKind.KERNEL, np.int64)
    kind[is_graph & events.has("cuda_graph_exec_id")] = WorkKind.GRAPH
    kind[events.has("memalloc_details") | events.has("memfree_details") | events.has("memoryresidency_details")] = -1
    kind[events.has("memset_details") | is_set] = WorkKind.MEMSET
    kind[events.has("memcpy_details") | (is_copy & ~events.has("kernel_details"))] = WorkKind.MEMCPY
    return kind


def _tables(lines: GrowingTable, said: dict[str, Int64s], strings: Strings, skipped: Counter[str]) -> Work:
    row = lines.take("said", np.int32)
    start_ns = lines.take("start_ps", np.int64) // 1000
    kind = said["kind"]
    launch, is_garbage = _launches(said["kernel_details"], strings)
    skipped["impossible numbers of registers or sizes of shared memory"] += int(np.count_nonzero(is_garbage[row]))
    num_bytes, copy_kind, label = _copies(said, strings)
    kernel = kind == WorkKind.KERNEL
    name, short = _names(said["event_name"], kernel, strings)
    stated = {each: said[each] for each in (*TEXTS, *NUMBERS)}
    of_runtime = np.array([strings[each].startswith(RUNTIMES_KERNELS) for each in name.tolist()], np.bool_)
    stated["kernel"] = np.where(kernel & ((stated["cuda_graph_id"] >= 0) | of_runtime), name, 0)
    described, first = _distinct(np.stack(list(stated.values())))
    columns = [column[first].tolist() for column in stated.values()]
    name[~kernel] = label[~kernel]
    occupancy, estimated = said["occupancy"], launch[:, 9]
    # 0 is what the collector writes where it does not know.
    occupancy = np.where((occupancy > 0) & (occupancy <= 100), occupancy, np.where(estimated > 0, estimated, -1))
    table = DeviceWork(
        kind=kind.astype(np.int8)[row],
        start_ns=start_ns,
        end_ns=start_ns + lines.take("duration_ps", np.int64) // 1000,
        process=np.zeros(len(row), np.int32),
        device=said["device"].astype(np.int32)[row],
        stream=said["stream"][row],
        correlation=lines.take("correlation", np.int64),
        name=name.astype(np.int32)[row],
        short_name=short.astype(np.int32)[row],
        grid=launch[:, 0:3].astype(np.int32)[row],
        block=launch[:, 3:6].astype(np.int32)[row],
        registers=launch[:, 6].astype(np.int32)[row],
        static_shared_bytes=launch[:, 7][row],
        dynamic_shared_bytes=launch[:, 8][row],
        occupancy_percent=occupancy.astype(np.int32)[row],
        num_bytes=num_bytes[row],
        copy_kind=copy_kind.astype(np.int32)[row],
        graph_node=lines.take("graph_node", np.int64),
    )
    descriptions = [dict(zip(stated, values, strict=True)) for values in zip(*columns, strict=True)]
    return Work(table, described.astype(np.int32)[row], descriptions)


def _distinct(columns: Int64s) -> tuple[Int64s, Int64s]:
    """The number of each column's combination of values, and the first row of each."""
    mixed = np.zeros(columns.shape[1], np.uint64)
    for column in columns:
        mixed = (mixed ^ column.view(np.uint64)) * _ODD
        mixed ^= mixed >> np.uint64(29)
    _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if (columns != columns[:, first[number]]).any():  # Two combinations gave one number.
        _, first, number = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    return number.reshape(-1), first


def _launches(details: Int64s, strings: Strings) -> tuple[Int64s, Flags]:
    """Of each row: grid, block, registers, static and dynamic shared bytes, occupancy in percent; and whether some of
    it is garbage."""
    distinct, rows = numbered(details)
    texts = [strings[each] for each in distinct.tolist()]
    garbage = np.array(list(map(_is_garbage, texts)), np.bool_)
    return np.array([_launch(text) for text in texts], np.int64).reshape(-1, 10)[rows], garbage[rows]


def _pairs(text: str) -> dict[str, str]:
    return dict(_PAIR.findall(text))


def _launch(text: str) -> tuple[int, ...]:
    pairs = _pairs(text)

    def number(most: int, *names: str) -> int:
        value = next((pairs[name] for name in names if name in pairs), "")
        whole, _, part = value.partition(".")
        if not whole.isdecimal() or len(whole) > 12 or not (part or "0").isdecimal() or int(whole) > most:
            return -1
        return round(float(value))

    return (
        *_three(pairs.get("grid", "")),
        *_three(pairs.get("block", "")),
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
    distinct, inverse = numbered(name)
    texts = [strings[text].removesuffix(".kd") for text in distinct.tolist()]
    full = np.array([strings.intern(text) for text in texts], np.int64)[inverse]
    short = np.array([strings.intern(short_kernel_name(text)) for text in texts], np.int64)[inverse]
    return full, np.where(kernel, short, 0)


def _copies(said: dict[str, Int64s], strings: Strings) -> tuple[Int64s, Int64s, Int64s]:
    """Bytes (-1 if unknown), CUPTI's kind (0 if unknown) and name (text id) of copies and sets."""
    columns = (said[each].tolist() for each in ("memcpy_details", "memset_details", "event_name", "kind"))
    rows = zip(*columns, strict=True)
    copies = [_copy(strings[a] or strings[b], strings[c], d, strings) for a, b, c, d in rows]
    return tuple(np.array(copies, np.int64).reshape(-1, 3).T)


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
    if direction := _direction(source, target):
        label = f"Memcpy {_COPY_TEXTS[direction]} ({source.title()} -> {target.title()})"
        return num_bytes, direction, strings.intern(label)
    lowered = name.lower()
    return num_bytes, next((value for text, value in _DIRECTIONS.items() if text in lowered), 0), strings.intern(name)


def _direction(source: str, target: str) -> int:
    from_host, to_host = source in _HOST, target in _HOST
    if (from_host and to_host) or not all(each in _HOST or each in _DEVICE for each in (source, target)):
        return 0
    return 1 if from_host else 2 if to_host else 8
