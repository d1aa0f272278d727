"""Routes about the change from one profile to another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

from tensorboard_plugin_dlprof.comparing.tables import TABLES
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.routes import comparisons
from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.routes.test_documentation import example, same_shape


@pytest.fixture
def asked(server: Server, logdir: Path) -> str:
    """Parameters that name two imported profiles: ``made``, and one whose kernels take half as long again."""
    source = write_trace(logdir.parent / "slower.json")
    trace = json.loads(source.read_text())
    for event in trace["traceEvents"]:
        if event["cat"] == "kernel":
            event["dur"] *= 1.5
    source.write_text(json.dumps(trace))
    database = logdir / "run" / "a" / "slower.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    names = ("slower.dlprof_dldb.sqlite", "made.dlprof_dldb.sqlite")
    profile, base = (server.profile(name)["id"] for name in names)
    return f"profile={profile}&base={base}"


def test_the_head_is_as_documented_and_adds_up(server: Server, asked: str) -> None:
    """Bars, rows and parts all add up to the change."""
    response = server.get(f"/compare?{asked}").json
    same_shape(example("## GET ./compare\n"), response, "compare")
    order = response["order"]
    assert sum(order["b_ns"]) - sum(order["a_ns"]) == response["change_ns"]
    assert sum(part["change_ns"] for part in response["parts"]) == response["change_ns"]
    assert response["measures"]["kernel_time"]["ratio"] == pytest.approx(1.5, rel=0.01)
    row = server.get(f"/compare_row?{asked}&row=0").json
    same_shape(example("## GET ./compare_row"), row, "row")
    assert all(kernel["sizes"] for side in (row["a"], row["b"]) for kernel in side["kernels"])
    assert server.get(f"/compare_row?{asked}&row=999").status_code == 404


def test_tables_are_paged_sorted_filtered_and_exported_like_others(server: Server, asked: str) -> None:
    """All rows in memory; the sums of all rows are the change."""
    assert set(TABLES) == comparisons.TABLES
    head = server.get(f"/compare?{asked}").json
    groups = server.get(f"/table?{asked}&table=compare_groups").json
    assert groups["totals"]["change_ns"] == head["change_ns"]
    group = groups["rows"][0]
    row = quote(group["key"])
    rows = server.get(f"/table?{asked}&table=compare_of_group&row={row}").json
    assert rows["totals"]["change_ns"] == group["change_ns"]
    assert server.get(f"/table?{asked}&table=compare_of_group").status_code == 400
    for name in TABLES:
        response = server.get(f"/table?{asked}&table={name}&limit=1&row={row}").json
        assert len(response["rows"]) == min(response["total"], 1)
    whole = server.get(f"/table?{asked}&table=compare").json
    assert whole["totals"]["change_ns"] == head["change_ns"]
    grown = server.get(f"/table?{asked}&table=compare&where.change_ns=>0&sort=name").json
    assert 0 < grown["filtered"] < grown["total"]
    assert all(row["change_ns"] > 0 for row in grown["rows"])
    text = server.get(f"/export?{asked}&table=compare&format=csv&columns=name,change_ns").text
    assert text.count("\n") >= whole["total"]
    assert server.get(f"/table?{asked}&table=compare&sort=nothing").status_code == 400


def test_a_baseline_stands_beside_a_profiles_own_tables_and_in_series(server: Server, asked: str) -> None:
    """Ops, op types and iterations get the times of A and the change; a series finds the run that became slower."""
    response = server.get(f"/table?{asked}&table=iterations").json
    assert response["rows"]
    assert all(row["b_ns"] == row["duration_ns"] and row["change_ns"] == 0 for row in response["rows"])
    for table in ("ops", "op_types", "op_paths", "op_names"):
        response = server.get(f"/table?{asked}&table={table}").json
        for one in (response, server.get(f"/table?{asked}&table={table}&per=iteration").json):
            shown = [column["key"] for column in one["columns"] if not column["hidden"]]
            # Beside the GPU time, behind the direction, which tells rows of one path apart.
            at = shown.index("a_ns")
            assert shown[at : at + 2] == ["a_ns", "change_ns"]
            assert at == 1 or (shown[at + 2] == "gpu_time_ns" and "direction" in shown[:at])
            totals = server.get(f"/table?{asked}&table={table}&limit=1").json["totals"]
            # What A alone did has no row here, so sums would be those of no profile.
            assert totals.keys().isdisjoint(("a_ns", "b_ns", "change_ns"))
        row = next(row for row in response["rows"] if row["change_ns"])
        assert row["b_ns"] == pytest.approx(1.5 * row["a_ns"], rel=0.01)
    profile, base = (part.split("=")[1] for part in asked.split("&"))
    response = server.get(f"/compare_series?profiles={profile},{base}").json
    assert response["measure"] == "iteration_time"
    assert {run["profile"] for run in response["runs"]} == {profile, base}
    assert [run["value"]["median"] for run in response["runs"]] == [900_000, 900_000]
    assert response["regression"] is None
    times = {run["profile"]: sum(run["op_type_ns"]) for run in response["runs"]}
    assert times[profile] == pytest.approx(1.5 * times[base], rel=0.01)
    assert all(len(run["op_type_ns"]) == len(response["op_types"]) + 1 for run in response["runs"])
    assert server.get(f"/compare_series?profiles={','.join([profile] * 21)}").status_code == 400


def test_a_profile_against_itself_and_wrong_questions(server: Server, asked: str, logdir: Path) -> None:
    """No change; sentences for what cannot be asked; a replaced database is compared anew."""
    profile, base = (part.split("=")[1] for part in asked.split("&"))
    same = server.get(f"/compare?profile={base}&base={base}").json
    assert (same["verdict"], same["change_ns"]) == ("no_clear_change", 0)
    assert server.get(f"/compare?profile={base}").status_code == 400
    assert server.get(f"/compare?profile={base}&base=0123456789abcdef").status_code == 404
    assert server.get(f"/compare?{asked}&base_aggregation=9").status_code == 404
    source = server.profile("rank0.pt.trace.json")["id"]
    assert server.get(f"/compare?profile={profile}&base={source}").json["error"]["code"] == "not_ready"
    assert server.get(f"/compare?{asked}").json["change_ns"] is not None
    folder = logdir / "run" / "a"
    shutil.copy(folder / "made.dlprof_dldb.sqlite", folder / "copy")
    (folder / "copy").replace(folder / "slower.dlprof_dldb.sqlite")
    assert server.get(f"/compare?{asked}").json["measures"]["kernel_time"]["ratio"] == 1
