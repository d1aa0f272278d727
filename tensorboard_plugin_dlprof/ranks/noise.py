"""What noise alone can make of own delays: no rank is named for less.

Wherever ranks can be compared, each is sometimes slower and sometimes faster than its peers. How much is measured by
all other ranks in operations of the same class, and by how evenly a rank is slower itself: who costs time does so every
time, noise does not.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.matching import Flags, Operations
from tensorboard_plugin_dlprof.ranks.own_times import PARTS, OwnTimes, codes_of

_MEDIAN_TO_DEVIATION, _MEAN_TO_DEVIATION = 1.4826, 1.2533
"""From the median, and the mean, of distances to the standard deviation, where these are normally distributed."""

_ENOUGH = 4
"""Samples of other ranks from which on those of the rank itself are not needed."""

_MANY = 8
"""Comparisons of a rank, each of other work, that together show whether it is as late every time."""

_FEWEST_RANKS = 2
"""Other ranks, less one, from which on the sums of their comparisons show what is usual."""

_EXPECTED = 0.4
"""What is above 0 of a normal distribution of mean 0, on average, in standard deviations."""


class Comparisons(msgspec.Struct, frozen=True):
    """How long each rank took itself, wherever it has peers, in one row for each comparison with them."""

    member: Int64s
    iteration: Int64s
    """Position among the iterations; -1 outside all of them."""
    of_class: Int64s
    """Equal for comparisons of the same work."""
    group: Int64s
    """Equal for ranks that are compared with each other."""
    spent_ns: Int64s


class Noise(msgspec.Struct, frozen=True):
    """What a rank's comparisons show."""

    delay_ns: float
    """How much longer than its peers it took where it did, in all iterations, as far as noise is known there."""
    limit_ns: float
    """What noise may make of this."""

    @property
    def explains(self) -> bool:
        """Whether noise alone may be the reason."""
        return self.delay_ns <= self.limit_ns


def noise_explains(comparisons: Comparisons, place: int, late: Collection[int] = ()) -> bool:
    """Whether noise alone may be the reason of a rank's delays; others that are ``late``, too, say nothing of noise.

    There are several ways to know what noise makes of them; it is not the reason if it is not by one of these.
    """
    _, longer = _compared(comparisons.group, comparisons.spent_ns)
    mine = (comparisons.member == place) & (comparisons.iteration >= 0)
    # The others are compared among themselves: the only peer of a late rank is as much earlier.
    theirs = np.flatnonzero(~np.isin(comparisons.member, [place, *late]) & (comparisons.iteration >= 0))
    peers, longer_of_theirs = _compared(comparisons.group[theirs], comparisons.spent_ns[theirs])
    theirs, longer_of_theirs = theirs[peers > 0], longer_of_theirs[peers > 0]
    known = comparisons, mine, longer, theirs, longer_of_theirs
    ways = (_by_rank(*known), _by_class(*known, pools=False), _by_class(*known, pools=True))
    return all(each.explains for each in ways)


def _by_rank(comparisons: Comparisons, mine: Flags, longer: Int64s, theirs: Int64s, longer_of_theirs: Int64s) -> Noise:
    """What noise makes of all comparisons of a rank together, by those of each other rank."""
    delay, count = float(longer[mine].sum()), int(np.count_nonzero(mine))
    members, of_member, counts = np.unique(comparisons.member[theirs], return_inverse=True, return_counts=True)
    samples = len(members) - 1
    if samples < _FEWEST_RANKS:
        return Noise(delay, np.inf)
    grows = np.maximum(count / counts, 1.0) ** 0.5  # as noise does with the number of comparisons
    sums = grows * np.bincount(of_member.reshape(-1), longer_of_theirs, len(members))
    deviation = float((sums**2).sum() / samples) ** 0.5
    return Noise(delay, thresholds.BEYOND_NOISE * _of_few(deviation, samples))


