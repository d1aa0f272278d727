"""XPlane profiles made for tests: what no recorded file at hand has, each by the rule that it must follow."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from scripts.samples.xplane_file import (
    Module,
    Plane,
    Written,
    message,
    number,
    plain_instruction,
    shape,
    space,
    text,
    varint,
)
from tensorboard_plugin_dlprof.diagnosis.activity import complete
from tensorboard_plugin_dlprof.diagnosis.answer import diagnose, working
from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES
from tensorboard_plugin_dlprof.events.tables import WorkKind
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.xplane import XPlaneImporter
from tensorboard_plugin_dlprof.memory.from_events import histories
from tests.importers.xplane.generated import KERNEL, capture_of, gpu, two_gpus


def test_stats_of_every_kind_say_the_same(tmp_path: Path) -> None:
    """Texts written or referred to, numbers with sign, without, and real; stats of the metadata; compressed bytes."""
    device = gpu()
    stream = device.line(7, "Stream #7(Kernel)", 1_000)
    device.event(stream, "k", 2_000, 10, correlation_id=1, kernel_details=Written(KERNEL))
    device.event(stream, "k", 3_000, 10, correlation_id=2, kernel_details=KERNEL, theoretical_occupancy_pct=56.25)
    device.event(stream, "k", 4_000, 10, correlation_id=3, kernel_details=Written("x" * 200 + " " + KERNEL))
    device.event(stream, "shared", 5_000, 10, correlation_id=4)
    device.share("shared", kernel_details=KERNEL)
    work = capture_of(tmp_path, device).work
    assert work.start_ns.tolist() == [2_000, 3_000, 4_000, 5_000]
    assert (work.grid == [8, 4, 2]).all()
    assert (work.block == [128, 1, 1]).all()
    assert set(work.registers.tolist()) == {32}
    assert set(work.occupancy_percent.tolist()) == {56}
    assert work.correlation.tolist() == [1, 2, 3, 4]


def test_unusual_order_and_unknown_fields_are_read(tmp_path: Path) -> None:
    """Values before keys, fields that nobody knows, the head of a line behind its events, and numbers of ten bytes."""
    stat = number(3, 77) + number(1, 1)
    event = message(4, stat) + number(3, 5_000) + message(15, b"unknown") + number(1, 1) + number(2, 3_000_000)
    event += message(4, number(1, 2) + varint(4 << 3) + varint(-5))
    line = message(4, event) * 40 + number(9, 1) + text(2, "Stream #3") + number(3, 1_000) + number(1, 3)
    names = [message(5, number(1, key), message(2, number(1, key), text(2, name)))
             for key, name in ((1, "correlation_id"), (2, "program_id"))]  # fmt: skip
    kinds = message(4, number(1, 1), message(2, number(1, 1), text(2, "kernel")))
    path = tmp_path / "odd.xplane.pb"
    path.write_bytes(message(1, message(3, line), *names, kinds, text(2, "/device:GPU:2"), number(99, 1)))
    capture = find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)
    assert set(capture.work.stream.tolist()) == {3}
    assert set(capture.work.correlation.tolist()) == {77}
    assert set(capture.work.start_ns.tolist()) == {4_000}
    assert set(capture.work.device.tolist()) == {2}
    assert len(capture.work.kind) == 40


def test_only_streams_are_work_and_every_kind_is_told_apart(tmp_path: Path) -> None:
    """Derived lines repeat the same time; planes of other devices and unknown lines count for nothing."""
    device = gpu()
    for name in ("XLA Ops", "XLA Modules", "Steps", "Launch Stats", "Framework Name Scope", "CUPTI overhead", "new"):
        device.event(device.line(99, name), "derived", 0, 1_000_000)
    stream = device.line(5, "Stream #5(MemcpyH2D,Kernel)")
    details = "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"
    device.event(stream, "MemcpyH2D", 10, 5, memcpy_details=details)
    device.event(stream, "CopyDeviceToHost", 20, 5)
    device.event(stream, "CopyDeviceToHost", 30, 5, kernel_details=KERNEL)
    device.event(stream, "fill", 40, 5, Memset_details="num_bytes:64 async:1")
    device.event(stream, "MemAlloc", 50, 5, MemFree_details="num_bytes:64")
    device.event(stream, "CudaGraphLaunch", 60, 5, cuda_graph_exec_id=1)
    device.event(stream, "", 70, 5)
    other = Plane("/device:TPU:0")
    other.event(other.line(1, "Stream #1"), "tpu", 0, 7)
    capture = capture_of(tmp_path, device, other)
    order = np.argsort(capture.work.start_ns)
    kinds = [WorkKind(kind).name for kind in capture.work.kind[order].tolist()]
    assert kinds == ["MEMCPY", "MEMCPY", "KERNEL", "MEMSET", "GRAPH", "KERNEL"]
    assert capture.work.num_bytes[order].tolist()[:4] == [4096, -1, -1, 64]
    assert capture.work.copy_kind[order].tolist()[:2] == [1, 2]
    assert [each.name for each in capture.devices] == ["NVIDIA H100"]


def test_two_gpus_of_one_process_are_kept_apart(tmp_path: Path) -> None:
    """Correlations are each GPU's own, and the n-th run of a module on all GPUs is one iteration."""
    capture = capture_of(tmp_path, *two_gpus())
    calls = dict(zip(capture.calls.correlation.tolist(), capture.calls.thread.tolist(), strict=True))
    assert len(calls) == 12
    assert [calls[each] for each in capture.work.correlation.tolist()] == capture.work.device.tolist()
    assert len(capture.iterations[0].values) == 3
    assert capture.iterations[0].source == "module_run"
    profile = build_profile(capture)
    assert np.bincount(profile.instances.op).tolist() == [6, 6]


