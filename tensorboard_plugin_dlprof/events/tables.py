"""The neutral event tables, which every importer produces and from which profiles are built.

There is one column store per kind of event. A table of n rows has one NumPy array of length n per column; rows are in
any order (``linking`` sorts what it needs). Texts are interned in ``Capture.strings`` and stored as ids; id 0 is the
empty text and means "not recorded". Times are integer nanoseconds since the start of the capture;
``CaptureInfo.base_time_ns`` is that start on the source's clock, so that captures of several ranks can share an axis.
A missing integer is -1 unless the column says otherwise.
"""

from __future__ import annotations

import enum
from functools import partial
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.memory_tables import History
from tensorboard_plugin_dlprof.events.strings import Strings as Strings
from tensorboard_plugin_dlprof.events.strings import valid_text as valid_text


class RangeKind(enum.IntEnum):
    """Kind of a host range (event model, section 2)."""

    OP = 0
    """A framework operator: PyTorch ``cpu_op``, ``aten::*`` of ``emit_nvtx``, a TensorRT layer."""
    MODULE = 1
    """A call of an ``nn.Module`` or a ``layer:`` range."""
    ANNOTATION = 2
    """A range that the user or a library named: ``record_function``, plain NVTX push/pop."""
    ITERATION = 3
    """``ProfilerStep#N``: an interval of the process, never a parent of other ranges."""
    FRAME = 4
    """A Python function on the stack."""
    SPAN = 5
    """An NVTX start/end range: may cross threads and overlap, so it is never a parent."""
    DLPROF_TRACE = 6
    """DLProf's marker with ``traceMarker`` and ``funcStack``, as a Python literal."""
    DLPROF_OP = 7
    """DLProf's marker with ``mod``, ``op`` and ``args``, as a Python literal."""
    DLPROF_CONFIG = 8
    """DLProf's marker with ``model_config``, as JSON."""
    GRAPH_OP = 9
    """One execution of an op of a compiled program, which the source describes (``GraphOp``)."""


class WorkKind(enum.IntEnum):
    """Kind of device work."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3
    """A CUDA graph that was launched and recorded as a whole: its kernels are not recorded individually."""


Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Rows = npt.NDArray[np.signedinteger]
"""Row numbers of a table, as 32-bit or 64-bit integers."""

COPIES: Final = ("HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP")
"""CUPTI's kinds of copies, from 1: between host, device, array and peer."""

UNIFIED_COPIES: Final = (11, 12, 13)
"""CUPTI's kinds of copies of unified memory: to the device, to the host, between devices."""


class Ranges(msgspec.Struct):
    """Host ranges: one row per range on a host thread."""

    start_ns: Int64s
    end_ns: Int64s
    thread: Int32s
    """Row of ``Capture.threads``."""
    kind: Int8s
    """``RangeKind``."""
    name: Int32s
    domain: Int32s
    """NVTX domain name; 0 is the default domain."""
    shapes: Int32s
    """Shapes of the inputs as JSON text (``[[1,3,32,32],[]]``), as the source wrote them."""
    dtypes: Int32s
    """Types of the inputs as JSON text (``["float","Scalar"]``), parallel to ``shapes``."""
    parameters: Int32s
    """Values of the scalar inputs as JSON text (PyTorch's ``Concrete Inputs``), parallel to ``shapes``."""
    stack: Int32s
    """Call stack as the source wrote it (PyTorch's ``Call stack``), innermost frame first, ``;`` between."""
    group: Int32s
    """Process group of a collective (``Process Group Name``)."""
    sequence: Int64s
    """Autograd sequence number: a forward op and its backward node share it."""
    forward_thread: Int64s
    """PyTorch's ``Fwd thread id``: above 0 on backward nodes."""


class Frames(msgspec.Struct):
    """Long calls of Python functions: one row per call, whether or not an op ran inside it.

    ``Ranges`` selects frames differently: those, long or short, in which an op, a module or an API call begins.
    """

    start_ns: Int64s
    end_ns: Int64s
    thread: Int32s
    kind: Int8s
    """``RangeKind``."""
    name: Int32s
    """File, line and function as recorded (``train.py(42): step``), or the name recorded for a built-in function."""


class Calls(msgspec.Struct):
    """Host calls of the CUDA or HIP runtime or driver: one row per call."""

    start_ns: Int64s
    end_ns: Int64s
    thread: Int32s
    name: Int32s
    correlation: Int64s
    """Pairs the call with its device work and synchronisations, within one process."""


class TensorSamples(msgspec.Struct):
    """Tensor Core activity since the previous sample of the same GPU: one row per sample, by device and time."""

    device: Int32s
    time_ns: Int64s
    active_percent: Int64s
    """Percentage of cycles with active Tensor Cores, 0 to 100."""


