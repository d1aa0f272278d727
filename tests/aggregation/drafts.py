"""Small profiles for tests, written as nested lists: ops, their calls, and what each call did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import CaptureInfo, Device, Int64s, MemoryEvents, Strings
from tensorboard_plugin_dlprof.profile.tables import (
    Calls,
    Copies,
    Coverage,
    GraphLaunches,
    IdleFrames,
    Instances,
    IterationCandidate,
    Kernels,
    ModelConfig,
    Op,
    Profile,
    Syncs,
    TimeSpans,
)

Span = tuple[int, int]


@dataclass
class Work:
    """``kind``: kernel, memcpy, memset, graph, sync or call. ``api`` is ``None`` where no call was recorded."""

    kind: str
    gpu: Span = (0, 0)
    api: Span | None = (0, 0)
    name: str = "kernel"
    unit: MatrixUnit = MatrixUnit.NO
    device: int = 0
    thread: int = 1


@dataclass
class Call:
    """One instance of an op."""

    start: int
    stop: int
    work: list[Work] = field(default_factory=list)
    thread: int = 1


@dataclass
class DraftOp:
    """An op with its calls."""

    op_id: str
    name: str
    calls: list[Call]
    eligibility: Eligibility = Eligibility.NOT_ELIGIBLE
    data_type: str = "float32"
    direction: str = "fprop"

    @property
    def op_type(self) -> str:
        """``LINEAR_1`` is of the type ``linear``."""
        return self.op_id.rpartition("_")[0].lower()


def profile_of(
    ops: Sequence[DraftOp],
    iterations: Sequence[Span] = ((0, 1_000),),
    first_iteration: int = 0,
    devices: Sequence[int] = (0,),
    data_loader: Sequence[Span] = (),
    io: Sequence[Span] = (),
    dlprof_markers: bool = False,
    end_ns: int = 1_000,
    source: str = "profiler_step",
    idle_frames: Sequence[tuple[int, int, str, str]] = (),
) -> Profile:
    """The profile of some ops, its rows in DLProf's order."""
    strings = Strings()
    ops = sorted(ops, key=lambda op: (_bytes(op.name), _bytes(op.op_id)))
    rows: dict[str, list[tuple[int, int, Work]]] = {
        kind: [] for kind in ("kernel", "memcpy", "memset", "graph", "sync", "call")
    }
    instances: list[tuple[int, Call]] = []
    for number, op in enumerate(ops):
        for instance, call in enumerate(sorted(op.calls, key=lambda call: call.start)):
            instances.append((number, call))
            for work in call.work:
                rows[work.kind].append((number, instance, work))
    for table in rows.values():
        table.sort(key=lambda row: (row[0], _bytes(row[2].name), _api(row[2])[0]))
    text = strings.intern('["x"]\n')
    count = len(instances)
    return Profile(
        info=CaptureInfo("pytorch", end_ns=end_ns, recorded=frozenset({"ops"})),
        strings=strings,
        ops=[
            Op(op.op_id, op.name, op.op_type, op.direction, op.data_type, "", "", "", op.eligibility, "train.py:1")
            for op in ops
        ],
        instances=Instances(
            op=np.array([op for op, _ in instances], np.int32),
            start_ns=_int64([call.start for _, call in instances]),
            end_ns=_int64([call.stop for _, call in instances]),
            process_id=np.ones(count, np.int64),
            thread_id=_int64([call.thread for _, call in instances]),
            input_names=np.full(count, text, np.int32),
            input_shapes=np.full(count, text, np.int32),
            output_names=np.full(count, text, np.int32),
            output_shapes=np.full(count, text, np.int32),
            parameters=np.full(count, text, np.int32),
        ),
        kernels=_kernels(rows["kernel"], strings),
        kernel_classes={
            strings.intern(_long_name(work)): KernelClass(work.unit, "gemm", "cublas", "fp16", "test")
            for _, _, work in rows["kernel"]
        },
        memcpys=_copies(rows["memcpy"], strings, copy_kind=1),
        memsets=_copies(rows["memset"], strings, copy_kind=-1),
        syncs=_syncs(rows["sync"], strings),
        calls=_calls(rows["call"], strings),
        graphs=_graphs(rows["graph"]),
        devices=[Device(device, f"GPU {device}") for device in devices],
        data_loader=_spans(data_loader),
        io=_spans(io),
        memory=empty(MemoryEvents),
        iterations=[
            IterationCandidate(
                source,
                "ProfilerStep#N",
                np.arange(first_iteration, first_iteration + len(iterations), dtype=np.int64),
                _int64([start for start, _ in iterations]),
                _int64([stop for _, stop in iterations]),
            )
        ],
        model_config=ModelConfig(),
        gpu_memory_bytes=(0, 0),
        coverage=Coverage(1, 7_000_000, 3, 9_500_000, skipped={"events without a time": 3}),
        dlprof_markers=dlprof_markers,
        idle_frames=IdleFrames(
            _int64([start for start, *_ in idle_frames]),
            _int64([stop for _, stop, *_ in idle_frames]),
            np.array([strings.intern(function) for *_, function, _ in idle_frames], np.int32),
            np.array([strings.intern(innermost) for *_, innermost in idle_frames], np.int32),
        ),
    )


