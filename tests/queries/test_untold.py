"""What a profile cannot tell, or does not count, stands beside its numbers."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries import number_columns
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.headline import headline
from tensorboard_plugin_dlprof.queries.iteration_shares import iteration_shares
from tensorboard_plugin_dlprof.queries.iterations import iteration_rows, iteration_source
from tensorboard_plugin_dlprof.queries.op_detail import op_detail
from tensorboard_plugin_dlprof.queries.ops import top_ops
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.rows import Cell
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import (
    gpu_utilization,
    kernel_time,
    model_summary,
    resource_breakdown,
    tensor_core_efficiency,
)
from tensorboard_plugin_dlprof.queries.table import Request
from tensorboard_plugin_dlprof.queries.tables import find_table, table_of
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.imports.traces import write_trace
from tests.queries.events import ON_TENSOR_CORES, PLAIN, UNTOLD, event, work
from tests.queries.profiles import database_of, ignore
from tests.queries.test_group_tree import rows


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """A step with one eligible product: 40 us on Tensor Cores, 20 us untold, 20 us not; a copy on the second of three
    GPUs; before the step another kernel and a copy."""
    shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    copy = "Memcpy HtoD (Pageable -> Device)"
    events = [
        event("user_annotation", "ProfilerStep#1", 1_000, 900, 1),
        event("cpu_op", "aten::mm", 1_010, 300, 1, **shapes),
        *work(1, "kernel", ON_TENSOR_CORES, 1_020, 40, 0),
        *work(2, "kernel", UNTOLD, 1_070, 20, 0),
        *work(3, "kernel", PLAIN, 1_100, 20, 0),
        *work(4, "gpu_memcpy", copy, 1_400, 10, 1),
        *work(5, "kernel", PLAIN, 500, 30, 0),
        *work(6, "gpu_memcpy", copy, 600, 10, 0),
    ]
    gpus = [
        {"id": number, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
        for number in range(3)
    ]
    folder: Path = tmp_path_factory.mktemp("untold")
    source = folder / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": gpus, "traceEvents": events}))
    import_source(source, folder / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(folder / "dldb.sqlite")) as connection:
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
    rows = page(asked, find_table("gpus", extended=True), scope, Request()).rows
    assert [row["in_use"] for row in rows] == [True, True, False]


def test_what_lies_outside_is_counted(asked: UntrustedConnection) -> None:
    """Kernels, and copies and sets."""
    messages = [note["message"] for note in coverage_notes(asked, find_scope(asked))]
    assert (
        "1 kernel (30.0 µs) and 1 memory operation (10.0 µs) ran outside the aggregated iterations and are not counted."
        in messages
    )


def test_a_recording_without_gpu_work_says_how_to_record_it(tmp_path: Path) -> None:
    """In the notes, with the options; and at once when it is imported. One with a copy holds some."""
    database = tmp_path / "dldb.sqlite"
    trace = tmp_path / "trace.json"
    op = event("cpu_op", "aten::mm", 10, 5, 1)
    trace.write_text(json.dumps({"traceEvents": [op]}))
    told = import_source(trace, database, ImportOptions(), ignore).warnings
    assert told == ["This recording holds no GPU work."]
    with closing(open_database(database)) as connection:
        (note,) = coverage_notes(connection, find_scope(connection))
    assert note["message"] == told[0]
    assert "ProfilerActivity.CUDA" in note["hint"]
    trace.write_text(json.dumps({"traceEvents": [op, *work(1, "gpu_memcpy", "Memcpy HtoD", 20, 5, 0)]}))
    assert told[0] not in import_source(trace, database, ImportOptions(), ignore).warnings


def test_a_database_of_another_version_is_read_as_far_as_dlprofs_goes(tmp_path: Path) -> None:
    """It says so first, and does not take the iterations whose origin it does not read for none."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_info SET value = '1' WHERE key = 'extension_version'")
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        (note,) = coverage_notes(connection, scope)
        assert note["severity"] == "warning"
        assert note["message"].startswith("Another version of this plugin made this database")
        assert iteration_source(connection, scope) == {"kind": "", "label": "", "candidates": []}


