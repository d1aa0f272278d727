"""A profile: DLProf's raw tables as columns.

``events`` builds a profile from a capture, ``database`` writes it to SQLite and reads it back, also from NVIDIA's
databases, and ``aggregation`` computes everything else from it.

Rows are in DLProf's order (reference: database layout, 4.1): ops by name, then op id, as UTF-8 bytes; instances by op,
then start; kernels, copies, sets, synchronisations and calls by op, name, API start. In a table of n rows, each column
is an array of length n. ``op`` is a row of ``Profile.ops``; ``instance`` is the number among the instances of that op,
from 0. Texts are ids of ``Profile.strings``; 0 is the empty text. Times are nanoseconds since the start of the capture.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, no_activity
from tensorboard_plugin_dlprof.events.memory_tables import History
from tensorboard_plugin_dlprof.events.tables import (
    CaptureInfo,
    Device,
    Int8s,
    Int32s,
    Int64s,
    MemoryEvents,
    Strings,
)
from tensorboard_plugin_dlprof.profile.rank_tables import RankTables


class Op(msgspec.Struct):
    """One op: an operation at one position in the model, however often it was called."""

    op_id: str
    """Upper-case type, ``_``, running number: ``LINEAR_2``."""
    name: str
    """Path: ``/ResNet/Sequential[0]/conv2d``."""
    op_type: str
    direction: str
    """``fprop``, ``bprop`` or empty."""
    data_type: str
    """DLProf's spelling (``float32``, ``float16``, ``bfloat16``, ...); empty without tensor inputs."""
    data_format: str
    output_format: str
    parameters_format: str
    eligibility: Eligibility
    stack_trace: str
    """One frame per line, outermost first."""


class Instances(msgspec.Struct):
    """Calls of ops: one row per call."""

    op: Int32s
    start_ns: Int64s
    end_ns: Int64s
    process_id: Int64s
    thread_id: Int64s
    input_names: Int32s
    input_shapes: Int32s
    """Compact JSON with a trailing newline, ``null\\n`` if unknown, as DLProf stores it; so are the other texts."""
    output_names: Int32s
    output_shapes: Int32s
    parameters: Int32s


class SubOps(msgspec.Struct):
    """Recorded ops that launched the work of an instance (``addmm`` inside ``linear``), by instance.

    An instance has none if it launched nothing, or if no shapes were recorded.
    """

    instance: Int64s
    """Row of ``Instances``."""
    name: Int32s
    """Bare name: ``addmm``."""
    shapes: Int32s
    """As recorded, like the next two columns: see ``Ranges.shapes``."""
    dtypes: Int32s
    parameters: Int32s


class Kernels(msgspec.Struct):
    """Kernel launches. ``api_start_ns`` and ``api_end_ns`` equal ``start_ns`` if no call was recorded."""

    op: Int32s
    instance: Int32s
    name: Int32s
    """Short name."""
    long_name: Int32s
    matrix_unit: Int8s
    """``MatrixUnit``; DLProf's ``uses_tc`` is 1 for YES only."""
    api_start_ns: Int64s
    api_end_ns: Int64s
    start_ns: Int64s
    end_ns: Int64s
    grid: Int32s
    """Shape (n, 3)."""
    block: Int32s
    """Shape (n, 3)."""
    device: Int32s
    process_id: Int64s
    thread_id: Int64s
    stream: Int64s
    """-1 if not recorded. That holds for the next four columns too; NVIDIA's databases have none of these."""
    registers: Int32s
    static_shared_bytes: Int64s
    dynamic_shared_bytes: Int64s
    occupancy_percent: Int32s
    """Achieved occupancy as the profiler estimated it."""
    launched: Int8s
    """1 if the host call was recorded, else 0."""
    call_name: Int32s | None = None
    """Name of the call that launched each kernel, 0 where it is not recorded; None if the profile is from a
    database."""

    def override_units(self, units: Mapping[int, MatrixUnit]) -> None:
        """Set ``matrix_unit`` of all kernels with a given long name; ``units`` is by text id."""
        for unit in set(units.values()):
            proven = are_among(self.long_name, [name for name, of_name in units.items() if of_name == unit])
            self.matrix_unit = np.where(proven, np.int8(unit), self.matrix_unit)


