"""Limits of the efficiency tables, each with its reason."""

LATENCY_KERNEL_NS = 10_000
"""A mean kernel below this and far from any roof is bound by latency: launching costs 5 to 10 microseconds."""

LATENCY_ROOF_FRACTION = 0.1
"""An op that reaches less of its roof than this is far from it."""

SMALL_KERNEL_NS = 5_000
"""Below this a product is too small for its unit to matter: a launch takes as long."""

SMALL_PRODUCT_FLOPS = 2_000_000
"""Below this (a product of 100 x 100 x 100) it is too small, too."""

ALIGNMENT = {"fp16": 8, "bf16": 8, "fp8": 16, "int8": 16, "fp4": 32, "tf32": 4, "fp64": 2}
"""Lengths should be multiples of 16 bytes (NVIDIA's guide to the performance of matrix multiplication, section 3)."""