def test_a_gpu_that_only_copies_is_not_the_one_to_speak_of(tmp_path: Path) -> None:
    """The other one computes, however little."""
    devices = gpu(0), gpu(1)
    devices[0].event(devices[0].line(1, "Stream #1"), "Memcpy", 0, 300, memcpy_details="size:64")
    devices[1].event(devices[1].line(1, "Stream #1"), "gemm", 100, 700, hlo_op="dot.1", hlo_module="jit_f")
    profile = build_profile(capture_of(tmp_path, *devices))
    complete(profile)
    diagnosis = diagnose(profile)
    assert [each.device for each in diagnosis.devices] == [0, 1]
    assert [each.device for each in working(diagnosis)] == [1]


def test_calls_on_threads_of_their_own_are_in_the_runs_of_their_gpu(tmp_path: Path) -> None:
    """Collectors number threads otherwise than ranges do: a thread's runs are those around most of its launches."""
    host, devices = Plane("/host:CPU"), (gpu(0), gpu(1))
    for index, device in enumerate(devices):
        stream, calls = device.line(1, "Stream #1"), host.line(100 + index, f"Host Threads/{100 + index}")
        ranges = host.line(-500 - index, "execute")
        for run in range(3):
            begin = 1_000_000 * (run + 1)
            # The runs of the second GPU are short, in the middle of those of the first.
            first, length = (begin, 900_000) if index == 0 else (begin + 100_000, 200_000)
            host.event(ranges, "GpuExecutable::ExecuteThunks", first, length, module_name="jit_step")
            for kernel in range(2):
                correlation = 100 * index + 10 * run + kernel + 1
                launch = first + 10_000 + kernel * length // 6
                host.event(calls, "cuLaunchKernel", launch, 2_000, correlation_id=correlation)
                described = {"hlo_op": f"fusion.{kernel}", "hlo_module": "jit_step", "program_id": 4}
                device.event(stream, f"fusion_{kernel}", launch + 5_000, 4_000, correlation_id=correlation, **described)
    (iterations, *_) = capture_of(tmp_path, host, *devices).iterations
    assert (iterations.source, iterations.label, len(iterations.values)) == ("module_run", "jit_step", 3)


