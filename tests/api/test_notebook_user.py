"""The Python API, as a new user in a notebook would use it."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.cli.main import main
from tests.cli.traces import write_trace
from tests.reports.test_page import Page
from tests.reports.writing import dlprof_csv
from tests.shared_data import shared_data

KERNEL_NS = 250_000


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Three steps of 1 ms with a matrix product of 0.25 ms each."""
    return write_trace(tmp_path / "run" / "trace.json")


def golden() -> Path:
    """A database that NVIDIA's DLProf wrote."""
    return shared_data() / "dlprof-golden" / "dlprof_dldb_1.sqlite"


def test_the_first_five_minutes(trace: Path) -> None:
    """Open, look at the summary, at the ops, at the kernels of one of them."""
    with dlprof.open(trace) as p:
        assert p.summary.wall_time_ns == 3_000_000
        assert p.summary.gpu_utilization_fraction == 0.25
        assert p.summary.gpu_names == ["Test GPU"]
        ops = p.ops()
        top = ops.loc[0]
        assert (top["op_type"], int(top["calls"]), int(top["gpu_time_ns"])) == ("mm", 3, 3 * KERNEL_NS)
        kernels = p.kernels(op=top["op_id"], iteration=1)
        assert kernels["gpu_time_ns"].tolist() == [KERNEL_NS]
        assert p.kernels(op=top["name"]).shape[0] == p.kernels().shape[0] == 3
        assert p.iterations()["duration_ns"].tolist() == [1_000_000] * 3
        assert p.gpus()["busy_ns"].tolist() == [3 * KERNEL_NS]
        assert p.op_types()["op_type"].tolist() == ["mm"]
        assert p.groups().set_index("path")["gpu_time_ns"].to_dict() == {"/": 3 * KERNEL_NS}


def test_ids_times_and_unknown_values_keep_their_types() -> None:
    """Whole numbers stay whole and texts texts, with unknown values among them and in tables without rows."""
    with dlprof.open(golden()) as p:
        for table in (p.ops(), p.kernels(), p.groups(), p.op_types(), p.iterations(), p.gpus(), p.efficiency()):
            for column in table.columns:
                kind = str(table[column].dtype)
                if column.endswith("_ns") and "average" not in column:
                    assert kind == ("Float64" if column == "gain_ns" else "Int64")
                elif column.endswith("_fraction"):
                    assert kind == "Float64"
                elif column in ("eligible", "using_tensor_cores"):
                    assert kind == "boolean"
                assert kind != "object"
        assert str(p.kernels()["device_id"].dtype) == "Int64"


def test_causes_and_findings_of_a_database_that_holds_none() -> None:
    """NVIDIA's: worked out whatever is asked first, for this profile alone; the file stays as it is."""
    before = golden().read_bytes()
    with dlprof.open(golden()) as p:
        assert p.ops().set_index("op_id")["cause"].dropna().to_dict() == {
            **dict.fromkeys(("CONV2D_1", "CONV2D_2"), "FP32 tensors"),
            **dict.fromkeys(("LINEAR_1", "LINEAR_2", "LINEAR_3"), "Too small"),
        }
        rates = p.efficiency().set_index("op_id")
        assert (int(rates.loc["LINEAR_1", "flops"]), rates.loc["CONV2D_1", "cause"]) == (96_000, "FP32 tensors")
        assert rates["occupancy_fraction"].isna().all()
        assert p.efficiency().shape == (7, rates.shape[1] + 1)
        for name in ("ops", "groups", "efficiency"):
            assert p.columns_of(name)["column"].tolist() == getattr(p, name)().columns.tolist()
    with dlprof.open(golden()) as p:
        root = p.groups().set_index("path").loc["/"]
        assert (int(root["limited_ns"]), root["cause"]) == (259_968, "FP32 tensors")
        result = p.findings()
        assert result["detector"].tolist()[0] == "launch_detector"
        assert "underutilized_gpu_detector" in set(result["detector"]), "what DLProf alone found stays"
        assert p.findings().equals(result)
        rows = result["evidence"][0].split("\n")
        assert rows[0] == "while nothing was recorded on the host: 2.20 ms, 20 times"
        assert rows[1].endswith("/Conv2d::_conv_forward/conv2d: 1.08 ms, 63 times"), "of both layers"
        assert "CONV2D_1 (cudaMemcpy, dummy_network.py:25): 9.85 µs, 1 time" in result["evidence"][1], (
            "named where it stands"
        )
        rows = p.evidence()
        assert rows.columns.tolist() == p.columns_of("evidence")["column"].tolist()
        assert rows["detector"][0] == p.diagnosis()["findings"][0]["rule"]
        assert (rows["time_ns"].fillna(0) <= p.diagnosis()["mean"]["wall_ns"]).all()
    assert golden().read_bytes() == before


