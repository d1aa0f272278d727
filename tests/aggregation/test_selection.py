from __future__ import annotations

import re

import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.aggregation.selection import fitting
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of


def _training(dlprof_markers: bool = False, after_last_loss: bool = True) -> Profile:
    """Two steps, each a linear op of 10 ns with a kernel, then the loss; then perhaps one more linear op.

    ::

        linear  0-10         100-110         200-210
        loss         20-30           120-130
    """
    calls = [Call(0, 10, [Work("kernel", (12, 18), (1, 3))]), Call(100, 110, [Work("kernel", (112, 118), (101, 103))])]
    if after_last_loss:
        calls.append(Call(200, 210))
    ops = [DraftOp("LINEAR_1", "/net/linear", calls), DraftOp("LOSS_1", "/loss", [Call(20, 30), Call(120, 130)])]
    return profile_of(ops, iterations=[(0, 1_000)], dlprof_markers=dlprof_markers, end_ns=300)


def test_iterations_end_where_the_key_op_ends() -> None:
    """Two instances cut the profile into three iterations, the last one up to its end."""
    candidate = aggregate(_training(), Selection(key_op="/loss")).candidate
    assert (candidate.source, candidate.label) == ("key_op", "/loss")
    assert candidate.values.tolist() == [0, 1, 2]
    assert candidate.start_ns.tolist() == [0, 30, 130]
    assert candidate.stop_ns.tolist() == [30, 130, 300]


def test_the_first_iteration_starts_where_the_whole_capture_does() -> None:
    """A capture that began late did not watch an idle GPU before its first event."""
    late = profile_of([DraftOp("LOSS_1", "/loss", [Call(520, 530), Call(620, 630)])], source="whole_capture",
                      iterations=[(500, 1_000)])  # fmt: skip
    candidate = aggregate(late, Selection(key_op="/loss")).candidate
    assert candidate.start_ns.tolist() == [500, 530]


def test_a_last_iteration_without_ops_is_dropped_except_for_dlprof() -> None:
    """DLProf itself keeps it, and ends it with the last op."""
    assert aggregate(_training(after_last_loss=False), Selection(key_op="LOSS_1")).candidate.values.tolist() == [0, 1]
    dlprof = aggregate(_training(dlprof_markers=True), Selection(key_op="LOSS_1")).candidate
    assert dlprof.stop_ns.tolist() == [30, 130, 210]
    emptied = aggregate(_training(dlprof_markers=True, after_last_loss=False), Selection(key_op="LOSS_1")).candidate
    assert emptied.values.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("key_op", "label", "stops"), [("LOSS_2", "LOSS_2", [50]), ("/loss", "/loss", [30, 50])])
def test_the_label_of_a_key_op_finds_the_same_iterations_again(key_op: str, label: str, stops: list[int]) -> None:
    """Several ops may have one name: where only one of them ends iterations, its id is the label."""
    profile = profile_of(
        [DraftOp("LOSS_1", "/loss", [Call(20, 30)]), DraftOp("LOSS_2", "/loss", [Call(40, 50)])], end_ns=50
    )
    candidate = aggregate(profile, Selection(key_op=key_op)).candidate
    assert (candidate.label, candidate.stop_ns.tolist()) == (label, stops)
    again = aggregate(profile, Selection(key_op=candidate.label)).candidate
    assert again.stop_ns.tolist() == stops


def test_iterations_that_dlprof_found_by_the_key_op_are_kept() -> None:
    """A database tells them, perhaps others than where the op ends now; other key ops cut anew."""
    profile = _training()
    stored = IterationCandidate("key_op", "/loss", np.arange(2), np.array([0, 40]), np.array([40, 300]))
    profile.iterations.insert(0, stored)
    assert aggregate(profile, Selection(key_op="/loss", iter_start=1)).iterations.start_ns.tolist() == [40]
    assert aggregate(profile, Selection(key_op="/net/linear")).iterations.stop_ns.tolist() == [10, 110, 210]


def test_an_unknown_key_op_names_the_nearest() -> None:
    """A typing error is told apart from an op that is not there."""
    with pytest.raises(BadRequest, match="did you mean LOSS_1"):
        aggregate(_training(), Selection(key_op="LOS_1"))
    with pytest.raises(BadRequest, match="choose one from the table"):
        aggregate(_training(), Selection(key_op="qqqqqqqq"))


def test_the_range_is_inclusive_and_what_lies_outside_is_counted() -> None:
    """One of two steps: its instances, kernels and time; the other's are told."""
    aggregation = aggregate(_training(), Selection(key_op="/loss", iter_start=1, iter_stop=1))
    assert aggregation.wall_ns == 100
    assert aggregation.iterations.iter_value.tolist() == [1]
    assert aggregation.op_nodes.num_calls.tolist() == [1, 1]
    assert aggregation.launches.kernels == 1
    assert (aggregation.outside.instances, aggregation.outside.kernels, aggregation.outside.kernel_ns) == (3, 1, 6)


