"""The conventions of ``database/README.md``, on databases of all kinds of sources and on DLProf's own."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.sql_files import DLPROF_SCRIPTS, TABLE_SCRIPTS, layout_of, statements
from tensorboard_plugin_dlprof.pipeline import ImportOptions, Selection, aggregate_database, import_source
from tests.database.views import read_only
from tests.shared_data import REPOSITORY, shared_data

SOURCES = ["torch/t4_amp", "torch/mi300x_resnet_ddp", "nsight/h100_2gpu_torchrun_nccl", "nsight/a100_cuda_graphs"]
NVIDIAS = "dlprof-golden/dlprof_dldb.sqlite"
DOCUMENT = (REPOSITORY / "tensorboard_plugin_dlprof" / "database" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=[*SOURCES, NVIDIAS])
def con(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A database with two aggregations, opened as a stranger would; or a genuine one."""
    path = shared_data() / request.param
    if request.param != NVIDIAS:
        source = next(item for item in sorted(path.iterdir()) if item.is_file())
        path = tmp_path_factory.mktemp("conventions") / "made.dlprof_dldb.sqlite"
        import_source(source, path, ImportOptions(), _silent)
        with closing(read_only(path)) as made:
            (first,) = made.execute("SELECT iter_start FROM model_summary").fetchone()
        aggregate_database(path, path, Selection(None, first, first), _silent)
    with closing(read_only(path)) as con:
        yield con


def _silent(_what: str, _fraction: float) -> None:
    """No progress."""


def one(con: sqlite3.Connection, sql: str) -> int:
    """The number that a question gives."""
    return int(con.execute(sql).fetchone()[0])


def test_json_texts_are_compact_and_end_in_a_newline(con: sqlite3.Connection) -> None:
    """Of every instance: names, shapes, parameters."""
    for column in ("input_names_id", "input_shapes_id", "output_names_id", "output_shapes_id", "parameters_id"):
        for (text,) in con.execute(
            f"SELECT DISTINCT string FROM read_only_op_instances JOIN dictionary AS d ON d.id = {column}"
        ):
            assert text.endswith("\n")
            assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) + "\n"


PERCENTS = [
    (table, column)
    for table, columns in layout_of("schema").items()
    for column in columns
    if column.endswith(("_pct", "_utilization"))
]


def test_percentages_have_six_decimals_and_are_from_0_to_100(con: sqlite3.Connection) -> None:
    """Every column whose name says percent."""
    assert len(PERCENTS) >= 10
    for table, column in PERCENTS:
        for (value,) in con.execute(f"SELECT {column} FROM {table}"):
            assert value == round(value, 6)
            assert 0 <= value <= 100


def test_averages_have_six_decimals(con: sqlite3.Connection) -> None:
    """And follow from sum and count; no metric without samples has another number than 0."""
    for count, most, least, total, average in con.execute("SELECT count, max, min, sum, avg FROM metric"):
        assert average == (round(total / count, 6) if count else 0)
        assert count or (most, least, total) == (0, 0, 0)
        assert not count or least <= average <= most


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("dictionary", "string"),
        ("read_only_grid_block", "x, y, z"),
        ("read_only_ops", "domain_id, op_id_id"),
        ("read_only_gpu_infos", "device_id"),
        ("iteration_list", "aggr_id, iter_value"),
        ("model_summary", "aggr_id, domain_id"),
        ("device_gpu_utilizations", "aggr_id, domain_id, gpu_info_id"),
        ("group_ops", "aggr_id, domain_id, group_op_full_id_id, group_op_full_name_id"),
        ("kernel_summaries", "aggr_id, domain_id, read_only_ops_id, kernel_name_id"),
        ("kernel_iteration_node", "aggr_id, domain_id, read_only_ops_id, read_only_kernel_id, iter_value"),
        ("kernel_iteration_stats", "aggr_id, domain_id, iter_value"),
        ("kernel_summary_metrics", "aggr_id, domain_id"),
        ("memory_summary_metrics", "aggr_id, domain_id"),
        ("op_type_metrics", "aggr_id, domain_id, op_node_type_id"),
    ],
)
def test_what_1_8_declares_unique_is_unique(con: sqlite3.Connection, table: str, columns: str) -> None:
    """And each shared row is there once."""
    repeated = one(
        con, f"SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT {columns} FROM {table})) FROM {table}"
    )
    assert repeated == 0