def _long_name(work: Work) -> str:
    """The class of a kernel is that of its long name, so kernels of two classes have two."""
    return f"{work.name}<{work.unit.name}>"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _api(work: Work) -> Span:
    return (work.gpu[0], work.gpu[0]) if work.api is None else work.api


def _int64(values: Sequence[int]) -> Int64s:
    return np.array(values, np.int64)


def _spans(spans: Sequence[Span]) -> TimeSpans:
    return TimeSpans(_int64([start for start, _ in spans]), _int64([stop for _, stop in spans]))


Rows = list[tuple[int, int, Work]]


def _kernels(rows: Rows, strings: Strings) -> Kernels:
    count = len(rows)
    return Kernels(
        op=np.array([op for op, _, _ in rows], np.int32),
        instance=np.array([instance for _, instance, _ in rows], np.int32),
        name=np.array([strings.intern(work.name) for _, _, work in rows], np.int32),
        long_name=np.array([strings.intern(_long_name(work)) for _, _, work in rows], np.int32),
        matrix_unit=np.array([work.unit for _, _, work in rows], np.int8),
        api_start_ns=_int64([_api(work)[0] for _, _, work in rows]),
        api_end_ns=_int64([_api(work)[1] for _, _, work in rows]),
        start_ns=_int64([work.gpu[0] for _, _, work in rows]),
        end_ns=_int64([work.gpu[1] for _, _, work in rows]),
        grid=np.array([[row % 3 + 1, 1, 1] for row in range(count)], np.int32).reshape(-1, 3),
        block=np.array([[32, row % 2 + 1, 1] for row in range(count)], np.int32).reshape(-1, 3),
        device=np.array([work.device for _, _, work in rows], np.int32),
        process_id=np.ones(count, np.int64),
        thread_id=_int64([work.thread for _, _, work in rows]),
        stream=np.full(count, 7, np.int64),
        registers=np.full(count, 40, np.int32),
        static_shared_bytes=np.full(count, 128, np.int64),
        dynamic_shared_bytes=np.zeros(count, np.int64),
        occupancy_percent=np.full(count, 50, np.int32),
        launched=np.array([work.api is not None for _, _, work in rows], np.int8),
    )


def _copies(rows: Rows, strings: Strings, copy_kind: int) -> Copies:
    count = len(rows)
    return Copies(
        op=np.array([op for op, _, _ in rows], np.int32),
        instance=np.array([instance for _, instance, _ in rows], np.int32),
        name=np.array([strings.intern(work.name) for _, _, work in rows], np.int32),
        api_start_ns=_int64([_api(work)[0] for _, _, work in rows]),
        api_end_ns=_int64([_api(work)[1] for _, _, work in rows]),
        start_ns=_int64([work.gpu[0] for _, _, work in rows]),
        end_ns=_int64([work.gpu[1] for _, _, work in rows]),
        num_bytes=np.full(count, 4096, np.int64),
        copy_kind=np.full(count, copy_kind, np.int32),
        device=np.array([work.device for _, _, work in rows], np.int32),
        process_id=np.ones(count, np.int64),
        thread_id=_int64([work.thread for _, _, work in rows]),
        stream=np.full(count, 9, np.int64),
        launched=np.array([work.api is not None for _, _, work in rows], np.int8),
    )


def _syncs(rows: Rows, strings: Strings) -> Syncs:
    count = len(rows)
    return Syncs(
        op=np.array([op for op, _, _ in rows], np.int32),
        instance=np.array([instance for _, instance, _ in rows], np.int32),
        name=np.array([strings.intern(work.name) for _, _, work in rows], np.int32),
        api_start_ns=_int64([_api(work)[0] for _, _, work in rows]),
        api_end_ns=_int64([_api(work)[1] for _, _, work in rows]),
        sync_type=np.full(count, 3, np.int32),
        event_id=np.full(count, 4294967295, np.int64),
        device=np.zeros(count, np.int32),
        process_id=np.ones(count, np.int64),
        thread_id=_int64([work.thread for _, _, work in rows]),
    )


def _calls(rows: Rows, strings: Strings) -> Calls:
    return Calls(
        op=np.array([op for op, _, _ in rows], np.int32),
        instance=np.array([instance for _, instance, _ in rows], np.int32),
        name=np.array([strings.intern(work.name) for _, _, work in rows], np.int32),
        api_start_ns=_int64([_api(work)[0] for _, _, work in rows]),
        api_end_ns=_int64([_api(work)[1] for _, _, work in rows]),
        process_id=np.ones(len(rows), np.int64),
        thread_id=_int64([work.thread for _, _, work in rows]),
    )


def _graphs(rows: Rows) -> GraphLaunches:
    return GraphLaunches(
        op=np.array([op for op, _, _ in rows], np.int32),
        instance=np.array([instance for _, instance, _ in rows], np.int32),
        start_ns=_int64([work.gpu[0] for _, _, work in rows]),
        end_ns=_int64([work.gpu[1] for _, _, work in rows]),
        device=np.array([work.device for _, _, work in rows], np.int32),
        stream=np.full(len(rows), 7, np.int64),
    )
