"""The fast path against the oracle, on generated profiles and on every real one."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.drafts import Call, DraftOp, Span, Work, profile_of
from tests.aggregation.oracle import computed_tables, expected

TIME = st.integers(0, 30)
"""Few, so that starts and ends often meet."""
SPAN = st.tuples(TIME, st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))
PATHS = ["/", "/a/b/linear", "/a/b/c/linear", "/a/linear", "/a//x", "/z/linear", "unassociated_k", "/a/b/", "no/path"]

WORK = st.builds(
    Work,
    kind=st.sampled_from(["kernel", "kernel", "kernel", "memcpy", "memset", "graph", "sync", "call"]),
    gpu=SPAN,
    api=st.one_of(SPAN, st.none()),
    name=st.sampled_from(["sgemm", "hgemm", "Äther", "elementwise"]),
    unit=st.sampled_from(list(MatrixUnit)),
    device=st.sampled_from([0, 1, 5]),
    thread=st.integers(1, 3),
).map(lambda work: work if work.kind in ("kernel", "memcpy", "memset") else _with_call(work))


def _with_call(work: Work) -> Work:
    work.api = work.api or (work.gpu[0], work.gpu[0])
    return work


IDLE_FRAME = st.tuples(
    TIME, TIME, st.sampled_from(["", "train.py(1): step"]), st.sampled_from(["train.py(1): step", "<built-in len>", ""])
)

CALL = st.builds(
    lambda span, work, thread: Call(*span, work=work, thread=thread),
    SPAN,
    st.lists(WORK, max_size=5),
    st.integers(1, 3),
)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Ops of several threads and devices with overlapping, nested and empty work, in iterations with gaps."""
    ops = [
        DraftOp(
            f"{draw(st.sampled_from(['LINEAR', 'ADD']))}_{number}",
            draw(st.sampled_from(PATHS)),
            draw(st.lists(CALL, min_size=1, max_size=3)),
            draw(st.sampled_from(list(Eligibility))),
            draw(st.sampled_from(["float32", "float16", "bfloat16", "int64", ""])),
        )
        for number in range(draw(st.integers(0, 5)))
    ]
    edges = sorted(draw(st.lists(TIME, min_size=2, max_size=8, unique=True)))
    iterations: list[Span] = list(zip(edges[::2], edges[1::2], strict=False))
    if draw(st.booleans()):
        iterations = list(itertools.pairwise(edges))
    return profile_of(
        ops,
        iterations=iterations,
        first_iteration=draw(st.integers(0, 9)),
        devices=(0, 1, 5, 7),
        data_loader=draw(st.lists(SPAN, max_size=2)),
        io=draw(st.lists(SPAN, max_size=2)),
        dlprof_markers=draw(st.booleans()),
        idle_frames=draw(st.lists(IDLE_FRAME, max_size=3)),
    )


@settings(max_examples=200)
@given(profiles(), st.data())
def test_every_number_equals_the_slow_way(profile: Profile, data: st.DataObject) -> None:
    """For any range of the iterations."""
    candidate = profile.iterations[0]
    values = candidate.values.tolist()
    first = data.draw(st.sampled_from(values))
    last = data.draw(st.sampled_from([value for value in values if value >= first]))
    aggregation = aggregate(profile, Selection(iter_start=first, iter_stop=last))
    assert computed_tables(profile, aggregation) == expected(profile, candidate, first, last)


@settings(max_examples=60)
@given(profiles())
def test_the_parts_add_up_and_nothing_exceeds_the_whole(profile: Profile) -> None:
    """The seven parts are not negative and add up to the wall time, in all and for each device and iteration."""
    aggregation = aggregate(profile)
    wall = int((aggregation.iterations.stop_ns - aggregation.iterations.start_ns).sum())
    assert aggregation.wall_ns == wall
    assert (aggregation.iterations.parts_ns >= 0).all()
    assert (aggregation.devices.parts_ns >= 0).all()
    assert (aggregation.devices.parts_ns.sum(axis=1) == wall).all()
    assert 0 <= aggregation.gpu_utilization <= 100
    assert 0 <= aggregation.efficiency.percent() <= 100
