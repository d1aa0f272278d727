"""``http_api.md`` shows answers as they really are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tensorboard_plugin_dlprof.routes
from tests.routes.serving import Server, wait_for

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


@pytest.mark.parametrize(("table", "link"), [("ops", ""), ("kernels_of_op", "&op=ADD_1"), ("efficiency", "")])
def test_every_column_is_documented(server: Server, table: str, link: str) -> None:
    """Tables are listed with their columns."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    section = DOCUMENT.split(f"* `{table}`", 1)[1].split("\n* ", 1)[0]
    columns = server.get(f"/table?profile={profile}&table={table}{link}").json["columns"]
    assert [column["key"] for column in columns if f"`{column['key']}`" not in section] == []


@pytest.mark.parametrize("what", ["findings", "efficiency"])
def test_findings_and_efficiency(server: Server, what: str) -> None:
    """Every key, whatever the profile holds."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    documented = example(f"## GET ./{what}?")
    documented.pop("numbers", None)
    real = server.get(f"/{what}?profile={profile}").json
    for finding in (*documented.get("findings", ()), *real.get("findings", ())):
        finding.pop("numbers")
    same_shape(documented, real, what)


def test_every_route_is_documented(server: Server) -> None:
    """With its path."""
    for route in server.app.routes():
        assert f".{route}" in DOCUMENT


def test_an_error(server: Server) -> None:
    """The one body."""
    documented = example("one body:")
    same_shape(documented, server.get("/dashboard?profile=0123456789abcdef").json, "error")
