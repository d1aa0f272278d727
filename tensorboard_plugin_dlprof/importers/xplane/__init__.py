"""Reads XPlane profiles (``*.xplane.pb``) of JAX, TensorFlow and PyTorch/XLA into a capture.

The format is that of XLA's profiler (``tsl/profiler/protobuf/xplane.proto``): planes of devices and of the host, with
lines of events. Times are picoseconds since the start of the session.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np

from tensorboard_plugin_dlprof.classify.architecture import AMD_ARCHITECTURES
from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_freed
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.events.tables import (
    Capture,
    CaptureInfo,
    Device,
    ForwardLinks,
    GraphOp,
    Int32s,
    RangeKind,
    Ranges,
    Strings,
    Syncs,
    Thread,
    valid_text,
)
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.importers.xplane.graph_ops import (
    Executions,
    Modules,
    find_executions,
    graph_ops,
)
from tensorboard_plugin_dlprof.importers.xplane.host import Host, read_host
from tensorboard_plugin_dlprof.importers.xplane.planes import ABSOLUTE_NS, MOST_NS, Plane, Space, Value, read_space
from tensorboard_plugin_dlprof.importers.xplane.runs import each_gpu_apart, find_launches, iterations
from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, Source
from tensorboard_plugin_dlprof.importers.xplane.work import Work, read_work
from tensorboard_plugin_dlprof.opening.byte_stream import GZIP_MAGIC, plain_file
from tensorboard_plugin_dlprof.opening.regular_file import open_regular, shown

_PLANE_FIELDS = {1: 0, 2: BYTES, 3: BYTES, 4: BYTES, 5: BYTES, 6: BYTES}
_PLANE_NAMES = (
    b"/device:",
    b"/virtualdevice:",
    b"/host:",
    b"Task Environment",
    b"#Chip",
    b"/task:",
    b"Syscalls",
    b"Host CPUs",
)
_SPACE_TAGS = (b"\x0a", b"\x12", b"\x1a", b"\x22")
_REPLACED = b"\xef\xbf\xbd"
_GPUS = {
    (7, 0, 80): "Tesla V100", (7, 5, 40): "Tesla T4", (8, 0, 108): "NVIDIA A100", (9, 0, 132): "NVIDIA H100",
}  # fmt: skip
"""GPUs that capability and number of multiprocessors tell; newer collectors write the name."""
_FOLDERS = ("plugins", "profile")
_HOST_FILE = re.compile(r"\.xplane\.pb(?:\.gz)?\Z")
_FRAMEWORKS = {
    "JAX": re.compile(r"(?:jit|pjit|pmap|xla_call)_|PjitFunction\("),
    "PyTorch/XLA": re.compile(r"SyncTensorsGraph|IrToHlo"),
    "TensorFlow": re.compile(
        r"cluster_\d|a_inference_|.*__XlaCompiledKernel|.*__inference_|Eager\w*Execute|TFE_|ExecutorState::|FunctionRun"
    ),
}
"""Names of modules and of the host's events that tell the framework. JAX first: its input may be TensorFlow's."""
_H200_BYTES = 100 << 30
_MEMORY_BYTES = 16 << 20
"""Columns above a share of this are in files, where an import may use more, too: those of other formats, whose events
take ten times the bytes, are small beside them."""


class XPlaneImporter:
    """XPlane profiles of JAX, TensorFlow and PyTorch/XLA."""

    name = "xplane"
    title = "XPlane profile (JAX, TensorFlow)"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file begins with a plane, or was one before it was converted as text."""
        if head[:1] != b"\n" or len(head) < 8:
            return False
        if path.name.endswith(".xplane.pb") and _was_text(head):
            return True
        return _begins_with_plane(path, head)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The events of the file.

        Raises:
            BrokenSource: It is damaged, or holds no GPU work; the message says why.
            UnsafeFile: It is not a regular file, or expands beyond a limit.
        """
        with plain_file(path, options.max_expanded_bytes, options.folder) as file:
            source = Source(file, shown(path))
            if _was_text(source.data(0, min(source.size, 1 << 16))):
                raise BrokenSource(
                    f"{shown(path)} is damaged: it was converted as text on its way; copy the profile again, as binary."
                )
            progress("Reading planes", 0.0)
            space = read_space(source)
            return _capture(source, space, path, options, progress)


def _was_text(head: bytes) -> bool:
    """Whether bytes that are no UTF-8 became U+FFFD: such a file is UTF-8 throughout, which no profile is."""
    if head.count(_REPLACED) < 4:
        return False
    try:
        head[: len(head) - 3].decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 8
    return True


def _varint(head: bytes, at: int) -> tuple[int, int]:
    """A varint, and the place behind it; -1 if the head ends in it."""
    value = 0
    for shift in range(0, 63, 7):
        if at >= len(head):
            return -1, at
        value |= (head[at] & 127) << shift
        at += 1
        if head[at - 1] < 128:
            return value, at
    return -1, at


def _begins_with_plane(path: Path, head: bytes) -> bool:
    """Whether the file's first field is a plane: with a plane's name, or so long that its name is not in the head."""
    length, begin = _varint(head, 1)
    at, end = begin, min(begin + length, len(head))
    while begin <= at < end:
        tag = head[at]
        if _PLANE_FIELDS.get(tag >> 3) != tag & 7:
            return False
        value, at = _varint(head, at + 1)
        if tag == 2 << 3 | BYTES:
            return head[at : at + value].startswith(_PLANE_NAMES)
        at += value if tag & 7 == BYTES else 0
    return length > 0 and at >= len(head) and _is_field_at(path, begin + length)


def _is_field_at(path: Path, offset: int) -> bool:
    """Whether a field of an XSpace, or the end of the file, follows at an offset of a plain file."""
    try:
        with open_regular(path) as file:
            if file.read(2) == GZIP_MAGIC:
                return False
            file.seek(offset)
            return offset <= os.fstat(file.fileno()).st_size and file.read(1) in (b"", *_SPACE_TAGS)
    except (OSError, ProfileError):
        return False


def _capture(source: Source, space: Space, path: Path, options: ReadOptions, progress: Progress) -> Capture:
    gpus = [plane for plane in space.planes if plane.gpu >= 0]
    hosts = [plane for plane in space.planes if plane.is_host and plane.lines]
    _shift(source, space.planes)
    strings, skipped = Strings(), Counter[str]()
    store = ColumnStore(min(options.memory_bytes, _MEMORY_BYTES), options.folder)
    progress("Reading device work", 0.1)
    work = read_work(source, gpus, strings, skipped, store)
    if not len(work.table.kind):
        raise BrokenSource(f"{shown(path)} {_why_empty(space, gpus)}")
    progress("Reading the host's events", 0.4)
    host = read_host(source, hosts, strings, skipped, store)
    each_gpu_apart(work, host)
    store.keep_tables(work.table, host, host.calls, host.memory, host.frames, host.causes)
    release_freed()
    progress("Finding ops", 0.8)
    modules = Modules(source, [plane for plane in space.planes if plane.name == "/host:metadata"])
    ops = graph_ops(work, modules, strings)
    launches = find_launches(work, host, strings)
    executions = find_executions(work, launches, ops, host)
    if not host.threads:
        host.threads.append(Thread(0, -2, "not recorded"))
    marked = iterations(work, launches, host, strings)
    del launches
    release_freed()
    ranges, named = _ranges(host, executions, ops, strings)
    first = len(ranges.start_ns) - len(executions.op)
    work_range = np.where(executions.of_work >= 0, executions.of_work + np.int32(first), np.int32(-1))
    store.keep_tables(ranges)
    release_freed()
    return Capture(
        info=_info(strings, space, _rank(path, options.rank_expression), work, host, ops),
        strings=strings,
        threads=host.threads,
        devices=[_device(plane) for plane in _one_each(gpus)],
        ranges=ranges,
        calls=host.calls,
        work=work.table,
        syncs=_no_syncs(),
        memory=host.memory,
        forward_links=_no_links(),
        frames=host.frames,
        graph_ops=named,
        work_range=work_range,
        iterations=marked,
        store=store,
        skipped={reason: count for reason, count in skipped.items() if count},
    )


_LIBCUPTI = "put the folder of CUPTI (extras/CUPTI/lib64 of the CUDA toolkit) on the library path and record again"


def _why_empty(space: Space, gpus: list[Plane]) -> str:
    if gpus and space.errors:
        remedy = _LIBCUPTI if "libcupti" in space.errors[0].lower() else "mend that and record again"
        return f"holds no GPU work, for the GPU was not recorded ({space.errors[0][:300].rstrip('. ')}); {remedy}."
    if gpus:
        return "holds no GPU work: none was recorded while the profiler ran; profile while the program computes."
    if any(plane.name.startswith("/device:TPU:") for plane in space.planes):
        return "holds a TPU profile; GPU SUMMARY shows GPUs only. Open it with xprof."
    framework = _stated_framework(space, set())
    return f"holds host events only{framework and f' ({framework} on CPU)'}; record it where a GPU computes."


def _shift(source: Source, planes: list[Plane]) -> None:
    """Make times that count from 1970 count from the first line.

    Raises:
        BrokenSource: A line begins months before or after the session does.
    """
    absolute = [line.timestamp_ns for plane in planes for line in plane.lines if line.timestamp_ns > ABSOLUTE_NS]
    for plane in planes:
        for line in plane.lines:
            if line.timestamp_ns > ABSOLUTE_NS:
                line.timestamp_ns -= min(absolute)
            if abs(line.timestamp_ns) > MOST_NS:
                source.damaged(line.begin)


def _ranges(
    host: Host, executions: Executions, ops: list[GraphOp | None], strings: Strings
) -> tuple[Ranges, dict[int, GraphOp]]:
    """The ranges of the host, followed by the executions of ops; and the ops by the name (text id) of their ranges."""
    of_op = {index: op for index, op in enumerate(ops) if op is not None}
    name_of, shapes_of, dtypes_of, stack_of = (np.zeros(len(ops) + 1, np.int32) for _ in range(4))
    named: dict[int, GraphOp] = {}
    for index, op in of_op.items():
        name_of[index] = strings.intern(f"{op.path}\n{op.key}")
        named[int(name_of[index])] = op
        shapes_of[index], dtypes_of[index], stack_of[index] = map(strings.intern, (op.shapes, op.dtypes, op.stack))
    rows, first_execution = np.flatnonzero(host.shown), len(executions.op)
    count = len(rows)
    total = count + first_execution

    def after(values: Int32s) -> Int32s:
        return np.concatenate((np.zeros(count, np.int32), values))

    of_host = np.where(host.step[rows] >= 0, RangeKind.ITERATION, RangeKind.ANNOTATION).astype(np.int8)
    nothing = np.broadcast_to(np.int32(0), total)
    ranges = Ranges(
        start_ns=np.concatenate((host.start_ns[rows], executions.start_ns)),
        end_ns=np.concatenate((host.end_ns[rows], executions.end_ns)),
        thread=np.concatenate((host.thread[rows], executions.thread)).astype(np.int32, copy=False),
        kind=np.concatenate((of_host, np.full(first_execution, RangeKind.GRAPH_OP, np.int8))),
        name=np.concatenate((host.name[rows], name_of[executions.op])).astype(np.int32, copy=False),
        domain=nothing,
        shapes=after(shapes_of[executions.op]),
        dtypes=after(dtypes_of[executions.op]),
        parameters=nothing,
        stack=after(stack_of[executions.op]),
        group=nothing,
        sequence=np.broadcast_to(np.int64(-1), total),
        forward_thread=np.broadcast_to(np.int64(0), total),
    )
    return ranges, named


def _info(
    strings: Strings,
    space: Space,
    rank_and_size: tuple[int, int],
    work: Work,
    host: Host,
    ops: list[GraphOp | None],
) -> CaptureInfo:
    session = _session(space)
    started = session.get("profile_start_time", -1)
    rank, world_size = rank_and_size
    recorded = {
        "ops": any(op is not None for op in ops),
        "shapes": any(op is not None and op.shapes for op in ops),
        "stacks": any(op is not None and op.stack for op in ops),
        "modules": any(op is not None and op.path.count("/") > 1 for op in ops),
        "memory": bool(len(host.memory.time_ns)),
        "steps": bool((host.step >= 0).any()),
    }
    ends = (work.table.end_ns, host.end_ns, host.calls.end_ns)
    return CaptureInfo(
        source_format=XPlaneImporter.name,
        end_ns=max(int(column.max(initial=0)) for column in ends),
        utc_start_ns=started if isinstance(started, int) else -1,
        framework=_framework(space, work, strings),
        cuda_version=_cuda_version(session),
        host_name=valid_text(space.hosts[0]) if space.hosts else "",
        rank=rank,
        world_size=world_size,
        recorded=frozenset(name for name, is_recorded in recorded.items() if is_recorded),
    )


def _rank(path: Path, expression: str) -> tuple[int, int]:
    """Rank and number of ranks of the process: each host of a session writes a file into one folder; -1 if unknown."""
    rank = rank_from_name(path, expression)
    if rank < 0 and path.parts[-4:-2] == _FOLDERS:
        names = sorted(each.name for each in path.parent.iterdir() if _HOST_FILE.search(each.name))
        if path.name in names and len(names) > 1:
            return names.index(path.name), len(names)
    return rank, -1


def _cuda_version(session: dict[str, Value]) -> str:
    """``12.9`` of 12090: the runtime's, else that of XLA's build; empty if unknown."""
    version = str(session.get("cuda_runtime_version", session.get("cuda_version", "")))
    return f"{int(version) // 1000}.{int(version) % 1000 // 10}" if version.isdecimal() and 3 < len(version) < 7 else ""


def _session(space: Space) -> dict[str, Value]:
    """What the profiler says of the session and of itself."""
    stats: dict[str, Value] = {}
    for plane in space.planes:
        if plane.name in ("Task Environment", "/host:metadata"):
            stats |= plane.stats
    return stats


def _framework(space: Space, work: Work, strings: Strings) -> str:
    """The framework by what tells it; only TensorFlow runs ops without compiled modules."""
    modules = {strings[each["hlo_module"]] for each in work.descriptions} - {""}
    of_tensorflow = any(each["annotation"] or each["level 0"] for each in work.descriptions)
    return _stated_framework(space, modules) or ("TensorFlow" if of_tensorflow or not modules else "JAX")


def _stated_framework(space: Space, modules: set[str]) -> str:
    """The framework by what it says of itself, or by the names of modules and of the host's events; else empty."""
    if _session(space).get("jax_version", "unknown") != "unknown":
        return "JAX"
    names = [each.name for plane in space.planes if plane.is_host for each in plane.metadata.values()]
    for framework, pattern in _FRAMEWORKS.items():
        if any(map(pattern.match, (*modules, *names))):
            return framework
    return ""


