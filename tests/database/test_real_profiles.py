"""Every real profile, from the file to the database: the manifest's facts, the oracle's numbers, the invariants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import Aggregation, aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, real_tables
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.oracle import computed_tables, expected, union_length
from tests.database.manifest import Facts, facts
from tests.shared_data import shared_data


def files(fit: Callable[[Facts], bool]) -> list[str]:
    """The profiles that a question fits."""
    return sorted(name for name, fact in facts().items() if fit(fact)) or ["shared data"]


def of_profiles(fit: Callable[[Facts], bool]) -> pytest.MarkDecorator:
    """A test of those only."""
    return pytest.mark.parametrize("name", files(fit), indirect=True)


@pytest.fixture(scope="module", params=files(lambda _fact: True))
def name(request: pytest.FixtureRequest) -> str:
    """Path of a profile below the shared data."""
    return str(request.param)


@pytest.fixture(scope="module")
def database(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that importing it makes."""
    path = tmp_path_factory.mktemp("imported") / "profile.dlprof_dldb.sqlite"
    import_source(shared_data() / name, path, ImportOptions(typical=False), lambda _what, _fraction: None)
    return path


@pytest.fixture(scope="module")
def con(database: Path) -> Iterator[UntrustedConnection]:
    """The database, open."""
    with closing(open_database(database)) as con:
        yield con


@pytest.fixture(scope="module")
def profile(con: UntrustedConnection) -> Profile:
    """What the database holds."""
    return read_profile(con)


@pytest.fixture(scope="module")
def aggregation(profile: Profile) -> Aggregation:
    """Its aggregation over all iterations."""
    return aggregate(profile)


@pytest.fixture
def fact(name: str) -> Facts:
    """What the manifest says."""
    return facts()[name]


def test_kernels_and_their_times_are_those_of_the_manifest(con: UntrustedConnection, fact: Facts) -> None:
    """Number, plain sum, and the union for each device, added."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for device, start, stop in con.execute("SELECT device_id, gpu_start, gpu_stop FROM read_only_kernels"):
        spans[device].append((start, stop))
    kernels = [span for mine in spans.values() for span in mine]
    assert len(kernels) == fact.kernels
    assert sum(stop - start for start, stop in kernels) == fact.kernel_ns
    assert sum(union_length(mine) for mine in spans.values()) == fact.union_ns


def test_copies_sets_and_graphs_are_those_of_the_manifest(con: UntrustedConnection, fact: Facts) -> None:
    """Number and plain sum of each."""
    for table, number, time in (
        ("read_only_memcpys", fact.copies, fact.copy_ns),
        ("read_only_memsets", fact.sets, fact.set_ns),
        ("ext_graph_launches", *fact.graphs),
    ):
        row = con.execute(f"SELECT count(*), coalesce(sum(gpu_stop - gpu_start), 0) FROM {table}").fetchone()
        assert row == (number, time), table


@of_profiles(lambda fact: fact.devices is not None)
def test_devices_with_kernels_are_those_of_the_manifest(con: UntrustedConnection, fact: Facts) -> None:
    """By device: number of kernels and plain sum; and each of them is a known GPU."""
    rows = con.execute(
        "SELECT device_id, count(*), sum(gpu_stop - gpu_start) FROM read_only_kernels GROUP BY device_id"
    ).fetchall()
    assert {device: (number, time) for device, number, time in rows} == fact.devices
    known = {row[0] for row in con.execute("SELECT device_id FROM view_gpu_devices")}
    assert fact.devices
    assert known >= set(fact.devices)


@of_profiles(lambda fact: fact.steps is not None)
def test_profiler_steps_are_the_iterations(con: UntrustedConnection, fact: Facts) -> None:
    """With the source's own numbers."""
    row = con.execute("SELECT total_iterations, iter_start, iter_stop FROM view_performance_summary").fetchone()
    assert row == fact.steps


@of_profiles(lambda fact: fact.launched is not None)
def test_kernels_without_a_launch_call_are_counted(con: UntrustedConnection, fact: Facts) -> None:
    """They are kept, and the share is told."""
    row = con.execute(
        "SELECT coalesce(sum(launch.launched), 0), count(*) FROM kernels AS kernel "
        "JOIN launches AS launch ON launch.id = kernel.launch_id"
    ).fetchone()
    assert row == (fact.launched, fact.kernels)