@pytest.mark.parametrize(("start", "stop"), [(3, None), (None, -1), (2, 1), (-1, 1), (0, 3)])
def test_an_impossible_range_names_the_legal_one(start: int | None, stop: int | None) -> None:
    """Beyond either end, or backwards."""
    with pytest.raises(BadRequest, match="iterations 0 to 2"):
        aggregate(_training(), Selection(key_op="/loss", iter_start=start, iter_stop=stop))


def test_a_candidate_is_chosen_by_source_or_label() -> None:
    """And an unknown one lists those that there are."""
    for candidate in ("profiler_step", "ProfilerStep#N"):
        assert aggregate(_training(), Selection(candidate=candidate)).candidate.source == "profiler_step"
    with pytest.raises(BadRequest, match=r"choose one of: profiler_step \(ProfilerStep#N\)"):
        aggregate(_training(), Selection(candidate="epoch"))


def test_of_several_candidates_of_one_source_the_label_tells_which() -> None:
    """As the page offers them: batches beside epochs. The source alone means the best of them."""
    profile = _training()
    batches, epochs, named_so = (
        IterationCandidate(source, label, np.array([0]), np.array([0]), np.array([stop]))
        for source, label, stop in (
            ("numbered_range", "batch N", 10),
            ("numbered_range", "epoch N", 20),
            ("repeated_range", "numbered_range", 30),
        )
    )
    profile.iterations += [batches, epochs]
    assert aggregate(profile, Selection(candidate="epoch N")).wall_ns == 20
    assert aggregate(profile, Selection(candidate="numbered_range")).wall_ns == 10
    profile.iterations.append(named_so)
    assert aggregate(profile, Selection(candidate="numbered_range")).wall_ns == 30


def test_device_work_belongs_to_the_iteration_of_its_instance() -> None:
    """The GPU lags: a kernel that runs in iteration 1 counts for the op of iteration 0, its time by the clock."""
    op = DraftOp("LINEAR_1", "/linear", [Call(0, 10, [Work("kernel", (60, 90), (1, 3))])])
    aggregation = aggregate(profile_of([op], iterations=[(0, 50), (50, 100)]))
    assert aggregation.iterations.kernels.tolist() == [1, 0]
    assert aggregation.iterations.parts_ns[:, 1].tolist() == [0, 30]


def test_only_the_last_iteration_is_closed() -> None:
    """An op that starts where two iterations meet belongs to the later one."""
    op = DraftOp("LINEAR_1", "/linear", [Call(50, 60), Call(100, 101)])
    aggregation = aggregate(profile_of([op], iterations=[(0, 50), (50, 100)]))
    assert aggregation.iteration_ops.iter_value.tolist() == [1]
    assert aggregation.iteration_ops.instances.tolist() == [2]


def test_what_starts_in_a_gap_or_where_one_begins_lies_outside() -> None:
    """Neither the end of an iteration nor what follows it belongs to it."""
    op = DraftOp("LINEAR_1", "/linear", [Call(10, 11), Call(15, 16), Call(20, 21)])
    aggregation = aggregate(profile_of([op], iterations=[(0, 10), (20, 30)]))
    assert aggregation.outside.instances == 2
    assert aggregation.iteration_ops.iter_value.tolist() == [1]


@pytest.mark.parametrize(
    ("wanted", "had", "said"),
    [
        ((6, 8), (6, 8), None),
        ((None, 6), (None, 6), None),
        ((2, 6), (5, 6), "Iterations 2 to 6 are not all in this profile, which has 5 to 9; 5 to 6 are aggregated."),
        ((7, 99), (7, 9), "Iterations 7 to 99 are not all in this profile, which has 5 to 9; 7 to 9 are aggregated."),
        ((2, None), (5, 9), "Iterations from 2 on are not all .* 5 to 9 are aggregated."),
        ((None, 99), (5, 9), "Iterations up to 99 are not all .* 5 to 9 are aggregated."),
        ((12, None), (None, None), "Iterations from 12 on are not all .* all of them are aggregated."),
        ((None, 4), (None, None), "Iterations up to 4 are not all .* all of them are aggregated."),
    ],
)
def test_as_much_of_a_selection_as_there_is(
    wanted: tuple[int | None, int | None], had: tuple[int | None, int | None], said: str | None
) -> None:
    """Of five iterations that begin with the fifth; what is left can be aggregated."""
    spans = [(start, start + 100) for start in range(0, 500, 100)]
    profile = profile_of([DraftOp("LINEAR_1", "/net", [Call(0, 10)])], spans, first_iteration=5, end_ns=500)
    result, left_out = fitting(profile, Selection(iter_start=wanted[0], iter_stop=wanted[1]))
    assert (result.iter_start, result.iter_stop) == had
    assert len(left_out) == (said is not None)
    assert said is None or re.fullmatch(said, left_out[0])
    aggregate(profile, result)


def test_a_key_op_that_a_profile_lacks_is_left_out() -> None:
    """With a sentence that names the nearest, and the range of the iterations that there are then."""
    result, left_out = fitting(_training(), Selection(key_op="LOS_1", iter_start=3))
    assert (result.key_op, result.iter_start, result.iter_stop) == (None, None, None)
    assert len(left_out) == 2
    assert "did you mean LOSS_1" in left_out[0]
    assert left_out[0].endswith("The run goes on without it.")
    assert left_out[1].startswith("Iterations from 3 on")