def test_graphs_recorded_as_a_whole_stand_beside_the_kernels(tmp_path: Path) -> None:
    """Ten launches of graphs with all but 78 us of the GPU time: no kernels with or without Tensor Cores, but a time of
    their own."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        times = kernel_time(file, find_scope(file))
        (gpu,) = page(file, find_table("gpus", extended=True), find_scope(file), Request()).rows
    assert times["graph"] == {"time_ns": 7_811_141_695, "names": None, "launches": 10}
    assert times["total"] == {"time_ns": 78_270, "names": 2, "launches": 30}
    assert times["tensor_core"] == {"time_ns": None, "names": None, "launches": None}
    assert times["other_kernel"] == times["total"]
    assert gpu["tensor_core_fraction"] is None


def test_an_iteration_with_whole_graphs_does_not_say_that_none_used_tensor_cores(tmp_path: Path) -> None:
    """Where no kernel on Tensor Cores is known in it, their number and time, its share and what is drawn of it are
    unknown; the time that may be on them is told."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        scope = find_scope(file)
        (row,) = page(file, table_of(file, "iterations"), scope, Request()).rows
        (shares,) = iteration_shares(file, scope)
        assert headline(file)["tensor_core_time_fraction"] is None
        parts = {part["resource"]: part["time_ns"] for part in resource_breakdown(file, scope)}
        ((drawn,), _) = iteration_rows(file, scope)
    assert row["tensor_core_time_ns"] is row["tensor_core_time_fraction"] is shares.tensor_core_fraction is None
    assert row["gpu_time_ns"] == 7_811_219_965
    assert (row["kernels"], row["tensor_core_kernels"], row["tensor_core_kernel_time_ns"]) == (30, None, None)
    assert (row["unknown_kernel_ns"], row["unknown_kernels"], row["unknown_kernel_time_ns"]) == (7_811_141_695, 0, 0)
    on_gpu = {"tensor_core": None, "unknown_kernel": 7_811_141_695, "other_kernel": 78_270}
    assert parts == {**parts, **on_gpu}
    assert drawn["parts"] == parts


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """Four steps that each call one eligible product: its kernel cannot be told; of two one can; neither uses Tensor
    Cores; the other alone."""
    shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    kernels = [[UNTOLD], [ON_TENSOR_CORES, UNTOLD], [PLAIN], [PLAIN]]
    events = []
    for step, names in enumerate(kernels):
        start = 1_000 + 1_000 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", start, 1_000, 1))
        kind = "addmm" if step == 3 else "mm"
        events.append(event("cpu_op", f"aten::{kind}", start + 10, 300, 1, **shapes))
        for place, name in enumerate(names):
            events += work(10 * step + place + 1, "kernel", name, start + 20 + 50 * place, 10 * (place + 1), 0)
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    folder = tmp_path_factory.mktemp("steps")
    source = folder / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    import_source(source, folder / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(folder / "dldb.sqlite")) as connection:
        yield connection


TOLD = ("tensor_core_kernels", "tensor_core_time_ns", "tensor_core_kernel_time_ns", "unknown_kernel_ns",
        "unknown_kernels", "other_kernel_ns")  # fmt: skip