def test_causes_of_other_iterations_of_nvidias_database() -> None:
    """Of an aggregation by a key node the iterations are those that end with it."""
    with dlprof.open(golden()) as p, p.reaggregate(key_op="LINEAR_1", iter_start=0, iter_stop=0) as q:
        causes = q.ops().set_index("op_id")["cause"].dropna()
        assert causes.to_dict() == {"CONV2D_1": "FP32 tensors", "CONV2D_2": "FP32 tensors", "LINEAR_1": "Too small"}
        assert "iteration_range_detector" not in p.findings()["detector"].tolist()
        assert q.findings()["severity"].tolist() != p.findings()["severity"].tolist()


def test_what_cannot_be_worked_out_keeps_no_table_from_being_read(tmp_path: Path) -> None:
    """NVIDIA's database with a damaged table that only this needs: causes and efficiency are unknown."""
    damaged = tmp_path / "dlprof_dldb.sqlite"
    shutil.copyfile(golden(), damaged)
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("UPDATE iteration_list SET start_time = 'noon'")
        connection.commit()
    with dlprof.open(damaged) as p:
        assert p.ops()["cause"].isna().all()
        assert p.ops().shape[0] == 32
        assert p.groups()["cause"].isna().all()
        assert p.findings()["problem"].tolist()[0].startswith("5 ops were eligible")
        assert p.efficiency().empty


def test_a_stored_diagnosis_that_is_something_else_is_refused(trace: Path, tmp_path: Path) -> None:
    """In a sentence that names the file."""
    damaged = tmp_path / "a.dlprof_dldb.sqlite"
    with dlprof.open(trace) as p:
        shutil.copyfile(p.database, damaged)
    with closing(sqlite3.connect(damaged)) as connection:
        (stored,) = connection.execute("SELECT data FROM ext_diagnosis").fetchone()
        changed = {**json.loads(zlib.decompress(stored)), "findings": [{"evidence": [1]}]}
        connection.execute("UPDATE ext_diagnosis SET data = ?", (zlib.compress(json.dumps(changed).encode()),))
        connection.commit()
    with dlprof.open(damaged) as p, pytest.raises(dlprof.ProfileError, match=f"{damaged.name} holds impossible values"):
        p.evidence()


def test_every_column_says_its_unit_and_meaning(trace: Path) -> None:
    """In the table, and in a table of its own."""
    with dlprof.open(trace) as p:
        tables = ("ops", "kernels", "op_types", "groups", "iterations", "gpus", "efficiency")
        for name in (*tables, "findings", "notes", "aggregations"):
            table, columns = getattr(p, name)(), p.columns_of(name)
            assert columns["column"].tolist() == table.columns.tolist()
            assert (columns["description"].str.len() > 5).all()
            assert list(table.attrs["units"]) == table.columns.tolist()
            times = columns[columns["column"].str.endswith("_ns")]
            assert set(times["unit"]) <= {"ns"}
        with pytest.raises(dlprof.ProfileError, match="there are kernels, ops"):
            p.columns_of("op")


def test_docstrings_name_the_columns(trace: Path) -> None:
    """``help(p.ops)`` is right."""
    with dlprof.open(trace) as p:
        for name in ("ops", "kernels", "groups", "gpus", "findings", "notes", "aggregations"):
            text = str(getattr(dlprof.Profile, name).__doc__)
            missing = [column for column in p.columns_of(name)["column"] if f"``{column}``" not in text]
            assert missing == [], name


