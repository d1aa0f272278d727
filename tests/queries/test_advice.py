"""Findings and efficiency, asked of a database of ours and of NVIDIA's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, Selection, aggregate_database, import_source
from tensorboard_plugin_dlprof.queries.efficiency import efficiency
from tensorboard_plugin_dlprof.queries.efficiency_table import EFFICIENCY
from tensorboard_plugin_dlprof.queries.findings import findings
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page, stream
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tests.queries.profiles import SOURCES, database_of
from tests.queries.test_reasons import ELEMENTWISE, TENSOR, Case
from tests.shared_data import shared_data


def _ignore(_what: str, _fraction: float) -> None:
    """Progress that nobody watches."""


@pytest.fixture(scope="module")
def resnet_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six steps of ResNet-50 on a V100, and the last three of them again."""
    path = tmp_path_factory.mktemp("advice") / "resnet.dlprof_dldb.sqlite"
    source = next((shared_data() / "torch/v100_resnet50_memory").iterdir())
    import_source(source, path, ImportOptions(), _ignore)
    aggregate_database(path, path, Selection(iter_start=8, iter_stop=10), _ignore)
    return path


@pytest.fixture
def resnet(resnet_file: Path) -> Iterator[UntrustedConnection]:
    """A connection to it."""
    connection = open_database(resnet_file)
    yield connection
    connection.close()


@pytest.fixture
def genuine() -> Iterator[UntrustedConnection]:
    """A database that DLProf wrote."""
    connection = open_database(shared_data() / "dlprof-golden/dlprof_dldb.sqlite")
    yield connection
    connection.close()


def test_findings_come_with_numbers_gain_and_evidence(resnet: UntrustedConnection) -> None:
    """In the stored order; the totals are those of the areas."""
    said = findings(resnet, find_scope(resnet))
    first = next(each for each in said["findings"] if each["detector"] == "dataloader_detector")
    assert first["gain"] is not None
    assert said["iteration_ns"] is not None
    assert first["gain"]["high_fraction"] == first["gain"]["high_ns"] / said["iteration_ns"]
    assert first["numbers"]["time_ns"] == first["gain"]["high_ns"]
    assert {row["kind"] for finding in said["findings"] for row in finding["evidence"]} >= {"op", "range"}
    assert all(finding["link"].startswith("https://") or not finding["link"] for finding in said["findings"])
    assert json.dumps(said)


def test_each_aggregation_has_findings_of_its_own(resnet: UntrustedConnection) -> None:
    """A database that is aggregated anew knows shapes and waits as the first time; gains, and so the order, differ."""
    both = [findings(resnet, find_scope(resnet, number)) for number in (1, 2)]
    assert both[0]["iteration_ns"] != both[1]["iteration_ns"]
    first, second = (sorted(each["detector"] for each in said["findings"]) for said in both)
    assert first == second


def test_the_sentences_stand_in_dlprofs_table_too(resnet: UntrustedConnection) -> None:
    """DLProf's own viewer shows them."""
    rows = resnet.execute("SELECT exp_sys_id, problem FROM expert_systems_feedback WHERE aggr_id = 1 ORDER BY id")
    said = findings(resnet, find_scope(resnet, 1))["findings"]
    assert [tuple(row) for row in rows.fetchall()] == [(each["detector"], each["problem"]) for each in said]


def test_nvidias_database_has_sentences_alone(genuine: UntrustedConnection) -> None:
    """Nothing is made up."""
    said = findings(genuine, find_scope(genuine))
    assert said["iteration_ns"] is None
    assert said["findings"]
    assert all(finding["gain"] is None and not finding["evidence"] for finding in said["findings"])
    assert efficiency(genuine, find_scope(genuine))["product_flops"] is None
    assert page(genuine, EFFICIENCY, find_scope(genuine), PageRequest()).rows == []


def test_efficiency_adds_up(resnet: UntrustedConnection) -> None:
    """FLOPs of all six steps, MFU between those of the steps, precision times that cover all kernels."""
    total = efficiency(resnet, find_scope(resnet, 1))
    assert total["product_flops"] == 6 * 777_570_484_224
    steps = [row["mfu_fraction"] for row in total["iterations"]]
    assert total["mfu_fraction"] is not None
    known = [step for step in steps if step is not None]
    assert len(known) == 6
    assert min(known) <= total["mfu_fraction"] <= max(known)
    kernel_ns = resnet.execute("SELECT sum(kernel_ns) FROM ext_device_times WHERE aggr_id = 1").fetchone()[0]
    assert sum(row["kernel_ns"] or 0 for row in total["precisions"]) == kernel_ns
    assert [(row["precision"], row["matrix_unit"]) for row in total["precisions"]] == [("fp32", "no"), ("", "no")]
    assert [row["cause"] for row in total["causes"]] == ["fp32_type"]
    assert {row["unit"] for row in total["peaks"]} == {"memory", "vector", "matrix"}
    assert all(dot["peak_fraction"] is None or 0 < dot["peak_fraction"] <= 1 for dot in total["dots"])


