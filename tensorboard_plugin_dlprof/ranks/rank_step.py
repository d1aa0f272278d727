"""The rank step: what an import stores of each rank in a file (reference: ``README.md``)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.intervals import (
    Intervals,
    covered,
    intersect,
    subtract,
    union,
    union_of,
)
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Activity
from tensorboard_plugin_dlprof.events.tables import Capture, DeviceWork, Int64s, ProcessGroup, WorkKind
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows, Parts, RankTables
from tensorboard_plugin_dlprof.profile.tables import Profile

_MARKS = (
    ("reducescatter", Collective.REDUCE_SCATTER),
    ("allreduce", Collective.ALL_REDUCE),
    ("allgather", Collective.ALL_GATHER),
    ("alltoall", Collective.ALL_TO_ALL),
    ("broadcast", Collective.BROADCAST),
    ("barrier", Collective.BARRIER),
    ("sendrecv", Collective.SEND_RECV),
    ("send", Collective.SEND_RECV),
    ("recv", Collective.SEND_RECV),
    ("reduce", Collective.REDUCE),
    ("gather", Collective.GATHER),
    ("scatter", Collective.SCATTER),
)
"""Parts of the names of operations and kernels; the first that fits tells the kind."""

_COLLECTIVE_MARKS = ("allreduce", "reducescatter", "allgather", "alltoall")
_PRODUCT_MARKS = ("gemm", "matmul")
"""Parts of the names of kernels in which both are fused."""

_PRIMES = np.array([73_856_093, 19_349_663, 83_492_791], np.int64)
_MASK = (1 << 32) - 1

_IDLE = (
    *(Part.DATA_LOADER, Part.QUEUED, Part.BLOCKED, Part.LAUNCHING, Part.HOST_OP, Part.HOST_CODE, Part.IO),
    Part.LAUNCH_UNKNOWN,
)
"""The parts of idle time, by precedence where GPUs of one process wait for different ones; what is left is
``UNRECORDED``."""

_UNRECORDED = ("graph", "unexplained")
"""Details of waiting in a queue for which nothing recorded is the reason."""


def rank_tables(capture: Capture, profile: Profile) -> list[RankTables]:
    """What is stored of each rank: one for every process that ran kernels, or of the only one, by process id.

    Args:
        capture: what the profile was built from.
        profile: says what kernels do, which iterations there are and when data was loaded.
    """
    work = capture.work
    runs = work.kind == WorkKind.KERNEL
    processes = distinct_values(work.process[runs]).tolist() or [0]
    alone = len(processes) == 1
    tables = []
    for process in processes:
        rows = np.arange(len(work.kind)) if alone else np.flatnonzero(work.process == process)
        tables.append(_of_process(capture, profile, process, rows, alone))
    return tables


def _of_process(capture: Capture, profile: Profile, process: int, rows: Int64s, alone: bool) -> RankTables:
    work, info = capture.work, capture.info
    texts = [text for text, kind in profile.kernel_classes.items() if kind.family == "collective"]
    kinds, start, end = work.kind[rows], work.start_ns[rows], work.end_ns[rows]
    kernels = kinds == WorkKind.KERNEL
    communicates = kernels & are_among(work.name[rows], texts)
    computes = (kernels & ~communicates) | (kinds == WorkKind.GRAPH)
    copies = ~kernels & (kinds != WorkKind.GRAPH)
    compute = union_of([(start, end, computes)])
    communication = union_of([(start, end, communicates)])
    memory = union_of([(start, end, copies)])
    used = distinct_values(work.device[rows]).tolist()
    cover = _Cover(
        compute,
        communication,
        memory,
        tensor=_kernels(profile, used, MatrixUnit.YES),
        other=_kernels(profile, used, MatrixUnit.NO),
        idle={part: _waits(profile.activity, used, part) for part in _IDLE},
    )
    candidate = profile.iterations[0]
    devices, device = numbered(work.device[rows][kernels])
    most = int(devices[np.bincount(device).argmax()]) if len(devices) else -1
    rank, size = capture.process_ranks.get(process, (info.rank if alone else -1, -1))
    if rank < 0 and alone:
        ranks = list(capture.process_ranks.values())
        rank = ranks[0][0] if len(ranks) == 1 else -1
    return RankTables(
        process_id=process,
        rank=rank,
        world_size=max([size, info.world_size, rank + 1 if rank >= 0 else -1, *_sizes(capture.process_groups)]),
        host_name=info.host_name,
        device=most,
        gpu_name=next((each.name for each in capture.devices if each.device_id == most), ""),
        kernels=int(np.count_nonzero(kernels)),
        graphs=int(np.count_nonzero(kinds == WorkKind.GRAPH)),
        fused=int(np.count_nonzero(kernels & ~communicates & are_among(work.name[rows], _fused(capture, profile)))),
        whole=cover.parts(*cover.extent()),
        iterations=candidate.values.astype(np.int64),
        parts=cover.parts(candidate.start_ns, candidate.stop_ns),
        groups=capture.process_groups,
        communication=_communication(capture, profile, rows, communicates, computes & kernels, cover),
        overlap_start_ns=cover.overlap.start,
        overlap_stop_ns=cover.overlap.stop,
    )


def _fused(capture: Capture, profile: Profile) -> list[int]:
    """Names of kernels that multiply matrices and, as these say, communicate meanwhile."""
    texts = capture.strings.texts()
    names = ((text, re.sub(r"[_\- ]", "", texts[text]).lower()) for text in profile.kernel_classes)
    return [
        text
        for text, name in names
        if any(mark in name for mark in _COLLECTIVE_MARKS) and any(mark in name for mark in _PRODUCT_MARKS)
    ]


def _sizes(groups: Sequence[ProcessGroup]) -> Iterator[int]:
    """Numbers of ranks that the job has at least, as its process groups show."""
    for group in groups:
        if group.description == "default_pg":
            yield group.size
        yield max(group.ranks, default=-1) + 1


class _Cover:
    """The time that each kind of GPU work covers."""

    def __init__(
        self,
        compute: Intervals,
        communication: Intervals,
        memory: Intervals,
        tensor: Intervals,
        other: Intervals,
        idle: Mapping[Part, Intervals],
    ) -> None:
        self.compute = compute
        self.communication = communication
        self.overlap = intersect(compute, communication)
        self.exposed = subtract(communication, compute)
        self.kernels = _joined(compute, communication)
        self.copies = subtract(memory, self.kernels)
        self.busy = _joined(self.kernels, memory)
        self.tensor = intersect(tensor, compute)
        self.other = subtract(intersect(other, compute), tensor)
        # One GPU of several may wait while another works.
        self.idle: dict[Part, Intervals] = {}
        taken = union_of([])
        for part in _IDLE:
            self.idle[part] = subtract(subtract(idle[part], self.busy), taken)
            taken = _joined(taken, self.idle[part])

    def extent(self) -> tuple[Int64s, Int64s]:
        """Start and stop of the time from the first to the last GPU work, as columns of one row, or none."""
        return self.busy.start[:1], self.busy.stop[-1:]

    def parts(self, start: Int64s, stop: Int64s) -> Parts:
        """The parts of each window."""
        compute, exposed = covered(self.compute, start, stop), covered(self.exposed, start, stop)
        copies = covered(self.copies, start, stop)
        idle = (stop - start) - compute - exposed - copies
        causes = {part: covered(times, start, stop) for part, times in self.idle.items()}
        tensor, other = covered(self.tensor, start, stop), covered(self.other, start, stop)
        return Parts(
            start_ns=start.astype(np.int64),
            stop_ns=stop.astype(np.int64),
            compute_ns=compute,
            exposed_communication_ns=exposed,
            exposed_copy_ns=copies,
            idle_ns=idle,
            communication_ns=covered(self.communication, start, stop),
            compute_tensor_ns=tensor,
            compute_other_ns=other,
            compute_unknown_ns=compute - tensor - other,
            **{f"{part.label}_ns": times for part, times in causes.items()},
            unrecorded_ns=idle - sum(causes.values()),
        )


def _joined(one: Intervals, other: Intervals) -> Intervals:
    return union_of([(one.start, one.stop), (other.start, other.stop)])


def _communication(
    capture: Capture,
    profile: Profile,
    rows: Int64s,
    communicates: npt.NDArray[np.bool_],
    computes: npt.NDArray[np.bool_],
    cover: _Cover,
) -> CommunicationRows:
    work = capture.work
    operations = rows[communicates]
    if not len(operations):
        return empty(CommunicationRows)
    operations = operations[np.lexsort((work.end_ns[operations], work.start_ns[operations]))]
    start, end = work.start_ns[operations].astype(np.int64), work.end_ns[operations].astype(np.int64)
    described = capture.collectives
    place = np.searchsorted(described.work, operations)
    place[place == len(described.work)] = 0
    is_described = described.work[place] == operations if len(described.work) else np.zeros(len(operations), np.bool_)

    def column(values: npt.NDArray[np.signedinteger]) -> Int64s:
        result = np.full(len(operations), -1, np.int64)
        result[is_described] = values[place[is_described]]
        return result

    begin = min([int(cover.busy.start[0]), *profile.iterations[0].start_ns[:1].tolist()])
    first = np.full(len(start), begin, np.int64)
    idle_of_loader = subtract(union(profile.data_loader.start_ns, profile.data_loader.stop_ns), cover.busy)
    held = subtract(
        _waits(profile.activity, distinct_values(work.device[rows]).tolist(), Part.QUEUED, _UNRECORDED), cover.busy
    )
    loading = subtract(idle_of_loader, held)
    count, duration, signature = _kernels_before(work, capture, rows[computes], start)
    return CommunicationRows(
        start_ns=start,
        end_ns=end,
        iteration=_iteration_of(profile, start),
        kind=_kinds(capture, operations, column(described.call)),
        group=column(described.process_group),
        sequence=column(described.sequence),
        comms_id=column(described.comms_id),
        in_elements=column(described.in_elements),
        out_elements=column(described.out_elements),
        element_bytes=column(described.element_bytes),
        split=np.maximum(column(described.split), 0),
        source=column(described.source),
        destination=column(described.destination),
        stream=work.stream[operations].astype(np.int64),
        compute_ns_before=covered(cover.compute, first, start),
        exposed_communication_ns_before=covered(cover.exposed, first, start),
        exposed_copy_ns_before=covered(cover.copies, first, start),
        input_ns_before=covered(loading, first, start),
        held_ns_before=covered(held, first, start),
        kernels_before=count,
        kernel_ns_before=duration,
        work_before=signature,
    )


def _waits(activity: Activity, devices: Sequence[int], part: Part, details: Sequence[str] = ()) -> Intervals:
    """When these GPUs are idle for this reason, of all or some details: for ``_UNRECORDED`` ones, launched work waits
    although nothing recorded runs, as others use them or work is missing."""
    waits = np.array(
        [each.part == part and (not details or each.detail in details) for each in activity.causes], np.bool_
    )
    return union_of(
        [(each.start_ns, each.stop_ns, waits[each.cause]) for each in activity.devices if each.device in devices]
    )


def _kernels(profile: Profile, devices: Sequence[int], unit: MatrixUnit) -> Intervals:
    """When kernels run on these GPUs that use matrix units, or do not, or may."""
    kernels = profile.kernels
    return union_of(
        [(kernels.start_ns, kernels.end_ns, (kernels.matrix_unit == unit) & are_among(kernels.device, devices))]
    )


def _iteration_of(profile: Profile, time: Int64s) -> Int64s:
    """Number of the iteration whose window contains each time; -1 if there is none."""
    candidate = profile.iterations[0]
    place = np.searchsorted(candidate.start_ns, time, side="right") - 1
    inside = (place >= 0) & (time < candidate.stop_ns[place])
    return np.where(inside, candidate.values[place], -1)


def _kinds(capture: Capture, rows: Int64s, call: Int64s) -> Int64s:
    """The kind of each row, by the name of its operation if there is one that tells, else by that of its kernel."""
    texts = capture.strings.texts()
    known: dict[int, Collective] = {}

    def kind(text: int) -> Collective:
        if text not in known:
            name = re.sub(r"[_\- ]", "", texts[text]).lower()
            known[text] = next((kind for mark, kind in _MARKS if mark in name), Collective.OTHER)
        return known[text]

    names = zip(call.tolist(), capture.work.name[rows].tolist(), strict=True)
    return np.array(
        [(kind(description) if description >= 0 else 0) or kind(name) for description, name in names], np.int64
    )


def _kernels_before(work: DeviceWork, capture: Capture, kernels: Int64s, time: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Number, total duration and signature of the kernels that begin before each time."""
    kernels = kernels[np.argsort(work.start_ns[kernels], kind="stable")]
    before = np.searchsorted(work.start_ns[kernels], time)
    duration = (work.end_ns[kernels] - work.start_ns[kernels]).astype(np.int64)
    texts = capture.strings.texts()
    distinct, name = numbered(work.name[kernels])
    sums = np.array([zlib.crc32(texts[text].encode()) for text in distinct.tolist()], np.int64)
    grids = (work.grid[kernels].astype(np.int64) @ _PRIMES) & _MASK
    each = ((sums[name] if len(distinct) else grids) * 1_000_003 ^ grids) & _MASK
    return before, _sums(duration)[before], _sums(each)[before] & _MASK


def _sums(values: Int64s) -> Int64s:
    """The sum of the first n values, for n from 0 to all; wraps around beyond 64 bits."""
    total = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return total
