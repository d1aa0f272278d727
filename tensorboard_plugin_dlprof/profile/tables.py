"""A profile: DLProf's raw tables as columns, the middle of the data's way.

``events`` builds a profile from a capture, ``database`` writes it to and reads it from SQLite,
``aggregation`` computes everything else from it alone; a database of NVIDIA's is read into the
same tables. Row orders are those of DLProf (reference: database layout, 4.1): ops by name, then
op id, as UTF-8 bytes; instances by op, then start; kernels, copies, sets, synchronisations and
calls by op, name, API start. ``op`` columns are rows of ``ops`` (from 0), ``instance`` counts the
instances of its op from 0. Texts are ids of ``strings``; 0 is the empty text.
Times are nanoseconds since the start of the capture.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.distinct import are_among
from tensorboard_plugin_dlprof.events.tables import (
    CaptureInfo,
    Device,
    Int8s,
    Int32s,
    Int64s,
    MemoryEvents,
    Strings,
)


class Op(msgspec.Struct):
    """One op: what the model's code called, however often it was called."""

    op_id: str
    """Upper-case type, ``_``, running number: ``LINEAR_2``."""
    name: str
    """Path: ``/ResNet/Sequential[0]/conv2d``."""
    op_type: str
    direction: str
    """``fprop``, ``bprop`` or empty."""
    data_type: str
    """DLProf's spelling (``float32``, ``float16``, ``bfloat16``, ...), empty without tensor inputs."""
    data_format: str
    output_format: str
    parameters_format: str
    eligibility: Eligibility
    stack_trace: str
    """Frames outermost first, a newline between."""


class Instances(msgspec.Struct):
    """Calls of ops."""

    op: Int32s
    cpu_start: Int64s
    cpu_stop: Int64s
    process_id: Int64s
    thread_id: Int64s
    input_names: Int32s
    input_shapes: Int32s
    """Compact JSON with a trailing newline, ``null\\n`` for nothing, as DLProf stores it."""
    output_names: Int32s
    output_shapes: Int32s
    parameters: Int32s


class SubOps(msgspec.Struct):
    """Recorded ops that launched the work of an instance (``addmm`` inside ``linear``), by instance.

    An instance without any has none whose shapes were recorded, or launched nothing.
    """

    instance: Int64s
    """Row of ``Instances``."""
    name: Int32s
    """Bare name: ``addmm``."""
    shapes: Int32s
    """As the source wrote them (``Ranges.shapes``), as the two below."""
    dtypes: Int32s
    parameters: Int32s


def no_sub_ops() -> SubOps:
    """A table of sub-ops without rows."""
    return SubOps(np.zeros(0, np.int64), *(np.zeros(0, np.int32) for _ in range(4)))


class Kernels(msgspec.Struct):
    """Kernel launches. ``api_start`` and ``api_stop`` equal ``gpu_start`` where no call was recorded."""

    op: Int32s
    instance: Int32s
    name: Int32s
    """Short name."""
    long_name: Int32s
    matrix_unit: Int8s
    """``MatrixUnit``; DLProf's ``uses_tc`` is 1 for YES only."""
    api_start: Int64s
    api_stop: Int64s
    gpu_start: Int64s
    gpu_stop: Int64s
    grid: Int32s
    """Shape (n, 3)."""
    block: Int32s
    """Shape (n, 3)."""
    device: Int32s
    process_id: Int64s
    thread_id: Int64s
    stream: Int64s
    """-1 where not recorded, as the columns below; NVIDIA's databases have none of them."""
    registers: Int32s
    static_shared_bytes: Int64s
    dynamic_shared_bytes: Int64s
    occupancy_percent: Int32s
    """Achieved occupancy as the profiler estimated it."""
    launched: Int8s
    """1 where the host call was recorded."""

    def override_units(self, units: Mapping[int, MatrixUnit]) -> None:
        """Gives all kernels of a long name (id of its text) what was proven of it."""
        for unit in set(units.values()):
            proven = are_among(self.long_name, [name for name, of_name in units.items() if of_name == unit])
            self.matrix_unit[proven] = unit


class KernelCounters(msgspec.Struct):
    """What hardware counters measured of some kernels. Not read back from a database: the copies keep it as it is."""

    kernel: Int64s
    """Row of ``Kernels``, ascending."""
    achieved_occupancy: npt.NDArray[np.float64]
    """Fraction of the warps that a multiprocessor can hold; NaN where not measured."""
    dram_bytes: Int64s
    """Bytes read from and written to device memory; -1 where not measured."""


def no_counters() -> KernelCounters:
    """No kernel was measured."""
    return KernelCounters(np.zeros(0, np.int64), np.zeros(0, np.float64), np.zeros(0, np.int64))


