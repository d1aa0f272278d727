"""The thresholds of the rules, each with its unit and its reason."""

from __future__ import annotations

MIN_GAIN_FRACTION = 0.01
"""A gain below this share of an iteration is not worth a user's time, because iterations vary by more."""

UNDERUTILIZED_FRACTION = 0.5
"""Share of time with a kernel running below which a GPU is under-used. PyTorch's profiler warns below it; DLProf was
seen to warn at 0 to 8 %, its threshold was never published."""

LATE_FRACTION = 0.25
"""If this share of the kernels' time or more is after the iterations, the idle time in them explains little, because a
quarter of the GPU's work is missing from them. Steps that end without a wait leave the work of the last step."""

DATA_LOADER_FRACTION = 0.05
"""Share of the time in which the GPU waits for data. PyTorch's profiler warns above this."""

IO_FRACTION = 0.05
"""Share of the time in file and network calls without GPU work; as for the data loader."""

COPY_FRACTION = 0.05
"""Share of the time in copies between host and GPU during which no kernel runs; as for the data loader."""

COMMUNICATION_FRACTION = 0.1
"""Share of the time in collectives during which no other kernel runs. PyTorch's profiler warns above this."""

SYNC_FRACTION = 0.02
"""Share of the time in which the GPU is idle after a synchronising call (nsys-ai: 2 % and one millisecond)."""

SYNC_NS = 100_000
"""Per iteration. Below a tenth of a millisecond a synchronisation is not worth removing."""

LAUNCH_FRACTION = 0.1
"""Share of the time in which the GPU waits for the host to launch (XPROF: a core idle for 10 %)."""

SHORT_KERNEL_NS = 10_000
"""A kernel shorter than this takes the host about as long to launch (TraceLens, nsys-ai)."""

SHORT_KERNEL_SHARE = 0.3
"""Share of short launches below which launching is not the limit: of the kernels of a ResNet that the host cannot keep
up with, about a third are short."""

FUSION_FRACTION = 0.15
"""Share of the time in elementwise, normalisation and copy kernels of ops above which fusing them pays."""

OPTIMIZER_FRACTION = 0.03
"""Share of the time in the optimizer above which a faster one is worth a line of code."""

OPTIMIZER_KERNELS = 50
"""Kernels of an optimizer step above which it works tensor by tensor: fused and foreach ones need about ten."""

ZERO_GRAD_KERNELS = 20
"""Kernels of ``zero_grad`` per iteration above which gradients are set to zero one by one."""

LAYOUT_FRACTION = 0.01
"""Share of the time in kernels that change the layout around convolutions."""

SHAPE_FRACTION = 0.02
"""Share of the time in products of 16 bits or less with a length that does not fit."""

FP64_FRACTION = 0.02
"""Share of the time in kernels that compute in double precision, which is rarely intended in models."""

DOMINANT_FRACTION = 0.5
"""Share of the computing time in kernels of one name above which that kernel is what to look at first."""

DOMINANT_TIME_FRACTION = 0.1
"""Share of the time below which even the longest kernel matters little."""

PRODUCT_FRACTION = 0.03
"""Share of the time in products of FP32 above which a narrower type is worth trying."""

FP8_FRACTION = 0.3
"""Share of the time in large 16-bit products above which FP8 is worth the effort."""

FP8_LENGTH = 1024
"""Shortest side of a product that gains from FP8; below this, casting and scaling cost as much as it saves."""

ATTENTION_FRACTION = 0.03
"""Share of the time between the two products of attention written out."""

OLDER_ATTENTION_FRACTION = 0.05
"""Share of the time in attention kernels for an older GPU; below this, even twice the rate is hardly noticeable."""

SLOW_CONVOLUTION_FRACTION = 0.05
"""Share of the time in convolutions that reach little of the device's rate."""

SLOW_CONVOLUTION_RATE = 0.3
"""Share of the peak for the precision and unit; good algorithms reach 50 % and more."""

SMALL_MEMORY_FRACTION = 0.25
"""Share of the GPU's memory up to which a larger batch fits. DLProf fired at 2 to 23 %."""

FULL_MEMORY_FRACTION = 0.9
"""Above this the next allocation may fail (PyTorch's profiler warns above 90 %)."""

PAGEABLE_FRACTION = 0.012
"""Share of the time in copies from or to pageable memory; pinned memory would save most of it."""

PROFILER_LAUNCH_FRACTION = 0.2
"""Share of time waiting for the host above which recording stacks, which slows the host, distorts the profile."""

GRAPH_FRACTION = 0.05
"""Share of the kernel time in CUDA graphs whose kernels were not recorded; below this, little is missed."""

FUNCTION_FRACTION = 0.01
"""Share of the gaps below which a Python function that the host was in is not worth a row."""

EVIDENCE_ROWS = 20
"""Rows of evidence that are kept for a finding; the numbers count all."""
