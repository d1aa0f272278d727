"""Memory over time in a report: the curve, its axes, and what held the peak."""

from __future__ import annotations

import pickle
import re
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.memory import memory
from tensorboard_plugin_dlprof.queries.memory_answers import MemoryPhase
from tensorboard_plugin_dlprof.reports.phases import strip
from tensorboard_plugin_dlprof.units import size
from tests.reports.writing import page_of

MB = 1 << 20


def section_of(page: str) -> str:
    """Memory over time."""
    return page.partition('<h2 id="memory-over-time-gpu-0">')[2].partition("</section>")[0]


def imported(source: Path, folder: Path) -> Path:
    """The database of a source."""
    result = folder / "sample.dlprof_dldb.sqlite"
    import_source(source, result, ImportOptions(), lambda _what, _fraction: None)
    return result


def snapshot(folder: Path, held: int, events: list[dict[str, Any]]) -> str:
    """The section about a snapshot of which ``held`` bytes are in use when the events begin."""
    blocks = [{"size": held, "state": "active_allocated"}] if held else []
    blocks += [{"size": each["size"], "state": "active_allocated"} for each in events if each["action"] == "alloc"]
    total = sum(block["size"] for block in blocks)
    segments = [{"device": 0, "address": 1 << 40, "total_size": total, "blocks": blocks}]
    source = folder / "s.pickle"
    source.write_bytes(pickle.dumps({"segments": segments, "device_traces": [events]}))
    return section_of(page_of(imported(source, folder)))


def allocations(count: int, num_bytes: int) -> list[dict[str, Any]]:
    """One after the other."""
    return [{"action": "alloc", "addr": number * num_bytes, "size": num_bytes} for number in range(count)]


def heights(section: str) -> list[float]:
    """Those of the steps of what is in use, from the top of the plot, which is 180 high."""
    (shape,) = re.findall(r'<path class="outline" d="([^"]*)"', section)
    return [float(height) for height in re.findall(r"(?:M0 |V)([\d.]+)", shape)]


def test_the_curve_is_as_high_as_the_peak(tmp_path: Path) -> None:
    """Ten steps of 1 MiB up to 10 MiB, below an axis that is a little higher."""
    section = snapshot(tmp_path, 0, allocations(10, MB))
    assert heights(section) == [pytest.approx(180 * (1 - number / 11.2), abs=0.06) for number in range(11)]
    assert re.findall(r'<text class="end"[^>]*>([^<]*)</text>', section) == [
        *("0", "5 MiB", "10 MiB", "peak", "event 9"),
    ]
    assert "The recording has no times: the axis counts events." in section
    assert "<p>At the peak: 10.0 MiB" in section


def test_an_axis_is_cut_below_what_is_in_use_all_the_time(tmp_path: Path) -> None:
    """So that what changes is no line at the top."""
    section = snapshot(tmp_path, 100 * MB, allocations(2, MB))
    drawn = heights(section)
    assert max(drawn) - min(drawn) > 20
    assert "The axis is cut between 0 and " in section


def test_failed_allocations_are_marked(tmp_path: Path) -> None:
    """Where they failed, with what the line means."""
    section = snapshot(tmp_path, 0, [*allocations(2, MB), {"action": "oom", "addr": 0, "size": 8 * MB}])
    assert '<line class="failed"' in section
    assert "Solid lines: allocations failed, out of memory." in section


def test_beside_times_the_sentence_of_memory_stands_above(tmp_path: Path) -> None:
    """With each category of the peak as Memory has it, and the iterations that have room."""
    database = imported(next(samples.DATA.rglob("generated-resnet50-amp.pt.trace.json.gz")), tmp_path)
    with closing(open_database(database)) as connection:
        answer = memory(connection)
    section = section_of(page_of(database))
    device = answer["devices"]["0"]
    assert f"<p>{answer['headline'].replace('`', '')} Dashed: reserved by the allocator.</p>" in section
    assert f"<p>At the peak: {size(device['peak_bytes'])} allocated.</p>" in section
    legend = re.findall(r"<li><svg.*?</svg>([^<]*) <b>([^<]*?), ", section)
    assert legend == [(row["category"], size(row["bytes"])) for row in device["at_peak"]]
    numbers = [str(row["number"]) for row in device["iterations"]]
    assert re.findall(r'<text x="[^>]*>(\d+)</text>', section) == numbers


def test_phases_of_a_step_stand_above_the_curve(tmp_path: Path) -> None:
    """Named in the strip where each has room, else in a legend."""
    section = section_of(
        page_of(imported(next(samples.DATA.rglob("generated-resnet50-amp.pt.trace.json.gz")), tmp_path))
    )
    drawn, _, below = section.partition('class="phases"')[2].partition("</svg>")
    assert set(re.findall(r"<title>(\w+)</title>", drawn)) == {"forward", "backward"}
    assert "<text" not in drawn
    assert re.findall(r"<li><svg.*?</svg>(\w+) <b></b>", below) == ["forward", "backward"]
    parts = [{"phase": "forward", "from": 0, "to": 60}, {"phase": "backward", "from": 60, "to": 100}]
    wide, legend = strip(cast("list[MemoryPhase]", parts), 0, 100, 8.0)
    assert (re.findall(r"<text[^>]*>(\w+)<", wide), legend) == (["forward", "backward"], "")


def test_a_profile_without_memory_has_no_curve(made: Path) -> None:
    """Nothing says that none was recorded: the notes do."""
    assert section_of(page_of(made)) == ""