def _by_class(
    comparisons: Comparisons, mine: Flags, longer: Int64s, theirs: Int64s, longer_of_theirs: Int64s, pools: bool
) -> Noise:
    """What noise makes of a rank's comparisons of each work, by those of others, or of itself, of the same work.

    With ``pools``, many comparisons of work that is done too rarely to know its noise are taken together.
    """
    delay = expected = variance = worst = 0.0
    unknown = []
    classes, place_of, sizes = np.unique(comparisons.of_class[mine], return_inverse=True, return_counts=True)
    few = (sizes < _ENOUGH) & ~np.isin(classes, comparisons.of_class[theirs])
    together = np.flatnonzero(mine)[few[place_of.reshape(-1)]]
    if pools and len(together) >= _MANY:
        own = longer[together]
        deviation = _MEAN_TO_DEVIATION * float(np.abs(own - np.median(own)).mean())
        deviation = _of_few(deviation, len(own) - 1)
        delay = float(np.maximum(own, 0).sum())
        expected, variance = _EXPECTED * deviation * len(own), deviation**2 * len(own)
        classes = classes[~few]
    for each in classes.tolist():
        rows = np.flatnonzero(mine & (comparisons.of_class == each))
        own = longer[rows]
        usual = float(np.median(comparisons.spent_ns[rows] - own))
        alike = comparisons.of_class[theirs] == each
        scatter, samples = _scatter(comparisons.member[theirs[alike]], longer_of_theirs[alike])
        # Of two that are compared with each other, one is as much later as the other is earlier.
        samples = max(samples - len(np.unique(comparisons.group[theirs[alike]])), 0)
        deviation = _MEAN_TO_DEVIATION * float(scatter.mean()) if samples else 0.0
        if samples < _ENOUGH and len(own) > 1:
            # Who costs time only in some iterations scatters itself, so that it is asked last, and for its median, but
            # two of three may be close by chance.
            distances = np.abs(own - np.median(own))
            median, mean = _MEDIAN_TO_DEVIATION * np.median(distances), _MEAN_TO_DEVIATION * distances.mean()
            deviation = max(deviation, float(median if len(own) >= _ENOUGH else mean))
            samples += len(own) - 1
        delay += float(np.maximum(own, 0).sum())
        if samples < 1 or not (deviation or samples > 1):  # two ranks may take equally long by chance
            unknown.append((len(own), usual))
            continue
        deviation = _of_few(deviation, samples)
        worst = max(worst, deviation / max(usual, 1.0))
        expected += _EXPECTED * deviation * len(own)
        variance += deviation**2 * len(own)
    for count, usual in unknown:
        # As noisy as the noisiest work that is known, at worst, for what time it takes.
        deviation = worst * usual if worst else np.inf
        expected += _EXPECTED * deviation * count
        variance += deviation**2 * count
    return Noise(delay, expected + thresholds.BEYOND_NOISE * variance**0.5)


def _of_few(deviation: float, samples: int) -> float:
    """A standard deviation as large as it may well be, if it was estimated from few samples."""
    return deviation * float(1 + thresholds.FEW_SAMPLES / samples**1.5)


