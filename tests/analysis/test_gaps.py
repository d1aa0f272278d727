"""Idle time of many devices at once: the mean of what each of them has alone."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.gap_causes import LAUNCH_GAP_NS
from tensorboard_plugin_dlprof.analysis.gaps import Idle, exposed_copies, idle_time
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.events import idle_frames
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.drafts import Call, DraftOp, Span, Work, profile_of

UNIT_NS = 50_000
"""So that some gaps are short, some long, and some begin just behind a wait."""
CALLS = ("cudaStreamSynchronize", "cudaMalloc", "cudaLaunchKernel", "cudaEventQuery")


def _profile(seed: int, devices: int, source: str) -> Profile:
    drawn = np.random.default_rng(seed)

    def span(longest: int) -> Span:
        start = int(drawn.integers(0, 400))
        return start * UNIT_NS, (start + int(drawn.integers(0, longest))) * UNIT_NS

    def work() -> Work:
        gpu = span(12)
        called = gpu[0] + int(drawn.integers(-3, 3)) * UNIT_NS // 2
        api = (called - UNIT_NS, called) if drawn.integers(3) else None
        kind = ["kernel", "kernel", "memcpy", "memset", "graph"][drawn.integers(5)]
        return Work(kind, gpu, api or ((0, 0) if kind == "graph" else None), device=int(drawn.integers(devices)))

    def call() -> Work:
        return Work("call", api=span(6), name=CALLS[drawn.integers(len(CALLS))])

    ops = [
        DraftOp(f"LINEAR_{number}", f"/net/{number}", [Call(*span(20), [work() for _ in range(9)], 1)])
        for number in range(12)
    ]
    calls = [call() for _ in range(30)]
    ops.append(DraftOp("CALL_1", "unassociated", [Call(0, 0, calls, 1)], Eligibility.UNASSOCIATED))
    return profile_of(
        ops,
        iterations=[(0, 180 * UNIT_NS), (200 * UNIT_NS, 390 * UNIT_NS)],
        devices=range(devices),
        data_loader=[span(15) for _ in range(3)],
        io=[span(4) for _ in range(8)],
        source=source,
    )


def _of_one(aggregation: Aggregation, row: int) -> Aggregation:
    """With one device in use."""
    in_use = np.arange(len(aggregation.devices.in_use)) == row
    return msgspec.structs.replace(
        aggregation, devices=msgspec.structs.replace(aggregation.devices, in_use=in_use)
    )  # fmt: skip


def _causes(idle: Idle) -> list[int]:
    return [
        idle.data_loader_ns, idle.io_ns, idle.setup_ns, idle.sync_ns, idle.launch_ns, idle.host_ns, idle.other_ns,
        idle.unrecorded_ns,
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["profiler_step", "whole_capture"])
@pytest.mark.parametrize("devices", [3, 40])
@pytest.mark.parametrize("seed", range(6))
def test_idle_time_is_the_mean_of_that_of_each_device(seed: int, devices: int, source: str) -> None:
    """By cause and by wait, be the devices worked on one by one or all at once."""
    profile = _profile(seed, devices, source)
    aggregation = aggregate(profile)
    found = idle_time(profile, aggregation)
    used = np.flatnonzero(aggregation.devices.in_use).tolist()
    assert (len(used) > 16) == (devices == 40)
    alone = [idle_time(profile, _of_one(aggregation, row)) for row in used]
    assert _causes(found) == [sum(column) // len(used) for column in zip(*map(_causes, alone), strict=True)]
    assert all(sum(column) for column in zip(*map(_causes, alone), strict=True)), "each cause is there"
    behind = np.sum([idle.waits.idle_ns for idle in alone], axis=0) // len(used)
    assert found.waits.idle_ns.tolist() == behind.tolist()
    for gaps in ("launch_gaps", "host_gaps", "unrecorded_gaps", "setup_gaps", "loader_gaps"):
        assert getattr(found, gaps).start.tolist() == getattr(alone[0], gaps).start.tolist()


@pytest.mark.parametrize("devices", [3, 40])
def test_copies_beside_which_no_kernel_runs_are_the_mean_of_those_of_each_device(devices: int) -> None:
    """Of devices that copied nothing too."""
    profile = _profile(1, devices, "profiler_step")
    aggregation = aggregate(profile)
    used = np.flatnonzero(aggregation.devices.in_use).tolist()
    alone = [exposed_copies(profile, _of_one(aggregation, row)) for row in used]
    assert exposed_copies(profile, aggregation) == sum(alone) // len(used) > 0


def test_gaps_that_functions_explain_are_those_that_launching_does_not() -> None:
    """Events know no analysis, so the limit stands twice."""
    assert idle_frames.LONG_GAP_NS == LAUNCH_GAP_NS