def test_work_belongs_to_the_step_that_asked_for_it(tmp_path: Path) -> None:
    """JAX dispatches asynchronously: the run of a step begins after the next step has begun on the host."""
    device, host = gpu(), Plane("/host:CPU")
    main, pool = host.line(1, "python"), host.line(2, "pool")
    stream = device.line(1, "Stream #1")
    for step in range(4):
        begin = 100_000 * step + 1_000
        host.event(main, "train", begin, 90_000, step_num=step, _r=1)
        host.event(main, "PjitFunction(f)", begin + 100, 5_000, _p=500 + step, _pt=9)
        host.event(pool, "Execute", begin + 150_000, 40_000, _c=500 + step, _ct=9)
        run = {"module_name": "jit_f"}
        host.event(pool, "GpuExecutable::ExecuteThunks", begin + 151_000, 30_000, **run)
        host.event(pool, "cuLaunchKernel", begin + 160_000, 1_000, correlation_id=step + 1)
        device.event(
            stream, "fusion", begin + 170_000, 3_000, correlation_id=step + 1, hlo_module="jit_f", hlo_op="fusion"
        )
    steps = capture_of(tmp_path, device, host).iterations[0]
    assert steps.source == "step_annotation"
    assert steps.values.tolist() == [0, 1, 2, 3]
    launched = [100_000 * step + 161_000 for step in range(4)]
    assert (np.searchsorted(steps.start_ns, launched, side="right") - 1).tolist() == [0, 1, 2, 3]


def test_names_that_were_not_taken_apart_mark_steps(tmp_path: Path) -> None:
    """``train#step_num=7,_r=1#`` is a step as well."""
    device, host = gpu(), Plane("/host:CPU")
    device.event(device.line(1, "Stream #1"), "k", 500, 100)
    for step in (7, 8):
        host.event(host.line(1, "python"), f"train#step_num={step},_r=1#", 1_000 * step, 900)
    steps = capture_of(tmp_path, device, host).iterations[0]
    assert (steps.label, steps.values.tolist()) == ("train", [7, 8])


def test_paths_are_found_wherever_they_are(tmp_path: Path) -> None:
    """In the annotation, the HLO (of a program whose number has a sign only here), or JAX's ``tf_op``. Of ops that XLA
    made into one the first path counts; annotations have semicolons where formulas have commas."""
    big = (1 << 63) + 5
    module = Module("jit_f", big)
    left = module.instruction("p", "parameter", shape("bf16", (64, 32)))
    right = module.instruction("q", "parameter", shape("bf16", (32, 16)))
    config = message(43, b'{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
                     b'"rhs_contracting_dimensions":["0"]}}}')  # fmt: skip
    module.instruction("gemm.1", "custom-call", shape("bf16", (64, 16)), (left, right),
                       "jit(f)/transpose(jvp(Model))/Dense_0/dot_general", ("model.py", 12),
                       message(28, b"__cublas$lt$matmul") + config)  # fmt: skip
    metadata = Plane("/host:metadata")
    metadata.share(f"jit_f({big})", **{"Hlo Proto": module.encoded()})
    device = gpu()
    stream = device.line(1, "Stream #1")
    hlo = {"hlo_module": "jit_f", "program_id": big - (1 << 64)}
    device.event(stream, "cublas", 100, 50, hlo_op="gemm.1", **hlo)
    said = {"op_name": "jit(f)/jvp(Model)/Dense_1/tanh", "source_file": "other.py", "source_line": 3}
    device.event(stream, "tanh", 200, 50, hlo_op="fusion.2", **said, **hlo)
    device.event(stream, "tf", 300, 50, tf_op="jit(f)/jvp(Model)/Dense_2/exp:", hlo_op="fusion.3", **hlo)
    device.event(stream, "cublas", 350, 50, hlo_op="gemm.1", hlo_module="jit_f")
    device.event(stream, "cublas", 380, 10, hlo_op="gemm.1", op_name="jit(f)/transpose(jvp(Model))/transpose", **hlo)
    device.event(stream, "part", 400, 50, name="Dense_3/add", prefix="jit(f)/sgd", hlo_op="fusion.4", **hlo)
    both = "jit(f)/transpose(jvp(loss))/mul;jit(f)/jvp(other)/exp"
    device.event(stream, "two", 500, 50, op_name=both, hlo_op="fusion.5", **hlo)
    formula = "jit(f)/jvp(attention)/bqd;bkd->bqk/dot"
    device.event(stream, "formula", 600, 50, op_name=formula, hlo_op="fusion.6", **hlo)
    profile = build_profile(capture_of(tmp_path, device, metadata))
    result = {op.name: (op.op_type, op.direction) for op in profile.ops}
    assert result == {
        "/f/loss/mul fusion.5": ("mul", "bprop"),
        "/f/attention/dot fusion.6": ("dot", "fprop"),
        "/f/Model/Dense_0/dot_general gemm.1": ("dot_general", "bprop"),
        "/f/Model/Dense_1/tanh fusion.2": ("tanh", "fprop"),
        "/f/Model/Dense_2/exp fusion.3": ("exp", "fprop"),
        "/f/sgd/Dense_3/add fusion.4": ("add", ""),
        "/f/Model/gemm gemm.1": ("gemm", "bprop"),
    }