def _one_each(gpus: list[Plane]) -> list[Plane]:
    return [plane for _, plane in sorted({plane.gpu: plane for plane in gpus}.items())]


def _device(plane: Plane) -> Device:
    def number(name: str) -> int:
        value = plane.stats.get(name, 0)
        return value if isinstance(value, int) and 0 <= value < 1 << 62 else 0

    major, minor = number("compute_cap_major"), number("compute_cap_minor")
    count, memory = number("core_count"), number("memory_size")
    stated = plane.stats.get("gpu_device_name", "")
    if isinstance(stated, str) and stated:
        name = stated
    elif plane.stats.get("device_vendor") == "AMD":
        # The marketing name does not follow from these numbers.
        name = f"AMD {AMD_ARCHITECTURES.get((major, minor), 'GPU')}" + (f", {count} CUs" if count else "")
        major = minor = 0
    else:
        name = _GPUS.get((major, minor, count), "")
        if name == "NVIDIA H100" and memory > _H200_BYTES:
            name = "NVIDIA H200"
        if not name and major:
            name = f"NVIDIA GPU {major}.{minor}" + (f", {count} SMs" if count else "")
    return Device(plane.gpu, name, major, minor, count, memory)


def _no_syncs() -> Syncs:
    long, short = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Syncs(long, long, short, short, long, long, short, long)


def _no_links() -> ForwardLinks:
    long, short = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return ForwardLinks(short, long, short, long)