def test_a_database_of_nvidias_has_dlprofs_numbers() -> None:
    """Those of its own report of ops."""
    with dlprof.open(golden()) as p:
        ops = p.ops().set_index("op_id")
        lines = dlprof_csv("detail").decode().split("\n")
        times = {
            line.split(",")[0].strip('"'): int(line.split(",")[11]) for line in lines if line.startswith('"CONV2D')
        }
        assert times == {op: int(ops.loc[op, "gpu_time_ns"]) for op in times}
        assert len(times) == 2


def test_other_iterations_are_another_view(trace: Path) -> None:
    """The first view and its file stay as they are; the second file goes with its view."""
    with dlprof.open(trace) as p:
        before = p.database.read_bytes()
        with p.reaggregate(iter_start=1, iter_stop=1) as q:
            made = q.database
            assert q.summary.wall_time_ns == 1_000_000
            assert q.kernels()["iteration"].tolist() == [1]
            assert p.summary.wall_time_ns == 3_000_000
        assert not made.exists()
        assert p.database.read_bytes() == before
        with p.reaggregate() as same:
            assert same.summary == p.summary
        with pytest.raises(dlprof.ProfileError, match=r"Iterations from 7 on cannot be selected; .* 0 to 2"):
            p.reaggregate(iter_start=7)
        with pytest.raises(dlprof.ProfileError, match="MM_11"):
            p.reaggregate(key_op="MM_11")


def test_nvidias_database_can_be_aggregated_by_an_op() -> None:
    """An op that runs once cuts the only iteration in two."""
    with dlprof.open(golden()) as p, p.reaggregate(key_op="LINEAR_1") as q:
        assert p.summary.iterations == 1
        assert q.summary.iterations == 2


def test_a_source_is_imported_once(trace: Path, cache: Path) -> None:
    """Into the cache that TensorBoard uses; nothing appears beside the source."""
    with dlprof.open(trace) as p:
        first = p.database.stat().st_mtime_ns
        assert p.database.parent == cache
    with dlprof.open(trace) as p:
        assert p.database.stat().st_mtime_ns == first
    assert [path.name for path in trace.parent.iterdir()] == ["trace.json"]
    assert len(list(cache.iterdir())) == 1


def test_without_a_cache_a_source_is_imported_for_now(trace: Path, cache: Path) -> None:
    """And what was made goes with the profile."""
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file is in the way")
    with dlprof.open(trace) as p:
        database = p.database
        assert p.summary.iterations == 3
    assert not database.parent.exists()


def test_a_run_folder_is_its_profile(trace: Path) -> None:
    """Also with the database beside the source; several profiles are named."""
    from tensorboard_plugin_dlprof.cli.main import main

    with dlprof.open(trace.parent) as p:
        assert p.summary.iterations == 3
    assert main(["import", str(trace)]) == 0
    with dlprof.open(str(trace.parent)) as p:
        assert p.database.parent == trace.parent
    shutil.copyfile(trace, trace.with_name("rank1.json"))
    with pytest.raises(dlprof.ProfileError, match=r"2 profiles.*rank1\.json, trace\.json"):
        dlprof.open(trace.parent)


@pytest.mark.parametrize(("name", "message"), [("none", "no profile"), ("missing", "does not exist")])
def test_what_cannot_be_opened_is_one_sentence(tmp_path: Path, name: str, message: str) -> None:
    """With the name that the user gave."""
    (tmp_path / "none").mkdir()
    with pytest.raises(dlprof.ProfileError, match=f"{name}.*{message}"):
        dlprof.open(tmp_path / name)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    """Its files cannot be listed."""
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(dlprof.ProfileError, match="closed: the folder cannot be read: Permission denied"):
        dlprof.open(tmp_path / "closed")


def test_ops_and_iterations_that_are_not_there_are_named(trace: Path) -> None:
    """An empty table would hide a typing error."""
    with dlprof.open(trace) as p:
        with pytest.raises(dlprof.ProfileError, match="no op 'CONV'"):
            p.kernels(op="CONV")
        with pytest.raises(dlprof.ProfileError, match="no iteration 3"):
            p.kernels(iteration=3)