def test_iterations_tell_the_least_that_was_on_tensor_cores(steps: UntrustedConnection) -> None:
    """And nothing where nothing is known; that none was where all is known."""
    scope = find_scope(steps)
    rows = page(steps, table_of(steps, "iterations"), scope, Request()).rows
    assert [tuple(row[key] for key in TOLD) for row in rows] == [
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


@pytest.mark.parametrize("few_rows", [0, 1_000], ids=["whole columns", "SQLite"])
@pytest.mark.parametrize(
    ("key", "known"),
    [("tensor_core_time_ns", "1000ns"), ("tensor_core_kernels", "1"), ("tensor_core_kernel_time_ns", "1")],
)
def test_iterations_of_which_nothing_is_known_come_last(
    steps: UntrustedConnection, monkeypatch: pytest.MonkeyPatch, few_rows: int, key: str, known: str
) -> None:
    """In both directions, and they pass no filter."""
    monkeypatch.setattr(number_columns, "FEW_ROWS", few_rows)
    table, scope = table_of(steps, "iterations"), find_scope(steps)

    def asked(**request: Any) -> list[Cell]:
        return [row["iteration"] for row in page(steps, table, scope, Request(**request)).rows]

    assert asked(sort=key) == [2, 3, 1, 0]
    assert asked(sort=f"-{key}") == [1, 3, 2, 0]
    assert asked(filters={key: "=0"}) == [2, 3]
    assert asked(filters={key: f">={known}"}) == [1]
    assert asked(sort=f"-{key}", filters={"unknown_kernel_ns": ">0"}) == [1, 0]


def test_ops_and_groups_tell_the_least_that_was_on_tensor_cores(steps: UntrustedConnection) -> None:
    """In an iteration and over all of them: of the op that is untold in one it is so there alone."""
    scope = find_scope(steps)
    by_op = {
        str(row["op_id"]): op_detail(steps, scope, str(row["op_id"]))["iterations"]
        for row in page(steps, table_of(steps, "ops"), scope, Request()).rows
    }
    told = {
        (op, iteration): (kernels, time_ns)
        for op, by_iteration in by_op.items()
        for iteration, kernels, time_ns in zip(
            by_iteration["iteration"],
            by_iteration["tensor_core_kernels"],
            by_iteration["tensor_core_time_ns"],
            strict=True,
        )
    }
    by_step = [
        page(steps, table_of(steps, "ops_of_iteration"), scope, Request(links={"iteration": str(step)})).rows
        for step in range(4)
    ]
    assert [[(row["tensor_core_kernels"], row["tensor_core_time_ns"]) for row in rows] for rows in by_step] == [
        [(None, None)], [(1, 10_000)], [(0, 0)], [(0, 0)],
    ]  # fmt: skip
    assert told == {
        (row["op_id"], step): (row["tensor_core_kernels"], row["tensor_core_time_ns"])
        for step, rows_of_step in enumerate(by_step)
        for row in rows_of_step
    }
    model = model_summary(steps, scope)
    assert (model["eligible_ops"], model["eligible_ops_using_tensor_cores"], model["eligible_ops_unknown"]) == (2, 1, 0)
    nodes = group_tree(steps, scope)["nodes"]
    assert nodes["tensor_core_time_ns"][0] == 10_000
    assert nodes["unknown_time_ns"][0] == 30_000
    (row,) = page(steps, table_of(steps, "kernels_of_group"), scope, Request(links={"group": "/"}, search=UNTOLD)).rows
    assert row["using_tensor_cores"] is None


def test_an_op_that_none_of_its_kernels_tells_is_counted_for_neither(tmp_path: Path) -> None:
    """Not among those that use Tensor Cores, nor is 0 of 1 said of the ops below its groups."""
    shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    events = [event("cpu_op", "aten::mm", 1_000, 150, 1, **shapes), *work(1, "kernel", UNTOLD, 1_020, 40, 0)]
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    import_source(source, tmp_path / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(tmp_path / "dldb.sqlite")) as file:
        scope = find_scope(file)
        model, efficiency = model_summary(file, scope), tensor_core_efficiency(file, scope)
        nodes = group_tree(file, scope)["nodes"]
        (group,) = page(file, table_of(file, "groups"), scope, Request()).rows
        (gpu_row,) = page(file, table_of(file, "gpus"), scope, Request()).rows
        (op_id,) = [name for name in nodes["op_id"] if name]
        detail = op_detail(file, scope, op_id)["iterations"]
    assert (model["eligible_ops_using_tensor_cores"], model["eligible_ops_unknown"]) == (None, 1)
    assert (efficiency["fraction"], efficiency["unknown_ns"], efficiency["kernel_ns"]) == (None, 40_000, 40_000)
    assert set(nodes["using_ops"]) == set(nodes["tensor_core_time_ns"]) == {None}
    assert (group["using_ops"], group["using_fraction"], gpu_row["tensor_core_fraction"]) == (None, None, None)
    assert gpu_row["unknown_fraction"] == 1.0
    assert (detail["tensor_core_kernels"], detail["tensor_core_time_ns"]) == ([None], [None])


def said_of_ops(file: UntrustedConnection, key: str) -> dict[str, set[object]]:
    """Name of an op -> what the table, the Dashboard and the op's own page say of it under this key."""
    scope = find_scope(file)
    said: dict[str, set[object]] = {}
    for row in page(file, find_table("ops", extended=True), scope, Request(limit=100)).rows:
        detail: Mapping[str, object] = op_detail(file, scope, str(row["op_id"]))["op"]
        said[str(row["name"])] = {row[key], detail[key]}
    for op in top_ops(file, scope, 100):
        facts: Mapping[str, object] = op
        said[op["name"]].add(facts[key])
    return said


def test_whether_an_op_uses_tensor_cores_may_be_unknown(tmp_path: Path) -> None:
    """Where some of its kernels no rule tells; one that is known to use them is enough for yes."""
    shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    kernels = {"mm": [UNTOLD], "bmm": [UNTOLD, ON_TENSOR_CORES], "add": [PLAIN], "addmm": [PLAIN, UNTOLD]}
    events, number = [], 0
    for place, (kind, names) in enumerate(kernels.items()):
        start = 1_000 + 200 * place
        events.append(event("cpu_op", f"aten::{kind}", start, 150, 1, **shapes))
        for name in names:
            number += 1
            events += work(number, "kernel", name, start + 10 + 50 * (number % 2), 20, 0)
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    import_source(source, tmp_path / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(tmp_path / "dldb.sqlite")) as file:
        said = said_of_ops(file, "using_tensor_cores")
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
        assert list(said_of_ops(file, "using_tensor_cores").values()) == [{using}]


@pytest.mark.parametrize("key", ["eligible", "using_tensor_cores"])
def test_whether_graphs_recorded_as_a_whole_can_use_tensor_cores_and_do_is_unknown(tmp_path: Path, key: str) -> None:
    """Nobody knows their kernels; of the other ops it is known."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        said = said_of_ops(file, key)
    assert {None} in said.values()
    kernels_without_an_op = 2 if key == "eligible" else 0
    untold = [name for name, tells in said.items() if tells == {None}]
    assert sum("GraphLaunch" not in name for name in untold) == kernels_without_an_op
    assert all(tells == {None} for name, tells in said.items() if "GraphLaunch" in name)


def test_the_tree_does_not_take_what_is_not_known_for_not_eligible(tmp_path: Path) -> None:
    """An op that launched a CUDA graph recorded as a whole, and the groups above it of which no op is known to be
    eligible."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        told = group_tree(connection, find_scope(connection))["nodes"]["eligible_ops"]
    assert None not in told
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute("INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops")
    with closing(open_database(database)) as connection:
        nodes = group_tree(connection, find_scope(connection))["nodes"]
    assert set(nodes["eligible_ops"]) == {None}
    assert set(nodes["using_ops"]) == set(nodes["tensor_core_time_ns"]) == {None}


def _graphs_launched_by_all(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute("INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops")


def _a_graph_launched_by_one(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute(
            "INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops WHERE op_name LIKE '%/mm%'"
        )


def _no_gpu(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for table in ("read_only_kernels", "read_only_memcpys", "read_only_memsets"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE op_nodes SET using_tc = 0")
        connection.execute("UPDATE group_ops SET num_tc_leaf_ops = 0")


def two_layers(folder: Path) -> Path:
    """An eligible product below ``/a/``, an addition below ``/b/``, each with a kernel."""
    shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    events = []
    for number, (module, kind) in enumerate([("A", "mm"), ("B", "add")]):
        start = 1_000 + 400 * number
        events.append(event("python_function", f"nn.Module: {module}_0", start, 300, 1, **{"Python id": number + 1}))
        events.append(event("cpu_op", f"aten::{kind}", start + 10, 200, 1, **shapes))
        events += work(number + 1, "kernel", PLAIN, start + 20, 50, 0)
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    source = folder / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    import_source(source, folder / "dldb.sqlite", ImportOptions(), ignore)
    return folder / "dldb.sqlite"


@pytest.mark.parametrize(
    "change",
    [_graphs_launched_by_all, _a_graph_launched_by_one, _no_gpu],
    ids=lambda change: change.__name__,
)
def test_tree_table_and_report_tell_the_same_of_groups(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """What of no op below is known, and of some unknown, is unknown in all of them, never 0."""
    database = two_layers(tmp_path)
    change(database)
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        nodes = group_tree(connection, scope)["nodes"]
        tree = {
            node["path"]: (node["eligible_ops"], node["using_ops"])
            for node in rows({"nodes": nodes})
            if node["op_id"] is None
        }
        table = {
            row["path"]: (row["eligible_ops"], row["using_ops"])
            for row in page(connection, table_of(connection, "groups"), scope, Request(limit=100)).rows
        }
        text = io.StringIO()
        write_json(REPORTS["group_op"].blocks(connection, scope), text)
        report = {
            row["Name"]: (row["Num TC Eligible Ops"], row["Num Ops Using TC"])
            for row in json.loads(text.getvalue())["Group Op Report"]
        }
    assert None in {number for told in tree.values() for number in told}
    assert table == tree
    assert {path: told for path, told in report.items() if path != "_CompleteModel_"} == tree
    assert report["_CompleteModel_"] == tree["/"]


def test_a_database_of_other_rules_for_kernels_says_so(tmp_path: Path) -> None:
    """All of it is read; today's rules might tell some kernels otherwise."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        before = coverage_notes(connection, find_scope(connection))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_info SET value = '1' WHERE key = 'classification_version'")
    with closing(open_database(database)) as connection:
        (note,) = [note for note in coverage_notes(connection, find_scope(connection)) if note not in before]
    assert note["severity"] == "info"
    assert "told the kernels of this database" in note["message"]
    assert note["hint"] == "Import its source again: dlprof import SOURCE."
