"""What a verdict adds about the group of ops that explains the change."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.comparing.comparison import Comparison, compare
from tensorboard_plugin_dlprof.comparing.recording import Kernel
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
from tensorboard_plugin_dlprof.comparing.writing import text
from tests.comparing.ops import op, recording

LINEAR = op("model/linear", 50_000_000)
EIGHT = (100_000_000,) * 8
"""Iterations enough to be sure."""
SLOWER = (150_000_000,) * 8


def test_an_op_of_one_side_did_not_move_to_matrix_units() -> None:
    """A new op that runs on them is new, not moved there."""
    new = op("model/attention", 400_000_000, tensor_core_ns=400_000_000)
    a = recording([LINEAR], iterations=EIGHT)
    b = recording([LINEAR, new], iterations=SLOWER)
    sentence = verdict_of(compare([a], [b])).sentence
    assert "`attention`, which only B has" in sentence
    assert "now runs" not in sentence


@pytest.mark.parametrize(
    ("devices", "unit"),
    [((["NVIDIA H100"],) * 2, "Tensor Cores"), ((["AMD Instinct MI300X"],) * 2, "Matrix Cores")],
)
def test_an_op_of_both_sides_moved_to_matrix_units(devices: tuple[list[str], list[str]], unit: str) -> None:
    """They bear the name that the vendor gives them."""
    a = recording([op("model/linear", 400_000_000)], iterations=SLOWER, devices=devices[0])
    b = recording([op("model/linear", 40_000_000, tensor_core_ns=40_000_000)], iterations=EIGHT, devices=devices[1])
    assert f"which now run on {unit}" in verdict_of(compare([a], [b])).sentence


def test_times_are_those_of_the_estimate_where_one_slow_iteration_shifts_the_mean() -> None:
    """The change in percent and the times before it say the same; the means, which say another thing, stand apart."""
    a = recording([LINEAR], iterations=(*EIGHT, 2_000_000_000))
    b = recording([LINEAR], iterations=(*SLOWER, 150_000_000))
    verdict = verdict_of(compare([a], [b]))
    assert verdict.headline == "An iteration of B takes 50.0 % more time: 150 ms instead of 100 ms in the median."
    assert verdict.of_medians
    assert verdict.certainty == (
        "95 % interval within these recordings: 50.0 % to 50.0 %; 9 against 9 iterations. "
        "Means, which single slow iterations shift, are 150 ms instead of 311 ms (-51.8 %)."
    )


@pytest.mark.parametrize(
    ("each", "told"),
    [
        (28_000_000, "An iteration of B takes 72.0 % less time: 28.0 ms instead of 100 ms."),
        (250_000_000, "An iteration of B takes 150 % more time: 250 ms instead of 100 ms."),
        (1_500_000_000, "An iteration of B takes 15.0 times as much time: 1.50 s instead of 100 ms."),
    ],
)
def test_a_change_of_time_is_told_as_one_of_time(each: int, told: str) -> None:
    """A program that takes 72.0 % less time is 3.6 times as fast, not 72 % faster."""
    verdict = verdict_of(
        compare([recording([LINEAR], iterations=EIGHT)], [recording([LINEAR], iterations=(each,) * 8)])
    )
    assert verdict.headline.startswith(told)


def test_recordings_of_other_work_are_measured_before_it_is_said_what_cannot_be_told() -> None:
    """Kernels may take less in total and more per call; what changes most may be no kernel."""
    ops = [op(f"m/{name}", time, calls) for name, time, calls in (("x", 60_000_000, 6), ("y", 40_000_000, 8))]
    fewer = [op(f"m/{name}", time, calls) for name, time, calls in (("x", 33_000_000, 3), ("y", 44_000_000, 8))]
    a = recording(ops, parts={"compute_other": 100_000_000, "launching": 20_000_000, "io": 2_000_000})
    b = recording(fewer, parts={"compute_other": 77_000_000, "launching": 43_000_000, "io": 2_000_000})
    verdict = verdict_of(compare([a], [b]))
    assert (verdict.verdict, verdict.of_medians) == ("cannot_tell", False)
    assert verdict.headline == (
        "Cannot tell: the recording of B takes 122 ms, as that of A does: kernels take 23.0 ms less in total "
        "(-23.0 %), and idle time changes most in launching: +23.0 ms."
    )
    assert verdict.certainty == "Per call of the ops that both have, kernels take 10.0 % more time."
    # A GPU that copies is not idle, however much that changes.
    a = recording(ops, parts={"compute_other": 100_000_000, "launching": 20_000_000, "copy": 90_000_000})
    b = recording(fewer, parts={"compute_other": 77_000_000, "launching": 43_000_000, "copy": 0})
    assert verdict_of(compare([a], [b])).headline.endswith(", and idle time changes most in launching: +23.0 ms.")


def test_what_one_kernel_loses_to_another_on_another_device_is_not_told_as_gained() -> None:
    """Nobody knows which kernels took the place of which, where they are in no op and devices have other ones."""

    def sides(*devices: str) -> Comparison:
        old, new = (
            op(name, time, associated=False, kernels=[Kernel(name, name, 1, time, False, "fp32", family)])
            for name, time, family in (("old", 60_000_000, "copy"), ("new", 55_000_000, ""))
        )
        a = recording([op("m/mul", 90_000_000), old], iterations=EIGHT[:1], devices=[devices[0]])
        b = recording([op("m/mul", 70_000_000), new], iterations=(75_000_000,), devices=[devices[1]])
        return compare([a], [b])

    assert verdict_of(sides("H100", "MI300X")).headline.endswith(", 20.0 ms of it in ops of type `mul`.")
    assert verdict_of(sides("H100", "H100")).headline.endswith(", 25.0 ms of it in kernels.")


def test_means_medians_and_the_estimate_are_named_where_they_differ() -> None:
    """Of (20, 22, 52) ms and (40, 54, 68): means 31.3 and 54, medians 22 and 54, and the median of nine ratios 2.0."""
    a = recording([LINEAR], iterations=(20_000_000, 22_000_000, 52_000_000))
    b = recording([LINEAR], iterations=(40_000_000, 54_000_000, 68_000_000))
    comparison = compare([a], [b])
    verdict = verdict_of(comparison)
    assert "terations of B are 22.7 ms longer on average (54.0 ms instead of 31.3 ms)" in verdict.headline
    assert "Medians" not in verdict.headline
    told = "Medians are 54.0 ms instead of 22.0 ms (+145 %); the estimate, the median ratio of all pairs, is +100 %."
    assert told in verdict.details
    measure = comparison.measures["iteration_time"]
    assert (measure.a_median, measure.b_median) == (22_000_000, 54_000_000)
    assert "Change of one iteration, on average: +22.7 ms, 31.3 ms -> 54.0 ms" in text([(comparison, ())], 3)


def test_a_single_iteration_has_no_mean() -> None:
    """Nor medians that would be anything else."""
    comparison = compare([recording([LINEAR], iterations=EIGHT[:1])], [recording([LINEAR], iterations=SLOWER[:1])])
    printed = text([(comparison, ())], 3)
    assert "mean" not in printed
    assert "edian" not in printed


def test_a_sure_estimate_is_named_where_the_medians_beside_it_differ() -> None:
    """Two modes of A: the middle of the ratios is no ratio of the middles."""
    a = recording([LINEAR], iterations=(100_000_000,) * 5 + (190_000_000,) * 4)
    b = recording([LINEAR], iterations=(200_000_000,) * 4 + (390_000_000,) * 5)
    sentence = verdict_of(compare([a], [b])).sentence
    assert (
        "Medians change by +290 %; the estimate is the median ratio of all pairs, with a 95 % interval within"
        in sentence
    )


def test_medians_are_told_where_nothing_changed_but_a_mean() -> None:
    """One slow iteration of A is no change of B."""
    a = recording([LINEAR], iterations=(*EIGHT, 2_000_000_000))
    sentence = verdict_of(compare([a], [recording([LINEAR], iterations=EIGHT)])).sentence
    assert sentence.startswith("No clear change: an iteration takes 100 ms in the median of both (")
    assert "Means, which single slow iterations shift, are 100 ms instead of 311 ms" in sentence


def test_programs_that_share_little_are_said_to_be_different_before_anything_else() -> None:
    """Where both have most of their time in ops that the other lacks; one that does more than the other is the same."""
    common, of_a, of_b = (
        op("norm", 1_000_000),
        op("model/conv", 9_000_000, op_type="conv"),
        op("lm/attention", 19_000_000),
    )
    differ = compare([recording([common, of_a], iterations=EIGHT)], [recording([common, of_b], iterations=EIGHT)])
    assert differ.comparability[0] == (
        "These seem to be different programs: ops that both have take 10.0 % of A's kernel time and 5.0 % of B's, "
        "so changes tell little."
    )
    verdict = verdict_of(differ)
    assert verdict.verdict == "cannot_tell"
    assert verdict.headline == f"Cannot tell: t{differ.comparability[0][1:]}"
    assert not differ.is_same_program
    assert differ.a.iteration_ns == EIGHT[0]
    small = compare(
        [recording([common, op("lm/norm", 800_000)], iterations=EIGHT)], [recording([common, of_b], iterations=EIGHT)]
    )
    assert not small.is_same_program
    grown = compare([recording([common], iterations=EIGHT)], [recording([common, of_b], iterations=EIGHT)])
    assert not any("different programs" in sentence for sentence in grown.comparability)
    assert grown.is_same_program
    # What runs in CUDA graphs that were recorded as a whole is not known, so nothing speaks for another program.
    graphs = op("graphs", 1_000_000, graph_ns=90_000_000)
    assert compare([recording([of_a], iterations=EIGHT)], [recording([graphs], iterations=EIGHT)]).is_same_program


def test_kernels_that_changed_the_other_way_are_told_after_a_verdict() -> None:
    """The good news beside the bad: iterations are longer though kernels take half the time."""
    a = recording([op("model/linear", 400_000_000)], iterations=EIGHT)
    b = recording([op("model/linear", 200_000_000)], iterations=SLOWER)
    told = "ernels take half the time (25.0 ms instead of 50.0 ms)"
    assert f" But k{told}." in verdict_of(compare([a], [b])).headline
    few = [recording(one.ops, iterations=one.iteration_time[:2]) for one in (a, b)]
    headline = verdict_of(compare(few[:1], few[1:])).headline
    assert headline.startswith("Cannot tell: iterations of B")
    assert headline.endswith(f" But k{told.replace('25.0', '100').replace('50.0', '200')}.")


@pytest.mark.parametrize("iterations", [(EIGHT, SLOWER), ((), ())])
def test_inputs_of_another_size_are_no_change_of_speed(iterations: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Neither side is slower or faster for working on more; the reason is said once, first."""
    sides = [
        recording([op("model/linear", time, shapes=f"[[{batch},64],[64,64]]")], iterations=each)
        for time, batch, each in ((60_000_000, 8, iterations[0]), (90_000_000, 32, iterations[1]))
    ]
    for order, told, each in (
        (sides, "about 4 times as large", "62.5 % less"),
        (sides[::-1], "about 4 times as small", "167 % more"),
    ):
        comparison = compare(order[:1], order[1:])
        verdict = verdict_of(comparison)
        assert verdict.verdict == "cannot_tell"
        assert verdict.word == "Other work"
        assert verdict.headline.startswith("Other work: ")
        assert f" for inputs {told} (" in verdict.headline
        assert f": about {each} kernel time per input element." in verdict.headline
        assert comparison.has_other_inputs
        assert not any("inputs" in sentence for sentence in comparison.comparability)


