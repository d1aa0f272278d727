"""DLProf's simple mode: one op for the whole program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.importers.kineto.traces import kernel, op, read, trace, x

OP_ID = "SIMPLE_MODE_GLOBAL_NODE_OP_TYPE_1"


def simple(tmp_path: Path, name: str) -> Profile:
    """An op with a launch, a launch beside it, a copy without any call, and a step of the profiler."""
    launches = [x("cuda_runtime", "cudaLaunchKernel", ts, 1, correlation=number) for number, ts in ((1, 11), (2, 30))]
    events = [
        x("user_annotation", "ProfilerStep#3", 5, 40),
        op(ts=10, dur=5),
        *launches,
        kernel(name, ts=12, correlation=1),
        kernel("elementwise", ts=31, correlation=2),
        x("gpu_memcpy", "Memcpy HtoD", 36, 4, device=0, stream=7, correlation=9),
    ]
    return build_profile(read(trace(*events), tmp_path), simple=True)


def test_everything_happens_in_one_call_of_one_op(tmp_path: Path) -> None:
    """From the start of the capture to its end, whatever the program marks; and there is one iteration."""
    profile = simple(tmp_path, "elementwise")
    (only,) = profile.ops
    assert (only.op_id, only.name, only.op_type, only.direction) == (
        *(OP_ID, "simple_mode_global_node_name", "simple_mode_global_node_op_type", ""),
    )
    assert profile.instances.start_ns.tolist() == [0]
    assert profile.instances.end_ns.tolist() == [profile.info.end_ns]
    assert profile.kernels.op.tolist() == [0, 0]
    assert profile.memcpys.op.tolist() == [0]
    assert [candidate.source for candidate in profile.iterations] == ["whole_capture"]
    assert profile.coverage.unassociated_work == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("volta_sgemm_128x64_nn", Eligibility.NOT_ELIGIBLE),
        ("volta_s884gemm_fp16_128x128_ldg8_f2f_nn", Eligibility.ELIGIBLE),
    ],
)
def test_the_op_is_eligible_where_a_kernel_uses_tensor_cores(tmp_path: Path, name: str, expected: Eligibility) -> None:
    """A published run without such a kernel has an empty Tensor Core report, one with one has its row."""
    assert simple(tmp_path, name).ops[0].eligibility == expected
