"""The whole kernel time as one bar: on matrix units; could be, by what keeps it from them; limited by memory;
communication. As on Efficiency (``frontend/src/model/limits.ts``)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tensorboard_plugin_dlprof.queries import summary
from tensorboard_plugin_dlprof.queries.efficiency import EfficiencySummary, efficiency
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports import charts
from tensorboard_plugin_dlprof.reports.charts import Part
from tensorboard_plugin_dlprof.reports.html_style import PALER
from tensorboard_plugin_dlprof.reports.markup import duration, keys, section, share

_PLAIN = {
    "matrix_unit": ("On {unit}s", "tensor_core"),
    "memory": ("Limited by memory", "by_memory"),
    "other": ("Other", "outside"),
    "communication": ("Communication", "communication"),
    "unknown": ("Unknown kernels", "unknown_kernel"),
    "rest": ("In no op", "other"),
}
"""Parts that are no causes: their names, and the classes of their colours."""

_SAYS_LEAST = {"other", "rest"}


def limits(connection: sqlite3.Connection, scope: Scope, unit: str) -> str:
    """The section; empty where nothing is known but that kernels ran."""
    rates, times = efficiency(connection, scope), summary.kernel_time(connection, scope)
    graphs_ns = times["graph"]["time_ns"] or 0
    whole_ns = max((times["total"]["time_ns"] or 0) - (times["memory"]["time_ns"] or 0), 0) + graphs_ns
    known = {each["limit"]: each["kernel_ns"] for each in rates["limits"]}
    rest_ns = whole_ns - sum(known.values())
    if rest_ns > 0:
        known["rest"] = rest_ns
    if whole_ns == 0 or (not rates["causes"] and known.keys() <= _SAYS_LEAST):
        return ""
    iterations = max(summary.performance(connection, scope)["profiled_iterations"] or 1, 1)
    marks, legend = [], []
    for ns, (names, colour) in zip(known.values(), _named(rates, list(known), unit), strict=True):
        time, part = duration(ns / iterations), share(ns / whole_ns)
        texts = (f"{names[0]} {time}", *names)
        marks.append((Part(ns, colour, f"{names[0]}: {time}, {part}"), texts))
        legend.append((colour, names[0], f"{time}, {part}"))
    name = "kernel and CUDA graph time" if graphs_ns else "kernel time"
    whole = f"{duration(whole_ns / iterations)}{' of an iteration' if iterations > 1 else ''}"
    return section(
        f"How {name} is spent",
        f"All {whole}, each part once.",
        charts.named_bar(f"How {whole} of {name} are spent", marks) + keys(legend),
    )


def _named(rates: EfficiencySummary, known: list[str], unit: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The names of each part, the longest first, and the class of its colour: of each further cause a paler one."""
    labels = {each["cause"]: each["label"] for each in rates["causes"]}
    causes = 0
    for limit in known:
        if limit in _PLAIN:
            name, colour = _PLAIN[limit]
            yield (name.format(unit=unit),), colour
            continue
        cause = "unknown" if limit == "cause_unknown" else limit
        label = labels.get(cause, cause)
        yield (f"Not on {unit}s: {label}", label), PALER[min(causes, len(PALER) - 1)]
        causes += 1
