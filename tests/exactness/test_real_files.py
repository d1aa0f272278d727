"""Real profiles: every number again, from the raw file, by code that shares nothing with the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.aggregation.oracle import walk
from tests.aggregation.oracle.time_line import CPU, IO, LOADER, MEMORY, OTHER_KERNEL, TENSOR_CORE, union_length
from tests.database.views import read_only
from tests.exactness import raw_kineto, raw_nsight
from tests.exactness.attributed import Instance, attribute, kernels_by_op, launches, times_by_op
from tests.exactness.raw import Span
from tests.shared_data import shared_data

PROFILES = (
    "nsight/a100_cuda_graphs",
    "nsight/a100_transformer_2.7b_nvtx",
    "nsight/a100_transformer_autograd_nvtx",
    "nsight/h100_2gpu_torchrun_nccl",
    "nsight/h200_nvfuser",
    "nsight/rtx3090_tensorrt_fp16",
    "nsight/rtx5000ada_wsl",
    "nsight/t4_four_streams_old_schema",
    "torch/a100_alexnet_sync",
    "torch/a100_resnet50_ddp_nccl",
    "torch/gp100_gpu_annotations",
    "torch/h100_bert_small",
    "torch/h100_qwen_bf16",
    "torch/h100_transformer_steps",
    "torch/mi210_gpu_only",
    "torch/mi300x_flux_large",
    "torch/mi300x_resnet_ddp",
    "torch/mi300x_sglang_prefill",
    "torch/mi300x_vllm_graph_replay",
    "torch/t4_amp",
    "torch/t4_fp32",
    "torch/t4_vgg16_minimal",
    "torch/v100_megatron_tp2_rank0",
    "torch/v100_megatron_tp2_rank1",
    "torch/v100_resnet50_memory",
    "torch/v100_resnet50_oldest",
    "torch/v100_resnet_ns_times",
)
"""Folders with one file each."""

UNASSOCIATED = 2
"""``tc_support_status`` of an op that stands for calls in no op."""


class Profile:
    """A raw file and the database made from it, on the database's clock."""

    def __init__(self, path: Path, database: Path) -> None:
        import_source(path, database, ImportOptions(typical=False), lambda _what, _fraction: None)
        self.connection = read_only(database)
        raw = (raw_nsight if path.suffix == ".sqlite" else raw_kineto).read(path)
        (first,) = self.rows("SELECT min(gpu_start) FROM read_only_kernels")[0]
        self.raw = raw.moved(first - min(work.span[0] for work in raw.kernels))
        self.instances = [
            Instance(op, (process, thread), (start, stop))
            for op, process, thread, start, stop in self.rows(
                "SELECT instance.read_only_ops_id, process_id, thread_id, cpu_start, cpu_stop "
                "FROM read_only_op_instances AS instance JOIN read_only_ops AS op ON op.id = read_only_ops_id "
                f"WHERE op.tc_support_status <> {UNASSOCIATED}"
            )
        ]
        attribute(self.raw, self.instances)

    def rows(self, sql: str) -> list[Any]:
        """What the database answers."""
        return self.connection.execute(sql).fetchall()

    def is_unmarked(self) -> bool:
        """Whether all ops are of one iteration, even those that are called before the first GPU work."""
        return self.rows("SELECT source FROM ext_iteration_candidates WHERE position = 0") == [("whole_capture",)]

    def iterations(self) -> list[tuple[int, Span]]:
        """Number and span of those that are aggregated."""
        return [
            (number, (start, stop))
            for number, start, stop in self.rows(
                "SELECT every.iter_value, every.start_time, every.stop_time FROM view_iterations_all AS every "
                "JOIN view_iterations_profiled AS chosen ON chosen.iter_value = every.iter_value ORDER BY 1"
            )
        ]


@pytest.fixture(scope="module", params=PROFILES)
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """One of the profiles."""
    (path,) = (shared_data() / str(request.param)).iterdir()
    database = tmp_path_factory.mktemp("exactness") / "profile.dlprof_dldb.sqlite"
    made = Profile(path, database)
    with closing(made.connection):
        yield made


def test_work_and_its_launches_are_those_of_the_file(profile: Profile) -> None:
    """Times and device of each kernel, copy and set, and the call with its correlation."""
    launch = launches(profile.raw)
    for rows, tables in (
        (profile.raw.kernels, ("read_only_kernels",)),
        (profile.raw.memory, ("read_only_memcpys", "read_only_memsets")),
    ):
        expected = Counter(
            (work.span, work.device, call.span if (call := launch.get(work.launch)) else (work.span[0],) * 2)
            for work in rows
        )
        counts = Counter(
            ((start, stop), device, (api_start, api_stop))
            for table in tables
            for start, stop, device, api_start, api_stop in profile.rows(
                f"SELECT gpu_start, gpu_stop, device_id, api_start, api_stop FROM {table}"
            )
        )
        assert counts == expected


