"""Every real profile: what goes in comes out, and the facts of the manifest hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.events.tables import WorkKind
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.events.building import ops
from tests.events.real_profiles import read_capture, read_profile
from tests.shared_data import shared_data_or_none


@dataclass(frozen=True)
class Facts:
    """What the manifest says of one profile, counted straight from the raw file."""

    name: str
    kernels: int
    kernel_ns: int
    launched: int | None = None
    inside: int | None = None
    """Kernels launched inside an operator or push/pop range of their thread."""
    steps: dict[int, int] = field(default_factory=dict)
    """Kernels launched in each step."""


def manifest() -> list[Facts]:
    """The profiles that importers read."""
    folder = shared_data_or_none()
    if folder is None:
        return []
    sections = re.split(r"^### ", (folder / "MANIFEST.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [result for section in sections if (result := facts(folder, section)) is not None]


def facts(folder: Path, section: str) -> Facts | None:
    """The facts in one section of the manifest, None for what is no profile that we read."""
    name = section.split("\n", 1)[0].strip()
    readable = name.startswith("torch/") or name.endswith(".sqlite")
    if not readable or not (folder / name).is_file():
        return None

    def number(pattern: str) -> int | None:
        match = re.search(pattern, section)
        return int(match[1].replace(",", "")) if match else None

    steps = re.search(r"kernels by step, launched in / started in: (.*)", section)
    pairs = re.findall(r"#(\d+) ([\d,]+)/", steps[1]) if steps else []
    return Facts(
        name,
        kernels=number(r"\* kernels ([\d,]+)") or 0,
        kernel_ns=number(r"kernel time ([\d,]+) ns") or 0,
        launched=number(r"kernels with a (?:launch event|runtime row) ([\d,]+)"),
        inside=number(r"launched inside (?:an operator|a push/pop range of their thread)[^\d]*([\d,]+)"),
        steps={int(step): int(count.replace(",", "")) for step, count in pairs},
    )


FACTS = manifest()


def of_profiles(fit: Callable[[Facts], bool]) -> pytest.MarkDecorator:
    """A test of each profile that a question fits."""
    return pytest.mark.parametrize("known", list(filter(fit, FACTS)), ids=lambda known: known.name)


every_profile = of_profiles(lambda _known: True)


@pytest.mark.skipif(FACTS == [], reason="real profiles are not part of the repository; set DLPROF_TEST_DATA")
def test_manifest_is_understood() -> None:
    """The other tests of this module would pass on nothing."""
    assert len(FACTS) >= 30
    assert sum(known.kernels for known in FACTS) > 60_000
    assert sum(len(known.steps) for known in FACTS) > 30


@every_profile
def test_facts_of_the_manifest(known: Facts) -> None:
    """Kernels, their time, how many have a call, and at least how many an op or a range of the user's around it."""
    profile = read_profile(known.name)
    kernels = profile.kernels
    assert len(kernels.op) == known.kernels
    assert int((kernels.end_ns - kernels.start_ns).sum()) == known.kernel_ns
    if known.launched is not None:
        assert int(kernels.launched.sum()) == known.launched
    if known.inside is not None:
        outside = np.array([op.eligibility == Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
        assert int(np.count_nonzero(~outside[kernels.op])) >= known.inside


@of_profiles(lambda known: bool(known.steps))
def test_kernels_by_step(known: Facts) -> None:
    """Kernels belong to the step in which they were launched, and so do the op instances that launched them."""
    profile = read_profile(known.name)
    best = profile.iterations[0]
    assert best.source == "profiler_step"
    assert best.values.tolist() == list(known.steps)
    launched = profile.kernels.launched == 1
    by_call = np.searchsorted(best.start_ns, profile.kernels.api_start_ns[launched], side="right") - 1
    assert np.bincount(by_call[by_call >= 0], minlength=len(best.values)).tolist() == list(known.steps.values())
    instance = instance_rows(profile)[launched]
    by_op = np.searchsorted(best.start_ns, profile.instances.start_ns[instance], side="right") - 1
    assert by_op.tolist() == by_call.tolist()


def instance_rows(profile: Profile) -> np.ndarray:
    """Row of the instance of each kernel."""
    first = np.searchsorted(profile.instances.op, np.arange(len(profile.ops)))
    return first[profile.kernels.op] + profile.kernels.instance


@every_profile
def test_what_goes_in_comes_out(known: Facts) -> None:
    """Every piece of work and every call has a row, in exactly one table; times add up."""
    capture, profile = read_capture(known.name), read_profile(known.name)
    counts = np.bincount(capture.work.kind, minlength=4)
    assert counts[WorkKind.KERNEL] == len(profile.kernels.op)
    assert counts[WorkKind.MEMCPY] == len(profile.memcpys.op)
    assert counts[WorkKind.MEMSET] == len(profile.memsets.op)
    assert counts[WorkKind.GRAPH] == len(profile.graphs.op)
    rows = [profile.kernels, profile.memcpys, profile.memsets]
    duration = sum(int((table.end_ns - table.start_ns).sum()) for table in rows)
    graphs = int((profile.graphs.end_ns - profile.graphs.start_ns).sum())
    assert duration + graphs == int((capture.work.end_ns - capture.work.start_ns).sum())
    launching = {
        (int(thread), int(start), int(stop))
        for table in rows
        for thread, start, stop, has in zip(
            table.thread_id, table.api_start_ns, table.api_end_ns, table.launched, strict=True
        )
        if has
    }
    threads = [thread.thread_id for thread in capture.threads]
    calls = [
        (threads[thread], start, end)
        for thread, start, end in zip(
            capture.calls.thread.tolist(), capture.calls.start_ns.tolist(), capture.calls.end_ns.tolist(), strict=True
        )
    ]
    others = len(profile.syncs.op) + len(profile.calls.op)
    assert len(calls) - others == sum(call in launching for call in calls)


@every_profile
def test_work_lies_with_the_instance_that_launched_it(known: Facts) -> None:
    """Same thread, and the call began while the instance ran."""
    profile = read_profile(known.name)
    kernels, instances = profile.kernels, profile.instances
    row = instance_rows(profile)
    launched = kernels.launched == 1
    assert (instances.thread_id[row] == kernels.thread_id)[launched].all()
    assert (instances.start_ns[row] <= kernels.api_start_ns)[launched].all()
    assert (kernels.api_start_ns <= instances.end_ns[row])[launched].all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "torch/h100_qwen_bf16/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
            [("/Qwen2Model/Qwen2DecoderLayer[23]/Qwen2Attention/scaled_dot_product_attention", "fprop"),
             ("/Qwen2Model/Qwen2DecoderLayer[0]/Qwen2MLP/Linear[2]/linear", "fprop")],
        ),
        (
            "torch/mi300x_resnet_ddp/resnet_act_checkpoint.json.gz",
            [("/DistributedDataParallel/ResNet/Conv2d/conv2d", "fprop"),
             ("/DistributedDataParallel/ResNet/Conv2d/conv2d", "bprop"),
             ("/DistributedDataParallel/ResNet/CheckpointWrapper[3]/Sequential/BasicBlock[1]/ReLU/relu_", "bprop"),
             ("/collectives/0/all_reduce", "")],
        ),
        (
            "torch/a100_resnet50_ddp_nccl/nccl_data.json.gz",
            [("/forward/DistributedDataParallel.forward/conv2d", "bprop"),
             ("/optimizer/Optimizer.step#SGD.step/_foreach_add_", "")],
        ),
        (
            "nsight/a100_transformer_autograd_nvtx/small_opt_A100.sqlite",
            [("/profile/forward pass/einsum", "bprop"), ("/profile/forward pass/einsum", "fprop")],
        ),
        (
            "nsight/rtx3090_tensorrt_fp16/report1.sqlite",
            [("/ExecutionContext::execute/layer1/layer1.0/conv1/Conv + Relu", "fprop")],
        ),
        (
            "nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite",
            [("/benchmark_loop/scaled dot product attention/computing softmax", "")],
        ),
    ],
)  # fmt: skip
def test_paths_that_an_engineer_expects(name: str, expected: list[tuple[str, str]]) -> None:
    """Layers by module, annotation or name; backward with its forward; collectives and the optimizer apart."""
    result = set(ops(read_profile(name)).values())
    assert not set(expected) - result


@of_profiles(lambda known: known.name.startswith("torch/") and len(known.steps) >= 2)
def test_no_call_of_a_network_is_an_op_of_its_own(known: Facts) -> None:
    """In profiles of several equal steps most ops are called once a step; one step would tell nothing."""
    profile = read_profile(known.name)
    best = profile.iterations[0]
    inside = profile.instances.start_ns >= best.start_ns[0]
    counts = np.bincount(profile.instances.op[inside], minlength=len(profile.ops))
    assert np.median(counts[counts > 0]) == len(best.values)
