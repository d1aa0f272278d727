"""Captures with DLProf's own markers: the raw tables equal DLProf's, id by id."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.events.real_profiles import GOLDEN, path_of, read_profile

REBUILT = f"{GOLDEN}/rebuilt_nsys_profile.sqlite"
LATER_RUN = f"{GOLDEN}/nsys_profile.sqlite"


def golden(query: str) -> list[tuple[Any, ...]]:
    """Rows of the database that DLProf made of the run that the rebuilt export shows."""
    path = path_of(f"{GOLDEN}/dlprof_dldb_1.sqlite")
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def profile() -> Profile:
    """The profile of the rebuilt export."""
    return read_profile(REBUILT)


def columns(profile: Profile, table: Any, *names: str) -> list[tuple[Any, ...]]:
    """Rows of a table; the names of columns with text ids are given with a ``*``."""
    values = []
    for name in names:
        column = getattr(table, name.strip("*")).tolist()
        values.append([profile.strings[text] for text in column] if name.endswith("*") else column)
    return list(zip(*values, strict=True))


def test_ops(profile: Profile) -> None:
    """Ids, paths, types, data types, formats, eligibility and stacks, in DLProf's order."""
    expected = golden(
        """SELECT o.op_id, op_name, t.string, d.string, dt.string, df.string, f.string, p.string, tc_support_status,
                  stack_trace
           FROM read_only_ops o JOIN dictionary t ON t.id = op_type_id JOIN dictionary d ON d.id = direction_id
           JOIN dictionary dt ON dt.id = data_type_id JOIN dictionary df ON df.id = data_format_id
           JOIN dictionary f ON f.id = output_format_id JOIN dictionary p ON p.id = parameters_format_id
           ORDER BY o.id"""
    )
    assert len(expected) == 32
    assert [
        (op.op_id, op.name, op.op_type, op.direction, op.data_type, op.data_format, op.output_format,
         op.parameters_format, int(op.eligibility), op.stack_trace) for op in profile.ops
    ] == expected  # fmt: skip


def test_instances(profile: Profile) -> None:
    """Op, times, process, thread and the JSON texts of every instance."""
    expected = golden(
        """SELECT read_only_ops_id - 1, cpu_start, cpu_stop, process_id, thread_id, a.string, b.string, c.string,
                  d.string, e.string
           FROM read_only_op_instances i JOIN dictionary a ON a.id = input_names_id
           JOIN dictionary b ON b.id = input_shapes_id JOIN dictionary c ON c.id = output_names_id
           JOIN dictionary d ON d.id = output_shapes_id JOIN dictionary e ON e.id = parameters_id ORDER BY i.id"""
    )
    assert len(expected) == 32
    result = columns(
        profile, profile.instances, "op", "start_ns", "end_ns", "process_id", "thread_id", "input_names*",
        "input_shapes*", "output_names*", "output_shapes*", "parameters*",
    )  # fmt: skip
    assert result == expected


def test_kernels(profile: Profile) -> None:
    """Every launch, with the long name of the last launch of its op and short name."""
    expected = golden(
        """SELECT read_only_ops_id - 1, op_instance, n.string, l.string, api_start, api_stop, gpu_start, gpu_stop,
                  g.x, g.y, g.z, b.x, b.y, b.z, device_id, process_id, thread_id, uses_tc
           FROM read_only_kernels k JOIN dictionary n ON n.id = name_id JOIN dictionary l ON l.id = long_name_id
           JOIN read_only_grid_block g ON g.id = grid_id JOIN read_only_grid_block b ON b.id = block_id ORDER BY k.id"""
    )
    assert len(expected) == 51
    kernels = profile.kernels
    head = columns(
        profile, kernels, "op", "instance", "name*", "long_name*", "api_start_ns", "api_end_ns", "start_ns", "end_ns"
    )
    tail = columns(profile, kernels, "device", "process_id", "thread_id")
    uses = (kernels.matrix_unit == MatrixUnit.YES).astype(int).tolist()
    result = [
        (*first, *grid, *block, *last, use)
        for first, grid, block, last, use in zip(
            head, kernels.grid.tolist(), kernels.block.tolist(), tail, uses, strict=True
        )
    ]
    assert result == expected