class KernelCounters(msgspec.Struct):
    """Hardware counters of some kernels. They are not read back from a database: copies of it take them over as is."""

    kernel: Int64s
    """Row of ``Kernels``, ascending."""
    achieved_occupancy: npt.NDArray[np.float64]
    """Active warps as a fraction of the warps that a multiprocessor can hold; NaN if not measured."""
    dram_bytes: Int64s
    """Bytes read from and written to device memory; -1 if not measured."""


class Copies(msgspec.Struct):
    """Memory copies, and sets (``copy_kind`` -1). Whole-graph launches are not among them."""

    op: Int32s
    instance: Int32s
    name: Int32s
    """Name of the API call."""
    api_start_ns: Int64s
    api_end_ns: Int64s
    start_ns: Int64s
    end_ns: Int64s
    num_bytes: Int64s
    """-1 if not recorded."""
    copy_kind: Int32s
    """CUPTI's number, see ``DeviceWork.copy_kind``."""
    device: Int32s
    process_id: Int64s
    thread_id: Int64s
    stream: Int64s
    launched: Int8s
    pageable: Int8s | None = None
    """1 if the host memory is pageable, 0 if it is pinned, -1 if unknown; None if unknown for all copies."""


class Syncs(msgspec.Struct):
    """Synchronising calls: one row per call."""

    op: Int32s
    instance: Int32s
    name: Int32s
    api_start_ns: Int64s
    api_end_ns: Int64s
    sync_type: Int32s
    event_id: Int64s
    device: Int32s
    process_id: Int64s
    thread_id: Int64s


class Calls(msgspec.Struct):
    """API calls without device work and synchronisation: one row per call."""

    op: Int32s
    instance: Int32s
    name: Int32s
    api_start_ns: Int64s
    api_end_ns: Int64s
    process_id: Int64s
    thread_id: Int64s


class GraphLaunches(msgspec.Struct):
    """Launches of CUDA graphs that were recorded as a whole, so that their kernels are unknown."""

    op: Int32s
    instance: Int32s
    start_ns: Int64s
    end_ns: Int64s
    device: Int32s
    stream: Int64s


class TimeSpans(msgspec.Struct):
    """Host time of one resource (data loader or I/O), for the resource breakdown."""

    start_ns: Int64s
    stop_ns: Int64s


class IdleFrames(msgspec.Struct):
    """Python functions that the host ran in long idle gaps of the GPU with the lowest id: disjoint, ascending.

    The functions are those of the thread that the GPU waited for (``events.idle_frames``). There is no row for times in
    which that thread was in no recorded function.
    """

    start_ns: Int64s
    stop_ns: Int64s
    function: Int32s
    """The innermost function of the program's own code (``classify.frames``); the empty text if there is none."""
    innermost: Int32s
    """The innermost function of any code."""


class HostRanges(msgspec.Struct):
    """Ranges and modules that the user's program named, down to the third within each other. They are not read back
    from a database: copies of it take over the tracks made of them as they are."""

    start_ns: Int64s
    stop_ns: Int64s
    process_id: Int64s
    thread_id: Int64s
    level: Int8s
    """Number of such ranges around it: 0, 1 or 2."""
    name: Int32s


class IterationCandidate(msgspec.Struct):
    """One way to divide the capture into iterations (event model, section 6)."""

    source: str
    """``step_annotation``, ``module_run``, ``profiler_step``, ``numbered_range``, ``repeated_range``,
    ``optimizer_step``, ``data_loader``, ``whole_capture``; ``key_op`` when the user chose one."""
    label: str
    """The name that users see: ``ProfilerStep#N``, ``train_step``, the key op's name."""
    values: Int64s
    """Number of each iteration, ascending; the numbers of the source if it has any."""
    start_ns: Int64s
    stop_ns: Int64s
    """Disjoint, ascending."""


