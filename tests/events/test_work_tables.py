"""Rows of kernels, copies, synchronisations and calls; work and calls outside every op."""

from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.database.coverage import coverage_rows
from tensorboard_plugin_dlprof.diagnosis.segments import Activity
from tensorboard_plugin_dlprof.events import build as build_module
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.idle_recording import Host
from tensorboard_plugin_dlprof.events.integrity import IntegrityError, check
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tests.events.building import build, calls, kernels, ops
from tests.timeline import draw


def texts(profile: Profile, table: str, column: str = "name") -> list[str]:
    """A text column of a table."""
    return [profile.strings[text] for text in getattr(getattr(profile, table), column).tolist()]


def test_every_call_has_rows_of_one_kind() -> None:
    """Work first, else a synchronisation, else a plain call; a copy that also synchronises is a copy."""
    profile = build(
        """
        main op   0-500 step
        main call 10-15 cudaLaunchKernel ; corr=1
        main call 20-60 cudaMemcpy ; corr=2
        main call 70-75 cudaMemsetAsync ; corr=3
        main call 80-99 cudaStreamSynchronize ; corr=4
        main call 100-101 cudaGetDevice ; corr=5
        main call 102-103 cudaEventQuery
        main sync 21-59 ; corr=2 ; type=3
        main sync 81-98 ; corr=4 ; type=3 ; event=9
        gpu0 kernel 30-40 void gemm<float>(int) ; corr=1 ; short=gemm ; grid=1,2,3 ; block=64,1,1 ; registers=40
        gpu0 memcpy 41-58 [CUDA memcpy HtoD] ; corr=2 ; bytes=4096 ; copy=1
        gpu0 memset 76-78 [CUDA memset] ; corr=3 ; bytes=64
        """
    )
    assert texts(profile, "kernels") == ["gemm"]
    assert texts(profile, "kernels", "long_name") == ["void gemm<float>(int)"]
    assert profile.kernels.grid.tolist() == [[1, 2, 3]]
    assert profile.kernels.registers.tolist() == [40]
    assert texts(profile, "memcpys") == ["cudaMemcpy"]
    assert (profile.memcpys.num_bytes.tolist(), profile.memcpys.copy_kind.tolist()) == ([4096], [1])
    assert texts(profile, "memsets") == ["cudaMemsetAsync"]
    assert profile.memsets.copy_kind.tolist() == [-1]
    assert texts(profile, "syncs") == ["cudaStreamSynchronize"]
    assert (profile.syncs.event_id.tolist(), profile.syncs.api_end_ns.tolist()) == ([9], [99])
    assert texts(profile, "calls") == ["cudaEventQuery", "cudaGetDevice"]
    assert calls(profile) == {"STEP_1": 1}


def test_one_call_with_several_pieces_of_work() -> None:
    """Each piece has a row with the times of the call."""
    profile = build(
        "main op 0-50 f\nmain call 1-9 cudaGraphLaunch ; corr=1\n"
        "gpu0 kernel 10-20 b ; corr=1\ngpu0 kernel 20-30 a ; corr=1\ngpu0 memcpy 30-40 copy ; corr=1"
    )
    assert (profile.kernels.api_start_ns.tolist(), profile.memcpys.api_start_ns.tolist()) == ([1, 1], [1])
    assert texts(profile, "kernels") == ["a", "b"]
    assert len(profile.calls.op) == 0


def test_rows_are_in_the_order_of_op_name_and_start() -> None:
    """Ops by path as bytes, kernels of an op by short name as bytes, then by API start."""
    profile = build(
        """
        main op 0-100 zeta
        main call 10-11 launch ; corr=1
        main call 20-21 launch ; corr=2
        main call 30-31 launch ; corr=3
        main op 200-300 Alpha
        main call 210-211 launch ; corr=4
        gpu0 kernel 900-910 b ; corr=1
        gpu0 kernel 500-510 a ; corr=3
        gpu0 kernel 700-710 a ; corr=2
        gpu0 kernel 950-960 z ; corr=4
        """
    )
    assert [item.name for item in profile.ops] == ["/Alpha", "/zeta"]
    assert texts(profile, "kernels") == ["z", "a", "a", "b"]
    assert profile.kernels.api_start_ns.tolist() == [210, 20, 30, 10]