class Copies(msgspec.Struct):
    """Memory copies, and sets (``copy_kind`` -1). Whole-graph launches are not among them."""

    op: Int32s
    instance: Int32s
    name: Int32s
    """Name of the API call."""
    api_start: Int64s
    api_stop: Int64s
    gpu_start: Int64s
    gpu_stop: Int64s
    num_bytes: Int64s
    """-1 where not recorded."""
    copy_kind: Int32s
    device: Int32s
    process_id: Int64s
    thread_id: Int64s
    stream: Int64s
    launched: Int8s
    pageable: Int8s | None = None
    """1 where the host memory is pageable, 0 where it is pinned, -1 unknown; None where nothing of it is recorded."""


class Syncs(msgspec.Struct):
    """Synchronising calls."""

    op: Int32s
    instance: Int32s
    name: Int32s
    api_start: Int64s
    api_stop: Int64s
    sync_type: Int32s
    event_id: Int64s
    device: Int32s
    process_id: Int64s
    thread_id: Int64s


class Calls(msgspec.Struct):
    """API calls without device work."""

    op: Int32s
    instance: Int32s
    name: Int32s
    api_start: Int64s
    api_stop: Int64s
    process_id: Int64s
    thread_id: Int64s


class GraphLaunches(msgspec.Struct):
    """CUDA graphs recorded as a whole: device time of which the kernels are not known."""

    op: Int32s
    instance: Int32s
    gpu_start: Int64s
    gpu_stop: Int64s
    device: Int32s
    stream: Int64s


class TimeSpans(msgspec.Struct):
    """Host time of one resource (data loader or I/O), for the resource breakdown."""

    start_ns: Int64s
    stop_ns: Int64s


class IdleFrames(msgspec.Struct):
    """In which Python functions the host was in long gaps of the first GPU in use: disjoint, ascending.

    Of the thread that launches what the GPU waits for; no row where it was in no function that was recorded.
    """

    start_ns: Int64s
    stop_ns: Int64s
    function: Int32s
    """The innermost of the program's own (``classify.frames``); the empty text where there is none."""
    innermost: Int32s
    """The innermost of all."""


def no_idle_frames() -> IdleFrames:
    """A table of functions in gaps without rows."""
    no_times, no_texts = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return IdleFrames(no_times, no_times, no_texts, no_texts)


class IterationCandidate(msgspec.Struct):
    """One way to cut the capture into iterations (event model, section 6)."""

    source: str
    """``profiler_step``, ``numbered_range``, ``repeated_range``, ``optimizer_step``, ``data_loader``,
    ``whole_capture``; ``key_op`` when the user chose one."""
    label: str
    """What is shown: ``ProfilerStep#N``, ``train_step``, the key op's name."""
    values: Int64s
    """Number of each iteration, ascending; the source's own numbers where it has them."""
    start_ns: Int64s
    stop_ns: Int64s
    """Disjoint, ascending."""


class ModelConfig(msgspec.Struct):
    """DLProf's ``read_only_model_config``; the defaults are its values without markers."""

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
    """What the profile could not tell, in counts that are shown beside the numbers."""

    unlaunched_work: int = 0
    """Pieces of device work without a recorded host call, though one must have launched them."""
    unlaunched_work_ns: int = 0
    unassociated_work: int = 0
    """Pieces of device work inside no op, those without a call included."""
    unassociated_work_ns: int = 0
    repaired_overlaps: int = 0
    """Sibling ranges that overlapped and were cut for nesting."""
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    """``Capture.skipped``."""
    broken_rules: list[str] = msgspec.field(default_factory=list)
    """Rules that the numbers of the import break (``aggregation.invariants``): bugs of ours."""
    migrations: int = 0
    """Transfers of unified memory, which the driver makes when a page is touched: no call launches them."""
    migrations_ns: int = 0


class Profile(msgspec.Struct):
    """DLProf's raw tables, and what it did not store."""

    info: CaptureInfo
    strings: Strings
    ops: list[Op]
    instances: Instances
    kernels: Kernels
    kernel_classes: dict[int, KernelClass]
    """Long name's text id -> class, for every long name of ``kernels``. Empty for a database read back without it."""
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
    """Best first and never empty; the first is the preselected one."""
    model_config: ModelConfig
    gpu_memory_bytes: tuple[int, int]
    """Total and used, (0, 0) where not measured."""
    coverage: Coverage
    dlprof_markers: bool
    """Made by DLProf's own NVTX markers: DLProf's rules apply to the letter."""
    one_op: bool = False
    """Made in DLProf's simple mode: one op stands for the whole program."""
    sub_ops: SubOps = msgspec.field(default_factory=no_sub_ops)
    counters: KernelCounters = msgspec.field(default_factory=no_counters)
    idle_frames: IdleFrames = msgspec.field(default_factory=no_idle_frames)
