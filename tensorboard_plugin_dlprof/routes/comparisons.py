"""Comparisons of two profiles, computed once and kept for the requests about them."""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec

from tensorboard_plugin_dlprof.comparing.comparison import compare
from tensorboard_plugin_dlprof.comparing.noise import Median
from tensorboard_plugin_dlprof.comparing.series import run_of, series
from tensorboard_plugin_dlprof.comparing.tables import TABLES as KNOWN
from tensorboard_plugin_dlprof.comparing.tables import rows_of_tables
from tensorboard_plugin_dlprof.database.memory import copied, memory_database
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.queries.scope import Scope

if TYPE_CHECKING:
    import sqlite3

    from tensorboard_plugin_dlprof.comparing.comparison import Comparison
    from tensorboard_plugin_dlprof.comparing.recording import Recording
    from tensorboard_plugin_dlprof.comparing.series import Run
    from tensorboard_plugin_dlprof.queries.table import Table

TABLES = frozenset(
    {
        "compare",
        "compare_groups",
        "compare_of_group",
        "compare_kernels",
        "compare_modules",
        "compare_new",
        "compare_types",
    }
)
"""Tables of ``./table`` that belong to a comparison, as in ``comparing.tables``."""

_MOST_ROWS = 100_000
_LEAST_ROWS = 1_500
"""Rows of all cached comparisons; a small one counts as one of this many."""


def table_of_comparison(name: str) -> Table:
    """One of ``TABLES``."""
    return KNOWN[name]


SCOPE = Scope(0, 0, "")
"""The tables of a comparison have no aggregations of their own."""

Key = tuple[object, ...]
"""The state of both databases, and their aggregations."""


class CachedComparison(msgspec.Struct):
    """A comparison and its tables."""

    comparison: Comparison
    connection: sqlite3.Connection
    """To its tables; used under ``lock``."""
    lock: threading.Lock = msgspec.field(default_factory=threading.Lock)
    counts: dict[Any, int] = msgspec.field(default_factory=dict)


class CachedRun(msgspec.Struct):
    """A run of a series."""

    run: Run
    op_type_ns: dict[str, int]
    """Kernel time by op type: of one iteration, or pass of the program, and GPU."""


_SHOWN_OP_TYPES = 7


def cached_run(recording: Recording) -> CachedRun:
    """What is kept of a run of a series."""
    sums: dict[str, int] = defaultdict(int)
    for op in recording.ops:
        sums[op.op_type] += op.kernel_ns
    divisor = recording.iterations * recording.devices_in_use
    return CachedRun(run_of(recording), {op_type: time_ns // divisor for op_type, time_ns in sums.items()})


class SeriesRun(TypedDict):
    """A run of a series."""

    profile: str
    name: str
    device: str | None
    started_ns: int | None
    iterations: int
    value: Median | None
    """Of the measure."""
    kernel_time: Median | None
    op_type_ns: list[int]
    """Kernel time of one iteration and GPU by ``op_types`` of the series, and at the end that of all others."""


class ComparedSeries(TypedDict):
    """Runs of one program in the order of time."""

    measure: Literal["iteration_time", "kernel_time"]
    runs: list[SeriesRun]
    regression: int | None
    """Place of the first run that became slower; None if none did."""
    untested: list[int]
    """Places of runs that, or those before which, have too few iterations for a test."""
    op_types: list[str]


def series_of(runs: Mapping[str, CachedRun]) -> ComparedSeries:
    """The body of ``./compare_series``.

    Args:
        runs: by the id of their profile, in any order.
    """
    ids = list(runs)
    result = series([one.run for one in runs.values()])
    sums: dict[str, int] = defaultdict(int)
    for run in runs.values():
        for op_type, time_ns in run.op_type_ns.items():
            sums[op_type] += time_ns
    # Kernels outside of all ops have no type.
    shown = heapq.nlargest(_SHOWN_OP_TYPES, filter(None, sums), key=lambda op_type: sums[op_type])
    placed: list[SeriesRun] = []
    for one in result["runs"]:
        profile = ids[one["place"]]
        times = runs[profile].op_type_ns
        parts = [times.get(op_type, 0) for op_type in shown]
        placed.append(
            {
                "profile": profile,
                "name": one["name"],
                "device": one["device"],
                "started_ns": one["started_ns"],
                "iterations": one["iterations"],
                "value": one["value"],
                "kernel_time": one["kernel_time"],
                "op_type_ns": [*parts, sum(times.values()) - sum(parts)],
            }
        )
    return {
        "measure": result["measure"],
        "runs": placed,
        "regression": result["regression"],
        "untested": result["untested"],
        "op_types": shown,
    }


def cache_of_comparisons() -> LruCache[Key, CachedComparison]:
    """Comparisons by the state of both sides."""
    return LruCache(_MOST_ROWS, lambda one: max(len(one.comparison.rows), _LEAST_ROWS))


def compared(a: Recording, b: Recording) -> CachedComparison:
    """The comparison of two recordings, with its tables.

    Raises:
        UnfitDatabase: a number is too large.
    """
    comparison = compare([a], [b])
    try:
        return CachedComparison(comparison, memory_database(rows_of_tables(comparison)))
    except OverflowError:
        raise UnfitDatabase("A number of these profiles is impossibly large; make their databases again.") from None


@contextmanager
def copy_of(cached: CachedComparison) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the tables, which may be read slowly."""
    with cached.lock:
        connection = copied(cached.connection)
    with closing(connection):
        yield connection


@contextmanager
def tables_of(cached: CachedComparison) -> Iterator[sqlite3.Connection]:
    """The connection to the tables of a comparison, for this thread alone."""
    with cached.lock:
        yield cached.connection
