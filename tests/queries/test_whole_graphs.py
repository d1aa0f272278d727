"""CUDA graphs that were recorded as a whole: a GPU time of their own, of whose kernels nothing is known."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.queries.headline import headline
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows
from tensorboard_plugin_dlprof.queries.iteration_shares import iteration_shares
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import (
    kernel_time,
    resource_breakdown,
)
from tensorboard_plugin_dlprof.queries.tables import find_table, table_of
from tests.queries.op_values import op_values
from tests.queries.profiles import database_of


def test_graphs_recorded_as_a_whole_stand_beside_the_kernels(tmp_path: Path) -> None:
    """Ten launches of graphs with all but 78 us of the GPU time: no kernels with or without Tensor Cores, but a time of
    their own."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        times = kernel_time(file, find_scope(file))
        (gpu,) = page(file, find_table("gpus"), find_scope(file), PageRequest()).rows
    assert times["graph"] == {"time_ns": 7_811_141_695, "names": None, "launches": 10}
    assert times["total"] == {"time_ns": 78_270, "names": 2, "launches": 30}
    assert times["tensor_core"] == {"time_ns": None, "names": None, "launches": None}
    assert times["other_kernel"] == times["total"]
    assert gpu["tensor_core_fraction"] is None


def test_an_iteration_with_whole_graphs_does_not_say_that_none_used_tensor_cores(tmp_path: Path) -> None:
    """Where no kernel on Tensor Cores is known in it, their number and time, its share and what is drawn of it are
    unknown; the time that may be on them is told."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        scope = find_scope(file)
        (row,) = page(file, table_of(file, "iterations"), scope, PageRequest()).rows
        (shares,) = iteration_shares(file, scope)
        assert headline(file)["tensor_core_time_fraction"] is None
        assert headline(file)["marked"] is False
        parts = {part["resource"]: part["time_ns"] for part in resource_breakdown(file, scope)}
        ((drawn,), _) = iteration_rows(file, scope)
    assert row["tensor_core_time_ns"] is row["tensor_core_time_fraction"] is shares.tensor_core_fraction is None
    assert row["gpu_time_ns"] == 7_811_219_965
    assert (row["kernels"], row["tensor_core_kernels"], row["tensor_core_kernel_time_ns"]) == (30, None, None)
    assert (row["unknown_kernel_ns"], row["unknown_kernels"], row["unknown_kernel_time_ns"]) == (7_811_141_695, 0, 0)
    on_gpu = {"tensor_core": None, "unknown_kernel": 7_811_141_695, "other_kernel": 78_270}
    assert parts == {**parts, **on_gpu}
    assert drawn["parts"] == parts


@pytest.mark.parametrize("key", ["eligible", "using_tensor_cores"])
def test_whether_graphs_recorded_as_a_whole_can_use_tensor_cores_and_do_is_unknown(tmp_path: Path, key: str) -> None:
    """Nobody knows their kernels; of the other ops it is known."""
    with closing(open_database(database_of("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", tmp_path))) as file:
        said = op_values(file, key)
    assert {None} in said.values()
    kernels_without_an_op = 2 if key == "eligible" else 0
    untold = [name for name, tells in said.items() if tells == {None}]
    assert sum("GraphLaunch" not in name for name in untold) == kernels_without_an_op
    assert all(tells == {None} for name, tells in said.items() if "GraphLaunch" in name)
