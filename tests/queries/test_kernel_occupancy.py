"""How well the launches of a kernel fill the GPU, in the table of an op's kernels."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import find_table
from tests.imports.traces import write_trace

COLUMNS = ("occupancy_fraction", "limiter", "achieved_occupancy_fraction", "waves", "tail_fraction")


def kernel(folder: Path, recorded: dict[str, object]) -> Row:
    """The one kernel of an op, of a trace whose kernels have these arguments besides."""
    source = write_trace(folder / "a.json", steps=1, adds_per_step=1)
    trace = json.loads(source.read_text())
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["args"].update(recorded)
    source.write_text(json.dumps(trace))
    import_source(source, folder / "a.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(folder / "a.sqlite")) as con:
        request = PageRequest(sort="-occupancy_fraction", op="ADD_1")
        (row,) = page(con, find_table("kernels_of_op"), find_scope(con), request).rows
    return row


def test_what_limits_a_kernel_is_told(tmp_path: Path) -> None:
    """Of 65,536 registers two blocks of 256 threads with 128 each take all, which are 16 of the 64 warps of an A100's
    multiprocessor. Twelve blocks on four multiprocessors are one wave and a half: 4 of 16 places stay empty."""
    row = kernel(
        tmp_path,
        {
            "registers per thread": 128,
            "shared memory": 0,
            "grid": [12, 1, 1],
            "block": [256, 1, 1],
            "est. achieved occupancy %": 20,
        },
    )
    assert [row[column] for column in COLUMNS] == pytest.approx([0.25, "registers", 0.2, 1.5, 0.25])


def test_occupancies_of_the_network_are_told_of_the_same_kernels(tmp_path: Path) -> None:
    """Two kernels of one op: PyTorch estimates nothing of the one that could fill little, as it may."""
    source = write_trace(tmp_path / "a.json", steps=1, adds_per_step=2)
    trace = json.loads(source.read_text())
    little, much = (event for event in trace["traceEvents"] if event["cat"] == "kernel")
    for event, name, registers, percent in ((little, "little", 128, 0), (much, "much", 32, 90)):
        event["name"] = name
        event["args"] |= {"registers per thread": registers, "shared memory": 0, "grid": [12, 1, 1],
                          "block": [256, 1, 1], "est. achieved occupancy %": percent}  # fmt: skip
    source.write_text(json.dumps(trace))
    import_source(source, tmp_path / "a.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(tmp_path / "a.sqlite")) as con:
        network = efficiency(con, find_scope(con))["network"]
    part = much["dur"] / (little["dur"] + much["dur"])
    assert network["achieved_fraction"] == pytest.approx(0.9)
    # Times of a trace are microseconds.
    assert network["achieved_known_ns"] == 1_000 * much["dur"]
    assert network["occupancy_known_ns"] == 1_000 * (little["dur"] + much["dur"])
    assert network["occupancy_fraction"] == pytest.approx(0.25 * (1 - part) + part)
    assert network["occupancy_of_achieved_fraction"] == pytest.approx(1.0)


def test_what_is_not_recorded_is_unknown(tmp_path: Path) -> None:
    """Never zero."""
    assert [kernel(tmp_path, {})[column] for column in COLUMNS] == [None] * len(COLUMNS)