def test_ops_of_modules_without_a_number_are_kept_apart(tmp_path: Path) -> None:
    """Old collectors tell the module's name alone, and each module numbers its fusions from one. A path may stop at the
    compiled function."""
    device = gpu()
    stream = device.line(7, "Stream #7(Kernel)")
    for place, (module, path) in enumerate((("jit_f", "jit(f)/dense_1_2/dot"), ("jit_g", "jit(g)"))):
        described = {"hlo_op": "fusion.1", "hlo_module": module, "name": path}
        device.event(stream, "fusion_1", 1_000 * place, 10, **described)
    profile = build_profile(capture_of(tmp_path, device))
    assert {(op.name, op.op_type) for op in profile.ops} == {
        ("/f/dense_1_2/dot fusion.1", "dot"),
        ("/g/op fusion.1", "op"),
    }


def test_work_that_tells_its_op_is_in_it_without_a_recorded_call(tmp_path: Path) -> None:
    """Only what tells neither is said to be unassociated for want of a call."""
    device = gpu()
    stream = device.line(7, "Stream #7(Kernel)")
    device.event(stream, "fusion_1", 0, 10, hlo_op="fusion.1", hlo_module="jit_f", name="jit(f)/mlp/dot")
    device.event(stream, "other", 100, 7)
    coverage = build_profile(capture_of(tmp_path, device)).coverage
    assert (coverage.unlaunched_work, coverage.unlaunched_work_ns) == (1, 7)
    assert (coverage.unassociated_work, coverage.unassociated_work_ns) == (1, 7)


def test_layouts_of_parameters_are_of_no_phase_but_where_nothing_is_differentiated(tmp_path: Path) -> None:
    """As any other work without ``jvp``: of the optimizer or of both phases where the module has gradients."""
    for path, direction in (("jit(f)/jvp(head)/dot", ""), ("jit(f)/head/dot", "fprop")):
        device = gpu()
        stream = device.line(7, "Stream #7(Kernel)")
        for place, (name, op) in enumerate((("x", "copy.1"), (path, "fusion.1"))):
            described = {"hlo_op": op, "hlo_module": "jit_f", "name": name}
            device.event(stream, "k", 1_000 * place, 10, **described)
        profile = build_profile(capture_of(tmp_path, device))
        assert {op.direction for op in profile.ops if "/parameters/" in op.name} == {direction}


@pytest.mark.parametrize(
    ("described", "name"),
    [
        ({"device_vendor": "AMD"}, "AMD GPU"),
        (
            {"device_vendor": "AMD", "compute_cap_major": 9, "compute_cap_minor": 4, "core_count": 304},
            "AMD gfx942, 304 CUs",
        ),
        ({"device_vendor": "Nvidia", "compute_cap_major": 12, "compute_cap_minor": 0}, "NVIDIA GPU 12.0"),
        ({"device_vendor": "Nvidia"}, ""),
    ],
)
def test_gpus_are_called_by_what_is_known_of_them(tmp_path: Path, described: dict[str, object], name: str) -> None:
    """An unknown number of multiprocessors is not 0."""
    device = Plane("/device:GPU:0", described)
    device.event(device.line(1, "Stream #1"), "k", 500, 100)
    assert [each.name for each in capture_of(tmp_path, device).devices] == [name]


def test_versions_are_those_that_jax_says(tmp_path: Path) -> None:
    """They are texts of the plane of modules; a program need not have a module whose name tells."""
    described = Plane(
        "/host:metadata", {"cuda_version": "12080", "cuda_runtime_version": "12090", "jax_version": "0.10.2"}
    )
    device = gpu()
    device.event(device.line(1, "Stream #1"), "k", 100, 50, tf_op="a/b:Add")
    info = capture_of(tmp_path, device, described).info
    assert (info.framework, info.cuda_version) == ("JAX", "12.9")


