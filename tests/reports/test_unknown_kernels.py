"""Kernels whose Tensor Core use is unknown: the compatible CSV files are DLProf's, all others say what is not known."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports.as_csv import write_csv
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tensorboard_plugin_dlprof.reports.dashboard import dashboard
from tensorboard_plugin_dlprof.reports.html_style import mark_colours
from tests.queries.profiles import database_of, ignore

UNTOLD, PLAIN = "triton_tem_fused_mm_0", "elementwise_kernel"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """An eligible product of 40 us in a kernel that no rule tells and 20 us in one that does not use Tensor Cores."""
    events: list[dict[str, Any]] = []

    def add(category: str, name: str, start: int, length: int, thread: int, **arguments: object) -> None:
        events.append(
            {"ph": "X", "cat": category, "name": name, "ts": start, "dur": length, "pid": 1, "tid": thread,
             "args": arguments}
        )  # fmt: skip

    half = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
    add("cpu_op", "aten::mm", 1_000, 100, 1, **half)
    for number, (name, length) in enumerate([(UNTOLD, 40), (PLAIN, 20)]):
        add("cuda_runtime", "cudaLaunchKernel", 1_010 + 10 * number, 2, 1, correlation=number + 1)
        add("kernel", name, 1_100 + 100 * number, length, 7, correlation=number + 1, device=0, stream=7)
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    folder: Path = tmp_path_factory.mktemp("unknown")
    source = folder / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    import_source(source, folder / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(folder / "dldb.sqlite")) as connection:
        yield connection


def said(connection: UntrustedConnection, word: str, title: str) -> Any:
    """A block of a report as JSON."""
    text = io.StringIO()
    write_json(REPORTS[word].blocks(connection, find_scope(connection)), text)
    return json.loads(text.getvalue())[title]


def rows_of(connection: UntrustedConnection, word: str) -> list[list[str]]:
    """The lines of a compatible CSV file."""
    text = io.StringIO()
    write_csv(REPORTS[word].blocks(connection, find_scope(connection)), text)
    return list(csv.reader(io.StringIO(text.getvalue())))


def test_the_compatible_files_are_dlprofs(asked: UntrustedConnection) -> None:
    """It knows no unknown: no, and 0, and no row of ours."""
    summary = {row[0]: row[1:] for row in rows_of(asked, "summary") if row}
    assert summary["Tensor Core Kernel Duration %"] == ["0.0"]
    assert summary["Kernels using TC"] == ["0", "0", "0"]
    assert summary["All other kernels"][0] == "60000"
    assert not any("not known" in name.lower() for name in summary)
    for word, heading in (
        ("detail", "Using TC"), ("kernel", "Uses TC"), ("iteration", "Uses TC"), ("tensor", "Uses TC"),
    ):  # fmt: skip
        _, headings, *rows = rows_of(asked, word)
        assert {row[headings.index(heading)] for row in rows} == {"no"}, word
    _, headings, row = rows_of(asked, "tensor")
    values = dict(zip(headings, row, strict=True))
    assert (values["TC GPU Time (ns)"], values["Non-TC GPU Time (ns)"], values["Non-TC Kernel Count"]) == (
        "0",
        "60000",
        "2",
    )
    _, headings, *groups = rows_of(asked, "group_op")
    assert {row[headings.index("Num Ops Using TC")] for row in groups} == {"0"}


def test_all_others_say_what_is_not_known(asked: UntrustedConnection) -> None:
    """And how much of what does not use Tensor Cores in DLProf's words may."""
    times = said(asked, "summary", "Summary Report")
    assert times["Tensor Core Kernel Duration %"] is times["Tensor Core Kernel Utilization %"] is None
    assert times["Of It, Not Known Whether Tensor Core %"] > 0
    ops, kernels = ({row["Name"]: row for row in said(asked, "summary", title)} for title in ("All Ops", "All Kernels"))
    assert ops["Ops using TC"]["# Ops"] is kernels["Kernels using TC"]["GPU Time (ns)"] is None
    assert ops["Of these, not known whether using TC"]["# Ops"] == 1
    assert kernels["Of these, not known whether using TC"]["GPU Time (ns)"] == 40_000
    assert [row["Using TC"] for row in said(asked, "detail", "All Iterations")] == [None]
    for word, title in (("kernel", "Kernel Report"), ("iteration", "Iteration Report")):
        assert {row["Kernel Name"]: row["Uses TC"] for row in said(asked, word, title)} == {UNTOLD: None, PLAIN: "no"}
    (op,) = said(asked, "tensor", "Tensor Core Report")
    assert op["Uses TC"] is op["TC GPU Time (ns)"] is op["TC Utilization (%)"] is op["TC Kernel Count"] is None
    assert (op["Non-TC GPU Time (ns)"], op["Non-TC Kernel Count"]) == (20_000, 1)
    assert {row["Num Ops Using TC"] for row in said(asked, "group_op", "Group Op Report")} == {None}


def test_the_dashboard_does_not_call_what_is_not_known_none(tmp_path: Path) -> None:
    """Of an export with CUDA graphs recorded as a whole."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        page = "".join(dashboard(file, find_scope(file)))
    assert "Tensor Core kernels</th><td class=n>unknown</td><td class=n>unknown</td>" in page
    assert page.count("In CUDA graphs</th><td class=n>7.81</td>") == 2


def test_the_summary_does_not_call_ops_that_launch_graphs_none(tmp_path: Path) -> None:
    """Their kernels are not recorded, so nobody knows whether these use Tensor Cores. DLProf writes 0."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        using = {row["Name"]: row["# Ops"] for row in said(file, "summary", "All Ops")}["Ops using TC"]
        compatible = {row[0]: row[1:] for row in rows_of(file, "summary") if row}["Ops using TC"]
    assert (using, compatible) == (None, ["0", "0", "0"])


def test_every_mark_of_the_dashboard_has_a_colour(asked: UntrustedConnection) -> None:
    """Those of unknown kernels too, wherever they are drawn: a mark without one is black."""
    page = "".join(dashboard(asked, find_scope(asked), None))
    drawn = set(re.findall(r'<rect[^>]* class="?([\w-]+)', page))
    assert "unknown_kernel" in drawn
    assert drawn <= set(re.findall(r"svg \.([\w-]+)", mark_colours("")))
