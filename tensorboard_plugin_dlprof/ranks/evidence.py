"""What the verdict is drawn from where groups lack ranks, or ranks lack peers.

The tables of a job keep to groups whose members are all present. The verdict may know more: of a group that lacks
members it is known when those present were released at the earliest, and what is later is told apart as communication.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks.cells import Cells, positions
from tensorboard_plugin_dlprof.ranks.clocks import align, believe
from tensorboard_plugin_dlprof.ranks.matching import Matches, Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.own_delay import Delays, delays_of_iterations, own_delays
from tensorboard_plugin_dlprof.ranks.waiting import Times, times_of


class Evidence(msgspec.Struct, frozen=True):
    """What ranks are judged by."""

    sequences: Sequence[Operations]
    times: Sequence[Times]
    delays: Delays
    iteration: Int64s
    """Position of the iteration of each delay; -1 outside all of them."""


def evidence(
    job: Job, matches: Matches, times: Sequence[Times], delays: Delays, iteration: Int64s, cells: Cells
) -> Evidence:
    """The delays of a job's tables, or better ones."""
    sequences = matches.sequences
    places = _places_in_pipelines([*sequences, *matches.partial])
    if matches.partial or any(places):
        sequences = [*sequences, *matches.partial]
        believe(matches.partial, align(job, sequences))
        times = [*times, *(times_of(each) for each in matches.partial)]
        delays = own_delays(job, sequences, times, places)
        iteration = positions(job, sequences, delays, cells)
    if 2 * delays.compared < delays.asked:
        of_iterations, numbers = delays_of_iterations(job, sequences, times)
        if of_iterations.compared:
            return Evidence(sequences, times, of_iterations, np.searchsorted(cells.numbers, numbers))
    return Evidence(sequences, times, delays, iteration)


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