@pytest.mark.parametrize(
    ("event", "said"),
    [("PjitFunction(f)", r" \(JAX on CPU\)"), ("EagerExecute: Mul", r" \(TensorFlow on CPU\)"), ("step", "")],
)
def test_files_of_the_host_alone_name_the_framework_that_wrote_them(tmp_path: Path, event: str, said: str) -> None:
    """By the events of its runtime; nothing is named where nothing tells."""
    host = Plane("/host:CPU")
    host.event(host.line(1, "main"), event, 100, 50)
    with pytest.raises(BrokenSource, match=f"holds host events only{said};"):
        capture_of(tmp_path, host)


def test_collectives_are_found_in_what_starts_them(tmp_path: Path) -> None:
    """Groups of devices are listed, counted, or those along axes (here all of one and a half of another) of a mesh."""
    module = Module("jit_f", 7)
    lengths = shape("f32", (64,))
    groups = message(49, message(1, varint(0), varint(1)))
    module.instruction("all-reduce-start.1", "all-reduce-start", lengths, more=groups)
    mesh = message(87, message(2, number(1, 2), number(2, 4)))
    scatter = plain_instruction("reduce-scatter.2", "reduce-scatter", lengths, 50) + mesh
    module.instruction("reduce-scatter-start", "async-start", lengths, inside=[scatter])
    axes = (message(1, text(1, name), number(2, size)) for name, size in (("data", 4), ("model", 6)))
    half = message(2, number(1, 1), message(2, number(1, 1), number(2, 3)))
    gathered = message(93, message(1, *axes), message(2), half)
    for name, described in (("all-gather.3", gathered), ("all-to-all.4", message(92, number(1, 2), number(2, 4)))):
        module.instruction(name, name[:-2], lengths, more=described)
    metadata, device = Plane("/host:metadata"), gpu()
    metadata.share("jit_f(7)", **{"Hlo Proto": module.encoded()})
    stream = device.line(1, "Stream #1")
    for place, hlo_op in enumerate(("all-reduce-start.1", "reduce-scatter-start", "all-gather.3", "all-to-all.4")):
        device.event(stream, "ncclDevKernel", 1_000 * place + 1, 50, program_id=7, hlo_op=hlo_op, hlo_module="jit_f")
    assert {op.name: op.op_type for op in build_profile(capture_of(tmp_path, device, metadata)).ops} == {
        "/collectives/[0,1]/all-reduce all-reduce-start.1": "all-reduce",
        "/collectives/[2x4]/reduce-scatter reduce-scatter-start": "reduce-scatter",
        "/collectives/[2x12]/all-gather all-gather.3": "all-gather",
        "/collectives/[2x4]/all-to-all all-to-all.4": "all-to-all",
    }


def test_allocations_are_paired_by_address_and_of_no_phase(tmp_path: Path) -> None:
    """A compiled program allocates for forward and backward at once."""
    device, host = gpu(), Plane("/host:CPU")
    device.event(device.line(1, "Stream #1"), "k", 5_000, 100)
    python, total = host.line(1, "python"), 1_000
    host.event(python, "PjitFunction(f)", 10, 80_000)
    for at, address, size in ((100, 7, 500), (200, 8, 300), (300, 7, -500)):
        total += size
        name = "MemoryAllocation" if size > 0 else "MemoryDeallocation"
        described = {"bytes_allocated": total, "addr": address, "allocation_bytes": abs(size)}
        host.event(python, name, at, 0, allocator_name="GPU_0_bfc", **described)
    (history,) = histories(build_profile(capture_of(tmp_path, device, host)))
    assert history.in_use_bytes.tolist() == [1_000, 1_500, 1_800, 1_300]
    assert [CATEGORIES[each] for each in history.blocks.category.tolist()] == ["temporary", "unknown"]