@pytest.mark.parametrize("name", SOURCES)
def test_the_largest_work_without_a_dot_is_told(name: str, tmp_path: Path) -> None:
    """All ops of its name that have no dot, summed."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        scope = find_scope(connection)
        summary = efficiency(connection, scope)
        drawn = {dot["op_id"] for dot in summary["dots"]}
        sums: Counter[str] = Counter()
        for row in stream(connection, EFFICIENCY, scope, PageRequest()):
            if row["op_id"] not in drawn:
                sums[path_pattern(str(row["name"]), 1)] += int(str(row["kernel_ns"]))
    undrawn = summary["undrawn"]
    assert (undrawn["kernel_ns"] if undrawn else None) == max(sums.values(), default=None)
    assert undrawn is None or sums[undrawn["name"]] == undrawn["kernel_ns"]


@pytest.mark.parametrize("name", SOURCES)
def test_precisions_say_what_the_dashboard_says(name: str, tmp_path: Path) -> None:
    """All of them are all kernels, those on matrix units and those that nobody can tell as many as counted there."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        scope = find_scope(connection)
        result = efficiency(connection, scope)["precisions"]
        everything, memory, using = connection.execute(
            "SELECT total_gpu_time, memory_gpu_time, using_tc_gpu_time FROM view_kernel_summary WHERE aggr_id = ?",
            (scope.aggregation,),
        ).fetchone()
        unknown, *kernels = connection.execute(
            "SELECT unknown_ns, kernel_launches, tensor_core_launches, unknown_launches "
            "FROM ext_aggregations WHERE aggr_id = ?",
            (scope.aggregation,),
        ).fetchone()

    def total(unit: str, key: Literal["kernel_ns", "kernels"]) -> int:
        return sum(each[key] or 0 for each in result if unit in ("", each["matrix_unit"]))

    assert [total(unit, "kernel_ns") for unit in ("", "yes", "unknown")] == [
        everything - memory,
        using,
        unknown,
    ]
    assert [total(unit, "kernels") for unit in ("", "yes", "unknown")] == kernels


def test_precisions_are_those_of_kernels_not_of_ops(tmp_path: Path) -> None:
    """An op that multiplies on Tensor Cores and adds elsewhere has both, the second by its data type."""
    case = Case([TENSOR, ELEMENTWISE], "c10::Half")
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(case.write(tmp_path / "a.json"), database, ImportOptions(), _ignore)
    with closing(open_database(database)) as connection:
        result = efficiency(connection, find_scope(connection))["precisions"]
    assert sorted((each["precision"], each["matrix_unit"], each["kernel_ns"]) for each in result) == [
        ("fp16", "no", 100_000),
        ("fp16", "yes", 100_000),
    ]


def test_ops_are_listed_by_what_could_be_gained(resnet: UntrustedConnection) -> None:
    """Most first, every column sortable, filters by size and share."""
    scope = find_scope(resnet, 1)
    rows = page(resnet, EFFICIENCY, scope, PageRequest(limit=100)).rows
    gains = [row["gain_ns"] for row in rows]
    assert gains == sorted(gains, key=lambda gain: -float(gain or 0))
    assert rows[0]["family"] == "convolution"
    for column in EFFICIENCY.columns:
        if column.sortable:
            page(resnet, EFFICIENCY, scope, PageRequest(limit=1, sort=f"-{column.key}"))
    fast = page(
        resnet, EFFICIENCY, scope, PageRequest(limit=5, where={"flops_per_second": ">10T", "peak_fraction": ">80%"})
    )
    assert 0 < fast.filtered < fast.total
    assert all(float(row["flops_per_second"] or 0) > 1e13 for row in fast.rows)


def test_the_rates_of_the_network_are_of_the_ops_that_have_peaks(resnet: UntrustedConnection) -> None:
    """So the share is one of them by the other, as the model's utilisation: what an op without a peak computed is in
    neither, and what one above its peak computed, as its shapes tell, counts in full."""
    scope = find_scope(resnet, 1)
    network = efficiency(resnet, scope)["network"]
    rows = resnet.execute(
        "SELECT flops, min_bytes, measured_ns, peak_flops_per_second, peak_bytes_per_second FROM ext_op_efficiency "
        "WHERE aggr_id = ? AND measured_ns > 0",
        (scope.aggregation,),
    ).fetchall()
    for share, name, work, peak in (("peak_fraction", "flops", 0, 3), ("memory_fraction", "bytes", 1, 4)):
        rated = [row for row in rows if row[work] is not None and row[peak] is not None]
        assert 0 < len(rated) <= len(rows)
        measured = sum(row[2] for row in rated) / 1e9
        done = sum(row[work] for row in rated)
        assert network[f"{name}_per_second"] == pytest.approx(done / measured)
        assert network[share] * network[f"peak_{name}_per_second"] == pytest.approx(done / measured)
        assert network[f"{share.removesuffix('_fraction')}_known_ns"] == sum(row[2] for row in rated)
    assert any(row[0] and row[3] and row[0] > row[3] * row[2] / 1e9 for row in rows)


def test_the_network_is_the_mean_of_its_ops_and_kernels_by_time(resnet: UntrustedConnection) -> None:
    """Of those of which each is known; shares of rates and of warps, never more than all of them."""
    network = efficiency(resnet, find_scope(resnet, 1))["network"]
    kernels = resnet.execute(
        "SELECT gpu.sum, rate.occupancy_fraction, rate.achieved_fraction FROM kernel_summaries AS summary "
        "JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id LEFT JOIN ext_kernel_efficiency AS rate ON "
        "rate.aggr_id = summary.aggr_id AND rate.read_only_ops_id = summary.read_only_ops_id AND "
        "rate.kernel_name_id = summary.kernel_name_id WHERE summary.aggr_id = 1"
    ).fetchall()
    for key, column in (("occupancy_fraction", 1), ("achieved_fraction", 2)):
        known = [row for row in kernels if row[column] is not None]
        mean = sum(row[0] * row[column] for row in known) / sum(row[0] for row in known)
        assert network[key] == pytest.approx(mean)
        assert 0 < mean < 1
