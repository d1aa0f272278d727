"""What the server sends is declared once: the frontend's types are made of the declarations, and answers fit them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scripts.http_api import RESPONSES, TYPES, typescript
from tensorboard_plugin_dlprof.routes.views import NO_DIAGNOSIS
from tests.routes.serving import Server
from tests.waiting import wait_for


def test_the_types_of_the_frontend_are_those_of_the_declarations() -> None:
    """Whoever changes a declaration runs ``python -m scripts.http_api``."""
    assert TYPES.read_text(encoding="utf-8") == typescript()


def fits(answer: Any, name: str) -> None:
    """Every key is there and no other, at any depth, with a value of its type."""
    assert msgspec.to_builtins(msgspec.convert(answer, RESPONSES[name])) == answer


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("dashboard?", "DashboardResponse"),
        ("groups?", "GroupsResponse"),
        ("findings?", "FindingsResponse"),
        ("efficiency?", "EfficiencyResponse"),
        ("iterations?", "IterationsResponse"),
        ("table?table=ops&", "TableResponse"),
        ("table?table=iterations&base=ID&", "TableResponse"),
    ],
)
def test_answers_are_as_declared(server: Server, query: str, name: str) -> None:
    """Of routes about an aggregation."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    fits(server.get(f"/{query.replace('ID', profile)}profile={profile}").json, name)


def test_other_answers_are_as_declared(server: Server) -> None:
    """The list, jobs, throughput, comparisons; what commands print too is tested with the commands."""
    profile = server.profile("made.dlprof_dldb.sqlite")["id"]
    fits(server.get("/profiles").json, "ProfilesResponse")
    throughput = server.get(f"/throughput?profile={profile}").json
    throughput.pop("iterations")
    fits(throughput, "Throughput")
    fits(server.get(f"/compare_series?profiles={profile}").json, "SeriesResponse")
    for route, name in (("compare", "CompareResponse"), ("compare_row", "CompareRowResponse")):
        answer = server.get(f"/{route}?profile={profile}&base={profile}").json
        fits({key: value for key, value in answer.items() if key in RESPONSES[name].__annotations__}, name)
    fits(server.change("/aggregate", profile).json["job"], "Job")
    wait_for(lambda: server.get(f"/aggregation_jobs?profile={profile}").json["jobs"][0]["finished_at"])


def test_a_diagnosis_that_could_not_be_worked_out_has_every_key() -> None:
    """It is shown as any other."""
    msgspec.convert({**NO_DIAGNOSIS, "source": "a.json"}, RESPONSES["Diagnosis"])
