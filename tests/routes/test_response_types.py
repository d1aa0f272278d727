"""What the server sends is declared once: the frontend's types are made of the declarations, and answers fit them."""

from __future__ import annotations

import msgspec
import pytest

from scripts.response_types import RESPONSES, TARGET, typescript
from tensorboard_plugin_dlprof.routes.views import NO_DIAGNOSIS
from tests.routes.serving import Server


def test_the_types_of_the_frontend_are_those_of_the_declarations() -> None:
    """Whoever changes a declaration runs ``python -m scripts.response_types``."""
    assert TARGET.read_text(encoding="utf-8") == typescript()


@pytest.mark.parametrize("route", ["groups", "findings", "efficiency"])
def test_answers_are_as_declared(server: Server, route: str) -> None:
    """Every key is there and no other, with a value of its type."""
    answer = server.get(f"/{route}?profile={server.profile('made.dlprof_dldb.sqlite')['id']}").json
    declared = RESPONSES[f"{route.capitalize()}Response"]
    msgspec.convert(answer, declared)
    assert answer.keys() == declared.__annotations__.keys()


def test_a_diagnosis_that_could_not_be_worked_out_has_every_key() -> None:
    """It is shown as any other."""
    msgspec.convert({**NO_DIAGNOSIS, "source": "a.json"}, RESPONSES["Diagnosis"])


def test_the_dashboard_is_of_declared_parts(server: Server) -> None:
    """Each with every key and no other."""
    answer = server.get(f"/dashboard?profile={server.profile('made.dlprof_dldb.sqlite')['id']}").json
    parts = {
        "ModelSummary": answer["model"],
        "GpuUtilization": answer["gpu_utilization"],
        "TensorCoreEfficiency": answer["tensor_core_efficiency"],
        "Performance": answer["performance"],
        "IterationSource": answer["iterations"]["source"],
    }
    parts |= {"ResourceShare": answer["resource_breakdown"][0], "SystemFact": answer["system"][0]}
    for name, part in parts.items():
        msgspec.convert(part, RESPONSES[name])
        assert part.keys() == RESPONSES[name].__annotations__.keys(), name
