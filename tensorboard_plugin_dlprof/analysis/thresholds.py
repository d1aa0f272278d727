"""The thresholds of the rules, each with its unit and its reason."""

from __future__ import annotations

MISSING_FRACTION = 0.05
"""Share of the time in which launched work waited and nothing is recorded as running, from which work is missing."""

FIRST_KERNEL_NS = 1_000_000
"""So long may the first recorded kernel take to begin without anything before it: its code is put on the GPU."""

MUCH_MISSING_FRACTION = 0.2
"""From this share on, everything else that is said is only a part of the truth."""

COLD_FRACTION = 0.05
"""Share of the only window in first calls of a millisecond and more, from which it shows a start, not the program."""

ONLY_COLD_FRACTION = 0.5
"""Share of the only window in first calls from which what is left says nothing of how the program launches."""

WARNING_FRACTION = 0.1
"""Share of the time from which a finding is a warning."""

STEPS_IN_ONE = 2
"""Steps of one optimizer within a mark of an iteration from which the mark holds more than an iteration."""

DECIDES_FRACTION = 0.1
"""By how much another choice of iterations changes a part's share of the time, from which it decides what is true."""

NAMED_FRACTION = 0.1
"""Share of what warm-up takes longer from which a place is named for it."""

PORTIONS = 10
"""Parts of a capture without iterations by which what happens at its start is told from what goes on."""

PORTIONS_IN_USE = 8
"""Of these, in how many something has to happen that goes on."""

GRAPH_CALLS_FRACTION = 0.05
"""Share of the time in which the GPU waits for launches from which that inside of calls that launch graphs, which is
another part of an iteration, is worth naming apart."""

FEW_LAUNCHES = 20
"""Launches of a capture without iterations below which there is nothing to launch together: they happen once."""

FREEING_PLACES = 5
"""Places of an iteration that give memory back to the driver from which no allocator keeps it."""

SMALL_COLLECTIVES = 50
"""Collectives of an iteration from which they are counted as many: buckets of 25 MB are fewer for most models."""

SMALL_COLLECTIVE_NS = 50_000
"""Median length below which a collective mostly starts."""

HIDDEN_FRACTION = 0.25
"""Share of exposed communication that computing could hide, below which that is no measure of what can be gained."""

LATE_TIMES = 5
"""How many times longer a collective takes on a GPU that waits than on the one that comes last."""

LARGE_COPY_BYTES = 1_000_000
"""Smaller copies do not show the rate of the link."""

MIN_GAIN_FRACTION = 0.01
"""A gain below this share of an iteration is not worth a user's time, because iterations vary by more."""

FUSION_FRACTION = 0.1
"""Share of the time in elementwise, normalisation and copy kernels of ops above which fusing them pays."""

OPTIMIZER_FRACTION = 0.02
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

PRODUCT_FRACTION = 0.01
"""Share of the time in products of FP32 above which a narrower type is worth trying."""

FP8_FRACTION = 0.3
"""Share of the time in large 16-bit products above which FP8 is worth the effort."""

FP8_LENGTH = 1024
"""Shortest side of a product that gains from FP8; below this, casting and scaling cost as much as it saves."""

ATTENTION_FRACTION = 0.02
"""Share of the time between the two products of attention written out."""

OLDER_ATTENTION_FRACTION = 0.05
"""Share of the time in attention kernels for an older GPU; below this, even twice the rate is hardly noticeable."""

SLOW_CONVOLUTION_FRACTION = 0.05
"""Share of the time in convolutions that reach little of the device's rate."""

SLOW_CONVOLUTION_RATE = 0.3
"""Share of the peak for the precision and unit; good algorithms reach 50 % and more."""

SMALL_MEMORY_FRACTION = 0.2
"""Share of the GPU's memory up to which a larger batch fits. DLProf fired at 2 to 23 %."""

FULL_MEMORY_FRACTION = 0.9
"""Above this the next allocation may fail (PyTorch's profiler warns above 90 %)."""

GRAPH_FRACTION = 0.05
"""Share of the kernel time in CUDA graphs whose kernels were not recorded; below this, little is missed."""

FEW_ITERATIONS = 4
"""Iterations from which what half of them do not have is told from what each has."""

EARLY_WORK_FRACTION = 0.01
"""Share of the work that begins before its call; none does in any of some sixty recorded profiles."""

EARLY_WORK_NS = 1_000
"""Older traces round all times to microseconds."""

EVIDENCE_ROWS = 20
"""Rows of evidence that are kept for a finding; the numbers count all."""