def test_ops_are_ranges_or_calls_of_the_file(profile: Profile) -> None:
    """On their thread."""
    calls = {(call.thread, call.span) for call in profile.raw.calls}
    for instance in profile.instances:
        known = (
            instance.span in profile.raw.ranges.get(instance.thread, ()) or (instance.thread, instance.span) in calls
        )
        assert known, instance


def test_kernels_belong_to_the_op_in_which_they_were_launched(profile: Profile) -> None:
    """The innermost one of the thread."""
    result: dict[int, Counter[tuple[Span, int]]] = defaultdict(Counter)
    for op, start, stop, device in profile.rows(
        "SELECT read_only_ops_id, gpu_start, gpu_stop, kernel.device_id FROM read_only_kernels AS kernel "
        f"JOIN read_only_ops AS op ON op.id = read_only_ops_id WHERE op.tc_support_status <> {UNASSOCIATED}"
    ):
        result[op][(start, stop), device] += 1
    assert result == kernels_by_op(profile.instances)


def test_times_of_ops_follow_from_the_file(profile: Profile) -> None:
    """Calls, CPU time, GPU time, CPU overhead and GPU idle time, in the aggregated iterations."""
    iterations = profile.iterations()
    selected = [
        instance
        for instance in profile.instances
        if profile.is_unmarked() or _number(instance.span[0], iterations) is not None
    ]
    rows = profile.rows(
        "SELECT node.read_only_ops_id, node.num_calls, cpu.sum, gpu.sum, overhead.sum, idle.sum FROM op_nodes AS node "
        "JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
        "JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id "
        "JOIN metric AS cpu ON cpu.id = times.cpu_time_metric_id "
        "JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id "
        "JOIN metric AS overhead ON overhead.id = times.cpu_overhead_time_metric_id "
        "JOIN metric AS idle ON idle.id = times.gpu_idle_time_metric_id "
        f"WHERE op.tc_support_status <> {UNASSOCIATED}"
    )
    assert {op: tuple(rest) for op, *rest in rows} == times_by_op(selected)


def test_iterations_are_the_steps_of_the_file(profile: Profile) -> None:
    """With their numbers, where the file has any; each begins with its step and ends with it, or with the next."""
    steps = profile.raw.steps
    if steps:
        iterations = profile.iterations()
        assert [number for number, _ in iterations] == [number for number, _ in steps]
        assert [span[0] for _, span in iterations] == [span[0] for _, span in steps]


def test_the_seven_parts_of_the_wall_time_follow_from_the_file(profile: Profile) -> None:
    """By walking through time. Which kernels use Tensor Cores is a question of their names, and taken as it is."""
    raw, iterations = profile.raw, profile.iterations()
    using = Counter(
        ((start, stop), device)
        for start, stop, device in profile.rows(
            "SELECT gpu_start, gpu_stop, device_id FROM read_only_kernels WHERE uses_tc"
        )
    )
    host = [instance.span for instance in profile.instances] + [call.span for call in raw.calls]
    devices = sorted({work.device for work in raw.kernels + raw.memory + raw.graphs})
    totals = [0] * 6
    busy = 0
    for _, (start, stop) in iterations:
        of_devices = []
        for device in devices:
            kernels = [work.span for work in raw.kernels if work.device == device]
            graphs = [work.span for work in raw.graphs if work.device == device]
            spans = {
                TENSOR_CORE: [span for span in kernels if (span, device) in using],
                OTHER_KERNEL: [span for span in kernels if (span, device) not in using] + graphs,
                MEMORY: [work.span for work in raw.memory if work.device == device],
                LOADER: raw.loader,
                IO: raw.io,
                CPU: host,
            }
            of_devices.append(walk(spans, start, stop))
            inside = ((max(span[0], start), min(span[1], stop)) for span in kernels + graphs)
            busy += union_length(inside)
        for part in range(6):
            totals[part] += sum(parts[part] for parts in of_devices) // len(devices)
    (result,) = profile.rows(
        "SELECT tensor_core_ns, other_kernel_ns, memory_ns, data_loader_ns, io_ns, cpu_ns, wall_ns "
        "FROM ext_aggregations"
    )
    wall = sum(stop - start for _, (start, stop) in iterations)
    assert result == (*totals, wall)
    (utilization,) = profile.rows("SELECT gpu_utilization FROM model_summary")[0]
    assert utilization == pytest.approx(100 * busy / len(devices) / wall, abs=1e-4)


def _number(time: int, iterations: list[tuple[int, Span]]) -> int | None:
    """The iteration in which a moment lies; only the last one holds its end."""
    for position, (number, (start, stop)) in enumerate(iterations):
        if start <= time < stop or (position == len(iterations) - 1 and time == stop):
            return number
    return None
