"""The rules, each a function from ``Signals`` to a finding, what it lacks, or nothing."""

from __future__ import annotations

from collections.abc import Callable

from tensorboard_plugin_dlprof.analysis.rules import (
    attention,
    convolutions,
    fusing,
    host,
    kernels,
    memory,
    narrow_types,
    recording,
    shapes,
    waiting,
)
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks

Rule = Callable[[Signals], Finding | Lacks | None]

RULES: tuple[tuple[str, Rule], ...] = (
    ("amp_detector", narrow_types.mixed_precision),
    ("tf32_detector", narrow_types.tf32),
    ("fp8_detector", narrow_types.fp8),
    ("fp64_detector", narrow_types.double_precision),
    ("shape_detector", shapes.shapes),
    ("layout_detector", convolutions.layout),
    ("cudnn_benchmark_detector", convolutions.benchmark),
    ("dataloader_detector", waiting.data_loader),
    ("io_detector", waiting.io),
    ("copy_detector", waiting.copies),
    ("pageable_copy_detector", waiting.pageable),
    ("communication_detector", waiting.communication),
    ("underutilized_gpu_detector", host.underutilized),
    ("sync_detector", host.synchronisation),
    ("launch_detector", host.launching),
    ("host_detector", host.busy_host),
    ("unrecorded_detector", host.unrecorded),
    ("allocation_detector", host.setting_up),
    ("data_parallel_detector", host.data_parallel),
    ("profiler_overhead_detector", host.profiler_overhead),
    ("optimizer_detector", fusing.optimizer),
    ("zero_grad_detector", fusing.zero_grad),
    ("fusion_detector", fusing.elementwise),
    ("xla_detector", fusing.xla),
    ("attention_detector", attention.written),
    ("older_attention_detector", attention.older_kernels),
    ("dominant_kernel", kernels.dominant),
    ("batch_size_detector", memory.small_batch),
    ("memory_full_detector", memory.full),
    ("no_iterations_detector", recording.iterations),
    ("iteration_range_detector", recording.iteration_range),
    ("unused_gpu_detector", recording.unused_gpus),
    ("cuda_graph_detector", recording.graphs_as_a_whole),
    ("coverage_detector", recording.recorded_ops),
)
"""Detector and rule. The order is that of findings whose gains are equal."""
