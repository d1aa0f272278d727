"""The rules, each a function from ``Signals`` to a finding, what it lacks, or nothing."""

from __future__ import annotations

from collections.abc import Callable

from tensorboard_plugin_dlprof.analysis.rules import (
    attention,
    compiling,
    convolutions,
    copies,
    fusing,
    host,
    idle,
    kernels,
    launching,
    memory,
    missing,
    narrow_types,
    recording,
    shapes,
    start,
    transfers,
)
from tensorboard_plugin_dlprof.analysis.rules.allocator import rule_of
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Lacks, Severity

Rule = Callable[[Signals], Finding | Lacks | None]

OF_MEMORY: tuple[tuple[str, Rule], ...] = (
    ("oom_detector", rule_of("oom_detector")),
    ("leak_detector", rule_of("leak_detector")),
    ("activation_detector", rule_of("activation_detector")),
    ("wide_activation_detector", rule_of("wide_activation_detector")),
    ("fragmentation_detector", rule_of("fragmentation_detector")),
    ("allocator_churn_detector", rule_of("allocator_churn_detector")),
    ("cached_memory_detector", rule_of("cached_memory_detector", Severity.INFO)),
)
"""Those that need no GPU work: memory snapshots tell of none, and may have no times either."""

RULES: tuple[tuple[str, Rule], ...] = (
    ("unrecorded_gpu_work", missing.missing_work),
    ("cold_start", start.cold_start),
    ("recompilation", compiling.recompilation),
    ("slow_iterations", start.slow_iterations),
    ("amp_detector", narrow_types.mixed_precision),
    ("tf32_detector", narrow_types.tf32),
    ("fp8_detector", narrow_types.fp8),
    ("fp64_detector", narrow_types.double_precision),
    ("shape_detector", shapes.shapes),
    ("layout_detector", convolutions.layout),
    ("cudnn_benchmark_detector", convolutions.benchmark),
    ("dataloader_detector", idle.data_loader),
    ("io_detector", idle.io),
    ("copy_detector", copies.copies),
    ("communication_detector", transfers.communication),
    ("small_collectives", transfers.small_collectives),
    ("late_rank", transfers.late_rank),
    ("sync_detector", idle.synchronisation),
    ("launch_detector", launching.launching),
    ("host_detector", idle.busy_host),
    ("unrecorded_detector", idle.unrecorded),
    ("allocation_detector", idle.allocation),
    ("data_parallel_detector", host.data_parallel),
    ("profiler_overhead_detector", idle.profiler_overhead),
    ("optimizer_detector", fusing.optimizer),
    ("zero_grad_detector", fusing.zero_grad),
    ("fusion_detector", fusing.elementwise),
    ("xla_detector", fusing.xla),
    ("attention_detector", attention.written),
    ("older_attention_detector", attention.older_kernels),
    ("dominant_kernel", kernels.dominant),
    ("batch_size_detector", memory.small_batch),
    ("memory_limit_detector", memory.full),
    *OF_MEMORY,
    ("step_holds_many", recording.step_holds_many),
    ("no_iterations_detector", recording.iterations),
    ("iteration_range_detector", recording.iteration_range),
    ("unused_gpu_detector", recording.unused_gpus),
    ("cuda_graph_detector", recording.graphs_as_a_whole),
    ("clock_detector", recording.clocks_apart),
    ("coverage_detector", recording.recorded_ops),
)
"""Detector and rule. The order is that of findings whose gains are equal."""
