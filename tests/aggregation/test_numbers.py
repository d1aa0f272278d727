"""Numbers worked out by hand."""

from __future__ import annotations

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.aggregation.tables import Part
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of


def test_gpu_time_of_an_instance_is_a_union_and_idle_the_gaps_in_it() -> None:
    """Two kernels on two streams overlap from 15 to 20; a copy follows after a gap of 10.

    ::

        op      0 ------------------- 40
        kernel       10 -- 20
        kernel         15 ---- 30
        copy                        40 - 45
    """
    work = [
        Work("kernel", (10, 20), (1, 4), "a"),
        Work("kernel", (15, 30), (5, 8), "b"),
        Work("memcpy", (40, 45), (9, 10)),
    ]
    nodes = aggregate(profile_of([DraftOp("LINEAR_1", "/linear", [Call(0, 40, work)])])).op_nodes
    sums = [metric.sum.tolist() for metric in (nodes.times.cpu, nodes.times.gpu, nodes.times.api)]
    assert sums == [[40], [25], [7]]
    assert nodes.times.cpu_overhead.sum.tolist() == [33]
    assert nodes.times.gpu_idle.sum.tolist() == [10]
    assert nodes.kernel_gpu.sum.tolist() == [25]


def test_the_first_kind_in_the_order_of_precedence_has_the_time() -> None:
    """Every kind overlaps the next by 10 of its 20; what nothing covers is other.

    ::

        tensor cores  0 -- 20
        other kernel    10 -- 30
        memory             20 -- 40
        data loader           30 -- 50
        I/O                      40 -- 60
        cpu                         50 -- 70       (the op)
        wall          0 ---------------------- 100
    """
    work = [
        Work("kernel", (0, 20), (50, 51), unit=MatrixUnit.YES),
        Work("kernel", (10, 30), (51, 52)),
        Work("memcpy", (20, 40), (52, 53)),
    ]
    aggregation = aggregate(
        profile_of(
            [DraftOp("LINEAR_1", "/linear", [Call(50, 70, work)])],
            iterations=[(0, 100)],
            data_loader=[(30, 50)],
            io=[(40, 60)],
        )
    )
    assert aggregation.parts_ns.tolist() == [20, 10, 10, 10, 10, 10, 30]
    assert aggregation.gpu_utilization == 30.0


def test_parts_of_two_devices_are_the_mean_over_those_in_use() -> None:
    """An unused third GPU does not halve the utilisation; the odd nanosecond goes to other."""
    work = [Work("kernel", (0, 10), (0, 1), device=0), Work("kernel", (0, 5), (1, 2), device=1)]
    aggregation = aggregate(
        profile_of([DraftOp("ADD_1", "/add", [Call(0, 2, work)])], iterations=[(0, 20)], devices=(0, 1, 2))
    )
    assert aggregation.devices.in_use.tolist() == [True, True, False]
    assert aggregation.devices.busy_ns().tolist() == [10, 5, 0]
    assert aggregation.parts_ns[Part.OTHER_KERNEL] == 7
    assert aggregation.wall_ns == 20


def test_efficiency_counts_the_kernels_of_eligible_ops_only() -> None:
    """60 of 80 ns on Tensor Cores; an ineligible op's 100 ns count neither way."""
    linear = [Work("kernel", (0, 60), unit=MatrixUnit.YES), Work("kernel", (60, 80), unit=MatrixUnit.UNKNOWN)]
    ops = [
        DraftOp("LINEAR_1", "/linear", [Call(0, 5, linear)], Eligibility.ELIGIBLE, "float16"),
        DraftOp("SCAN_1", "/scan", [Call(6, 9, [Work("kernel", (100, 200), unit=MatrixUnit.YES)])]),
    ]
    efficiency = aggregate(profile_of(ops)).efficiency
    assert (efficiency.tensor_core_ns, efficiency.kernel_ns, efficiency.unknown_ns) == (60, 80, 20)
    assert efficiency.percent() == 75.0


def test_bad_data_types_are_those_that_tensor_cores_do_not_take() -> None:
    """An eligible float32 op is one, unless it ran on Tensor Cores through TF32; half types never are."""
    eligible = Eligibility.ELIGIBLE
    tf32 = [Work("kernel", (0, 1), unit=MatrixUnit.YES)]
    ops = [
        DraftOp("A_1", "/a", [Call(0, 1)], eligible, "float32"),
        DraftOp("B_1", "/b", [Call(1, 2, tf32)], eligible, "float32"),
        DraftOp("C_1", "/c", [Call(2, 3)], eligible, "bfloat16"),
        DraftOp("D_1", "/d", [Call(3, 4)], eligible, ""),
        DraftOp("E_1", "/e", [Call(4, 5)], Eligibility.NOT_ELIGIBLE, "float32"),
    ]
    assert aggregate(profile_of(ops)).op_nodes.bad_data_type.tolist() == [True, False, False, False, False]


def test_a_group_has_one_sample_for_each_iteration_that_calls_it() -> None:
    """Its two ops run for 3 + 4 ns in the first iteration and one of them for 5 in the second."""
    ops = [
        DraftOp("A_1", "/net/a", [Call(0, 3), Call(50, 55)]),
        DraftOp("B_1", "/net/b", [Call(10, 14)]),
    ]
    groups = aggregate(profile_of(ops, iterations=[(0, 50), (50, 100), (100, 150)])).group_ops
    assert groups.full_name == ["/", "/net/", "/net/a", "/net/b"]
    cpu = groups.times.cpu
    assert (cpu.count.tolist(), cpu.sum.tolist()) == ([2, 2, 2, 1], [12, 12, 8, 4])
    assert (cpu.min[1], cpu.max[1]) == (5, 7)
    assert groups.level.tolist() == [1, 2, 3, 3]
    assert groups.num_op_instances.tolist() == [3, 3, 2, 1]


def test_an_empty_profile_has_numbers_too() -> None:
    """No ops, no devices: all of the wall time is other."""
    aggregation = aggregate(profile_of([], iterations=[(0, 100)], devices=()))
    assert aggregation.parts_ns.tolist() == [0, 0, 0, 0, 0, 0, 100]
    assert aggregation.gpu_utilization == 0.0
    assert aggregation.efficiency.percent() == 0.0
    assert aggregation.group_ops.full_id == []