def test_a_closed_profile_says_so(trace: Path) -> None:
    """Closing twice is allowed, asking is not."""
    p = dlprof.open(trace)
    p.close()
    p.close()
    assert "closed" in repr(p)
    assert p._repr_html_() is None
    with pytest.raises(dlprof.ProfileError, match="closed"):
        p.ops()


def test_a_profile_that_nobody_closes_is_closed_quietly(trace: Path) -> None:
    """As in a notebook; warnings are errors here."""
    view = dlprof.open(trace).reaggregate(iter_start=1)
    made = view.database
    del view
    gc.collect()
    assert not made.exists()


def test_the_representation_in_a_notebook(tmp_path: Path) -> None:
    """One piece of HTML without scripts; names of a profile are text."""
    source = write_trace(tmp_path / "a.json")
    source.write_text(source.read_text().replace("Test GPU", "<script>alert(1)</script>"))
    with dlprof.open(source) as p:
        text = str(p._repr_html_())
        assert "a.json" in text
        assert "25.0 %" in text
        assert not {"script", "link", "img"} & set(Page(text).tags)
        assert "&lt;script&gt;" in p.summary._repr_html_()
        assert repr(p) == "<Profile 'a.json', aggregation 1>"


def test_reports_are_those_of_the_command_line(tmp_path: Path) -> None:
    """Byte for byte DLProf's."""
    with dlprof.open(golden()) as p:
        (path,) = p.write_reports(tmp_path / "out", reports=["tensor"], profile_name="net")
    assert path == tmp_path / "out" / "net_tensor_core.csv"
    assert path.read_bytes() == dlprof_csv("tensor")


def test_reports_and_formats_may_be_texts(tmp_path: Path) -> None:
    """One word, or several with commas between, as on the command line; a wrong one is named whole."""
    with dlprof.open(golden()) as p:
        written = p.write_reports(tmp_path, reports="tensor", formats="json, md")
        assert [path.name for path in written] == ["dlprof_tensor_core.json", "dlprof_tensor_core.md"]
        with pytest.raises(dlprof.ProfileError, match="no format 'pdf'"):
            p.write_reports(tmp_path, formats="pdf")


def test_blocks_of_memory_add_up_to_the_peak() -> None:
    """What is held at the busiest moment, with what was held before the recording, is what the peak says."""
    snapshot = shared_data() / "memory" / "snapshot_xl_full_step" / "memory_ctx128_fullstep_.pickle"
    with dlprof.open(snapshot) as p:
        blocks, at_peak = p.memory_blocks(), p.memory().set_index("category")["size_bytes"]
        allocated = blocks.groupby(blocks["allocated_event"].fillna(-1))["size_bytes"].sum()
        freed = blocks.groupby("freed_event")["size_bytes"].sum()
        held = allocated.sub(freed, fill_value=0).sort_index().cumsum()
        assert held.max() + at_peak["held before the recording"] == at_peak.sum()
        assert p.memory_curve()["in_use_max_bytes"].max() == at_peak.sum()


def test_an_aggregation_is_opened_by_its_id(tmp_path: Path) -> None:
    """The second of a database has the numbers of its iterations."""
    assert main(["import", str(write_trace(tmp_path / "a.json")), "--iterations", "all"]) == 0
    database = tmp_path / "a.dlprof_dldb.sqlite"
    assert main(["aggregate", str(database), "--iterations", "1"]) == 0
    with dlprof.open(database) as whole, dlprof.open(database, aggregation=2) as one:
        assert (int(whole.ops()["calls"][0]), int(one.ops()["calls"][0])) == (3, 1)


def test_a_change_is_a_share_of_the_baseline(tmp_path: Path) -> None:
    """Steps of 0.99 ms in place of 1 ms."""
    a, b = (write_trace(tmp_path / f"{name}.json", steps=4) for name in "ab")
    b.write_text(b.read_text().replace('"dur": 1000', '"dur": 990'))
    comparison = dlprof.compare(a, b)
    assert comparison.change_fraction == pytest.approx(comparison.change_ns / 1_000_000)
    assert comparison.change_ns == -10_000