class Batches(msgspec.Struct):
    """The batches that the program works on: one row each, by time."""

    time_ns: Int64s
    """When its first layer is called."""
    samples: Int64s
    """-1 if unknown; so are tokens."""
    tokens: Int64s
    layer: str = ""
    """Type of the first layer and the shapes of its inputs, which told the batches."""
    samples_per_iteration: int | None = None
    """Given by the user; then the rows do not count. So are tokens."""
    tokens_per_iteration: int | None = None


class ModelConfig(msgspec.Struct):
    """DLProf's ``read_only_model_config``; the defaults are the values that DLProf stores without markers."""

    num_workers: int = 0
    pin_memory: int = 1
    cudnn_benchmark_disabled: int = 0
    detect_anomaly: int = 0
    gradcheck: int = 0
    gradgradcheck: int = 0
    autograd_profile: int = 0
    autograd_set_detect_anomaly: int = 0
    emit_nvtx: int = 0
    amp_enabled: int = 0


class Coverage(msgspec.Struct):
    """Counts of what is missing from the profile or was repaired; shown to users next to the results."""

    unlaunched_work: int = 0
    """Pieces of device work outside ops without a recorded host call, though one must have launched them."""
    unlaunched_work_ns: int = 0
    unassociated_work: int = 0
    """Pieces of device work outside ops, including those without a call."""
    unassociated_work_ns: int = 0
    repaired_overlaps: int = 0
    """Sibling ranges that overlapped and were cut for nesting."""
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    """``Capture.skipped``."""
    broken_rules: list[str] = msgspec.field(default_factory=list)
    """Invariants that the aggregated numbers violate (``aggregation.invariants``), which are bugs of ours."""
    migrations: int = 0
    """Transfers of unified memory, which the driver starts when a page is accessed, so that they have no call."""
    migrations_ns: int = 0


class Profile(msgspec.Struct):
    """DLProf's raw tables, and tables of our own."""

    info: CaptureInfo
    strings: Strings
    ops: list[Op]
    instances: Instances
    kernels: Kernels
    kernel_classes: dict[int, KernelClass]
    """Class of every long name in ``kernels``, by text id; empty if read from a database that stores no classes."""
    memcpys: Copies
    memsets: Copies
    syncs: Syncs
    calls: Calls
    graphs: GraphLaunches
    devices: list[Device]
    data_loader: TimeSpans
    io: TimeSpans
    memory: MemoryEvents
    iterations: list[IterationCandidate]
    """Best first and never empty; the first is the default."""
    model_config: ModelConfig
    gpu_memory_bytes: tuple[int, int]
    """Total and used; (0, 0) if not measured."""
    coverage: Coverage
    dlprof_markers: bool
    """Whether ops were found by DLProf's own NVTX markers, so that DLProf's rules are followed exactly."""
    one_op: bool = False
    """Whether the profile was made in DLProf's simple mode: one op stands for the whole program."""
    sub_ops: SubOps = msgspec.field(default_factory=partial(empty, SubOps))
    counters: KernelCounters = msgspec.field(default_factory=partial(empty, KernelCounters))
    idle_frames: IdleFrames = msgspec.field(default_factory=partial(empty, IdleFrames))
    activity: Activity = msgspec.field(default_factory=no_activity)
    """What each GPU did at every moment, and why it was idle; without the busy time until ``with_busy_time``."""
    ranks: list[RankTables] = msgspec.field(default_factory=list)
    """One for every process that ran kernels; they are not read back from a database, like ``counters``."""
    host_ranges: HostRanges = msgspec.field(default_factory=partial(empty, HostRanges))
    memory_histories: list[History] = msgspec.field(default_factory=list)
    """The memory of each GPU whose allocator was recorded."""
    memory_answer: dict[str, Any] | None = None
    """What ``memory.answer`` says of the peaks, once it was asked."""
    batches: Batches = msgspec.field(default_factory=partial(empty, Batches))
    """They are not read back from a database: copies of it take them over as they are."""
