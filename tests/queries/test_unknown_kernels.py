"""Of which kernels, ops and iterations nobody can tell whether they use Tensor Cores: the least is told, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows
from tensorboard_plugin_dlprof.queries.iteration_shares import iteration_shares
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.rows import Cell
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import (
    gpu_utilization,
    model_summary,
    tensor_core_efficiency,
)
from tensorboard_plugin_dlprof.queries.tables import find_table, table_of
from tests.queries.events import HALVES, ON_TENSOR_CORES, PLAIN, UNTOLD, database_of_events, event, work
from tests.queries.op_values import op_values
from tests.queries.profiles import ignore


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """A step with one eligible product: 40 us on Tensor Cores, 20 us untold, 20 us not; a copy on the second of three
    GPUs; before the step another kernel and a copy."""
    copy = "Memcpy HtoD (Pageable -> Device)"
    events = [
        event("user_annotation", "ProfilerStep#1", 1_000, 900, 1),
        event("cpu_op", "aten::mm", 1_010, 300, 1, **HALVES),
        *work(1, "kernel", ON_TENSOR_CORES, 1_020, 40, 0),
        *work(2, "kernel", UNTOLD, 1_070, 20, 0),
        *work(3, "kernel", PLAIN, 1_100, 20, 0),
        *work(4, "gpu_memcpy", copy, 1_400, 10, 1),
        *work(5, "kernel", PLAIN, 500, 30, 0),
        *work(6, "gpu_memcpy", copy, 600, 10, 0),
    ]
    with closing(open_database(database_of_events(tmp_path_factory.mktemp("untold"), events, gpus=3))) as connection:
        yield connection


def test_the_untold_part_of_eligible_kernel_time(asked: UntrustedConnection) -> None:
    """Neither used nor not used: the efficiency is the least that it can be."""
    assert tensor_core_efficiency(asked, find_scope(asked)) == {
        "fraction": 0.5,
        "tensor_core_ns": 40_000,
        "kernel_ns": 80_000,
        "unknown_ns": 20_000,
    }


def test_which_gpus_are_in_use(asked: UntrustedConnection) -> None:
    """The one with a copy alone counts for the mean; the one without any work does not."""
    scope = find_scope(asked)
    used = gpu_utilization(asked, scope)
    assert [device["in_use"] for device in used["devices"]] == [True, True, False]
    assert used["busy_ns"] == 40_000
    rows = page(asked, find_table("gpus"), scope, PageRequest()).rows
    assert [row["in_use"] for row in rows] == [True, True, False]


def test_what_lies_outside_is_counted(asked: UntrustedConnection) -> None:
    """Kernels, and copies and sets."""
    messages = [note["message"] for note in coverage_notes(asked, find_scope(asked))]
    assert (
        "1 kernel (30.0 µs) and 1 memory operation (10.0 µs) were launched outside the aggregated iterations: sums of "
        "GPU work leave them out." in messages
    )


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """Four steps that each call one eligible product: its kernel cannot be told; of two one can; neither uses Tensor
    Cores; the other alone."""
    kernels = [[UNTOLD], [ON_TENSOR_CORES, UNTOLD], [PLAIN], [PLAIN]]
    events = []
    for step, names in enumerate(kernels):
        start = 1_000 + 1_000 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", start, 1_000, 1))
        kind = "addmm" if step == 3 else "mm"
        events.append(event("cpu_op", f"aten::{kind}", start + 10, 300, 1, **HALVES))
        for place, name in enumerate(names):
            events += work(10 * step + place + 1, "kernel", name, start + 20 + 50 * place, 10 * (place + 1), 0)
    with closing(open_database(database_of_events(tmp_path_factory.mktemp("steps"), events))) as connection:
        yield connection


KNOWN = ("tensor_core_kernels", "tensor_core_time_ns", "tensor_core_kernel_time_ns", "unknown_kernel_ns",
        "unknown_kernels", "other_kernel_ns")  # fmt: skip


def test_iterations_tell_the_least_that_was_on_tensor_cores(steps: UntrustedConnection) -> None:
    """And nothing where nothing is known; that none was where all is known."""
    scope = find_scope(steps)
    rows = page(steps, table_of(steps, "iterations"), scope, PageRequest()).rows
    assert [tuple(row[key] for key in KNOWN) for row in rows] == [
        (None, None, None, 10_000, 1, 0),
        (1, 10_000, 10_000, 20_000, 1, 0),
        (0, 0, 0, 0, 0, 10_000),
        (0, 0, 0, 0, 0, 10_000),
    ]
    assert [row["tensor_core_time_fraction"] for row in rows] == [None, 0.01, 0.0, 0.0]
    assert [each.tensor_core_fraction for each in iteration_shares(steps, scope)] == [None, 0.01, 0.0, 0.0]
    drawn, _ = iteration_rows(steps, scope)
    of_kernels = ("tensor_core", "unknown_kernel", "other_kernel")
    assert [tuple((row["parts"] or {})[part] for part in of_kernels) for row in drawn] == [
        (None, 10_000, 0), (10_000, 20_000, 0), (0, 0, 10_000), (0, 0, 10_000),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "known"),
    [("tensor_core_time_ns", "1000ns"), ("tensor_core_kernels", "1"), ("tensor_core_kernel_time_ns", "1")],
)
def test_iterations_of_which_nothing_is_known_come_last(steps: UntrustedConnection, key: str, known: str) -> None:
    """In both directions, and they pass no filter."""
    table, scope = table_of(steps, "iterations"), find_scope(steps)

    def asked(**request: Any) -> list[Cell]:
        return [row["iteration"] for row in page(steps, table, scope, PageRequest(**request)).rows]

    assert asked(sort=key) == [2, 3, 1, 0]
    assert asked(sort=f"-{key}") == [1, 3, 2, 0]
    assert asked(where={key: "=0"}) == [2, 3]
    assert asked(where={key: f">={known}"}) == [1]
    assert asked(sort=f"-{key}", where={"unknown_kernel_ns": ">0"}) == [1, 0]


def test_ops_and_groups_tell_the_least_that_was_on_tensor_cores(steps: UntrustedConnection) -> None:
    """In an iteration and over all of them: of the op that is untold in one it is so there alone."""
    scope = find_scope(steps)
    by_step = [
        page(steps, table_of(steps, "ops_of_iteration"), scope, PageRequest(iteration=step)).rows for step in range(4)
    ]
    assert [[(row["tensor_core_kernels"], row["tensor_core_time_ns"]) for row in rows] for rows in by_step] == [
        [(None, None)], [(1, 10_000)], [(0, 0)], [(0, 0)],
    ]  # fmt: skip
    model = model_summary(steps, scope)
    assert (model["eligible_ops"], model["eligible_ops_using_tensor_cores"], model["eligible_ops_unknown"]) == (1, 1, 0)
    nodes = group_tree(steps, scope)["nodes"]
    assert nodes["tensor_core_time_ns"][0] == 10_000
    assert nodes["unknown_time_ns"][0] == 30_000
    (row,) = page(steps, table_of(steps, "kernels_of_group"), scope, PageRequest(group="/", search=UNTOLD)).rows
    assert row["using_tensor_cores"] is None


def test_an_op_that_none_of_its_kernels_tells_is_counted_for_neither(tmp_path: Path) -> None:
    """Not among those that use Tensor Cores, nor is 0 of 1 said of the ops below its groups."""
    events = [event("cpu_op", "aten::mm", 1_000, 150, 1, **HALVES), *work(1, "kernel", UNTOLD, 1_020, 40, 0)]
    with closing(open_database(database_of_events(tmp_path, events))) as file:
        scope = find_scope(file)
        model, efficiency = model_summary(file, scope), tensor_core_efficiency(file, scope)
        nodes = group_tree(file, scope)["nodes"]
        (group,) = page(file, table_of(file, "groups"), scope, PageRequest()).rows
        (gpu_row,) = page(file, table_of(file, "gpus"), scope, PageRequest()).rows
    assert (model["eligible_ops_using_tensor_cores"], model["eligible_ops_unknown"]) == (None, 1)
    assert (efficiency["fraction"], efficiency["unknown_ns"], efficiency["kernel_ns"]) == (None, 40_000, 40_000)
    assert set(nodes["using_ops"]) == set(nodes["tensor_core_time_ns"]) == {None}
    assert (group["using_ops"], group["using_fraction"], gpu_row["tensor_core_fraction"]) == (None, None, None)
    assert gpu_row["unknown_fraction"] == 1.0


def test_whether_an_op_uses_tensor_cores_may_be_unknown(tmp_path: Path) -> None:
    """Where some of its kernels no rule tells; one that is known to use them is enough for yes."""
    kernels = {"mm": [UNTOLD], "bmm": [UNTOLD, ON_TENSOR_CORES], "add": [PLAIN], "addmm": [PLAIN, UNTOLD]}
    events, number = [], 0
    for place, (kind, names) in enumerate(kernels.items()):
        start = 1_000 + 200 * place
        events.append(event("cpu_op", f"aten::{kind}", start, 150, 1, **HALVES))
        for name in names:
            number += 1
            events += work(number, "kernel", name, start + 10 + 50 * (number % 2), 20, 0)
    with closing(open_database(database_of_events(tmp_path, events))) as file:
        said = op_values(file, "using_tensor_cores")
    assert {name.rsplit("/", 1)[-1]: using for name, using in said.items()} == {
        "mm": {None},
        "bmm": {True},
        "add": {False},
        "addmm": {None},
    }


@pytest.mark.parametrize(("work", "using"), [([], None), (work(1, "gpu_memcpy", "Memcpy HtoD", 1_020, 40, 0), False)])
def test_without_a_gpu_nobody_knows_whether_ops_use_tensor_cores(
    tmp_path: Path, work: list[dict[str, Any]], using: bool | None
) -> None:
    """A recording of the CPU alone; where copies were recorded, kernels would have been."""
    source = tmp_path / "trace.json"
    events = [event("cpu_op", "aten::mm", 1_000, 150, 1), *work]
    source.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    import_source(source, tmp_path / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(tmp_path / "dldb.sqlite")) as file:
        assert list(op_values(file, "using_tensor_cores").values()) == [{using}]
