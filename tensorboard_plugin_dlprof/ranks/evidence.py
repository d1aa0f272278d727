"""What the verdict is drawn from where groups lack ranks, or ranks lack peers.

Waits in the tables of a job are those of groups whose members are all present. Of a group that lacks members it is
known when those present were released at the earliest, and what is later is told apart as communication.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks.cells import Cells, positions
from tensorboard_plugin_dlprof.ranks.clocks import align, believe
from tensorboard_plugin_dlprof.ranks.ends import AGREED_NS
from tensorboard_plugin_dlprof.ranks.matching import Matches, Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.noise import Comparisons
from tensorboard_plugin_dlprof.ranks.own_delay import (
    Delays,
    comparisons_of_operations,
    delays_of_iterations,
    own_delays,
)
from tensorboard_plugin_dlprof.ranks.own_times import PARTS
from tensorboard_plugin_dlprof.ranks.waiting import Times, times_of


class Evidence(msgspec.Struct, frozen=True):
    """What ranks are judged by."""

    sequences: Sequence[Operations]
    times: Sequence[Times]
    delays: Delays
    iteration: Int64s
    """Position of the iteration of each delay; -1 outside all of them."""
    of_operations: Delays
    """Delays of single operations, for tables: those of the job, or where ranks are missing, better ones."""
    of_operations_iteration: Int64s
    comparisons: Callable[[Sequence[int]], Comparisons]
    """All that ``delays`` are the part above 0 of; only asked for if somebody is to be named."""
    from_start: Callable[[], tuple[Delays, Int64s, Callable[[Sequence[int]], Comparisons]]]
    """The first three likewise, with what ranks did from the start of their first iteration to its first operation."""
    is_of_iterations: bool = False
    """Whether ``delays`` are of whole iterations, so that those of single operations are only a part of them."""
    of_iterations: tuple[Delays, Int64s, Comparisons] | None = None
    """Delays of whole iterations, their iterations and all comparisons, where ranks are missing, if ``delays`` name
    nobody."""


def evidence(
    job: Job, matches: Matches, times: Sequence[Times], delays: Delays, iteration: Int64s, cells: Cells
) -> Evidence:
    """The delays of a job's tables, or better ones."""
    sequences = matches.sequences
    corrected, corrected_iteration = delays, iteration
    places = _places_in_pipelines([*sequences, *matches.partial])
    if matches.partial or any(places):
        sequences = [*sequences, *matches.partial]
        believe(matches.partial, align(job, sequences))
        for each in matches.partial:
            if not each.grouped and each.spread_ns > AGREED_NS:
                each.used[:] = False  # of ranks that happen to share a stream, some may be of other groups
        times = [*times, *(times_of(each) for each in matches.partial)]
        delays = own_delays(job, sequences, times, places)
        iteration = positions(job, sequences, delays, cells)
    if matches.partial:
        # What was spent in operations with ranks that are missing may be waiting for them.
        waits = np.clip(delays.excess_ns[:, PARTS.index("communication_ns")], 0, delays.own_delay_ns)
        corrected, corrected_iteration = replace(delays, own_delay_ns=delays.own_delay_ns - waits), iteration
    numbers = cells.numbers

    def comparisons(members: Sequence[int], from_start: bool = False) -> Comparisons:
        return comparisons_of_operations(job, sequences, times, places, numbers, members, from_start)

    def from_start() -> tuple[Delays, Int64s, Callable[[Sequence[int]], Comparisons]]:
        longer = own_delays(job, sequences, times, places, from_start=True)
        return longer, positions(job, sequences, longer, cells), lambda members: comparisons(members, True)

    judged = Evidence(sequences, times, delays, iteration, corrected, corrected_iteration, comparisons, from_start)
    few_have_peers = 2 * delays.compared < max(delays.asked, 1)
    if few_have_peers or matches.partial:
        of_iterations, iterations, compared = delays_of_iterations(job, sequences, times)
        place = np.searchsorted(numbers, iterations)
        if of_iterations.compared and few_have_peers:
            return replace(
                judged,
                delays=of_iterations,
                iteration=place,
                is_of_iterations=True,
                comparisons=lambda _members: compared,
            )
        if of_iterations.compared:
            return replace(judged, of_iterations=(of_iterations, place, compared))
    return judged


def _places_in_pipelines(sequences: Sequence[Operations]) -> list[int]:
    """The place of each pair of ranks in its pipeline, from 0; 0 for all else.

    The first stages of a pipeline do not exchange as its last ones do: only pairs in one place of several pipelines do
    the same.
    """
    pipeline: dict[int, list[tuple[list[int], int]]] = {}
    for number, each in enumerate(sequences):
        if each.ranks:
            one, other = each.ranks
            pairs = pipeline.setdefault(one, [])
            if pipeline.setdefault(other, pairs) is not pairs:
                gone = pipeline[other]
                pairs += gone
                pipeline.update({rank: pairs for ranks, _ in gone for rank in ranks})
                pipeline[other] = pairs
            pairs.append(([one, other], number))
    places = [0] * len(sequences)
    for pairs in {id(pairs): pairs for pairs in pipeline.values()}.values():
        for place, (_, number) in enumerate(sorted(pairs)):
            places[number] = place
    return places
