"""Paths, types and directions of ops, and which backward op belongs to which forward op."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.events.building import build, op, ops


def test_module_path_with_numbers_among_equals() -> None:
    """Modules of one class under one parent are numbered from 0 by first call; a lone one has no number."""
    profile = build(
        """
        main module 0-500   nn.Module: Model_0
        main module 10-200  nn.Module: Layer_0
        main module 20-60   nn.Module: Linear_0
        main op     30-50   aten::linear
        main module 70-110  nn.Module: Linear_1
        main op     80-100  aten::linear
        main module 210-400 nn.Module: Layer_1
        main module 220-260 nn.Module: Linear_2
        main op     230-250 aten::linear
        main module 410-450 nn.Module: Linear_0
        main op     420-440 aten::linear
        """
    )
    assert [name for name, _ in ops(profile).values()] == [
        "/Model/Layer[0]/Linear[0]/linear",
        "/Model/Layer[0]/Linear[1]/linear",
        "/Model/Layer[1]/Linear/linear",
        "/Model/Linear/linear",
    ]


def test_modules_come_before_annotations() -> None:
    """Annotations are the path only where there are no modules."""
    profile = build(
        """
        main annotation 0-500 forward
        main module 10-100 nn.Module: Net_0
        main annotation 20-90 attention
        main op 30-80 aten::bmm
        main op 200-300 aten::relu
        main op 600-700 aten::tanh
        """
    )
    assert {name for name, _ in ops(profile).values()} == {"/Net/bmm", "/forward/relu", "/tanh"}


def test_backward_takes_path_and_type_of_its_forward_op_by_sequence_number() -> None:
    """The number may be that of a sub-op; pieces beside the node take the path only."""
    profile = build(
        """
        main module 0-100 nn.Module: Net_0
        main op 10-90  aten::linear ; seq=5
        main op 20-30  aten::t      ; seq=5
        main op 40-80  aten::addmm  ; seq=6
        bw op 200-300 autograd::engine::evaluate_function: AddmmBackward0 ; seq=6 ; fwd=1
        bw op 210-250 AddmmBackward0 ; seq=6 ; fwd=1
        bw op 260-290 aten::sum
        bw op 310-390 autograd::engine::evaluate_function: TBackward0 ; seq=5 ; fwd=1
        bw op 320-380 TBackward0 ; seq=5 ; fwd=1
        """
    )
    assert sorted(ops(profile).values()) == [
        ("/Net/linear", "bprop"),
        ("/Net/linear", "bprop"),
        ("/Net/linear", "fprop"),
        ("/Net/sum", "bprop"),
    ]
    assert op(profile, "LINEAR_2").eligibility == 0


def test_sequence_numbers_of_other_forward_threads_do_not_count() -> None:
    """Each thread numbers for itself; the nodes' own thread numbers tell them apart."""
    profile = build(
        """
        one op 0-10 aten::relu ; seq=1
        one op 20-30 aten::mul ; seq=2
        two op 5-15 aten::tanh ; seq=1
        two op 25-35 aten::div ; seq=9
        bw op 100-110 XBackward0 ; seq=1 ; fwd=1
        bw op 120-130 XBackward0 ; seq=2 ; fwd=1
        bw op 140-150 XBackward0 ; seq=1 ; fwd=2
        bw op 160-170 XBackward0 ; seq=9 ; fwd=2
        """
    )
    backward = [(item.cpu, item.kind) for item in backward_ops(profile)]
    assert backward == [(100, "relu"), (120, "mul"), (140, "tanh"), (160, "div")]


def test_sequence_number_used_again_means_the_latest_op_before() -> None:
    """Ops that make no node carry the number of the next node too."""
    profile = build(
        """
        main op 0-10  aten::detach ; seq=4
        main op 20-30 aten::relu   ; seq=4
        bw   op 50-60 ReluBackward0 ; seq=4 ; fwd=1
        main op 70-80 aten::tanh   ; seq=4
        """
    )
    assert [item.kind for item in backward_ops(profile)] == ["relu"]


def test_arrows_link_exactly() -> None:
    """From a point on the forward op to one on its node, whatever the numbers say."""
    profile = build(
        """
        main annotation 0-100 encoder
        main op 10-50 aten::conv2d
        main op 20-40 aten::cudnn_convolution
        bw   op 200-300 autograd::engine::evaluate_function: ConvolutionBackward0
        bw   op 210-290 ConvolutionBackward0
        main arrow 20-210 bw
        """
    )
    assert ops(profile) == {"CONV2D_1": ("/encoder/conv2d", "fprop"), "CONV2D_2": ("/encoder/conv2d", "bprop")}


def test_unlinked_nodes_keep_their_names() -> None:
    """Without numbers and arrows the node is the op."""
    profile = build("bw op 0-10 AddmmBackward0\nmain op 0-10 aten::max_pool2d_with_indices_backward")
    assert ops(profile) == {
        "ADDMMBACKWARD0_1": ("/AddmmBackward0", "bprop"),
        "MAX_POOL2D_WITH_INDICES_BACKWARD_1": ("/max_pool2d_with_indices_backward", "bprop"),
    }


def test_optimizer_ops_have_no_direction() -> None:
    """Their path is the annotation of the optimizer, also inside a module."""
    profile = build(
        """
        main module 0-900 nn.Module: Trainer_0
        main annotation 5-800 Optimizer.step#AdamW.step
        main op 10-90 aten::_foreach_add_
        main annotation 805-890 Optimizer.zero_grad#AdamW.zero_grad
        main op 810-850 aten::zero_
        """
    )
    assert ops(profile) == {
        "_FOREACH_ADD__1": ("/Optimizer.step#AdamW.step/_foreach_add_", ""),
        "ZERO__1": ("/Optimizer.zero_grad#AdamW.zero_grad/zero_", ""),
    }


