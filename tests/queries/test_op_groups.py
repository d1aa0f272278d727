"""Ops summed by path pattern and by name, and the totals of tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.aggregation.selection import Selection
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.database.dlprof_export import write_dlprof_file
from tensorboard_plugin_dlprof.pipeline import (
    ImportOptions,
    aggregate_database,
    import_dlprof_database,
    import_source,
)
from tensorboard_plugin_dlprof.queries.kinds_of_work import NO_KERNELS
from tensorboard_plugin_dlprof.queries.page_answer import totals
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import stream
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tests.shared_data import shared_data


@pytest.fixture(scope="module")
def amp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The AMP sample as a database."""
    source = next(samples.DATA.rglob("generated-resnet50-amp.pt.trace.json.gz"))
    made = tmp_path_factory.mktemp("groups") / "amp.dlprof_dldb.sqlite"
    import_source(source, made, ImportOptions(), lambda _stage, _fraction: None)
    return made


@pytest.fixture(scope="module")
def ddp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rank of the sample with collectives as a database."""
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    made = tmp_path_factory.mktemp("groups") / "ddp.dlprof_dldb.sqlite"
    import_source(source, made, ImportOptions(), lambda _stage, _fraction: None)
    return made


@pytest.mark.parametrize(
    ("path", "pattern", "name"),
    [
        ("/ResNet/layer3/Bottleneck[2]/conv1/conv2d", "/ResNet/layer*/Bottleneck/conv*/conv2d", "conv2d"),
        ("/model/layers.12/mlp/gemm_a16w16", "/model/layers.*/mlp/gemm_a16w16", "gemm_a16w16"),
        ("/h/0/attn/scores_7", "/h/*/attn/scores_*", "scores_*"),
        ("sgemm_128x64_nn", "sgemm_128x64_nn", "sgemm_128x64_nn"),
    ],
)
def test_a_pattern_leaves_out_only_what_counts_repetitions(path: str, pattern: str, name: str) -> None:
    """Numbers that are part of a meaning stay."""
    assert path_pattern(path) == pattern
    assert path_pattern(path, 1) == name


def rows_of(
    database: Path,
    table: str,
    links: dict[str, Any] | None = None,
    aggregation: int | None = None,
    filters: dict[str, str] | None = None,
) -> tuple[list[Row], dict[str, object]]:
    """All rows that pass, and the totals."""
    with opened_database(database) as connection:
        scope, result, request = (
            find_scope(connection, aggregation),
            table_of(connection, table),
            PageRequest(where=filters or {}, **(links or {})),
        )
        return list(stream(connection, result, scope, request)), dict(totals(connection, result, scope, request))


def whole(row: Row, key: str) -> int:
    """A cell that is a whole number."""
    value = row[key]
    assert isinstance(value, int)
    return value


@pytest.mark.parametrize(("table", "own_name"), [("op_paths", 0), ("op_names", 1)])
def test_groups_are_the_sums_of_their_ops(amp: Path, table: str, own_name: int) -> None:
    """By hand from the table of ops, which is checked elsewhere: every op is in one group."""
    _check_sums(amp, table, own_name)
    rows, _ = rows_of(amp, table)
    assert max(whole(row, "ops") for row in rows) > 40
    assert sum(float(row["gpu_time_fraction"] or 0) for row in rows) == pytest.approx(1)
    assert len({row["key"] for row in rows}) == len(rows)
    copies = [row["family"] == NO_KERNELS for row in rows if row["kernel_calls"] == 0 and row["gpu_time_ns"]]
    assert copies
    assert all(copies)
    timed = [row for row in rows if row["kernel_time_ns"] is not None]
    assert all(0 < whole(row, "kernel_time_ns") <= whole(row, "gpu_time_ns") for row in timed)
    types, _ = rows_of(amp, "op_types")
    assert sum(whole(row, "kernel_time_ns") for row in timed) == sum(
        whole(row, "kernel_time_ns") for row in types if row["kernel_time_ns"]
    )


@pytest.mark.parametrize(("table", "members"), [("op_paths", "ops_of_path"), ("op_names", "ops_of_name")])
def test_a_group_tells_the_type_of_its_longest_op(amp: Path, table: str, members: str) -> None:
    """Not that of another: SQLite takes bare columns from the row of the maximum of a single maximum."""
    several = 0
    for group in rows_of(amp, table)[0]:
        ops = rows_of(amp, members, {"row": str(group["key"])})[0]
        longest = max(whole(op, "gpu_time_ns") for op in ops)
        (op, *others) = [op for op in ops if op["gpu_time_ns"] == longest]
        if not others:
            assert (group["longest_op"], group["op_type"]) == (op["op_id"], op["op_type"])
            several += len(ops) > 1
    assert several > 5


_GROUPED_BY = {
    "op_paths": ("key", lambda op: f"{path_pattern(str(op['name']), 0)} {op['direction'] or ''}"),
    "op_names": ("key", lambda op: f"{path_pattern(str(op['name']), 1)} {op['direction'] or ''}"),
    "op_types": ("op_type", lambda op: op["op_type"]),
}


@pytest.mark.parametrize("table", _GROUPED_BY)
def test_a_group_is_bound_by_what_bounds_most_of_its_kernel_time(amp: Path, ddp: Path, table: str) -> None:
    """Not by what bounds its longest op: the tree of modules sums too."""
    key, group_of = _GROUPED_BY[table]
    unlike_longest = 0
    for database in (amp, ddp):
        sums: dict[object, Counter[object]] = {}
        longest: dict[object, Row] = {}
        for op in rows_of(database, "efficiency")[0]:
            sums.setdefault(group_of(op), Counter())[op["bound"]] += whole(op, "kernel_ns")
            longest[group_of(op)] = max(op, longest.get(group_of(op), op), key=lambda op: whole(op, "kernel_ns"))
        groups = {row[key]: row for row in rows_of(database, table)[0]}
        for group, by_bound in sums.items():
            row, all_ns, unknown = groups[group], by_bound.total(), by_bound.pop(None, 0)
            keys = {
                bound: "communication_ns" if bound == "communication" else f"{bound}_bound_ns" for bound in by_bound
            }
            assert {bound: row[keys[bound]] for bound in by_bound} == dict(by_bound)
            most = max(by_bound.values(), default=0)
            expected = {bound for bound, ns in by_bound.items() if ns == most} if 2 * unknown <= all_ns else {None}
            assert row["bound"] in expected
            unlike_longest += row["bound"] not in (None, longest[group]["bound"])
    assert unlike_longest > 0 or table != "op_names"


@pytest.mark.parametrize("table", _GROUPED_BY)
def test_a_group_tells_what_keeps_most_of_its_time_off_tensor_cores(amp: Path, ddp: Path, table: str) -> None:
    """What costs a long op nothing, as all of it is on them, is told only where there is no other cause."""
    key, group_of = _GROUPED_BY[table]
    told = 0
    for database in (amp, ddp):
        off: dict[object, Counter[object]] = {}
        for op in rows_of(database, "efficiency")[0]:
            if op["cause"] is not None:
                kept = whole(op, "kernel_ns") * (1 - float(str(op["tensor_core_fraction"] or 0)))
                off.setdefault(group_of(op), Counter())[op["cause"]] += round(kept)
        groups = {row[key]: row for row in rows_of(database, table)[0]}
        for group, row in groups.items():
            causes = off.get(group, Counter())
            assert (row["cause"] is None) == (not causes)
            if causes:
                assert causes[row["cause"]] == pytest.approx(max(causes.values()), abs=10)
                told += 1
    assert told > 0


@pytest.mark.parametrize("table", ["op_paths", "op_names"])
def test_groups_can_be_sorted_by_rates_and_filtered_by_what_limits_them(amp: Path, table: str) -> None:
    """As ops can."""
    with opened_database(amp) as connection:
        scope, groups = find_scope(connection), table_of(connection, table)
        rates = [
            row["flops_per_second"] for row in stream(connection, groups, scope, PageRequest(sort="-flops_per_second"))
        ]
    known = [float(str(rate)) for rate in rates if rate is not None]
    assert known == sorted(known, reverse=True)
    assert rates[: len(known)] == known
    rows, all_rows = rows_of(amp, table, filters={"bound": "=memory"})[0], rows_of(amp, table)[0]
    assert rows == [row for row in all_rows if row["bound"] == "memory"]


@pytest.mark.parametrize(("table", "own_name"), [("op_paths", 0), ("op_names", 1)])
def test_each_aggregation_has_groups_of_its_own(amp: Path, tmp_path: Path, table: str, own_name: int) -> None:
    """They are stored: one of a single iteration is added, and the groups of the first stay as they were."""
    both = tmp_path / "both.dlprof_dldb.sqlite"
    added = aggregate_database(amp, both, Selection(None, 2, 2), lambda _stage, _fraction: None)
    assert added.is_new
    _check_sums(both, table, own_name, added.aggregation)
    assert rows_of(both, table) == rows_of(amp, table)


@pytest.mark.parametrize(("table", "own_name"), [("op_paths", 0), ("op_names", 1)])
def test_ops_of_dlprof_are_grouped_too(amp: Path, tmp_path: Path, table: str, own_name: int) -> None:
    """A file with nothing but DLProf's tables, as its tools write them, says nothing of groups."""
    exported = tmp_path / "exported.dlprof_dldb.sqlite"
    write_dlprof_file(amp, exported)
    _check_sums(exported, table, own_name)
    imported = tmp_path / "imported.dlprof_dldb.sqlite"
    import_dlprof_database(exported, imported, lambda _stage, _fraction: None)
    _check_sums(imported, table, own_name)


