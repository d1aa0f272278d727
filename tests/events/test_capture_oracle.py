"""The whole fast path, from events to aggregated numbers, against the slow way, on generated captures."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import Aggregation, aggregate
from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.events.capture_oracle import totals
from tests.timeline import draw

FAST, SLOW = "volta_h884gemm_64x64_nn", "vectorized_elementwise_kernel"
TENSOR_CORE_NAMES = {FAST}

TIME = st.integers(0, 40)
LENGTH = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 20))
SPAN = st.tuples(TIME, LENGTH).map(lambda pair: (pair[0], pair[0] + pair[1]))
THREADS = ("main", "autograd", "loader")
STREAMS = ("gpu0", "gpu0/8", "gpu1", "gpu3/9")


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Neither apart nor one in the other; a range without length takes half a nanosecond."""
    (c, d), (e, f) = sorted((2 * start, max(2 * end, 2 * start + 1)) for start, end in (a, b))
    return c < e < d < f


@st.composite
def captures(draw_from: st.DrawFn) -> str:
    """Lines for ``tests.timeline.draw``: op ranges that nest on each thread and overlap across threads, calls in and
    beside them, work on several streams and devices with and without a recorded launch, two pieces of one launch,
    synchronisations, events without length, and steps with gaps between them or none at all."""
    lines: list[str] = []
    remaining: dict[str, list[tuple[int, int]]] = {thread: [] for thread in THREADS}
    for _ in range(draw_from(st.integers(0, 8))):
        thread, span = draw_from(st.sampled_from(THREADS)), draw_from(SPAN)
        if not any(crosses(span, other) for other in remaining[thread]):
            remaining[thread].append(span)
            name = draw_from(st.sampled_from(["aten::mm", "aten::add", "aten::relu"]))
            lines.append(f"{thread} op {span[0]}-{span[1]} {name}")
    for correlation in range(1, draw_from(st.integers(0, 8)) + 1):
        thread, span = draw_from(st.sampled_from(THREADS)), draw_from(SPAN)
        kind = draw_from(st.sampled_from(["kernel", "kernel", "kernel", "memcpy", "memset", "graph", "sync", "none"]))
        if draw_from(st.integers(0, 4)):
            call = {"graph": "cudaGraphLaunch", "sync": "cudaDeviceSynchronize"}.get(kind, "cudaLaunchKernel")
            lines.append(f"{thread} call {span[0]}-{span[1]} {call} ; corr={correlation}")
        elif kind in ("sync", "none"):
            continue
        if kind == "sync":
            lines.append(f"{thread} sync {span[0]}-{span[1]} ; corr={correlation}")
        for _ in range(0 if kind in ("sync", "none") else draw_from(st.integers(1, 2))):
            where, (start, end) = draw_from(st.sampled_from(STREAMS)), draw_from(SPAN)
            name = draw_from(st.sampled_from([FAST, SLOW])) if kind == "kernel" else kind.capitalize()
            lines.append(f"{where} {kind} {start}-{end} {name} ; corr={correlation}")
    edges = sorted(draw_from(st.lists(TIME, max_size=6, unique=True)))
    apart = draw_from(st.booleans())
    pairs = zip(edges[::2], edges[1::2], strict=False) if apart else itertools.pairwise(edges)
    lines += [f"steps iteration {start}-{end} ProfilerStep#{4 + step}" for step, (start, end) in enumerate(pairs)]
    return "\n".join(lines)


def computed_tables(profile: Profile, aggregation: Aggregation) -> dict[str, Any]:
    """The same totals as the fast path has them."""
    types, iterations = aggregation.op_types, aggregation.iterations
    times = [types.times.cpu, types.times.gpu, types.times.api, types.times.cpu_overhead, types.times.gpu_idle]
    return {
        "types": {
            name: (
                int(types.num_calls[row]),
                [(int(metric.sum[row]), int(metric.min[row]), int(metric.max[row])) for metric in times],
            )
            for row, name in enumerate(types.op_type)
        },
        "kernels": {
            value: (count, time)
            for value, count, time in zip(
                iterations.iter_value.tolist(), iterations.kernels.tolist(), iterations.kernel_ns.tolist(), strict=True
            )
        },
        "parts": iterations.parts_ns.tolist(),
        "outside": (aggregation.outside.instances, aggregation.outside.kernels),
        "kernel_names": aggregation.categories.every_kernel.count,
        "unlaunched": profile.coverage.unlaunched_work,
    }


@settings(max_examples=300)
@given(captures())
def test_every_total_equals_the_slow_way_from_the_events(lines: str) -> None:
    """Nesting, linking, ownership, iterations and aggregation at once."""
    capture = draw(lines)
    profile = build_profile(capture)
    aggregation = aggregate(profile)
    assert computed_tables(profile, aggregation) == totals(draw(lines), TENSOR_CORE_NAMES)
    assert broken_rules(profile, aggregation) == []