def test_inputs_that_are_many_times_as_large_have_no_power_of_ten() -> None:
    """A batch of one against one of 128."""
    a, b = (
        recording([op("model/linear", time, shapes=f"[[{batch},64],[64,64]]")], iterations=EIGHT)
        for time, batch in ((6_000_000, 1), (90_000_000, 128))
    )
    assert "inputs about 130 times as large" in verdict_of(compare([a], [b])).headline


def test_no_time_by_input_is_told_where_inputs_grow_unlike() -> None:
    """Of the sequences of a batch those of one op grow, those of the other shrink: the factor is of one op alone."""
    a, b = (
        recording(
            [
                op("model/linear", 40_000_000, shapes=f"[[{rows},64],[64,64]]"),
                op("model/conv1d", 20_000_000, shapes=f"[[8,{length}]]"),
            ],
            iterations=EIGHT,
        )
        for rows, length in ((256, 8256), (512, 1891))
    )
    assert compare([a], [b]).other_work == (
        "inputs about 2 times as large in ops that take most of the time",
        "",
        "",
    )


@pytest.mark.parametrize(
    ("times", "lengths", "told"),
    [
        ((60_000_000, 120_000_000), (8, 20), "at least 50.0 % less kernel time per input element"),
        ((60_000_000, 500_000_000), (8, 20), "at most 108 % more kernel time per input element"),
        ((60_000_000, 240_000_000), (8, 20), "no more kernel time per input element"),
        ((120_000_000, 60_000_000), (20, 8), "at least 100 % more kernel time per input element"),
        ((60_000_000, 120_000_000), (8, 1), ""),
    ],
)
def test_inputs_that_are_larger_by_several_factors_are_larger_by_the_least(
    times: tuple[int, int], lengths: tuple[int, int], told: str
) -> None:
    """A batch of 4 times as many sentences, which are also longer: no op's input is less than 4 times as large. Where
    some get smaller inputs, no factor is told."""
    a, b = (
        recording(
            [
                op("model/linear", time // 2, shapes=f"[[{batch},64],[64,64]]"),
                op("model/bmm", time // 2, shapes=f"[[{batch},{length},64]]"),
            ],
            iterations=EIGHT,
        )
        for time, batch, length in zip(times, sorted((8, 32), reverse=lengths[0] == 20), lengths, strict=True)
    )
    comparison = compare([a], [b])
    if told:
        size = "small" if lengths[0] == 20 else "large"
        assert comparison.other_work == (f"inputs at least 4 times as {size}", told, "")
    assert (comparison.other_work is None) == (told == "")