_OURS = {"api_start": "api_start_ns", "api_stop": "api_end_ns", "gpu_start": "start_ns", "gpu_stop": "end_ns"}
"""What we call times that DLProf calls otherwise."""


@pytest.mark.parametrize(
    ("table", "attribute", "names"),
    [
        (
            "read_only_memcpys",
            "memcpys",
            ["api_start", "api_stop", "gpu_start", "gpu_stop", "num_bytes", "copy_kind"],
        ),
        ("read_only_memsets", "memsets", ["api_start", "api_stop", "gpu_start", "gpu_stop", "num_bytes"]),
        ("read_only_cuda_syncs", "syncs", ["api_start", "api_stop", "sync_type", "event_id"]),
        ("read_only_cuda_calls", "calls", ["api_start", "api_stop"]),
    ],
)
def test_other_calls(profile: Profile, table: str, attribute: str, names: list[str]) -> None:
    """Copies, sets, synchronisations and plain calls: every row in DLProf's order."""
    expected = golden(
        f"""SELECT read_only_ops_id - 1, op_instance, n.string, {", ".join(names)}, process_id, thread_id
            FROM {table} r JOIN dictionary n ON n.id = name_id ORDER BY r.id"""
    )
    assert len(expected) > 0
    rows = getattr(profile, attribute)
    ours = [_OURS.get(name, name) for name in names]
    assert columns(profile, rows, "op", "instance", "name*", *ours, "process_id", "thread_id") == expected


def test_iteration_is_the_whole_run(profile: Profile) -> None:
    """Without a key op there is one iteration, 0, from time 0 to the end of the last op."""
    assert golden("SELECT iter_value, start_time, stop_time FROM iteration_list") == [
        (int(item.values[0]), int(item.start_ns[0]), int(item.stop_ns[0])) for item in profile.iterations[:1]
    ]
    assert profile.dlprof_markers


def test_model_config(profile: Profile) -> None:
    """The config marker sets what it names; the rest keeps DLProf's values."""
    assert golden("SELECT emit_nvtx, pin_memory, num_workers, amp_enabled FROM read_only_model_config") == [
        (
            profile.model_config.emit_nvtx,
            profile.model_config.pin_memory,
            profile.model_config.num_workers,
            profile.model_config.amp_enabled,
        )
    ]


def test_later_run_agrees_with_the_database() -> None:
    """The export of the later, aborted run has 27 ops; 316 of their 324 cells are those of the database."""
    result = read_profile(LATER_RUN)
    assert len(result.ops) == 27
    expected = {
        row[0]: row
        for row in golden(
            """SELECT o.op_id, op_name, t.string, d.string, dt.string, df.string, f.string, p.string,
                      tc_support_status, stack_trace, s.string, u.string
               FROM read_only_ops o JOIN dictionary t ON t.id = op_type_id JOIN dictionary d ON d.id = direction_id
               JOIN dictionary dt ON dt.id = data_type_id JOIN dictionary df ON df.id = data_format_id
               JOIN dictionary f ON f.id = output_format_id JOIN dictionary p ON p.id = parameters_format_id
               JOIN read_only_op_instances i ON i.read_only_ops_id = o.id
               JOIN dictionary s ON s.id = input_shapes_id JOIN dictionary u ON u.id = output_shapes_id"""
        )
    }
    texts = columns(result, result.instances, "op", "input_shapes*", "output_shapes*")
    cells = 0
    for op, shapes, outputs in texts:
        item = result.ops[op]
        row = (item.op_id, item.name, item.op_type, item.direction, item.data_type, item.data_format,
               item.output_format, item.parameters_format, int(item.eligibility), item.stack_trace, shapes,
               outputs)  # fmt: skip
        cells += sum(a == b for a, b in zip(row, expected[item.op_id], strict=True))
    assert cells == 316


def test_nothing_lies_outside_the_ops_of_the_later_run() -> None:
    """All its kernels belong to the two convolutions that ran."""
    result = read_profile(LATER_RUN)
    assert {result.ops[op].op_type for op in np.unique(result.kernels.op).tolist()} == {"conv2d"}
    assert result.coverage.unassociated_work == 0