def _check_sums(database: Path, table: str, own_name: int, aggregation: int | None = None) -> None:
    expected: dict[tuple[str, object], list[int]] = {}
    for op in rows_of(database, "ops", aggregation=aggregation)[0]:
        sums = expected.setdefault((path_pattern(str(op["name"]), own_name), op["direction"]), [0, 0, 0])
        for i, value in enumerate((1, whole(op, "calls"), whole(op, "gpu_time_ns"))):
            sums[i] += value
    rows, _ = rows_of(database, table, aggregation=aggregation)
    assert rows
    assert {
        (str(row["name"]), row["direction"]): [whole(row, key) for key in ("ops", "calls", "gpu_time_ns")]
        for row in rows
    } == expected


def test_every_grouping_tells_communication_and_copies_from_computation(ddp: Path) -> None:
    """Charts colour each of them; a copy by a kernel is a kernel."""
    ops = rows_of(ddp, "ops")[0]
    assert {row["op_type"] for row in ops if row["family"] == "collective"} == {"all_reduce"}
    alone = [row for row in ops if row["gpu_time_ns"] and row["kernel_calls"] == 0]
    assert alone
    assert {row["family"] for row in alone} == {NO_KERNELS}
    assert NO_KERNELS not in {row["family"] for row in ops if row["kernel_calls"]}
    types = {row["op_type"]: row["family"] for row in rows_of(ddp, "op_types")[0]}
    assert types["all_reduce"] == "collective"
    assert {types[row["op_type"]] for row in alone} >= {NO_KERNELS}
    kernels = rows_of(ddp, "kernels_of_group", {"group": "/"})[0]
    assert {str(row["name"]).startswith("nccl") for row in kernels if row["family"] == "collective"} == {True}
    assert NO_KERNELS not in {row["family"] for row in kernels}