def test_calls_outside_ops_are_unassociated() -> None:
    """One op for each name; kernels by their short name, copies and other calls by the API's."""
    profile = build(
        """
        main op   0-5 aten::relu
        main call 10-15 cudaLaunchKernel ; corr=1
        main call 20-25 cudaLaunchKernel ; corr=2
        main call 30-39 cudaMemcpyAsync ; corr=3
        main call 40-41 cudaDeviceSynchronize
        gpu0 kernel 50-60 void fill<float>() ; corr=1 ; short=fill
        gpu0 kernel 60-70 void fill<half>() ; corr=2 ; short=fill
        gpu0 memcpy 70-80 copy ; corr=3
        """
    )
    result = {item.op_id: item for item in profile.ops if item.eligibility == Eligibility.UNASSOCIATED}
    assert {name: item.name for name, item in result.items()} == {
        "FILL_1": "unassociated_fill",
        "CUDAMEMCPYASYNC_1": "unassociated_cudaMemcpyAsync",
        "CUDADEVICESYNCHRONIZE_1": "unassociated_cudaDeviceSynchronize",
    }
    assert {(item.direction, item.data_type, item.stack_trace) for item in result.values()} == {("", "", "")}
    assert calls(profile)["FILL_1"] == 2
    assert kernels(profile) == {"FILL_1": ["fill", "fill"]}
    row = [item.op_id for item in profile.ops].index("CUDADEVICESYNCHRONIZE_1")
    instance = profile.instances.op.tolist().index(row)
    assert (profile.instances.start_ns[instance], profile.instances.end_ns[instance]) == (40, 41)
    assert profile.coverage.unassociated_work == 3
    assert profile.coverage.unassociated_work_ns == 30
    assert profile.coverage.unlaunched_work == 0


def test_work_without_a_call_keeps_its_row() -> None:
    """The GPU start stands for the API times, the instance has no length, and it is counted."""
    profile = build("main op 0-100 aten::mm\ngpu1/5 kernel 30-70 k ; corr=9\ngpu1 kernel 80-85 k")
    assert ops(profile) == {"MM_1": ("/mm", "fprop"), "K_1": ("unassociated_k", "")}
    assert profile.kernels.api_start_ns.tolist() == profile.kernels.api_end_ns.tolist() == [30, 80]
    assert profile.kernels.launched.tolist() == [0, 0]
    assert profile.kernels.stream.tolist() == [5, 7]
    rows = profile.instances.op == next(i for i, item in enumerate(profile.ops) if item.op_id == "K_1")
    assert profile.instances.start_ns[rows].tolist() == profile.instances.end_ns[rows].tolist() == [30, 80]
    assert (profile.coverage.unlaunched_work, profile.coverage.unlaunched_work_ns) == (2, 45)
    assert (profile.coverage.unassociated_work, profile.coverage.unassociated_work_ns) == (2, 45)


def test_pages_of_unified_memory_miss_no_call() -> None:
    """The driver moves them when they are touched: no call launches them, and none is missing."""
    profile = build(
        """
        main call 0-5 cudaLaunchKernel ; corr=1
        gpu0 kernel 10-60 k ; corr=1
        gpu0 memcpy 12-20 Unified memory HtoD ; copy=11
        gpu0 memcpy 22-25 Unified memory DtoH ; copy=12
        gpu0 memcpy 30-34 Memcpy HtoD ; copy=1
        """
    )
    assert (profile.coverage.migrations, profile.coverage.migrations_ns) == (2, 11)
    assert (profile.coverage.unlaunched_work, profile.coverage.unlaunched_work_ns) == (1, 4)
    assert [row for row in coverage_rows(profile) if row[0] in ("migrations", "unassociated_work")] == [
        (
            "migrations",
            2,
            "2 of 4 kernels, copies and memsets moved pages of unified memory, which no call launches; "
            "their time (11 ns) is counted under unassociated ops.",
        ),
        (
            "unassociated_work",
            4,
            "1 of 4 kernels, copies and memsets was launched outside of all ops; its time (50 ns) is counted under "
            "unassociated ops.",
        ),
    ]