class DeviceWork(msgspec.Struct):
    """Kernels, copies, sets and whole-graph launches: one row per piece of work."""

    kind: Int8s
    """``WorkKind``."""
    start_ns: Int64s
    end_ns: Int64s
    process: Int32s
    """Host process id, the scope of ``correlation``; 0 where the source has one process only."""
    device: Int32s
    """``Device.device_id``."""
    stream: Int64s
    correlation: Int64s
    name: Int32s
    """Full (demangled) name of a kernel, or the source's name of a copy, set or graph launch."""
    short_name: Int32s
    """Name of a kernel without template arguments and parameters, like Nsight's ``shortName``."""
    grid: Int32s
    """Blocks in x, y, z: shape (n, 3); 0 where not recorded."""
    block: Int32s
    """Threads in x, y, z: shape (n, 3); 0 where not recorded."""
    registers: Int32s
    """Registers per thread."""
    static_shared_bytes: Int64s
    dynamic_shared_bytes: Int64s
    occupancy_percent: Int32s
    """Achieved occupancy as the profiler estimated it from the grid and the device; -1 where not recorded."""
    num_bytes: Int64s
    """Bytes copied or set; -1 if not recorded, and for kernels."""
    copy_kind: Int32s
    """CUPTI's number: 1 host to device, 2 device to host, 8 device to device, 10 peer to peer; ``UNIFIED_COPIES``."""
    graph_node: Int64s


class Syncs(msgspec.Struct):
    """CUPTI's records of synchronisations: one row per record. ``Calls`` has the host call of the same correlation."""

    start_ns: Int64s
    end_ns: Int64s
    process: Int32s
    device: Int32s
    stream: Int64s
    correlation: Int64s
    sync_type: Int32s
    event_id: Int64s


class MemoryEvents(msgspec.Struct):
    """Allocations and frees of the framework's allocator: one row per event."""

    time_ns: Int64s
    thread: Int32s
    device: Int32s
    """``Device.device_id``, -1 for host memory."""
    num_bytes: Int64s
    """Size allocated (positive) or freed (negative)."""
    allocated_bytes: Int64s
    """Running total after the event."""
    reserved_bytes: Int64s
    """Held by the allocator after the event."""
    address: Int64s | None = None
    """Of the block; -1 where not recorded, None for all."""
    op: Int32s | None = None
    """Row of ``Profile.ops`` of the op in which it happened, -1 for none; None if nobody asked."""
    phase: Int8s | None = None
    """``memory_tables.Phase``; None if nobody asked."""
    asked_bytes: Int64s | None = None
    """What an allocation asked for that failed; 0 for other events, None where none failed."""
    of_driver: bool = False
    """Whether these are allocations of the driver, not of the framework's allocator."""


class ForwardLinks(msgspec.Struct):
    """PyTorch's ``fwdbwd`` arrows: one row per arrow from a time in a forward op to a time in its backward node."""

    forward_thread: Int32s
    forward_ns: Int64s
    backward_thread: Int32s
    backward_ns: Int64s


class GraphOp(msgspec.Struct):
    """An op of a compiled program (XLA, a graph of TensorFlow), as the source describes it."""

    path: str
    op_type: str
    direction: str
    """``fprop``, ``bprop`` or empty."""
    key: str
    """Identifies the op in the capture; several ops may have one path."""
    stack: str = ""
    """As ``Ranges.stack``."""
    shapes: str = ""
    """Shapes of its operands, as ``Ranges.shapes``; empty if unknown."""
    dtypes: str = ""
    products: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    """The matrix products that it consists of, as PyTorch's ops: name, shapes and types as in ``Ranges``."""


class MarkedIterations(msgspec.Struct):
    """Iterations that the source itself marks. Intervals are disjoint and ascending."""

    source: str
    """``step_annotation`` or ``module_run``."""
    label: str
    values: Int64s
    start_ns: Int64s
    stop_ns: Int64s


class Collectives(msgspec.Struct):
    """What the source says about communication between GPUs: one row per piece of device work that it describes."""

    work: Int64s
    """Row of ``DeviceWork``, ascending."""
    call: Int32s
    """Name of the operation as the source wrote it (``allreduce``, ``ncclAllGather``)."""
    process_group: Int32s
    """Row of ``Capture.process_groups``; -1 if unknown, like every number below."""
    sequence: Int64s
    """Number of the operation in its group, the same on all ranks. Coalesced operations share one."""
    comms_id: Int64s
    """Number of the operation in the job, the same on all ranks."""
    in_elements: Int64s
    out_elements: Int64s
    """Elements that this rank puts in and gets out."""
    element_bytes: Int32s
    """Size of an element; 0 if its type is unknown."""
    split: Int8s
    """1 if ranks exchange parts of different sizes, else 0."""
    source: Int32s
    destination: Int32s
    """Ranks that send and receive, for operations between two."""