def test_a_metric_is_shared_within_an_aggregation(con: sqlite3.Connection) -> None:
    """One that is added later brings its own."""
    repeats = one(con, "SELECT max(n) FROM (SELECT count(*) AS n FROM metric GROUP BY count, max, min, sum)")
    assert repeats <= one(con, "SELECT count(*) FROM model_summary")


def test_ids_count_from_1(con: sqlite3.Connection) -> None:
    """Without gaps, in every table of 1.8."""
    for table in layout_of("schema"):
        rows, low, high = con.execute(f"SELECT count(*), min(id), max(id) FROM {table}").fetchone()
        assert rows == 0 or (low, high) == (1, rows), table


def test_every_reference_leads_to_a_row(con: sqlite3.Connection) -> None:
    """As the foreign keys of 1.8 declare; those of a genuine file say which columns and tables."""
    with closing(read_only(shared_data() / NVIDIAS)) as genuine:
        for table in layout_of("schema"):
            for key in genuine.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,)):
                column, target, to = key
                lost = one(con, f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT {to} FROM {target})")
                assert lost == 0, (table, column)


def test_booleans_are_0_or_1(con: sqlite3.Connection) -> None:
    """Those that 1.8 checks, and those of ops."""
    for table, column in (
        ("read_only_kernels", "uses_tc"),
        ("kernel_summaries", "uses_tc"),
        ("op_nodes", "tc_eligible"),
        ("op_nodes", "using_tc"),
        ("op_nodes", "is_bad_data_type"),
        ("model_summary", "is_custom_domain"),
    ):
        assert {row[0] for row in con.execute(f"SELECT DISTINCT {column} FROM {table}")} <= {0, 1}


def test_times_are_whole_numbers(con: sqlite3.Connection) -> None:
    """As SQLite stores them, in every column of the raw tables that tells a time."""
    for table, columns in layout_of("schema").items():
        for column in columns:
            if table.startswith("read_only_") and column.endswith(("_start", "_stop")):
                kinds = {row[0] for row in con.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")}
                assert kinds <= {"integer"}, (table, column)


def test_instances_of_an_op_lie_side_by_side_in_time(con: sqlite3.Connection) -> None:
    """So the number within the op, from 0, leads to the row; every call's number is one of its op."""
    rows = con.execute("SELECT read_only_ops_id, cpu_start FROM read_only_op_instances ORDER BY id").fetchall()
    assert rows == sorted(rows)
    count = "(SELECT count(*) FROM read_only_op_instances AS i WHERE i.read_only_ops_id = t.read_only_ops_id)"
    for kind in ("kernels", "memcpys", "memsets", "cuda_syncs", "cuda_calls"):
        assert (
            one(con, f"SELECT count(*) FROM read_only_{kind} AS t WHERE op_instance NOT BETWEEN 0 AND {count} - 1") == 0
        )


def test_every_aggregation_has_its_eight_categories(con: sqlite3.Connection) -> None:
    """And the seven shares of each add up to 100."""
    aggregations = one(con, "SELECT count(*) FROM model_summary")
    assert one(con, "SELECT count(*) FROM category_summary") == 8 * aggregations
    assert one(con, "SELECT count(*) FROM view_aggregations") == aggregations


def test_the_document_names_what_is_there() -> None:
    """Every table and column in it exists, and the number of tables and views is right."""
    assert f"the {len(layout_of(*DLPROF_SCRIPTS))} tables and {len(statements('views'))} views" in DOCUMENT
    layout = layout_of(*dict.fromkeys((*TABLE_SCRIPTS, *DLPROF_SCRIPTS)))
    names = {*layout, *(column for columns in layout.values() for column in columns)}
    mentioned = set(re.findall(r"`((?:read_only|ext|kernel|group|category|tc|is|gpu|iteration)_[a-z_]+)", DOCUMENT))
    assert len(mentioned) > 12
    assert mentioned <= names


def test_the_document_is_in_the_package() -> None:
    """Beside the code that keeps its promises."""
    assert "database/README.md" in (REPOSITORY / "setup.py").read_text(encoding="utf-8")
    assert Path(REPOSITORY, "tensorboard_plugin_dlprof", "database", "README.md").is_file()