def _scatter(member: Int64s, longer_ns: Int64s) -> tuple[npt.NDArray[np.float64], int]:
    """How far comparisons are from the median of their rank, or from 0 if it has few; and how many of them are free."""
    if not len(member):
        return longer_ns.astype(np.float64), 0
    order = np.lexsort((longer_ns, member))
    ordered, values = member[order], longer_ns[order]
    heads = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(heads, len(order)))
    middle = (values[heads + (sizes - 1) // 2] + values[heads + sizes // 2]) // 2
    many = sizes > 2
    scatter = np.abs(values - np.repeat(np.where(many, middle, 0), sizes)).astype(np.float64)
    scatter *= np.repeat(np.where(many, sizes / np.maximum(sizes - 1, 1), 1.0) ** 0.5, sizes)
    return scatter, len(member) - int(np.count_nonzero(many))


def comparisons_of(
    sequences: Sequence[Operations],
    owns: Sequence[OwnTimes | None],
    iterations: Sequence[Int64s | None],
    roles: Sequence[Int64s | None],
    are_guessed: bool,
) -> Comparisons:
    """All comparisons of own times: with members of the group, or where there is none, with those of the same role.

    Args:
        sequences: operations.
        owns: own times, of each of ``sequences``; None where no waiting is known.
        iterations: position of the iteration of each member and operation, likewise.
        roles: a number for what each does in each operation, likewise.
        are_guessed: whether only those that ran the same kernels can be compared.
    """
    gathered = []
    for number, (each, own, iteration, role) in enumerate(zip(sequences, owns, iterations, roles, strict=True)):
        if own is None or iteration is None or role is None:
            continue
        row, column = np.nonzero((own.spent_ns >= 0) & each.used)
        spent = own.spent_ns
        if are_guessed:
            # What was spent in communication that could not be matched may be waiting for a missing rank.
            spent = spent - own.parts[PARTS.index("communication_ns")]
        work = _mixed(own.kernels, own.work) if are_guessed else np.zeros_like(own.work)
        usual = np.broadcast_to(np.median(own.kernels, axis=0).astype(np.int64), own.kernels.shape)
        before = own.before
        within = _mixed(np.full_like(before, number), np.broadcast_to(np.arange(before.shape[1]), before.shape), before)
        within = _mixed(within, work)
        of_class = _mixed(before, np.broadcast_to(codes_of(each), before.shape), usual)
        across = _mixed(role, work)
        columns = (each.members[row], *(values[row, column] for values in (iteration, of_class, within, across)))
        gathered.append(np.stack([*columns, np.full(len(row), each.pair), spent[row, column]]))
    rows = np.concatenate(gathered, axis=1) if gathered else np.zeros((7, 0), np.int64)
    member, iteration, of_class, within, across, is_pair, spent = rows
    peers, _ = _compared(within, spent)
    group = np.where((is_pair > 0) | (peers < 1), across, within)
    return _with_peers(Comparisons(member, iteration, of_class, group, spent))


def comparisons_of_iterations(member: Int64s, iteration: Int64s, group: Int64s, spent: Int64s) -> Comparisons:
    """Comparisons of whole iterations with those of ranks of the same group."""
    return _with_peers(Comparisons(member, iteration, np.zeros(len(member), np.int64), group, spent))


def _with_peers(comparisons: Comparisons) -> Comparisons:
    peers, _ = _compared(comparisons.group, comparisons.spent_ns)
    return some_rows(comparisons, peers > 0)


def _compared(group: Int64s, spent: Int64s) -> tuple[Int64s, Int64s]:
    """How many others each group has, and how much longer than their median each row took."""
    order = np.lexsort((spent, group))
    ordered, values = group[order], spent[order]
    heads = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(order) else np.zeros(0, int)
    sizes = np.diff(np.append(heads, len(order)))
    head, size = np.repeat(heads, sizes), np.repeat(sizes, sizes)
    place = np.arange(len(order)) - head
    low, high = np.maximum(size - 2, 0) // 2, (size - 1) // 2
    last = head + size - 1
    median = (
        values[np.minimum(head + low + (place <= low), last)] + values[np.minimum(head + high + (place <= high), last)]
    ) // 2
    peers, longer = np.empty_like(spent), np.empty_like(spent)
    peers[order], longer[order] = size - 1, values - median
    return peers, longer


def noise_of_stages(compute_ns: Int64s, stages: Sequence[Sequence[int]], ranks: int) -> float:
    """How much longer a stage of so many ranks may compute by noise alone; infinite if that is unknown.

    Args:
        compute_ns: of each rank and iteration; below 0 if unknown.
        stages: the places of the ranks of each stage.
        ranks: of the stage.
    """
    known = compute_ns >= 0
    count = np.maximum(known.sum(1), 1)
    mean = np.where(known, compute_ns, 0).sum(1) / count
    squares = np.where(known, compute_ns - mean[:, None], 0.0) ** 2
    samples = int((count - 1).sum())
    variance = float(squares.sum()) / samples / float(np.median(count)) if samples else 0.0
    apart = [mean[places] - mean[places].mean() for places in stages]
    between = sum(len(each) - 1 for each in apart)
    if between:
        # Ranks of a stage do the same: what noise is left in their means tells them apart, or more if they are uneven.
        variance = max(variance, sum(float((each**2).sum()) for each in apart) / between)
    samples = max(samples, between)
    if not samples:
        return np.inf
    deviation = (variance * (1 / ranks + 1 / min(map(len, stages)))) ** 0.5
    return thresholds.BEYOND_NOISE * _of_few(deviation, samples)


def _mixed(*columns: Int64s) -> Int64s:
    """One number for equal values of columns."""
    mixed = np.full(columns[0].shape, zlib.crc32(b"noise"), np.uint64)
    for values in columns:
        mixed = (mixed ^ values.astype(np.uint64)) * np.uint64(0x9E37_79B9_7F4A_7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed.view(np.int64)