class ProcessGroup(msgspec.Struct, frozen=True):
    """Ranks that communicate with each other."""

    name: str
    """Unique within one process only."""
    description: str
    """``default_pg``, ``mesh_tp``, ...; empty if unknown."""
    ranks: tuple[int, ...]
    """Ascending; empty if unknown."""
    size: int
    """Number of ranks; -1 if unknown."""
    text: str = ""
    """The ranks as the source wrote them, if it cut the list."""


class Thread(msgspec.Struct, frozen=True):
    """One host thread."""

    process_id: int
    thread_id: int
    name: str = ""


class Device(msgspec.Struct, frozen=True):
    """One GPU. Unknown numbers are 0, unknown texts empty."""

    device_id: int
    """The number that device work refers to: for PyTorch the trace's device, for Nsight the GPU id."""
    name: str = ""
    capability_major: int = 0
    capability_minor: int = 0
    sm_count: int = 0
    memory_bytes: int = 0
    cuda_ordinal: int = -1
    """The number by which CUDA counts it in the processes that used it, where it is recorded beside ``device_id``; -1
    if it is not, or if they differ."""


class CaptureInfo(msgspec.Struct):
    """Metadata of the source. Unknown texts are empty, unknown numbers -1."""

    source_format: str
    """``nsight_systems``, ``pytorch`` or ``xplane``."""
    base_time_ns: int = 0
    """Start of the capture on the source's clock."""
    base_offset_ns: int = 0
    """What the source says once for all of its times, and ``base_time_ns`` includes (``baseTimeNanoseconds``)."""
    end_ns: int = 0
    """End of the last event, since the start of the capture."""
    utc_start_ns: int = -1
    """Wall-clock time of the start, nanoseconds since 1970, where known."""
    tool_version: str = ""
    framework: str = ""
    cuda_version: str = ""
    driver_version: str = ""
    cudnn_version: str = ""
    nsys_version: str = ""
    cpu_model: str = ""
    host_name: str = ""
    rank: int = -1
    world_size: int = -1
    recorded: frozenset[str] = frozenset()
    """The kinds of data that were recorded: ops, shapes, stacks, modules, memory, steps, nvtx, io, syncs, graphs."""
    thinned: int = -1
    """1 if a part of all events was left out after the recording, as when a trace is sampled; -1 if nobody knows."""
    profile_name: str = ""
    reported: str = ""
    """What came of GPU work that the recorder was to record and did not, mostly in its own words."""


class Capture(msgspec.Struct):
    """Everything an importer read from one source."""

    info: CaptureInfo
    strings: Strings
    threads: list[Thread]
    devices: list[Device]
    """Ordered by ``device_id``; includes every device that work refers to, even those without a known name."""
    ranges: Ranges
    calls: Calls
    work: DeviceWork
    syncs: Syncs
    memory: MemoryEvents
    forward_links: ForwardLinks
    os_calls: Calls = msgspec.field(default_factory=partial(empty, Calls))
    """System calls of all threads that read or write files and sockets; ``correlation`` is -1.
    Waits, locks and memory mappings are left out. Empty if the source does not trace system calls."""
    frames: Frames = msgspec.field(default_factory=partial(empty, Frames))
    """Empty if the source does not record the times of Python function calls."""
    store: ColumnStore = msgspec.field(default_factory=ColumnStore)
    """Stores long columns of the capture, and columns derived from them."""
    tensor_samples: TensorSamples = msgspec.field(default_factory=partial(empty, TensorSamples))
    graph_ops: dict[int, GraphOp] = msgspec.field(default_factory=dict)
    """Ops of ranges of kind ``GRAPH_OP``, by ``Ranges.name``."""
    work_range: Rows | None = None
    """The range (row) of the op that each piece of device work belongs to, -1 where its call decides; None for all."""
    iterations: list[MarkedIterations] = msgspec.field(default_factory=list)
    """Best first; they come before those that are found by names."""
    collectives: Collectives = msgspec.field(default_factory=partial(empty, Collectives))
    process_groups: list[ProcessGroup] = msgspec.field(default_factory=list)
    """Those that the source lists, used or not."""
    process_ranks: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Process id -> its rank and the number of ranks, where the source has several processes or says so of each."""
    memory_histories: list[History] = msgspec.field(default_factory=list)
    """The memory of each GPU, of sources that tell nothing else (memory snapshots)."""
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    """Number of events that could not be used, by reason. The reasons are shown to the user."""
