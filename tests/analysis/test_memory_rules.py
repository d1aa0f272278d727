"""Rules about what the GPU's memory holds: each speaks where it is true, and is silent beside it."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.analysis.tables import Finding
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, STAYS, Blocks, History, Segment
from tensorboard_plugin_dlprof.memory.answer import answer
from tensorboard_plugin_dlprof.profile.tables import Calls, Profile
from tests.analysis.scenes import STEP_NS, Step, scene, verdict

GB = 1 << 30
STEPS = 8
PATH = "/Net/Layer[0]/mm"


def training() -> Profile:
    """Steps with a forward product of module ``/Net/Layer[0]`` and one of the backward pass."""

    def body(step: Step) -> None:
        step.good(0, STEP_NS)

    profile = scene(body, steps=STEPS)
    profile.ops = [msgspec.structs.replace(op, name=PATH, direction="fprop") for op in profile.ops]
    profile.ops.append(msgspec.structs.replace(profile.ops[0], op_id="B", name="/Net/Loss/mm", direction="bprop"))
    return profile


def held(
    activation: float = 0.2, leak: int = 0, reserved_rises: bool = False, last: int = 1, data_type: str = "bfloat16"
) -> Profile:
    """10 GB: a share of them activations of ``PATH``; each step ends with ``leak`` bytes more."""
    profile = training()
    profile.ops[0] = msgspec.structs.replace(profile.ops[0], data_type=data_type)
    own = round(activation * 10 * GB)
    step = np.arange(STEPS) * STEP_NS
    time = np.stack([step + 100, step + 200], axis=1).reshape(-1)
    change = np.tile([own, -own], STEPS)
    change[1::2] += leak
    in_use = np.append(10 * GB - own, 10 * GB - own + np.cumsum(change))
    reserved = np.full(len(in_use), 20 * GB)
    if reserved_rises:
        reserved = 20 * GB + GB * (np.arange(len(in_use)) // 2)
    blocks = Blocks(
        np.arange(0, 2 * STEPS, 2),
        np.arange(1, 2 * STEPS, 2),
        np.full(STEPS, own),
        np.full(STEPS, CATEGORIES.index("activation"), np.int8),
        np.full(STEPS, 1, np.int32),
        np.zeros(STEPS, np.int32),
    )
    profile.memory_histories = [
        History(
            device=0,
            measure="allocated",
            relative=False,
            time_ns=time,
            in_use_bytes=in_use,
            reserved_bytes=reserved,
            blocks=blocks,
            owners=["", PATH],
            capacity_bytes=40 * GB,
            segment_events=np.flatnonzero(np.diff(reserved) > 0),
        )
    ]
    return profile


def snapshot(free: int, largest: int, settings: str = "", failed: int = 0) -> Profile:
    """10 GB reserved, of which some are free in pieces of ``largest``; an allocation of ``failed`` bytes fails."""
    profile = held()
    history = profile.memory_histories[0]
    pieces = tuple((largest, "inactive", -1) for _ in range(free // largest))
    history.segments = [Segment(0, 10 * GB, "large", 0, ((10 * GB - free, "active_allocated", -1), *pieces))]
    history.in_use_bytes[:] = 10 * GB - free
    history.reserved_bytes[:] = 10 * GB
    history.blocks = Blocks(*(np.array(column) for column in ([0], [STAYS], [2 * GB], [7], [0], [0])))
    history.settings = settings
    history.out_of_memory = [(3, failed, 0)] if failed else []
    return profile


def of_memory(profile: Profile) -> dict[str, Finding]:
    """What the rules about memory say."""
    return {said.detector: said for said in verdict(profile).findings if said.cause == "memory"}


CACHED = ["cached_memory_detector"]
"""Where more than 30 % of what is reserved is never in use."""

ROOM = ["batch_size_detector"]
"""Where the page Memory says that there is room."""


def of_gpu(profile: Profile, capacity: int, share: float = 1.0) -> Profile:
    """The profile on a GPU with other memory (0: unknown), and with a share of all bytes."""
    (history,) = profile.memory_histories
    history.capacity_bytes = capacity
    for column in (history.in_use_bytes, history.reserved_bytes, history.blocks.num_bytes):
        column[:] = column * share
    return profile


@pytest.mark.parametrize(
    ("profile", "detectors"),
    [
        (held(), CACHED),
        (held(activation=0.31), ["activation_detector", *CACHED]),
        (held(activation=0.31, data_type="float32"), ["activation_detector", "wide_activation_detector", *CACHED]),
        (of_gpu(held(activation=0.9, data_type="float32"), 192 * GB), CACHED),
        (of_gpu(held(activation=0.9, data_type="float32"), 0, 1e-3), []),
        (of_gpu(held(activation=0.9), 0), ["activation_detector", *CACHED]),
        (held(leak=1 << 28), ["leak_detector", *CACHED]),
        (held(reserved_rises=True), ["allocator_churn_detector", *CACHED]),
        (snapshot(3 * GB, GB), ["fragmentation_detector"]),
        (of_gpu(snapshot(3 * GB, GB), 192 * GB), []),
        (snapshot(3 * GB, 3 * GB), []),
        (snapshot(GB, GB), []),
        (snapshot(3 * GB, GB, "expandable_segments:True"), []),
        (snapshot(GB // 2, GB // 2, failed=GB), ["oom_detector"]),
        (snapshot(4 * GB, GB // 2, failed=3 * GB), ["oom_detector", "fragmentation_detector"]),
    ],
)
def test_a_rule_speaks_where_it_is_true(profile: Profile, detectors: list[str]) -> None:
    """And nowhere else."""
    assert sorted(of_memory(profile)) == sorted(detectors)


def of_page(profile: Profile) -> dict[str, dict[str, Any]]:
    """What ``dlprof memory`` and the page Memory say of the only GPU."""
    return {each["rule"]: each for each in answer(profile, "")["devices"]["0"]["findings"]}


@pytest.mark.parametrize(
    ("profile", "rules", "but"),
    [
        (of_gpu(held(activation=0.9, data_type="float32"), 192 * GB), 2, "while the GPU has room."),
        (of_gpu(held(activation=0.9, data_type="float32"), 0, 1e-3), 2, "that is a small part."),
        (of_gpu(snapshot(3 * GB, GB), 192 * GB), 1, "equal shapes."),
    ],
)
def test_where_nothing_needs_the_memory_it_is_information(profile: Profile, rules: int, but: str) -> None:
    """The page Memory tells it, and why it is no advice; Recommendations do not."""
    told = [each for each in of_page(profile).values() if each["rule"] not in ("cached_memory_detector", *ROOM)]
    assert [each["severity"] for each in told] == ["info"] * rules
    assert all(each["action"].endswith(but) for each in told)
    assert not set(of_memory(profile)) - set(CACHED)


def test_beside_a_failed_allocation_there_is_no_room() -> None:
    """However little was reserved when it failed."""
    profile = of_gpu(snapshot(GB // 2, GB // 2), 192 * GB)
    assert set(of_page(profile)) == set(ROOM)
    profile = of_gpu(snapshot(GB // 2, GB // 2, failed=190 * GB), 192 * GB)
    assert set(of_page(profile)) == {"oom_detector"}


def test_sentences_say_how_much_and_what_it_costs() -> None:
    """In bytes, in time, and as shares."""
    said = of_memory(held(activation=0.5))["activation_detector"]
    assert said.problem_text() == "/Net/Layer holds 5.00 GiB of activations at the peak (50.0 % of it)."
    assert "saves up to 5.00 GiB" in said.recommendation_text()
    assert "1.00 ms of GPU time (100 % of each iteration)" in said.recommendation_text()
    assert "in at most 24 iterations the GPU is full" in of_memory(held(leak=GB))["leak_detector"].problem_text()
    churning = held(reserved_rises=True)
    name = np.full(2, churning.strings.intern("cudaMalloc"), np.int32)
    begin, one = np.array([50, 3 * STEP_NS]), np.zeros(2, np.int32)
    churning.calls = Calls(one, one, name, begin, begin + 4_000, one.astype(np.int64), one.astype(np.int64))
    said = of_memory(churning)["allocator_churn_detector"].problem_text()
    assert said.endswith("calls that allocate and free took 4.00 \u00b5s of the host's time there.")
    advice = of_page(churning)["allocator_churn_detector"]["action"]
    assert advice == (
        "Give the inputs of all iterations the same shapes, and do not call empty_cache in the loop. "
        "Where shapes differ, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lets segments grow."
    )
    full = of_memory(snapshot(GB // 2, GB // 2, failed=GB))["oom_detector"].problem_text()
    assert full == (
        "An allocation of 1.00 GiB failed; 9.50 GiB of 10.0 GiB reserved were allocated and 0 bytes were free on the "
        "GPU, which is full."
    )
    pieces = of_memory(snapshot(4 * GB, GB // 2, failed=3 * GB))["oom_detector"]
    assert pieces.problem_text() == (
        "An allocation of 3.00 GiB failed; 6.00 GiB of 10.0 GiB reserved were allocated and 4.00 GiB were cached, but "
        "no free block was larger than 512 MiB: fragmentation."
    )
    assert "expandable_segments:True" in pieces.recommendation_text()


def test_a_failure_with_room_on_the_gpu_is_not_a_full_gpu() -> None:
    """A limit of the process, such as set_per_process_memory_fraction, fails allocations too."""
    profile = snapshot(GB // 2, GB // 2, failed=GB)
    history = profile.memory_histories[0]
    history.out_of_memory = [(3, GB, 30 * GB), (4, GB, 0)]
    said = of_memory(profile)["oom_detector"]
    assert "(the first of 2); 9.50 GiB of 10.0 GiB reserved were allocated and 30.0 GiB were free on the GPU: the" in (
        said.problem_text()
    )
    history.out_of_memory, profile.memory_answer = [(3, GB, -1)], None
    assert "reserved were allocated, and the GPU has 40.0 GiB: others hold the rest, or a limit keeps it from this" in (
        of_memory(profile)["oom_detector"].problem_text()
    )
    history.capacity_bytes, profile.memory_answer = 0, None
    alone = of_memory(profile)["oom_detector"].problem_text()
    assert alone.endswith("failed; 9.50 GiB of 10.0 GiB reserved were allocated.")
    history.segments, profile.memory_answer = [], None
    history.reserved_bytes = np.full(len(history.in_use_bytes), 20 * GB)
    history.settings = "expandable_segments:True"
    said = of_memory(profile)["oom_detector"]
    assert "no free block fitted: fragmentation, or they are of other streams or pools" in said.problem_text()
    assert "expandable_segments" not in said.recommendation_text()


def test_a_piece_that_is_large_enough_is_no_fragmentation() -> None:
    """It is of another stream or pool; and what requests were rounded up to is not cached."""
    profile = snapshot(4 * GB, 4 * GB, failed=3 * GB)
    assert "cached, but for other streams or pools" in of_memory(profile)["oom_detector"].problem_text()
    profile = snapshot(GB, GB, failed=GB // 4)
    history = profile.memory_histories[0]
    history.in_use_bytes[:5], history.in_use_bytes[5:] = 9 * GB + GB // 2, 8 * GB
    assert "which is full" in of_memory(profile)["oom_detector"].problem_text()


def test_a_warm_up_is_no_step_though_the_peak_may_be_there() -> None:
    """What recomputing costs is a share of a typical iteration; the peak is told at its first moment."""
    profile = held(activation=0.5)
    profile.iterations[0].start_ns[0] -= 9 * STEP_NS
    said = answer(profile, "")
    device = said["devices"]["0"]
    assert "1.00 ms of GPU time (100 % of each iteration)" in of_page(profile)["activation_detector"]["action"]
    assert "on GPU 0 in each of the 8 iterations, reached in" in said["headline"]
    assert (device["peak_ns"], device["peak_bytes"]) == (100, 10 * GB)
    assert {"category": "activation", "bytes": 5 * GB, "blocks": 1} in device["at_peak"]