def test_work_in_command_buffers_is_found_by_names_and_by_places(tmp_path: Path) -> None:
    """Fusions by their kernels' names; kernels of libraries in the order of the schedule, where none is missing."""
    module = Module("jit_f", 7)
    left = module.instruction("p", "parameter", shape("bf16", (64, 64)))
    calls = [
        module.instruction(f"gemm.{layer}", "custom-call", shape("bf16", (64, 64)), (left, left),
                           f"jit(f)/Dense_{layer}/dot_general", more=message(28, b"__cublas$gemm"))
        for layer in range(2)
    ]  # fmt: skip
    fused = module.instruction("loop_add_fusion.3", "fusion", shape("bf16", (64, 64)), (left,), "jit(f)/head/add")
    # The second product comes first.
    order = message(1, number(1, 1), message(2, message(1, *map(varint, (left, calls[1], calls[0], fused)))))
    metadata, device = Plane("/host:metadata"), gpu()
    metadata.share("jit_f(7)", **{"Hlo Proto": module.encoded(schedule=order)})
    stream = device.line(1, "Stream #1")
    for replay, kernels in enumerate((("cublas", "cublas", "loop_add_fusion_3"), ("cublas", "loop_add_fusion_3"))):
        for place, kernel in enumerate(kernels):
            described = {"cuda_graph_id": 4, "hlo_op": "command_buffer", "hlo_module": "jit_f", "program_id": 7}
            device.event(stream, kernel, 1_000 * replay + 100 * place + 1, 50, correlation_id=replay + 1, **described)
    device.event(stream, "__amd_rocclr_copyBuffer.kd", 5_000, 9)
    device.event(stream, "MemcpyH2D", 6_000, 9, memcpy_details="size:8 dest:0 async:1")
    capture = capture_of(tmp_path, device, metadata)
    assert capture.work.copy_kind.max() == 1, "by the name of the work, where the details do not tell"
    profile = build_profile(capture)
    names = [profile.ops[op].name for op in profile.kernels.op[np.argsort(profile.kernels.start_ns)].tolist()]
    fusion = "/f/head/add loop_add_fusion.3 (matched by name)"
    assert names == [
        *(f"/f/Dense_{layer}/dot_general gemm.{layer} (matched by name)" for layer in (1, 0)),
        *(fusion, "/f/command buffer 4", fusion, "/XLA runtime/__amd_rocclr_copyBuffer"),
    ]


@pytest.mark.parametrize(
    ("module", "framework"),
    [("jit_step", "JAX"), ("SyncTensorsGraph.12", "PyTorch/XLA"), ("cluster_0__XlaCompiledKernel", "TensorFlow")],
)
def test_the_framework_shows_in_names_of_modules(tmp_path: Path, module: str, framework: str) -> None:
    """All three write the same format."""
    device = gpu()
    device.event(device.line(1, "Stream #1"), "fusion", 100, 50, hlo_op="fusion", hlo_module=module)
    assert capture_of(tmp_path, device).info.framework == framework


def test_times_since_1970_begin_at_the_first_line_and_gzip_is_read(tmp_path: Path) -> None:
    """Some exports of one line count from 1970."""
    device = gpu()
    since = 1_700_000_000_000_000_000
    device.event(device.line(1, "Stream #1", since), "k", since + 500, 5)
    device.event(device.line(2, "Stream #2", since + 1_000), "k", since + 1_500, 5)
    path = tmp_path / "t.xplane.pb.gz"
    path.write_bytes(gzip.compress(space([device])))
    capture = find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)
    assert capture.work.start_ns.tolist() == [500, 1_500]


def test_hosts_of_one_session_are_ranks(tmp_path: Path) -> None:
    """Each process writes a file into the folder of the session; a file alone is no rank."""
    folder = tmp_path / "run" / "plugins" / "profile" / "2026_11_23"
    folder.mkdir(parents=True)
    result = []
    for name in ("vm-b.xplane.pb", "vm-a.xplane.pb"):
        result.append(capture_of(folder, *two_gpus(), name=name).info)
    result.append(capture_of(folder, *two_gpus(), name="vm-b.xplane.pb").info)
    assert [(each.rank, each.world_size) for each in result] == [(-1, -1), (0, 2), (1, 2)]
    options = ReadOptions(rank_expression=r"2026_11_(\d+)/vm")
    described = XPlaneImporter().read(folder / "vm-b.xplane.pb", options, lambda what, fraction: None).info
    assert described.rank == 23
