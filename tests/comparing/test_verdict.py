"""What a verdict adds about the group of ops that explains the change."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.comparing.comparison import compare
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of
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
    assert f"which now runs on {unit}" in verdict_of(compare([a], [b])).sentence


def test_times_are_those_of_the_estimate_where_one_slow_iteration_shifts_the_mean() -> None:
    """The change in percent and the times before it say the same; the means, which say another thing, stand apart."""
    a = recording([LINEAR], iterations=(*EIGHT, 2_000_000_000))
    b = recording([LINEAR], iterations=(*SLOWER, 150_000_000))
    sentence = verdict_of(compare([a], [b])).sentence
    assert sentence.startswith("B is 50 % slower: an iteration takes 150 ms instead of 100 ms in the median (95 % sure")
    assert "Means, which single slow iterations shift, are 150 ms instead of 311 ms (-52 %)." in sentence


def test_medians_are_told_where_nothing_changed_but_a_mean() -> None:
    """One slow iteration of A is no change of B."""
    a = recording([LINEAR], iterations=(*EIGHT, 2_000_000_000))
    sentence = verdict_of(compare([a], [recording([LINEAR], iterations=EIGHT)])).sentence
    assert sentence.startswith("No clear change: an iteration takes 100 ms against 100 ms in the median (")
    assert "Means, which single slow iterations shift, are 100 ms instead of 311 ms" in sentence
