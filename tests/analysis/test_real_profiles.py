"""Findings of every real profile: possible, traceable, and what the engineer who trained the model would say first."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.engine import judge
from tensorboard_plugin_dlprof.analysis.precision_gain import narrower
from tensorboard_plugin_dlprof.analysis.rules.fusing import FUSED, fusible
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Verdict
from tensorboard_plugin_dlprof.efficiency.measure import InstanceWork, measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.efficiency.tables import Efficiency
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.shared_data import shared_data

FOLDERS = (
    "a100_alexnet_sync", "a100_copies_only", "a100_resnet50_ddp_nccl", "cpu_only_rank34", "gp100_gpu_annotations",
    "h100_bert_small", "h100_qwen_bf16", "h100_transformer_steps", "mi210_gpu_only", "mi300x_flux_large",
    "mi300x_resnet_ddp", "mi300x_sglang_prefill", "mi300x_vllm_graph_replay", "t4_amp", "t4_fp32", "t4_vgg16_minimal",
    "v100_megatron_tp2_rank0", "v100_megatron_tp2_rank1", "v100_resnet50_memory", "v100_resnet50_oldest",
    "v100_resnet_ns_times",
)  # fmt: skip
EXPORTS = (
    "a100_cuda_graphs", "a100_transformer_2.7b_nvtx", "a100_transformer_autograd_nvtx", "h100_2gpu_torchrun_nccl",
    "h200_nvfuser", "no_gpu_work", "rtx3090_tensorrt_fp16", "rtx5000ada_wsl", "t4_four_streams_old_schema",
)  # fmt: skip

Judged = tuple[Profile, Aggregation, InstanceWork, Efficiency, Verdict]


@lru_cache(maxsize=2)
def judged(path: Path) -> Judged:
    """Everything about one profile."""
    profile = build_profile(find_importer(path).read(path, ReadOptions(), lambda _what, _fraction: None))
    aggregation = aggregate(profile)
    work = measure(profile)
    result = efficiency(profile, work, aggregation)
    return profile, aggregation, work, result, judge(profile, aggregation, result)


def one(folder: str) -> Judged:
    """The profile in a folder of the shared data."""
    return judged(next(path for path in sorted((shared_data() / folder).iterdir()) if path.is_file()))


@pytest.mark.parametrize("name", [*(f"torch/{name}" for name in FOLDERS), *(f"nsight/{name}" for name in EXPORTS)])
def test_findings_are_possible_and_traceable(name: str) -> None:
    """No gain beyond an iteration, no share beyond one, evidence that exists, sentences without holes."""
    profile, aggregation, _, result, verdict = one(name)
    ids = {op.op_id for op in profile.ops}
    names = {profile.strings[text] for text in profile.kernels.name.tolist()}
    iteration_ns = aggregation.wall_ns // max(len(aggregation.iterations.iter_value), 1)
    for finding in verdict.findings:
        assert "{" not in finding.problem_text() + finding.recommendation_text()
        assert json.loads(json.dumps(dict(finding.numbers))) == dict(finding.numbers)
        for key, value in finding.numbers.items():
            assert not key.endswith("_fraction") or 0 <= float(value) <= 1.000001, (finding.detector, key, value)
        if finding.gain is not None:
            assert 0 <= finding.gain.low_ns <= finding.gain.high_ns <= iteration_ns
        for row in finding.evidence:
            assert row.kind != "op" or row.key in ids
            assert row.kind != "kernel" or row.key in names
    assert 0 <= verdict.total_low_ns <= verdict.total_high_ns <= iteration_ns
    mfu = result.iterations.mfu
    assert not (mfu > 1).any()


def test_a_resnet_50_has_its_known_flops() -> None:
    """4.0895 G multiplications a picture forward (He et al.), three times that less the first layer's input "
    "gradient."""
    _, aggregation, _, result, _ = one("torch/v100_resnet50_memory")
    first_layer = 2 * 32 * 112 * 112 * 64 * 3 * 49
    forward = 32 * 2 * 4_089_184_256
    assert result.iterations.product_flops.tolist() == [3 * forward - first_layer] * len(
        aggregation.iterations.iter_value
    )
    assert (result.iterations.measured_fraction == 1).all()


def test_mixed_precision_gained_what_was_predicted() -> None:
    """The same training on a T4 in FP32 and with AMP: the achieved gain of kernel time lies in the predicted range."""
    before, after = one("torch/t4_fp32"), one("torch/t4_amp")
    assert before[2].product_flops.max() == after[2].product_flops.max()
    spent = [Signals(*profile[:2], profile[3]) for profile in (before, after)]
    saved = narrower(spent[0], spent[0].products & spent[0].of_precision("fp32"), "fp16", 0.5)
    assert saved is not None
    assert saved.modelled
    achieved = int(spent[0].time(spent[0].products)) - int(spent[1].time(spent[1].products))
    assert 0.93 * achieved < saved.low_ns < achieved < saved.high_ns < 1.2 * achieved


def test_compiling_gained_what_was_predicted() -> None:
    """Forward passes of a transformer on an A100, op by op and as compiled graphs: ten equal ones of 781 ms."""
    eager, compiled = one("nsight/a100_transformer_2.7b_nvtx"), one("nsight/a100_cuda_graphs")[0].graphs
    signals = Signals(eager[0], eager[1], eager[3])
    passes, measured = 3, signals.of_ops(signals.ops_where(Expression("^/benchmark_loop")))
    fused = signals.time(fusible(signals) & measured) / passes
    now = signals.time(measured) / passes
    achieved = now - float(np.median(compiled.end_ns - compiled.start_ns))
    assert achieved == pytest.approx(58.06e6, rel=0.001)
    assert FUSED[0] * fused <= achieved <= FUSED[1] * fused


def test_the_function_around_a_waiting_op_is_known() -> None:
    """A tensor made on the GPU in the scheduler of a server, which waits for half of the capture."""
    profile, *_ = one("torch/mi300x_sglang_prefill")
    frames = profile.idle_frames
    longest = int((frames.stop_ns - frames.start_ns).argmax())
    assert profile.strings[int(frames.function[longest])].endswith("forward_batch_info.py(443): init_new")
    assert profile.strings[int(frames.innermost[longest])].startswith("<built-in method tensor of type object")
    assert frames.stop_ns[longest] - frames.start_ns[longest] == pytest.approx(493e6, rel=0.01)


def test_several_ops_in_one_row_tell_how_many_they_are() -> None:
    """Ops of one path and kernel are a row, which is not that of the op that it names as an example."""
    profile, _, _, _, verdict = one("torch/v100_resnet50_memory")
    (finding,) = (each for each in verdict.findings if each.detector == "amp_detector")
    row = finding.evidence[0]
    assert (row.path, row.call) == ("/conv2d", "dgrad_engine")
    kernels, strings = profile.kernels, profile.strings
    ops = {
        int(op)
        for op, name in zip(kernels.op.tolist(), kernels.long_name.tolist(), strict=True)
        if "dgrad_engine" in strings[name] and op >= 0 and profile.ops[op].name == "/conv2d"
    }
    assert len(ops) > 1
    assert row.detail.startswith(f"{len(ops)} ops, e.g. {row.key}, ")
    assert row.detail.endswith("batch 32")
