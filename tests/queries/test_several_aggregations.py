"""An aggregation says the same whatever other aggregations its database holds."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.pipeline import (
    ImportOptions,
    Selection,
    aggregate_database,
    import_source,
)
from tensorboard_plugin_dlprof.queries.gaps import TABLES as GAPS
from tensorboard_plugin_dlprof.queries.tables import TABLES
from tests.browser.conftest import sample
from tests.database.stranger import drop_extensions
from tests.routes.serving import Server
from tests.shared_data import shared_data

Ask = Callable[..., Any]

OF_OTHERS = ("aggregation", "aggregations")
"""What tells which there are."""

OF_LEFT_OUT = ("cold_start", "iteration_range_detector")
"""Findings about iterations that are left out. A database of DLProf stores where these begin for its first aggregation
only; for others the first of them begins with the capture."""

OWNERS = {"op": ("ops", "op_id"), "group": ("groups", "path"), "iteration": ("iterations", "iteration")}
"""What a table is about -> the table and column that list it."""

ROWS = {
    "ops_of_path": ("op_paths", "key"),
    "ops_of_name": ("op_names", "key"),
    "ops_of_type": ("op_types", "op_type"),
    "kernels_of_path": ("op_paths", "key"),
    "kernels_of_name": ("op_names", "key"),
    "kernels_of_type": ("op_types", "op_type"),
    "ops_of_kernel": ("kernels_of_group", "name"),
}
"""The same for tables about a row of another."""

ignore: Callable[[str, float], None] = lambda _stage, _fraction: None  # noqa: E731


@pytest.fixture(scope="module", params=["sample", "two GPUs", "as DLProf's"])
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with a database each: one with the first aggregation, one with the second, one with both."""
    source = sample("generated-resnet50-amp.pt.trace.json.gz")
    if request.param == "two GPUs":
        source = shared_data() / "nsight" / "h100_2gpu_torchrun_nccl" / "mfu_2gpu_before.sqlite"
    folders = {name: tmp_path_factory.mktemp(name) for name in ("first", "both", "second")}
    first, both, second = (folder / "a.dlprof_dldb.sqlite" for folder in folders.values())
    import_source(source, first, ImportOptions(), ignore)
    with Served(folders["first"]) as server:
        often = server.ask("/table", 1, table="ops", sort="-calls")["rows"][0]["op_id"]
    selected = {"key_op": often, "iter_start": 1, "iter_stop": 2}
    import_source(source, second, ImportOptions(**selected), ignore)
    assert aggregate_database(first, both, Selection(**selected), ignore).aggregation == 2
    if request.param == "as DLProf's":
        for database in (first, both, second):
            drop_extensions(database)
    return folders


class Served:
    """The only database of a folder, asked as pages ask."""

    def __init__(self, folder: Path) -> None:
        self._server = Server(folder, folder / "cache")
        self._profile = self._server.profiles()[0]["id"]

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.app.close()

    def ask(self, route: str, aggregation: int, **more: str) -> Any:
        """The answer."""
        query = {"profile": self._profile, "aggregation": aggregation, **more}
        answer = self._server.get(f"{route}?{urllib.parse.urlencode(query)}")
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json or {}
        return {key: value for key, value in result.items() if key not in OF_OTHERS}


@pytest.fixture(scope="module", params=[("first", 1), ("second", 2)], ids=["first", "added"])
def served(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[tuple[Ask, Ask]]:
    """How an aggregation is asked that is alone, and beside another."""
    alone, aggregation = request.param
    with Served(folders[alone]) as one, Served(folders["both"]) as both:
        yield partial(one.ask, aggregation=1), partial(both.ask, aggregation=aggregation)


@pytest.mark.parametrize(
    "table", sorted(TABLES.keys() - GAPS.keys() - {"memory_blocks", "memory_block_groups"})
)  # whatever is aggregated
def test_tables_beside_another_aggregation(served: tuple[Ask, Ask], table: str) -> None:
    """Their rows, and of those that are about something, the rows about all of it that there is."""
    alone, neighbour = served
    about: list[dict[str, str]] = [{}]
    for link in TABLES[table].links:
        of, key = ROWS[table] if link == "row" else OWNERS[link]
        all_kernels = {"group": ""} if of == "kernels_of_group" else {}
        rows = alone("/table", table=of, limit="12", **all_kernels)["rows"]
        assert rows
        about = [{**known, link: row[key]} for known in about for row in rows]
    result = 0
    for links in about:
        answer = alone("/table", table=table, limit="1000", **links)
        assert neighbour("/table", table=table, limit="1000", **links) == answer
        result += len(answer["rows"])
    assert result


@pytest.mark.parametrize("route", ["/dashboard", "/groups", "/iterations", "/findings", "/efficiency"])
def test_pages_beside_another_aggregation(served: tuple[Ask, Ask], route: str) -> None:
    """All but which aggregations there are, and the ids of the tree's nodes."""
    alone, neighbour = served
    answer, other = alone(route), neighbour(route)
    assert answer
    for each in (answer, other) if route == "/groups" else ():
        assert each["nodes"].pop("id")
    for each in (answer, other) if route == "/findings" else ():
        each["findings"] = [result for result in each["findings"] if result["detector"] not in OF_LEFT_OUT]
    assert other == answer
