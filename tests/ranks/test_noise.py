"""What noise can make of own delays, on comparisons made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_dlprof.ranks.noise import Comparisons, comparisons_of, noise_explains, noise_of_stages
from tensorboard_plugin_dlprof.ranks.own_times import PARTS, OwnTimes
from tests.ranks.by_hand import operations


def compared(spent: list[list[int]]) -> Comparisons:
    """The comparisons of ranks that do the same: own times of each in each iteration."""
    times = np.array(spent, np.int64)
    member, iteration = np.indices(times.shape)
    same = np.zeros(times.size, np.int64)
    return Comparisons(member.reshape(-1), iteration.reshape(-1), same, iteration.reshape(-1), times.reshape(-1))


@pytest.mark.parametrize(
    ("spent", "explains"),
    [
        ([[1_000, 1_010, 1_005], [1_300, 1_302, 1_307]], False),  # as much every time
        ([[1_000, 1_200, 1_050], [1_300, 1_290, 1_310]], True),  # the other one is not steady either
        ([[1_000], [1_300]], True),  # one comparison shows no noise
        ([[1_000, 1_003], [1_001, 1_004], [1_003, 1_000], [1_300, 1_300]], False),
        ([[1_000, 1_200], [1_100, 900], [1_050, 1_230], [1_300, 1_300]], True),
        # Another one costs time, too; and one that does in most iterations.
        ([[1_001, 1_003, 1_002], [1_400, 1_402, 1_400], [1_003, 1_000, 1_001], [1_300, 1_300, 1_302]], False),
        ([[1_000, 1_010, 1_005, 1_000, 1_003], [1_000, 1_700, 1_702, 1_707, 1_700]], False),
        # Two of three may be close by chance, and so may two others.
        ([[1_706, 1_937, 1_713], [2_129, 1_817, 2_121]], True),
        ([[4_968], [4_952], [5_460]], True),
        ([[4_968], [4_952], [8_460]], False),
    ],
)
def test_a_delay_is_compared_with_what_ranks_differ_by_anyway(spent: list[list[int]], explains: bool) -> None:
    """With few samples more is asked for; the last rank is the one in question."""
    assert noise_explains(compared(spent), len(spent) - 1) is explains


@pytest.mark.parametrize(("late", "explains"), [(4_000, False), (400, True)])
def test_what_other_ranks_differ_by_in_all_of_their_work_shows_noise(late: int, explains: bool) -> None:
    """Each does what nobody else does, once, so that no work of its own does."""
    rng = np.random.default_rng(7)
    spent = 1_000 + rng.integers(-150, 150, (2, 4, 3))
    spent[0, 3] += late
    place, pair, work = np.indices(spent.shape).reshape(3, -1)
    member, of_class = 2 * pair + place, 10 * pair + work
    result = noise_explains(
        Comparisons(member, np.zeros_like(work), of_class, of_class, spent.reshape(-1).astype(np.int64)), 6
    )
    assert result is explains


@pytest.mark.parametrize(
    ("late", "explains"),
    [
        ([2_417, 2_418, 2_432, 2_421, 2_443, 2_403, 2_405, 2_424, 4_826, 0, 10, 2_402], False),  # one of two real ranks
        ([900, 20, -30, 10, 2_000, -1_500, 15, 5, 700, -10, 30, 20], True),
        ([2_417, 2_418, 2_432, 2_421], True),  # too few
    ],
)
def test_a_rank_that_is_as_late_at_other_work_each_time_is_no_noise(late: list[int], explains: bool) -> None:
    """Nobody but its peer does the same, and both do so once: all of its comparisons together tell."""
    spent = np.array([[100] * len(late), late], np.int64)
    member, work = np.indices(spent.shape).reshape(2, -1)
    result = noise_explains(Comparisons(member, np.zeros_like(work), work, work, spent.reshape(-1)), 1)
    assert result is explains


@pytest.mark.parametrize(("lacks", "spent"), [(False, [[30], [900]]), (True, [[30], [40]])])
def test_what_may_be_waiting_for_missing_ranks_is_no_delay(lacks: bool, spent: list[list[int]]) -> None:
    """Otherwise a rank would be named for what it computes because it waits much longer."""
    each = operations([0, 1], [[0], [0]], [[9], [9]])
    own = OwnTimes(np.array([[30], [900]]), *(np.zeros((2, 1), np.int64) for _ in OwnTimes.__struct_fields__[1:]))
    own.parts = np.zeros((len(PARTS), 2, 1), np.int64)
    own.parts[PARTS.index("communication_ns")] = [[0], [860]]
    iteration = role = np.zeros((2, 1), np.int64)
    result = comparisons_of([each], [own], [iteration], [role], lacks)
    assert result.spent_ns[:, None].tolist() == spent


@pytest.mark.parametrize(
    ("compute", "is_noise"),
    [
        ([[100, 101, 100], [102, 100, 101], [130, 131, 130], [131, 130, 130]], False),
        ([[100, 140, 90], [120, 100, 101], [130, 131, 130], [131, 130, 130]], True),
        ([[100], [130]], True),  # one rank a stage, one iteration: nothing is known of noise
    ],
)
def test_a_stage_that_computes_longer_is_compared_with_the_noise_of_its_ranks(
    compute: list[list[int]], is_noise: bool
) -> None:
    """The mean of more ranks and iterations is less noisy."""
    times, half = np.array(compute), len(compute) // 2
    stages = [list(range(half)), list(range(half, len(compute)))]
    longer = float(times[half:].mean() - times[:half].mean())
    assert (longer <= noise_of_stages(times, stages, half)) == is_noise
