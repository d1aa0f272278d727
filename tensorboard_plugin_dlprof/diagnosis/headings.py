"""What a finding is called: a few words above its sentence, for people who look over the list; and what it gains, in
words."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

HEADINGS: Final = {
    "unrecorded_gpu_work": "Not all GPU work is recorded",
    "cold_start": "Slow start",
    "recompilation": "Compiling in the loop",
    "slow_iterations": "Slow iterations",
    "amp_detector": "Use mixed precision",
    "tf32_detector": "Allow TF32",
    "fp8_detector": "Use FP8",
    "fp64_detector": "Computing in double precision",
    "shape_detector": "Round sizes up",
    "layout_detector": "Keep one memory layout",
    "cudnn_benchmark_detector": "Search for the fastest convolutions",
    "dataloader_detector": "Load data sooner",
    "io_detector": "Waiting for files or sockets",
    "copy_detector": "Hide or avoid copies",
    "pageable_copy_detector": "Copy through pinned memory",
    "communication_detector": "Hide communication",
    "small_collectives": "Send fewer, larger messages",
    "late_rank": "A GPU comes late",
    "sync_detector": "Wait for the GPU less often",
    "launch_detector": "Launch less, or sooner",
    "host_detector": "The host is busy elsewhere",
    "unrecorded_detector": "Idle time that nothing explains",
    "allocation_detector": "Allocating in the loop",
    "data_parallel_detector": "Use one process for each GPU",
    "profiler_overhead_detector": "The profiler slows the host",
    "optimizer_detector": "Use a fused optimizer",
    "zero_grad_detector": "Set gradients to None",
    "fusion_detector": "Fuse neighbouring kernels",
    "xla_detector": "Compile with XLA",
    "attention_detector": "Use fused attention",
    "older_attention_detector": "Use newer attention kernels",
    "dominant_kernel": "One kernel takes most of the time",
    "batch_size_detector": "Try a larger batch",
    "memory_limit_detector": "Memory is nearly full",
    "oom_detector": "Out of memory",
    "leak_detector": "Memory grows",
    "activation_detector": "Checkpoint activations",
    "wide_activation_detector": "Activations in 32 bits",
    "fragmentation_detector": "Fragmented memory",
    "allocator_churn_detector": "Memory taken from the driver in the loop",
    "cached_memory_detector": "Memory cached, not in use",
    "step_holds_many": "A step holds several iterations",
    "no_iterations_detector": "Mark the iterations",
    "iteration_range_detector": "Which iterations count",
    "unused_gpu": "Unused GPUs",
    "unused_gpu_detector": "Unused GPUs",
    "cuda_graph_detector": "CUDA graphs recorded as a whole",
    "clock_detector": "Clocks of host and GPU differ",
    "coverage_detector": "The recording is incomplete",
}
"""By rule."""

SET_UP: Final = "set_up"
"""The number of a finding that names what sets the program up, where that is what it is about."""

COMPLETE: Final = "complete"
"""The number of a finding about waits that nothing recorded explains, though all of the program's work is recorded."""

_ACRONYMS: Final = {"gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "cuda": "CUDA", "cudnn": "cuDNN", "amp": "AMP"}


_STARTING: Final = {
    "copy_detector": "Copies while starting",
    "pageable_copy_detector": "Copies while starting",
    "host_detector": "Host work while starting",
    "launch_detector": "Launching while starting",
    "sync_detector": "Blocking calls while starting",
    "io_detector": "Files or sockets while starting",
    "dataloader_detector": "Loading data while starting",
    "allocation_detector": "Allocating while starting",
    "unrecorded_detector": "Idle time while starting",
}
"""By rule, of findings about what sets the program up: they ask for no change, so their headings must not either."""


def heading_of(rule: str, numbers: Container[str] = ()) -> str:
    """What a finding of a rule with these numbers is called; of a detector of NVIDIA's, the words of its name."""
    if COMPLETE in numbers:
        return "Launched work waits"
    if SET_UP in numbers:
        return _STARTING.get(rule, "Work while starting")
    if rule in HEADINGS:
        return HEADINGS[rule]
    words = [_ACRONYMS.get(word, word) for word in rule.removesuffix("detector").split("_") if word]
    text = " ".join(words) or "Finding"
    return text if text.startswith("cuDNN") else text[0].upper() + text[1:]