def test_kernels_of_all_ops_are_all_kernels(tmp_path: Path) -> None:
    """Also those without an op, whose names begin with no slash: grouped by kernel, no time of the page is missing."""
    made = tmp_path / "amp.dlprof_dldb.sqlite"
    source = shared_data() / "torch" / "t4_amp" / "amp.pt.trace.json"
    import_source(source, made, ImportOptions(), lambda _stage, _fraction: None)
    kernel_calls = sum(row["kernel_calls"] for row in rows_of(made, "ops")[0])
    assert sum(row["calls"] for row in rows_of(made, "kernels_of_group", {"group": ""})[0]) == kernel_calls
    assert sum(row["calls"] for row in rows_of(made, "kernels_of_group", {"group": "/"})[0]) < kernel_calls


def test_types_know_their_time_on_tensor_cores(amp: Path) -> None:
    """As the groups by name do, of which each is of one type here."""
    names = [row for row in rows_of(amp, "op_names")[0] if row["op_type"] == "conv2d"]
    assert names
    (of_type,) = [row for row in rows_of(amp, "op_types")[0] if row["op_type"] == "conv2d"]
    shares = [float(str(row["tensor_core_fraction"])) for row in names]
    assert min(shares) <= float(str(of_type["tensor_core_fraction"])) <= max(shares)
    assert max(shares) > 0


