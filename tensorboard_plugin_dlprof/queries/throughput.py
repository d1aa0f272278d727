"""Samples and tokens a second, from what shapes tell or the user says an iteration works on."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal, TypedDict, cast

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.queries.extension import shown_name
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import gpu_utilization
from tensorboard_plugin_dlprof.units import NS_PER_S

MOST_PER_ITERATION = 10**12
MOST_ITERATIONS = 10_000
"""Rows of the answer; the rates are of all."""

_HOW = "dlprof import --samples-per-iteration N, or --tokens-per-iteration N, sets it"


class Given(msgspec.Struct, frozen=True):
    """What the user says that an iteration works on; None: what was said at the import, or what shapes tell."""

    samples_per_iteration: int | None = None
    tokens_per_iteration: int | None = None


class Counted(msgspec.Struct):
    """Samples or tokens of the aggregated iterations."""

    by_iteration: list[int | None]
    is_given: bool

    def rate(self, lengths_ns: list[int]) -> float | None:
        """How many a second, over the iterations in which they are known."""
        known = [(n, ns) for n, ns in zip(self.by_iteration, lengths_ns, strict=True) if n is not None]
        time_ns = sum(ns for _, ns in known)
        return sum(n for n, _ in known) * NS_PER_S / time_ns if time_ns > 0 else None

    def mean(self) -> float | None:
        """How many in an iteration."""
        known = [n for n in self.by_iteration if n is not None]
        return sum(known) / len(known) if known else None


class Throughput(TypedDict):
    """Samples and tokens of all GPUs; None where neither shapes nor the user tell."""

    gpus: int
    samples_per_iteration: float | None
    samples_per_s: float | None
    samples_per_s_per_gpu: float | None
    samples_from: Literal["given", "shapes"] | None
    tokens_per_iteration: float | None
    tokens_per_s: float | None
    tokens_per_s_per_gpu: float | None
    tokens_from: Literal["given", "shapes"] | None
    basis: str
    """Where the numbers come from, or what would tell them."""


class IterationThroughput(TypedDict):
    """Samples and tokens of an iteration."""

    number: int
    duration_ns: int
    samples: int | None
    tokens: int | None
    samples_per_s: float | None
    tokens_per_s: float | None


class ThroughputByIteration(Throughput):
    """With the first iterations."""

    iterations: list[IterationThroughput]


def throughput(connection: sqlite3.Connection, scope: Scope, given: Given | None = None) -> ThroughputByIteration:
    """Samples and tokens a second of the aggregated iterations, for all GPUs of the recording and for one.

    Args:
        connection: To a database, ours or NVIDIA's.
        given: What the user says now.

    Raises:
        UnfitDatabase: Its tables are damaged.
    """
    try:
        return _throughput(connection, scope, given or Given())
    except (ValueError, TypeError, OverflowError):
        raise UnfitDatabase(f"The batches in {shown_name(connection)} are damaged; import its source again.") from None


def rates(connection: sqlite3.Connection, scope: Scope) -> Throughput:
    """As ``throughput``, without iterations."""
    known = throughput(connection, scope)
    return cast("Throughput", {key: value for key, value in known.items() if key != "iterations"})


def rates_by_iteration(connection: sqlite3.Connection, scope: Scope, name: str) -> list[tuple[int, float]]:
    """Number of each aggregated iteration, and its ``samples`` or ``tokens`` a second; only where they are known."""
    windows = _windows(connection, scope)
    numbers = _counted(connection, windows, Given())[name].by_iteration
    return [
        (int(number), n * NS_PER_S / (stop - start))
        for n, (number, start, stop) in zip(numbers, windows, strict=True)
        if n is not None and stop > start
    ]


def _throughput(connection: sqlite3.Connection, scope: Scope, given: Given) -> ThroughputByIteration:
    windows = _windows(connection, scope)
    counted = _counted(connection, windows, given)
    lengths = [stop - start for _, start, stop in windows]
    gpus = max(sum(device["in_use"] for device in gpu_utilization(connection, scope)["devices"]), 1)
    answer: dict[str, Any] = {"gpus": gpus}
    for name, each in counted.items():
        rate = each.rate(lengths)
        answer[f"{name}_per_iteration"] = each.mean()
        answer[f"{name}_per_s"] = rate
        answer[f"{name}_per_s_per_gpu"] = None if rate is None else rate / gpus
        answer[f"{name}_from"] = None if rate is None else "given" if each.is_given else "shapes"
    answer["basis"] = _sentence(connection, counted)
    answer["iterations"] = [
        {
            "number": number,
            "duration_ns": stop - start,
            **{name: each.by_iteration[place] for name, each in counted.items()},
            **{f"{name}_per_s": _rate(each.by_iteration[place], stop - start) for name, each in counted.items()},
        }
        for place, (number, start, stop) in enumerate(windows[:MOST_ITERATIONS])
    ]
    return cast("ThroughputByIteration", answer)


def _rate(count: int | None, time_ns: int) -> float | None:
    return None if count is None or time_ns <= 0 else count * NS_PER_S / time_ns


def _sentence(connection: sqlite3.Connection, counted: dict[str, Counted]) -> str:
    """Where the numbers come from, in one sentence; or what would tell them."""
    samples, tokens = (counted[name].mean() for name in ("samples", "tokens"))
    parts = []
    layer = _source(connection)[0]
    for name, each, value in (("batch", counted["samples"], samples), ("tokens", counted["tokens"], tokens)):
        if value is not None:
            parts.append(f"{name} {value:,.10g} {'given' if each.is_given else 'taken from shapes'}")
    if not parts:
        return f"The batch size is not known, because no shapes were recorded that tell it; {_HOW}"
    return "; ".join(parts) + (f" ({layer})" if layer and not counted["samples"].is_given else "")


def _windows(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int, int]]:
    """Number, start and stop of the aggregated iterations."""
    rows = connection.execute(
        "SELECT DISTINCT iteration.iter_value, iteration.start_time, iteration.stop_time FROM iteration_list "
        "AS iteration JOIN iteration_aggregation_list AS part ON part.aggr_id = iteration.aggr_id "
        "AND part.iter_value = iteration.iter_value WHERE iteration.aggr_id = ? ORDER BY 1",
        (scope.aggregation,),
    ).fetchall()
    return [(int(number), int(start), int(stop)) for number, start, stop in rows]


def _source(connection: sqlite3.Connection) -> tuple[str, int | None, int | None]:
    """The layer that told batches, and what was given at the import."""
    row = connection.execute(
        "SELECT layer, samples_per_iteration, tokens_per_iteration FROM throughput_source"
    ).fetchone()
    return ("", None, None) if row is None else (str(row[0]), row[1], row[2])


def _counted(connection: sqlite3.Connection, windows: list[tuple[int, int, int]], given: Given) -> dict[str, Counted]:
    _, samples, tokens = _source(connection)
    said = {
        "samples": given.samples_per_iteration or samples,
        "tokens": given.tokens_per_iteration or tokens,
    }
    result = {}
    for name, number in said.items():
        if number is not None:
            result[name] = Counted([int(number)] * len(windows), is_given=True)
        else:
            result[name] = Counted(_of_shapes(connection, name, windows), is_given=False)
    return result


def _of_shapes(connection: sqlite3.Connection, name: str, windows: list[tuple[int, int, int]]) -> list[int | None]:
    """The sum of the batches that begin in each window; None if there are none, or one of them is unknown."""
    if not windows:
        return [None] * len(windows)
    rows = connection.execute(f"SELECT time_ns, coalesce({name}, -1) FROM throughput_batches ORDER BY time_ns")
    times, counts = np.array(rows.fetchall(), np.int64).reshape(-1, 2).T
    sums = np.append(0, np.cumsum(np.maximum(counts, 0)))
    unknown = np.append(0, np.cumsum(counts < 0))
    first = np.searchsorted(times, [start for _, start, _ in windows])
    last = np.searchsorted(times, [stop for _, _, stop in windows])
    known = (last > first) & (unknown[last] == unknown[first])
    return [int(n) if is_known else None for n, is_known in zip(sums[last] - sums[first], known, strict=True)]
