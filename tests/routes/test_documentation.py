"""``http_api.md`` shows answers as they really are."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import tensorboard_plugin_dlprof.routes
from scripts.http_api import document
from tensorboard_plugin_dlprof.queries.tables import TABLES
from tensorboard_plugin_dlprof.routes.parameters import CHANGES, READS
from tests.routes.serving import LINKS, Server
from tests.shared_data import shared_data
from tests.waiting import wait_for

DOCUMENT = (Path(tensorboard_plugin_dlprof.routes.__file__).parent / "http_api.md").read_text(encoding="utf-8")


def example(heading: str) -> Any:
    """The JSON example under a heading."""
    section = DOCUMENT.split(heading, 1)[1]
    match = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    assert match
    return json.loads(match.group(1))


def same_shape(documented: Any, real: Any, where: str) -> None:
    """Every documented key is there and no other, with a value of the documented type or null."""
    if documented is None or real is None:
        return
    if isinstance(documented, dict):
        assert isinstance(real, dict), where
        assert set(real) == set(documented), where
        for key, value in documented.items():
            same_shape(value, real[key], f"{where}.{key}")
    elif isinstance(documented, list):
        assert isinstance(real, list), where
        for item in real:
            if documented:
                same_shape(documented[0], item, f"{where}[]")
    elif isinstance(documented, (int, float)) and not isinstance(documented, bool):
        assert isinstance(real, (int, float)), where
    else:
        assert type(real) is type(documented), where


def test_the_list(server: Server) -> None:
    """Ready and not imported."""
    wait_for(lambda: server.profile("made.dlprof_dldb.sqlite")["headline"])
    same_shape(example("## GET ./profiles"), server.get("/profiles").json, "profiles")


def test_the_dashboard(server: Server) -> None:
    """All panels, none of them empty."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    same_shape(example("## GET ./dashboard"), server.get(f"/dashboard?profile={profile}").json, "dashboard")


def test_a_table(server: Server) -> None:
    """The frame of every table; rows have the keys of the columns."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    documented = example("## GET ./table")
    real = server.get(f"/table?profile={profile}&table=ops").json
    assert set(real) == set(documented)
    same_shape(documented["columns"], real["columns"], "columns")
    assert all(set(row) == {column["key"] for column in real["columns"]} for row in real["rows"])


def test_every_route_and_table_is_listed_as_it_is_declared() -> None:
    """Whoever changes a declaration runs ``python -m scripts.http_api``."""
    assert document(DOCUMENT) == DOCUMENT
    assert set(re.findall("<!-- columns (.*) -->", DOCUMENT)) == set(TABLES)
    headings = "\n".join(re.findall("## .*", DOCUMENT))
    assert [path for path in READS if f"GET .{path}" not in headings] == []
    assert [path for path in CHANGES if f"POST .{path}" not in headings] == []


@pytest.mark.parametrize("table", ["gpus", "iterations", "kernels_of_iteration_op", "gap_groups"])
def test_a_table_has_the_listed_columns(server: Server, table: str) -> None:
    """Those of its declaration, in their order."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    answer = server.get(f"/table?profile={profile}&table={table}{LINKS.get(table, '')}").json
    keys = [column["key"] for column in answer["columns"]]
    section = DOCUMENT.split(f"<!-- columns {table} -->", 1)[1].split("<!-- end -->", 1)[0]
    if "The columns of" not in section:
        assert keys == [key for key in re.findall(r"^\| `(\w+)`", section, re.MULTILINE) if key in keys]


@pytest.mark.parametrize(
    ("heading", "path"),
    [
        ("## GET ./groups", "/groups?"),
        ("## GET ./iterations", "/iterations?"),
        ("## GET ./efficiency", "/efficiency?"),
    ],
)
@pytest.mark.parametrize("name", ["made.dlprof_dldb.sqlite", "dlprof_dldb.sqlite"])
def test_the_views(server: Server, logdir: Path, name: str, heading: str, path: str) -> None:
    """Of a database of ours and of NVIDIA's."""
    if name == "dlprof_dldb.sqlite":
        shutil.copyfile(shared_data() / "dlprof-golden" / name, logdir / name)
    real = server.get(f"{path}&profile={server.profile(name)['id']}").json
    same_shape(example(heading), real, heading)


def test_a_job(server: Server) -> None:
    """As it is answered, and as it is listed."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    documented = example("## POST ./aggregate")
    same_shape(documented, server.change("/aggregate", profile).json, "aggregate")
    jobs = server.get(f"/aggregation_jobs?profile={profile}").json["jobs"]
    same_shape(documented["job"], jobs[0], "jobs[]")
    wait_for(lambda: server.get(f"/aggregation_jobs?profile={profile}").json["jobs"][0]["finished_at"])


def test_an_error(server: Server) -> None:
    """The one body."""
    documented = example("one body:")
    same_shape(documented, server.get("/dashboard?profile=0123456789abcdef").json, "error")