def test_a_type_tells_whether_it_is_work_of_no_op(tmp_path: Path) -> None:
    """DLProf calls the kernel its type, as if it were that of an op."""
    made = tmp_path / "kernels.dlprof_dldb.sqlite"
    (source,) = (shared_data() / "torch" / "h100_qwen_bf16").glob("*.json.gz")
    import_source(source, made, ImportOptions(), lambda _stage, _fraction: None)
    types = {str(row["op_type"]): row["no_op"] for row in rows_of(made, "op_types")[0]}
    assert types["elementwise_kernel"] is True
    assert types["linear"] is False


@pytest.mark.parametrize(
    ("table", "members"), [("op_paths", "ops_of_path"), ("op_names", "ops_of_name"), ("op_types", "ops_of_type")]
)
def test_the_ops_of_a_row_are_those_that_it_sums(amp: Path, table: str, members: str) -> None:
    """The first two rows, with their numbers."""
    for row in rows_of(amp, table)[0][:2]:
        result, sums = rows_of(amp, members, {"row": str(row["op_type" if table == "op_types" else "key"])})
        assert len(result) == row["ops"]
        assert (sums["gpu_time_ns"], sums["calls"]) == (row["gpu_time_ns"], row["calls"])


@pytest.mark.parametrize(
    ("table", "ops", "kernels"),
    [
        ("op_paths", "ops_of_path", "kernels_of_path"),
        ("op_names", "ops_of_name", "kernels_of_name"),
        ("op_types", "ops_of_type", "kernels_of_type"),
    ],
)
def test_the_kernels_of_a_row_are_those_of_its_ops(amp: Path, table: str, ops: str, kernels: str) -> None:
    """The first two rows: name by name what the kernels of each op add up to, and all the kernel time of the row."""
    for row in rows_of(amp, table)[0][:2]:
        key = str(row["op_type" if table == "op_types" else "key"])
        expected: Counter[str] = Counter()
        for op in rows_of(amp, ops, {"row": key})[0]:
            for kernel in rows_of(amp, "kernels_of_op", {"op": str(op["op_id"])})[0]:
                expected[str(kernel["name"])] += whole(kernel, "gpu_time_ns")
        result, sums = rows_of(amp, kernels, {"row": key})
        assert {kernel["name"]: kernel["gpu_time_ns"] for kernel in result} == expected
        assert sums["gpu_time_ns"] == row["kernel_time_ns"]


def test_the_ops_of_a_kernel_are_those_that_launched_it(amp: Path) -> None:
    """As many as its row counts, and the time of each in the kernel adds up to that of the row."""
    for row in rows_of(amp, "kernels_of_group", {"group": ""})[0][:3]:
        result, sums = rows_of(amp, "ops_of_kernel", {"row": str(row["name"])})
        assert len(result) == row["ops"]
        times = [whole(op, "in_kernel_ns") for op in result]
        assert all(0 < time <= whole(op, "kernel_ns") for time, op in zip(times, result, strict=True))
        assert times == sorted(times, reverse=True)
        assert sums["in_kernel_ns"] == sum(times) == row["gpu_time_ns"]


def test_totals_are_of_what_passes_the_filters(amp: Path) -> None:
    """Not of the page alone, and not of all."""
    for table, filters in (("op_paths", {"name": "conv"}), ("ops", {"op_type": "conv2d"}), ("op_types", {})):
        rows, sums = rows_of(amp, table, filters=filters)
        assert sums["gpu_time_ns"] == sum(whole(row, "gpu_time_ns") for row in rows) > 0
        assert sums["calls"] == sum(whole(row, "calls") for row in rows)
    rows, sums = rows_of(amp, "op_paths")
    assert sums["kernel_time_ns"] == sum(whole(row, "kernel_time_ns") for row in rows if row["kernel_time_ns"]) > 0
    assert rows_of(amp, "iterations")[1] == {}