def test_counters_are_no_part_of_a_path() -> None:
    """Iterations, arguments of autograd's hook, numbers after # and varying names do not split ops."""
    lines = []
    for step in range(4):
        at = step * 1000
        lines += [
            f"main annotation {at}-{at + 900} Batch {step}",
            f"main annotation {at + 10}-{at + 800} execute_{step + 8}_context_0(sq{step})",
            f"main annotation {at + 20}-{at + 700} loss, op_id = {step}, seq = {step}",
            f"main op {at + 30}-{at + 600} aten::relu",
        ]
    profile = build("\n".join(lines))
    assert ops(profile) == {"RELU_1": ("/execute_N_context_N/loss/relu", "fprop")}


def test_numbers_of_layers_stay() -> None:
    """Parts of a model that users numbered are different parts."""
    lines = [
        f"main annotation {i * 10}-{i * 10 + 9} layer {i}\nmain op {i * 10 + 1}-{i * 10 + 5} aten::mm" for i in range(5)
    ]
    assert [name for name, _ in ops(build("\n".join(lines))).values()] == [f"/layer {i}/mm" for i in range(5)]


@pytest.mark.parametrize(("what", "text"), [("annotation", "Part{}"), ("module", "nn.Module: Part{}_0")])
def test_paths_tell_a_hundred_ranges_and_the_innermost(what: str, text: str) -> None:
    """Whole paths would grow with the square of the depth."""
    depth = 300
    letters = [f"{chr(ord('a') + i // 26)}{chr(ord('a') + i % 26)}" for i in range(depth)]
    lines = [f"main {what} {i}-{2 * depth - i} {text.format(letters[i])}" for i in range(depth)]
    lines += [f"main op {depth}-{depth + 1} aten::relu", f"main op {2 * depth - 150}-{2 * depth - 149} aten::tanh"]
    lines += [f"main op {2 * depth - 99}-{2 * depth - 98} aten::mm"]
    outer = "".join(f"/Part{letter}" for letter in letters[:100])
    assert {name for name, _ in ops(build("\n".join(lines))).values()} == {
        f"{outer}/.../Part{letters[299]}/relu",
        f"{outer}/.../Part{letters[149]}/tanh",
        f"{outer.removesuffix('/Part' + letters[99])}/mm",
    }


def test_stack_trace_of_frames_outermost_first() -> None:
    """Frames of C functions have no line to look at; the backward op shows where its forward was called."""
    profile = build(
        """
        main frame 0-100 train.py(10): <module>
        main frame 5-95 model.py(20): forward
        main frame 8-94 <built-in function linear>
        main op 10-90 aten::linear ; seq=1
        bw   op 200-300 AddmmBackward0 ; seq=1 ; fwd=1
        """
    )
    stack = "train.py(10): <module>\nmodel.py(20): forward"
    assert [item.stack_trace for item in profile.ops] == [stack, stack]


def test_recorded_call_stack() -> None:
    """Older traces write the stack with the op, innermost frame first."""
    profile = build("main op 0-10 aten::relu ; stack=model.py(5): forward;train.py(9): main")
    assert profile.ops[0].stack_trace == "train.py(9): main\nmodel.py(5): forward"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten::linear", "linear"),
        ("autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0"),
        ("aten::add.Tensor", "add"),
        ("flash_attn::_flash_attn_forward, op_id = 999173", "_flash_attn_forward"),
        ("aten::mul, seq = 12, op_id = 4, sizes = [[2, 3], []]", "mul"),
        ("my op: with / punctuation", "my op: with / punctuation"),
        ("::", "op"),
    ],
)
def test_bare_names(name: str, expected: str) -> None:
    """Types are names without namespace, overload and arguments."""
    assert names.bare_name(name) == expected


@pytest.mark.parametrize(
    ("name", "steps"),
    [("step", True), ("Batch", True), ("train_step", True), ("iteration", True), ("TrainIter", True), ("epoch", True),
     ("layer", False), ("transformer.block", False), ("microbatch", False), ("footstep", False), ("limit", False)],
)  # fmt: skip
def test_names_that_count_steps(name: str, steps: bool) -> None:
    """Parts of a model are numbered too, and are no iterations."""
    assert names.counts_steps(name) is steps


@pytest.mark.parametrize(
    ("name", "turns"),
    [("run", True), ("dry_run", True), ("VideoFrame", True), ("Warm-up", True), ("image", True), ("RUN", True),
     ("prune", False), ("timeframe", False), ("decoder", False), ("layer_run", False), ("h", False), ("", False)],
)  # fmt: skip
def test_names_that_count_turns(name: str, turns: bool) -> None:
    """A word of its own at the end, and no part of a model."""
    assert names.counts_turns(name) is turns


class BackwardOp(NamedTuple):
    """Start and type of a backward instance."""

    cpu: int
    kind: str


def backward_ops(profile: Profile) -> list[BackwardOp]:
    """The backward instances by start."""
    rows = zip(profile.instances.op.tolist(), profile.instances.start_ns.tolist(), strict=True)
    return sorted(
        BackwardOp(start, profile.ops[row].op_type) for row, start in rows if profile.ops[row].direction == "bprop"
    )
