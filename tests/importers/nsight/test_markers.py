"""What the texts of NVTX ranges say."""

from __future__ import annotations

import itertools

import pytest

from tensorboard_plugin_dlprof.events.tables import RangeKind
from tensorboard_plugin_dlprof.importers.nsight.markers import (
    Marker,
    cut,
    read_cut_name,
    read_cut_sizes,
    read_marker,
)

OP, ANNOTATION, MODULE = RangeKind.OP, RangeKind.ANNOTATION, RangeKind.MODULE

TRACE = "{'traceMarker': ['net.py:34'], 'funcStack': '/<module>/Net::forward/conv2d'}"
MARKED_OP = (
    "{'mod': 'torch', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape': (1, 3), 'dtype': 'float32'}]}"
)
CONFIG = '{"model_config": {"emit_nvtx": true}}'

DEFAULT_DOMAIN = [
    # emit_nvtx, from the oldest form to the newest, and in any order
    ("aten::empty", Marker(OP, "aten::empty")),
    ("aten::conv2d, seq = 0", Marker(OP, "aten::conv2d", 0)),
    ("aten::mm, seq = 31, op_id = 77", Marker(OP, "aten::mm", 31)),
    (
        "aten::mm, seq = 31, op_id = 77, sizes = [[64, 512], [512, 10]], input_op_ids = [(3,0), (4,0)]",
        Marker(OP, "aten::mm", 31, "[[64,512],[512,10]]"),
    ),
    ("aten::mm, sizes = [[2, 3], []], seq = 4", Marker(OP, "aten::mm", 4, "[[2,3],[]]")),
    ("aten::to, op_id = 12, sizes = []", Marker(OP, "aten::to", -1, "[]")),
    ("aten::mul, seq = -1", Marker(OP, "aten::mul")),
    # a text that was cut has no shapes
    ("aten::mm, seq = 5, sizes = [[64, 51", Marker(OP, "aten::mm", 5)),
    ("aten::mm, seq = 99999999999999999999", Marker(OP, "aten::mm")),
    # backward
    ("AddmmBackward0, seq = 8, op_id = 9", Marker(OP, "AddmmBackward0", 8)),
    ("AddmmBackward0", Marker(OP, "AddmmBackward0")),
    ("MulBackward, seq = 3", Marker(OP, "MulBackward", 3)),
    ("torch::autograd::AccumulateGrad, op_id = 7", Marker(OP, "torch::autograd::AccumulateGrad")),
    (
        "autograd::engine::evaluate_function: ViewBackward0, op_id = 93017",
        Marker(OP, "autograd::engine::evaluate_function: ViewBackward0"),
    ),
    # ops of other libraries
    ("flash_attn::_flash_attn_forward, op_id = 999173", Marker(OP, "flash_attn::_flash_attn_forward")),
    ("mylib::fused_thing, op_id = 1", Marker(OP, "mylib::fused_thing")),
    ("FlashAttnFunc, seq = 47575, op_id = 999172", Marker(OP, "FlashAttnFunc", 47575)),
    ("c10d::allreduce_, op_id = 4", Marker(OP, "c10d::allreduce_")),
    # PyTorch's own annotations have an op_id too
    ("Optimizer.step#AdamW.step, op_id = 102729", Marker(ANNOTATION, "Optimizer.step#AdamW.step")),
    (
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__, op_id = 5",
        Marker(ANNOTATION, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ),
    ("my own label, op_id = 5", Marker(ANNOTATION, "my own label")),
    ("Stage::run (batch 3), op_id = 5", Marker(ANNOTATION, "Stage::run (batch 3)")),
    (
        "FSDP::pre_forward (encoder.block.2), op_id = 4007",
        Marker(ANNOTATION, "FSDP::pre_forward (encoder.block.2)"),
    ),
    ("FSDP::all_gather, op_id = 4008", Marker(ANNOTATION, "FSDP::all_gather")),
    # what is not PyTorch's
    ("forward pass", Marker(ANNOTATION, "forward pass")),
    ("Backward", Marker(ANNOTATION, "Backward")),
    ("ForwardBackward", Marker(ANNOTATION, "ForwardBackward")),
    ("Step_Backward2", Marker(ANNOTATION, "Step_Backward2")),
    ("FusionExecutorCache::runFusionWithInputs", Marker(ANNOTATION, "FusionExecutorCache::runFusionWithInputs")),
    ("transform_replay.cpp::getMatchedLeaf", Marker(ANNOTATION, "transform_replay.cpp::getMatchedLeaf")),
    ("ncclAllReduce", Marker(ANNOTATION, "ncclAllReduce")),
    ("", Marker(ANNOTATION, "")),
    ("{'a': 1}", Marker(ANNOTATION, "{'a': 1}")),
    # steps and modules
    ("ProfilerStep#4", Marker(RangeKind.ITERATION, "ProfilerStep#4")),
    ("ProfilerStep#4, op_id = 8", Marker(RangeKind.ITERATION, "ProfilerStep#4")),
    ("ProfilerStep#x", Marker(ANNOTATION, "ProfilerStep#x")),
    ("nn.Module: Linear_3", Marker(MODULE, "nn.Module: Linear_3")),
    ("layer:Conv1", Marker(MODULE, "layer:Conv1")),
    (
        "{'Module': 'model.layers.0.mlp', 'TrainableParams': 3, 'Inputs': [[1, 2]]}",
        Marker(MODULE, "layer:model.layers.0.mlp"),
    ),
    # DLProf's markers keep their text
    (TRACE, Marker(RangeKind.DLPROF_TRACE, TRACE)),
    (MARKED_OP, Marker(RangeKind.DLPROF_OP, MARKED_OP)),
    (CONFIG, Marker(RangeKind.DLPROF_CONFIG, CONFIG)),
]


@pytest.mark.parametrize(("text", "expected"), DEFAULT_DOMAIN)
def test_reads_a_text_of_the_default_domain(text: str, expected: Marker) -> None:
    """Kind, bare name, sequence number and shapes."""
    assert read_marker(text) == expected


_ARGUMENTS = (", seq = 7", ", seq = 8", ", seq=9", ", op_id = 1", ", op_id = 2", ", sizes = [[2, 3]]", ", sizes = x=1")
_NAMES = ("aten::mm", "forward pass", "a, b", "{'a': 1}", "", "ProfilerStep#3", "aten::mm, seq = 5, op_id = 6")


def test_parts_of_a_text_tell_what_the_whole_does() -> None:
    """Whatever the order, spelling and number of their arguments: what texts share is read once for all."""
    texts = [
        name + "".join(arguments) + end
        for name in _NAMES
        for count in range(4)
        for arguments in itertools.permutations(_ARGUMENTS, count)
        for end in ("", ", input_op_ids = [(3,0)]")
    ]
    shared = set()
    for text in texts:
        if parts := cut(text.encode()):
            name, sizes, sequence = parts
            shapes = read_cut_sizes(sizes)
            marker = read_cut_name(name, sequence >= 0 or bool(shapes))
            assert marker._replace(sequence=sequence, shapes=shapes) == read_marker(text), text
            shared.add((name, sizes))
    assert len(shared) > 5


NAMED_DOMAINS = [
    ("TensorRT", "/layer1/conv1/Conv + /relu/Relu", Marker(OP, "/layer1/conv1/Conv + /relu/Relu")),
    ("TensorRT", "onnx::Conv_194_clone_3", Marker(OP, "onnx::Conv_194_clone_3")),
    ("TensorRT", "ExecutionContext::execute", Marker(ANNOTATION, "ExecutionContext::execute")),
    ("tensorflow-core", "MatMul: dense/MatMul", Marker(OP, "MatMul: dense/MatMul")),
    (
        "tensorflow-core",
        '{"op":"MatMul","name":"dense/MatMul","args":[{"name":"x","shape":[64,512]},{"name":"w:0","shape":[512,10]}],'
        '"attrs":{"T":"float32","shape":[1]}}',
        Marker(OP, "MatMul: dense/MatMul", shapes="[[64,512],[512,10]]"),
    ),
    (
        "tensorflow-core",
        '{"op":"Neg","name":"Neg","args":[{"name":"x","shape":[]},null],"attrs":{}}',
        Marker(OP, "Neg: Neg", shapes="[[]]"),
    ),
    (
        "tensorflow-core",
        '{"op":"AddV2","name":"a/add","args":[{"name":"x","shape":null},{"name":"y","shape":[3]}],"attrs":{"_class":["',
        Marker(OP, "AddV2: a/add"),
    ),
    ("TSL", "Thunk:#name=loop_fusion,hlo_op=fusion.3,hlo_module=jit_step#", Marker(OP, "loop_fusion")),
    ("TSL", "Thunk:#hlo_op=dot.7,hlo_module=jit_step#", Marker(OP, "dot.7")),
    (
        "TSL",
        "XlaModule:#hlo_module=jit_step,program_id=3#",
        Marker(ANNOTATION, "XlaModule:#hlo_module=jit_step,program_id=3#"),
    ),
    ("cuBLAS", "cublasSgemm_v2", Marker(ANNOTATION, "cublasSgemm_v2")),
    ("CCCL", "cub::DeviceFor::Bulk", Marker(ANNOTATION, "cub::DeviceFor::Bulk")),
    ("NCCL", "ncclAllReduce", Marker(ANNOTATION, "ncclAllReduce")),
    ("mine", "aten::mm, seq = 3", Marker(ANNOTATION, "aten::mm, seq = 3")),
]


@pytest.mark.parametrize(("domain", "text", "expected"), NAMED_DOMAINS)
def test_reads_a_text_of_a_named_domain(domain: str, text: str, expected: Marker) -> None:
    """Frameworks name their layers in domains of their own; other libraries' ranges are annotations."""
    assert read_marker(text, domain) == expected
