"""The benchmark of the tab in a browser, on a tiny profile. No time is judged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clicking import lines
from benchmarks.clicks import ELSEWHERE, VIEWS
from benchmarks.tab import Held, longest_tasks
from tests.conftest import CHROMIUM_COMMANDS

MAIN, OTHER = {"pid": 7, "tid": 1}, {"pid": 7, "tid": 2}


def task(thread: dict[str, int], ts: int, clock_us: int, processor_us: int) -> dict[str, Any]:
    """As the browser's trace tells it."""
    return {"name": "RunTask", "ts": ts, "dur": clock_us, "tdur": processor_us, **thread}


def mark(name: str, ts: int) -> dict[str, Any]:
    """As a script in the page sets it."""
    return {"name": name, "ts": ts, **MAIN}


def test_the_longest_task_is_that_of_the_main_thread_between_the_marks() -> None:
    """By the clock and by the processor, which may be two; other threads and what lies outside do not count."""
    events = [
        *(task(MAIN, 90, 9_000, 9_000), mark("begin", 100)),
        *(task(MAIN, 200, 4_000, 1_000), task(MAIN, 300, 3_000, 2_500), task(OTHER, 310, 8_000, 8_000)),
        {"name": "RunTask", "ts": 350, **MAIN},
        *(mark("end", 400), task(MAIN, 450, 9_000, 9_000), mark("begin", 500), mark("end", 600)),
    ]
    assert longest_tasks(events) == [Held(4.0, 2.5), Held(0.0, 0.0)]


def test_the_table_tells_what_is_beyond_the_goal() -> None:
    """Three of each page, and all that hold the browser for longer."""

    def times(*processor: float) -> dict[str, Any]:
        return {f"click {i}": {"clock": 500.0, "processor": each} for i, each in enumerate(processor)}

    result = {
        "first_content_s": {"tab": 0.4, "whole_page": 2.25},
        "longest_task_ms": {"Graph": times(20, 4, 30, 10), "Ops": times(101, 120, 130, 140)},
    }
    first, graph, ops = lines(result)
    assert "0.40" in first
    assert "2.25" in first
    assert graph.split("  ")[-1] == "click 2 30, click 0 20, click 3 10"
    assert ops.endswith("click 3 140, click 2 130, click 1 120, click 0 101")


def test_a_page_is_clicked_through(tmp_path: Path) -> None:
    """What the profile has something for is found and measured; the results stand with all others."""
    if not any(map(shutil.which, CHROMIUM_COMMANDS)):
        pytest.skip("Chromium is not installed; `make test` installs it where it may")
    results = tmp_path / "results.json"
    options = ["--sizes", "", "--kernels", "", "--clicks", "4000", "--pages", "Graph", "--frames", "4000"]
    folders = ["--rounds", "1", "--folder", str(tmp_path / "work"), "--results", str(results)]
    # In a process of its own: the browser tests of this one may have a browser open already.
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *options, *folders], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(results.read_text())["clicking"].values()
    assert result["first_content_s"]["whole_page"] > result["first_content_s"]["tab"] > 0
    graph = next(view for view in VIEWS if view.label == "Graph")
    assert set(result["longest_task_ms"]) == {"Graph"}
    clicks = {"page opened", *(click.name for click in (*graph.clicks, *ELSEWHERE))}
    assert clicks == set(result["longest_task_ms"]["Graph"])
    assert all(of["processor"] > 0 for of in result["longest_task_ms"]["Graph"].values())
    assert "first content" in done.stdout
    (drawn,) = json.loads(results.read_text())["frames"].values()
    assert drawn["first_s"] > 0
    assert drawn["all_in_view"]["frame_ms_p95"] >= drawn["all_in_view"]["frame_ms_p50"] > 0
