"""Measures the tab in a browser: when its first content appears, and how long each click blocks the browser.

``python -m benchmarks.clicking DATABASE...`` opens the first one and does whatever a user can do (``clicks.py``). The
result for an interaction is the processor time of its longest task, which other programs do not affect; results are
medians of the rounds. Interactions that a profile has nothing for are left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.clicks import ELSEWHERE, VIEWS, Click, View, to_view
from benchmarks.measuring import compile_modules
from benchmarks.server import Server, serving
from benchmarks.tab import Held, opened

GOAL_MS = 100.0
"""No interaction may hold the browser longer."""

ROUNDS = 3


def measure(databases: Sequence[Path], rounds: int = ROUNDS, views: Sequence[str] = ()) -> dict[str, Any]:
    """The first content in seconds, and of each page the longest task of each interaction in milliseconds.

    Tasks are given in wall time and in processor time. ``views`` are names of pages in the menu; if it is empty, all
    pages are measured.
    """
    shown = [view for view in VIEWS if not views or view.label in views]
    times: dict[str, dict[str, list[Held]]] = {}
    first: list[tuple[float, float]] = []
    for _ in range(rounds):
        with serving(*databases) as server, opened(f"http://{server.host}:{server.port}/") as open_tab:
            tab = open_tab("")
            first.append(tab.first_content_s())
            for name, clicks in _pages(server, shown, everywhere=not views):
                of_page = times.setdefault(name, {})
                for click, held in tab.longest_tasks({click.name: click.act for click in clicks}).items():
                    of_page.setdefault(click, []).append(held)
    return {
        "first_content_s": {
            name: round(statistics.median(times), 2)
            for name, times in zip(("tab", "whole_page"), zip(*first, strict=True), strict=True)
        },
        "longest_task_ms": {name: {click: _median(of) for click, of in page.items()} for name, page in times.items()},
    }


def _pages(server: Server, views: Sequence[View], *, everywhere: bool) -> list[tuple[str, list[Click]]]:
    pages = [
        (view.label, [Click("page opened", to_view(view.page or view.label)), *view.clicks, *ELSEWHERE])
        for view in views
    ]
    if everywhere:
        turns = [Click(f"to {view.label}", to_view(view.label)) for view in views if not view.page]
        pages.append(("From page to page", turns))
    return pages


def _median(held: Sequence[Held]) -> dict[str, float]:
    return {
        "clock": round(statistics.median(each.clock_ms for each in held), 1),
        "processor": round(statistics.median(each.processor_ms for each in held), 1),
    }


def add_aggregation(database: Path) -> None:
    """Add an aggregation over the first half of the iterations, so that there is another to choose."""
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database

    with closing(open_database(database)) as con:
        iterations = [row[0] for row in con.execute("SELECT iter_value FROM iteration_aggregation_list ORDER BY 1")]
    choice = Selection(None, None, iterations[len(iterations) // 2])
    aggregate_database(database, database, choice, lambda _stage, _fraction: None)


def lines(result: dict[str, Any]) -> list[str]:
    """Lines of text with the longest interactions of each page, and all that exceed the goal."""
    first = result["first_content_s"]
    lines = [f"first content {first['tab']:.2f} s after TensorBoard's page, {first['whole_page']:.2f} s with it"]
    for page, clicks in result["longest_task_ms"].items():
        ordered = sorted(((of["processor"], name) for name, of in clicks.items()), reverse=True)
        shown = [(name, ms) for i, (ms, name) in enumerate(ordered) if i < 3 or ms > GOAL_MS]
        lines.append(f"{page:34}{len(clicks):4}  " + ", ".join(f"{name} {ms:.0f}" for name, ms in shown))
    return lines


def main(argv: list[str] | None = None) -> int:
    """Print the results as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.clicking", description=__doc__)
    parser.add_argument("databases", type=Path, nargs="+", metavar="DATABASE")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--view", action="append", default=[], help="a page by its name in the menu (default: all)")
    options = parser.parse_args(argv)
    compile_modules()
    print(json.dumps(measure(options.databases, options.rounds, options.view), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