def test_every_aggregated_number_equals_the_slow_way(profile: Profile, aggregation: Aggregation) -> None:
    """The oracle of ``tests/aggregation``, on real data."""
    values = aggregation.candidate.values
    slow = expected(profile, aggregation.candidate, int(values[0]), int(values[-1]))
    fast = computed_tables(profile, aggregation)
    assert [key for key in slow if slow[key] != fast[key]] == []


def test_no_rule_between_the_numbers_is_broken(con: UntrustedConnection) -> None:
    """The import checked them all, and would have said so."""
    assert con.execute("SELECT key FROM ext_coverage WHERE key LIKE 'broken%'").fetchall() == []


def test_the_parts_of_every_row_add_up(con: UntrustedConnection) -> None:
    """Of the model, of each iteration, of each GPU; percent to rounding."""
    seven = "tensor_core_ns + other_kernel_ns + memory_ns + data_loader_ns + io_ns + cpu_ns + other_ns"
    (wall,) = con.execute("SELECT wall_ns FROM ext_aggregations").fetchone()
    rows = con.execute(
        f"SELECT {seven} FROM ext_aggregations UNION ALL SELECT {seven} FROM ext_device_times"
    ).fetchall()
    assert {row[0] for row in rows} == {wall}
    for duration, *parts in con.execute(
        "SELECT duration, tc_duration, non_tc_duration, memory_duration, dataloader_duration, io_duration, "
        "cpu_duration, other_duration FROM view_iterations_profiled"
    ):
        assert sum(parts) == duration
        assert min(parts) >= 0
    _, _, *shares = con.execute("SELECT * FROM view_resource_usage_breakdown").fetchone()
    assert sum(shares) == pytest.approx(100, abs=1e-5)


def test_no_percentage_exceeds_100(con: UntrustedConnection) -> None:
    """Nor is any negative."""
    for table, columns in (
        ("model_summary", ("gpu_utilization", "tc_utilization")),
        ("device_gpu_utilizations", ("gpu_utilization",)),
        ("iteration_aggregation_list", ("gpu_utilization",)),
    ):
        for column in columns:
            low, high = con.execute(f"SELECT min({column}), max({column}) FROM {table}").fetchone()
            assert low is None or 0 <= low <= high <= 100, (table, column)


def test_group_sums_equal_their_ops(con: UntrustedConnection) -> None:
    """Each group is the sum of the ops whose path begins with it."""
    ops = con.execute(
        "SELECT op_name, num_calls, times.sum FROM op_nodes JOIN read_only_ops AS o ON o.id = read_only_ops_id "
        "JOIN node_time_metrics AS n ON n.id = node_time_metrics_id JOIN metric AS times ON times.id = "
        "n.gpu_time_metric_id"
    ).fetchall()
    groups = con.execute(
        "SELECT row_full_name, num_op_instances, gpu_time_sum FROM view_group_ops WHERE row_type = 1"
    ).fetchall()
    for group, calls, time in groups:
        below = [(number, sum_ns) for name, number, sum_ns in ops if name.startswith(group) and name != group]
        assert (calls, time) == (sum(n for n, _ in below), sum(t for _, t in below)), group


def test_kernels_in_are_kernels_out(con: UntrustedConnection) -> None:
    """Each kernel is in exactly one iteration or counted as outside; summaries hold the same launches."""
    aggregated, outside, launches = con.execute(
        "SELECT (SELECT count(*) FROM kernel_iteration_node), outside_kernels, kernel_launches FROM ext_aggregations"
    ).fetchone()
    (total,) = con.execute("SELECT count(*) FROM read_only_kernels").fetchone()
    assert aggregated + outside == total
    assert aggregated == launches
    assert con.execute("SELECT coalesce(sum(calls), 0) FROM view_kernel_summaries").fetchone() == (launches,)
    assert con.execute("SELECT coalesce(sum(kernel_calls), 0) FROM view_op_nodes").fetchone() == (launches,)
    assert con.execute("SELECT coalesce(sum(kernels), 0) FROM iteration_ops").fetchone() == (launches,)


def test_every_row_of_every_table_is_intact(con: UntrustedConnection) -> None:
    """What was counted at the end of writing is there, and every table was counted."""
    counted = con.execute("SELECT table_name, row_count FROM ext_row_counts").fetchall()
    assert {table for table, _ in counted} == real_tables(con) - {"ext_row_counts"}
    for table, rows in counted:
        assert con.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,), table
