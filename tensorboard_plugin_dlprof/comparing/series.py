"""Several runs of one program in the order of time: how long each takes, and the first that became slower."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

import msgspec

from tensorboard_plugin_dlprof.comparing.comparison import FLOORS
from tensorboard_plugin_dlprof.comparing.noise import Estimate, Median, estimate, median_of
from tensorboard_plugin_dlprof.comparing.recording import Recording

MOST_RUNS = 20

_BEFORE = 5
"""Runs before that a run is tested against."""


class Run(msgspec.Struct):
    """One run of a series."""

    name: str
    device: str
    started_ns: int | None
    marked: bool
    iterations: int
    iteration_time: list[int]
    """Samples: ns; empty where iterations are not marked."""
    kernel_time: list[int]
    """Samples: ns of one GPU."""


def run_of(one: Recording) -> Run:
    """What a series needs to know of a recording."""
    return Run(
        name=one.name,
        device=one.devices[0],
        started_ns=one.started_ns,
        marked=one.marked,
        iterations=one.iterations,
        iteration_time=one.iteration_time if one.marked else [],
        kernel_time=[value // one.devices_in_use for value in one.kernel_time],
    )


class Placed(TypedDict):
    """A run in its place of the series."""

    place: int
    """Of the run in what was asked for."""
    name: str
    device: str | None
    started_ns: int | None
    iterations: int
    value: Median | None
    """Of the measure."""
    kernel_time: Median | None


class Series(TypedDict):
    """Runs in the order of time."""

    measure: Literal["iteration_time", "kernel_time"]
    runs: list[Placed]
    regression: int | None
    """Place of the first run that became slower; None if none did."""
    untested: list[int]
    """Places of runs that, or those before which, have too few iterations for a test, or no known order."""


def series(runs: Sequence[Run]) -> Series:
    """Runs in the order of time.

    Args:
        runs: in any order. Iteration times are compared if all runs mark iterations, else kernel times.
    """
    places = sorted(range(len(runs)), key=lambda place: (runs[place].started_ns or 0, runs[place].name))
    ordered = [runs[place] for place in places]
    measure: Literal["iteration_time", "kernel_time"] = (
        "iteration_time" if all(run.marked for run in runs) else "kernel_time"
    )
    samples = [[float(value) for value in getattr(run, measure)] for run in ordered]
    undated = [place for place in range(1, len(ordered)) if not _is_later(*ordered[place - 1 : place + 1])]
    return {
        "measure": measure,
        "runs": [
            {
                "place": place,
                "name": run.name,
                "device": run.device or None,
                "started_ns": run.started_ns,
                "iterations": run.iterations,
                "value": median_of(values),
                "kernel_time": median_of([float(value) for value in run.kernel_time]),
            }
            for place, run, values in zip(places, ordered, samples, strict=True)
        ],
        "regression": first_regression(samples, FLOORS[measure], undated),
        "untested": sorted({*untested(samples), *undated}),
    }


def _is_later(before: Run, run: Run) -> bool:
    """Whether the time tells which of the two is the change."""
    return before.started_ns is not None and run.started_ns is not None and before.started_ns < run.started_ns


def first_regression(samples: Sequence[Sequence[float]], floor: float, undated: Collection[int] = ()) -> int | None:
    """The first run that is slower than the up to five before it by more than noise and ``floor``; None if none is.

    Args:
        undated: places of runs that are not known to be later than the one before.
    """
    for place in range(1, len(samples)):
        if place in undated:
            continue
        result = _to_those_before(samples, place)
        if result is not None and result.ratio > 1 and result.is_change(floor):
            return place
    return None


def untested(samples: Sequence[Sequence[float]]) -> list[int]:
    """The runs after the first of which too few samples, or too few before them, tell nothing either way."""
    results = [(place, _to_those_before(samples, place)) for place in range(1, len(samples))]
    return [place for place, result in results if result is None or result.low is None]


def _to_those_before(samples: Sequence[Sequence[float]], place: int) -> Estimate | None:
    before = [value for run in samples[max(place - _BEFORE, 0) : place] for value in run]
    return estimate(before, samples[place])