def test_events_that_end_before_they_start_are_dropped_and_counted() -> None:
    """No negative duration reaches a profile."""
    profile = build(
        "main op 0-100 aten::mm\nmain op 50-40 aten::t\nmain call 30-20 launch ; corr=1\ngpu0 kernel 90-80 k ; corr=1\n"
        "gpu0 kernel 90-90 empty"
    )
    assert profile.coverage.skipped == {
        "host ranges that end before they start": 1,
        "API calls that end before they start": 1,
        "pieces of device work that end before they start": 1,
    }
    assert texts(profile, "kernels") == ["empty"]


def test_capture_is_left_as_it_is() -> None:
    """Building twice gives the same."""
    capture = draw("main op 0-100 aten::mm\nmain op 50-40 aten::t\ngpu0 kernel 10-20 k")
    one, two = build_profile(capture), build_profile(capture)
    assert one.ops == two.ops
    assert one.coverage == two.coverage
    assert capture.skipped == {}


def test_columns_of_ranges_are_freed_before_idle_time_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes the most memory of an import, and ranges are many: what only ops are found by is not kept for it."""
    remaining = list[str]()

    def find_causes(host: Host, _iterations: list[IterationCandidate]) -> Activity:
        ranges = host.capture.ranges
        remaining.extend(name for name in ranges.__struct_fields__ if len(getattr(ranges, name)))
        return Activity([], [])

    monkeypatch.setattr(build_module, "find_causes", find_causes)
    build_profile(draw("main op 0-100 aten::mm\ngpu0 kernel 10-20 k"))
    assert remaining == ["start_ns", "end_ns", "thread", "kind", "name", "domain"]


def test_kernels_are_classified_by_long_name() -> None:
    """Once for each name, and the answer stands with each launch."""
    name = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"
    profile = build(
        f"main op 0-9 aten::mm\nmain call 1-2 l ; corr=1\ngpu0 kernel 5-6 {name} ; corr=1\ngpu0 kernel 7-8 memset_k"
    )
    text = profile.strings.intern(name)
    assert profile.kernel_classes[text].family == "gemm"
    assert profile.kernel_classes[text].matrix_unit == profile.kernels.matrix_unit[0]
    assert set(profile.kernel_classes) == set(profile.kernels.long_name.tolist())


def test_empty_capture() -> None:
    """Nothing in, nothing out, no error."""
    profile = build("")
    assert (profile.ops, len(profile.instances.op), len(profile.kernels.op)) == ([], 0, 0)


@pytest.mark.parametrize(
    ("table", "column", "row", "value", "rule"),
    [
        ("kernels", "op", 0, 99, "has no op"),
        ("kernels", "instance", 0, 5, "has no instance"),
        ("kernels", "end_ns", 0, 0, "ends before it starts"),
        ("calls", "api_end_ns", 0, 0, "ends before it starts"),
        ("instances", "end_ns", 0, -1, "ends before it starts"),
        ("instances", "op", 0, 7, "has no op"),
    ],
)
def test_integrity_names_the_broken_rule(table: str, column: str, row: int, value: int, rule: str) -> None:
    """A profile that would show wrong numbers is not handed out."""
    capture = draw(
        "main op 5-100 aten::mm\nmain call 10-15 l ; corr=1\nmain call 20-25 q\ngpu0 kernel 30-40 k ; corr=1"
    )
    profile = build_profile(capture)
    check(capture, profile)
    getattr(getattr(profile, table), column)[row] = value
    with pytest.raises(IntegrityError, match=rule):
        check(capture, profile)


def test_integrity_counts_the_work() -> None:
    """A lost kernel is found."""
    capture = draw("gpu0 kernel 30-40 k\ngpu0 kernel 50-60 k")
    profile = build_profile(capture)
    for column in ("op", "instance", "start_ns", "end_ns", "api_start_ns", "api_end_ns"):
        setattr(profile.kernels, column, getattr(profile.kernels, column)[:1])
    with pytest.raises(IntegrityError, match="1 of 2 pieces"):
        check(capture, profile)


def test_columns_have_the_types_of_the_tables() -> None:
    """The database and the aggregation rely on them."""
    profile = build("main op 5-100 aten::mm\nmain call 10-15 l ; corr=1\ngpu0 kernel 30-40 k ; corr=1")
    assert profile.kernels.op.dtype == profile.kernels.instance.dtype == profile.kernels.name.dtype == np.int32
    assert profile.kernels.matrix_unit.dtype == profile.kernels.launched.dtype == np.int8
    assert profile.instances.start_ns.dtype == profile.instances.process_id.dtype == np.int64
