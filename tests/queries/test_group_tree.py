"""The tree: every level sums the one below, and what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of
from tests.queries.events import HALVES, PLAIN, database_of_events, event, work
from tests.queries.profiles import GOLDEN, SOURCES, database_of

SUMMED = ("ops", "calls", "eligible_ops", "using_ops", "cpu_time_ns", "gpu_time_ns", "kernel_time_ns")


def rows(tree: Any) -> list[dict[str, Any]]:
    """The nodes one by one, with their paths."""
    nodes = [dict(zip(tree["nodes"], values, strict=True)) for values in zip(*tree["nodes"].values(), strict=True)]
    for node in nodes:
        parent = nodes[node["parent"]]["path"] if node["parent"] >= 0 else ""
        name = node["name"] if node["op_id"] is not None or node["name"] == "/" else node["name"] + "/"
        node["path"] = parent + name if parent or node["parent"] < 0 else name
    return nodes


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[UntrustedConnection]:
    """Three layers, two of them alike, and an op outside the tree."""
    ops = [
        DraftOp(
            f"LINEAR_{number}", f"/net/Layer{index}/linear", [Call(10 * number, 10 * number + 9, [_kernel(number)])]
        )
        for number, index in ((1, ""), (2, "[2]"))
    ]
    ops.append(DraftOp("RELU_1", "/net/Layer[3]/relu", [Call(30, 39, [_kernel(3)])]))
    ops.append(DraftOp("COPY_1", "copy", [Call(40, 49, [_kernel(4)])]))
    profile = profile_of(ops)
    (tmp_path / "source").write_text("{}")
    write_database(tmp_path / "a.sqlite", tmp_path / "source", profile, lambda: aggregate(profile))
    with closing(open_database(tmp_path / "a.sqlite")) as connection:
        yield connection


def _kernel(number: int) -> Work:
    return Work("kernel", (10 * number + 1, 10 * number + 1 + number), (10 * number, 10 * number + 1))


def test_the_tree_has_every_path_once(layers: UntrustedConnection) -> None:
    """Root, net, three layers, an op in each, and the op outside as a root of its own."""
    tree = group_tree(layers, find_scope(layers))
    assert sorted((row["path"], row["op_id"], row["level"], row["children"]) for row in rows(tree)) == [
        ("/", None, 1, 1),
        ("/net/", None, 2, 3),
        ("/net/Layer/", None, 3, 1),
        ("/net/Layer/linear", "LINEAR_1", 4, 0),
        ("/net/Layer[2]/", None, 3, 1),
        ("/net/Layer[2]/linear", "LINEAR_2", 4, 0),
        ("/net/Layer[3]/", None, 3, 1),
        ("/net/Layer[3]/relu", "RELU_1", 4, 0),
        ("copy", "COPY_1", 1, 0),
    ]
    assert (tree["total"], tree["left_out"]) == (9, 0)


def test_alike_layers_have_one_structure(layers: UntrustedConnection) -> None:
    """The first layer goes without a number; the third holds another op."""
    structure = {row["path"]: row["structure"] for row in rows(group_tree(layers, find_scope(layers)))}
    assert structure["/net/Layer/"] == structure["/net/Layer[2]/"] != structure["/net/Layer[3]/"]


def test_sums_by_hand(layers: UntrustedConnection) -> None:
    """Kernels of 1, 2 and 3 ns below the root."""
    root = next(row for row in rows(group_tree(layers, find_scope(layers))) if row["path"] == "/")
    assert [root[key] for key in ("ops", "calls", "cpu_time_ns", "gpu_time_ns", "kernel_time_ns")] == [3, 3, 27, 6, 6]


def test_how_often_alike_parts_repeat_is_no_difference(tmp_path: Path) -> None:
    """Stages of 1 and of 2 blocks are alike, as in a ResNet; one with another kind of block is not."""
    names = ("Stage/Block", "Stage[1]/Block", "Stage[1]/Block[1]", "Stage[2]/Block/Head")
    profile = profile_of(
        [
            DraftOp(f"LINEAR_{i}", f"/net/{name}/linear", [Call(10 * i, 10 * i + 9, [_kernel(i)])])
            for i, name in enumerate(names)
        ]
    )
    (tmp_path / "source").write_text("{}")
    write_database(tmp_path / "a.sqlite", tmp_path / "source", profile, lambda: aggregate(profile))
    with closing(open_database(tmp_path / "a.sqlite")) as connection:
        structure = {row["path"]: row["structure"] for row in rows(group_tree(connection, find_scope(connection)))}
    assert structure["/net/Stage/"] == structure["/net/Stage[1]/"] != structure["/net/Stage[2]/"]


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[UntrustedConnection]:
    """A range with an op in it and work of its own, between two others whose names begin alike."""
    names = ("/loop", "/loop/attention", "/loop-head", "/loops/linear", "/loops[1]/linear")
    ops = [
        DraftOp(f"RANGE_{i}", name, [Call(10 * i, 10 * i + 9, [_kernel(i)])]) for i, name in enumerate(names, start=1)
    ]
    profile = profile_of(ops)
    assert broken_rules(profile, aggregate(profile)) == []
    (tmp_path / "source").write_text("{}")
    write_database(tmp_path / "a.sqlite", tmp_path / "source", profile, lambda: aggregate(profile))
    with closing(open_database(tmp_path / "a.sqlite")) as connection:
        yield connection


def test_an_op_with_the_path_of_a_group_is_beside_it(loop: UntrustedConnection) -> None:
    """As DLProf counts: its view, the tree, its parts, the tables and what opens from them agree."""
    scope = find_scope(loop)
    tree = rows(group_tree(loop, scope))
    (group,) = (node for node in tree if node["path"] == "/loop/")
    assert [node["op_id"] for node in tree if node["parent"] == tree.index(group)] == ["RANGE_2"]
    assert {key: group[key] for key in ("ops", "calls", "gpu_time_ns")} == {"ops": 1, "calls": 1, "gpu_time_ns": 2}
    (listed,) = (
        row for row in page(loop, table_of(loop, "groups"), scope, PageRequest()).rows if row["path"] == "/loop/"
    )
    assert (listed["calls"], listed["gpu_time_ns"]) == (1, 2)
    (of_dlprof,) = loop.execute(
        "SELECT num_op_instances, gpu_time_sum FROM view_group_ops WHERE row_full_id = '/loop/'"
    )
    assert tuple(of_dlprof) == (1, 2)
    part = group_tree(loop, scope, "/loop/")["nodes"]
    assert (part["op_id"], part["parent"]) == ([None, "RANGE_2"], [-1, 0])
    assert _of_group(loop, "ops_of_group", "op_id", group="/loop/") == {"RANGE_2"}


def test_ops_and_kernels_of_several_nodes(loop: UntrustedConnection) -> None:
    """Of a row that stands for groups, for ops, or for both: those of all of them, as one."""
    ids = {row["path"]: row["id"] for row in rows(group_tree(loop, find_scope(loop)))}
    both = f"{ids['/loops/']},{ids['/loops[1]/']}"
    assert _of_group(loop, "ops_of_group", "op_id", group="named", nodes=both) == {"RANGE_4", "RANGE_5"}
    assert _of_group(loop, "kernels_of_group", "gpu_time_ns", group="named", nodes=both) == {9}
    op = str(ids["/loop-head"])
    assert _of_group(loop, "ops_of_group", "op_id", group="named", nodes=f"{op},{ids['/loop/']}") == {
        *("RANGE_2", "RANGE_3")
    }
    assert _of_group(loop, "kernels_of_group", "gpu_time_ns", group="named", nodes=op) == {3}


def _of_group(connection: UntrustedConnection, table: str, column: str, **of: str) -> set[Any]:
    answer = page(connection, table_of(connection, table), find_scope(connection), PageRequest(**of))
    return {row[column] for row in answer.rows}


def test_a_gain_that_no_op_below_tells_is_unknown(layers: UntrustedConnection) -> None:
    """These ops have no shapes, the GPU no rates: a gain of 0 would say that they run as fast as can be."""
    assert {row["gain_ns"] for row in rows(group_tree(layers, find_scope(layers)))} == {None}


def test_a_part_of_the_tree(layers: UntrustedConnection) -> None:
    """The group first, then what is below it."""
    tree = group_tree(layers, find_scope(layers), "/net/Layer[2]/")
    assert tree["nodes"]["name"] == ["Layer[2]", "linear"]
    assert tree["nodes"]["parent"] == [-1, 0]
    with pytest.raises(NotFound, match="no group"):
        group_tree(layers, find_scope(layers), "/nothing/")


def test_what_does_not_fit_is_told(layers: UntrustedConnection) -> None:
    """Level by level; of siblings those with the most GPU time; the sums stay those of the whole tree."""
    scope = find_scope(layers)
    whole = {row["path"]: row for row in rows(group_tree(layers, scope))}
    tree = group_tree(layers, scope, limit=5)
    assert (tree["total"], tree["left_out"]) == (9, 4)
    result = {row["path"]: row for row in rows(tree)}
    assert set(result) == {"/", "copy", "/net/", "/net/Layer[2]/", "/net/Layer[3]/"}
    for path, row in result.items():
        assert [row[key] for key in (*SUMMED, "children")] == [whole[path][key] for key in (*SUMMED, "children")]


@pytest.mark.parametrize("name", [*GOLDEN, *SOURCES])
def test_every_level_of_a_real_profile_sums_the_one_below(name: str, tmp_path: Path) -> None:
    """Each group its children, where what is not known adds nothing, the roots the whole model; parents stand before
    children."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        scope = find_scope(connection)
        tree = group_tree(connection, scope, limit=20_000)
        count, gpu_time = connection.execute(
            "SELECT nodes_total_count, nodes_total_gpu_time FROM view_op_summary"
        ).fetchone()
    nodes = rows(tree)
    sums: dict[int, dict[str, int]] = {}
    for position, node in enumerate(nodes):
        assert node["parent"] < position
        above = sums.setdefault(node["parent"], dict.fromkeys(SUMMED, 0))
        for key in SUMMED:
            above[key] += node[key] or 0
    for position, node in enumerate(nodes):
        if node["op_id"] is None:
            assert {key: node[key] or 0 for key in SUMMED} == sums[position], node["path"]
    if nodes:
        assert (sums[-1]["ops"], sums[-1]["gpu_time_ns"]) == (count, gpu_time)


def test_the_time_of_collectives_is_known_of_each_group(tmp_path: Path) -> None:
    """So that pictures do not show them as candidates for Tensor Cores."""
    events = [
        event("cpu_op", "aten::mm", 1_000, 150, 1, **HALVES),
        *work(1, "kernel", PLAIN, 1_020, 40, 0),
        event("cpu_op", "nccl:all_reduce", 1_200, 150, 1),
        *work(2, "kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 1_220, 70, 0),
    ]
    with closing(open_database(database_of_events(tmp_path, events))) as file:
        nodes = group_tree(file, find_scope(file))["nodes"]
    times = dict(zip(nodes["name"], nodes["communication_ns"], strict=True))
    assert times["/"] == 70_000
    assert [time for name, time in times.items() if "mm" in name] == [0]
