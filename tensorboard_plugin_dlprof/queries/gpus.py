"""The table of the GPUs of a profile and their use."""

from __future__ import annotations

from tensorboard_plugin_dlprof.classify.architecture import AMD_ARCHITECTURES, AMD_WORDS, HIP
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least_sql

_WALL = (
    "(SELECT summary.wall_time FROM model_summary AS summary "
    "WHERE summary.aggr_id = used.aggr_id AND summary.domain_id = used.domain_id)"
)

_IS_AMD = " OR ".join(
    (
        *(f"instr(gpu.gpu_name, '{word}')" for word in AMD_WORDS),
        f"EXISTS (SELECT 1 FROM view_system_config WHERE cuda_version LIKE '{HIP}%')",
    )
)

_GFX = "substr(gpu.gpu_name, instr(gpu.gpu_name, 'gfx'))"
"""The name of a GPU from its architecture on, where the recording has that for a name: ``gfx942, 304 CUs``."""

_AMD_ARCHITECTURE = (
    "CASE gpu.compute_capability_major || '.' || gpu.compute_capability_minor "
    + " ".join(f"WHEN '{major}.{minor}' THEN '{name}'" for (major, minor), name in AMD_ARCHITECTURES.items())
    + f" ELSE CASE WHEN instr(gpu.gpu_name, 'gfx') THEN substr({_GFX}, 1, instr({_GFX} || ',', ',') - 1) END END"
)

GPUS = Table(
    name="gpus",
    key="device_id",
    base="device_gpu_utilizations AS used JOIN read_only_gpu_infos AS gpu ON gpu.id = used.gpu_info_id",
    row_id="used.id",
    where="used.aggr_id = :aggregation AND used.domain_id = :domain",
    default_sort="device_id",
    joins=(
        "LEFT JOIN ext_devices AS device ON device.device_id = gpu.device_id",
        "LEFT JOIN ext_device_times AS time ON time.aggr_id = used.aggr_id "
        "AND time.domain_id = used.domain_id AND time.device_id = gpu.device_id",
    ),
    columns=(
        Column("device_id", "GPU", "integer", "Number of the GPU: the physical one where the recording maps CUDA's "
               "ordinals to it, as Nsight Systems does; else the ordinal, which CUDA_VISIBLE_DEVICES renumbers.",
               "gpu.device_id"),
        Column("cuda_ordinal", "CUDA Ordinal", "integer", "Number by which CUDA counts the GPU in the processes that "
               "used it, where the recording has it beside the physical one; empty also if they differ.",
               "device.cuda_ordinal", nullable=True, tier=2),
        Column("name", "Name", "text", "Name of the GPU.", "nullif(gpu.gpu_name, '')", nullable=True, searchable=True,
               tier=1),
        Column("compute_capability", "Compute Capability", "text", "Of NVIDIA's GPUs the compute "
               "capability, 9.0; of AMD's the architecture, gfx942, where the recording tells it.",
               f"CASE WHEN {_IS_AMD} THEN {_AMD_ARCHITECTURE} WHEN gpu.compute_capability_major > 0 "
               "THEN gpu.compute_capability_major || '.' || gpu.compute_capability_minor END", nullable=True, tier=2),
        Column("sm_count", "SMs", "integer", "Multiprocessors of the GPU.", "nullif(gpu.sm_count, 0)", nullable=True,
               tier=2),
        Column("memory_bytes", "Memory", "bytes", "Memory of the GPU.", "nullif(device.memory_bytes, 0)", nullable=True,
               tier=2),
        Column("in_use", "In Use", "boolean",
               "The recording holds work of this GPU: kernels, copies or memsets. Means are over the GPUs in use.",
               "time.in_use", nullable=True, tier=2),
        Column("utilization_fraction", "GPU Utilization", "fraction",
               "Time with a kernel running on this GPU, over the wall clock time of the aggregated iterations.",
               f"time.busy_ns * 1.0 / nullif({_WALL}, 0)", nullable=True),
        Column("busy_ns", "Busy Time", "duration_ns",
               "Time in the iterations with a kernel running on this GPU, wherever it was launched, overlap counted "
               "once.", "time.busy_ns", nullable=True),
        Column("kernels", "Kernels", "integer", "Kernels that the iterations launched on this GPU; Busy Time is of "
               "what ran in them.", "time.kernels", nullable=True),
        Column("tensor_core_fraction", "TC Share", "fraction",
               "Share of the time with a kernel running on this GPU in which a Tensor Core kernel was running. A "
               "lower bound if the Tensor Core use of some kernels is unknown; empty if none is known to use them "
               "but some may.",
               f"{at_least_sql('time.tensor_core_ns', 'time.unknown_part_ns > 0')} * 1.0 / nullif(time.busy_ns, 0)",
               nullable=True),
        Column("unknown_fraction", "Unknown Share of Busy Time", "fraction",
               "Share of the time with a kernel running on this GPU in which no kernel known to use Tensor Cores was "
               "running, but kernels whose Tensor Core use is unknown, or CUDA graphs recorded as a whole, were.",
               "time.unknown_part_ns * 1.0 / nullif(time.busy_ns, 0)", nullable=True, tier=2),
    ),
)  # fmt: skip
"""One row for each GPU of the machine, used or not. The times of each GPU are exact, DLProf's percentages rounded."""
