"""Determines the framework of a program, and whether a compiler made parts of it, because advice must fit the program.

PyTorch shows in the source, the types of its ops (``AddmmBackward0``, ``empty_strided``, ``Optimizer.step#SGD.step``)
and the names of its kernels (``at::native``, Inductor's).
TensorFlow shows in the types of its ops (NVIDIA's databases; NVTX ranges of NVIDIA's TensorFlow: ``MatMul:
dense/MatMul``) and in the names of its kernels (``tensorflow::``, Eigen, MLIR). XLA shows in ops that run or compile a
cluster (``_XlaRun``, ``cluster_0_1/xla_run``, ``XlaModule:#...``) and in kernels that it names (``fusion_7``).
TensorRT shows in the names of its kernels. JAX shows in the names of its modules, of which the source tells.
``torch.compile`` shows in the ranges around compiled code and in kernels that Inductor names
(``triton_poi_fused_add_3``); Triton kernels that were written by hand do not count.
A program with none of these signs calls CUDA or its libraries itself.
"""

from __future__ import annotations

import enum
import re

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.classify.vocabulary import RANGE_TYPE
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Profile


class Framework(enum.Enum):
    """The framework of a program."""

    PYTORCH = "PyTorch"
    TENSORFLOW = "TensorFlow"
    TENSORRT = "TensorRT"
    JAX = "JAX"
    UNKNOWN = ""


_TENSORFLOW_OP = Expression(
    r"(?:_?Xla(?:Run|Compile|Launch|Merge)|AssignVariableOp|ReadVariableOp|VarHandleOp|(?:Resource|Sparse)Apply[A-Z]\w+|"
    r"Conv[23]DBackprop(?:Filter|Input)(?:V2)?|FusedBatchNorm(?:Grad)?V\d|BiasAddGrad|ReluGrad|MaxPoolGrad|"
    r"_Fused(?:Conv2D|MatMul)|IteratorGetNext|SparseSoftmaxCrossEntropyWithLogits|StatefulPartitionedCall|"
    r"_(?:Host)?(?:Send|Recv)|HorovodAllreduce)(?:_\d+)?(?:: .*)?\Z",
    re.DOTALL,
)
"""Types of ops that no other framework has; NVIDIA's TensorFlow writes the node's name behind them."""

_PYTORCH_OP = Expression(
    r"(?:\w+Backward\d|_foreach_\w+|addmm|baddbmm|empty_strided|as_strided|_to_copy|_unsafe_view|native_\w+_norm\w*|"
    r"(?:add|sub|mul|div|copy|zero|fill|relu|detach|addcmul|addcdiv)_|Optimizer\.(?:step|zero_grad)#.*)\Z",
    re.DOTALL,
)
"""Types of ops that are PyTorch's alone, as ``emit_nvtx`` names them, of which no source tells the framework."""

_XLA = Expression(r"\b_?Xla(?:Run|Compile|Launch|Module)|\bxla_(?:run|compile)\b|(?:\b|_)cluster_\d+_\d+/")
COMPILED = Expression(
    r"Torch-Compiled Region|CompiledFxGraph|\bCompiledFunction|\binductor::|/torch/_(?:inductor|dynamo)/|"
    r"\btorchinductor_"
)
"""Ranges around code that ``torch.compile`` made."""

_SIGNS_OF_COMPILED = ("ompiled", "nductor", "/torch/_dynamo/")
"""Every match of ``COMPILED`` contains one of these, and they are soon found in long stacks."""

_INDUCTOR = Expression(r"triton_(?:poi|red|per|for|tem|spl|mix)_")


def framework_of(profile: Profile, libraries: frozenset[str]) -> Framework:
    """The framework of the program.

    Args:
        profile: the program's ops, and what its source says.
        libraries: libraries of its kernels (``classify``).
    """
    reported = profile.info.framework.lower()
    if profile.info.source_format == "pytorch" or profile.dlprof_markers or reported.startswith("pytorch"):
        return Framework.PYTORCH
    if reported == "jax":
        return Framework.JAX
    types = {op.name.rpartition("/")[2] if op.op_type == RANGE_TYPE else op.op_type for op in profile.ops}
    if reported.startswith("tensorflow") or _TENSORFLOW_OP.matching(types):
        return Framework.TENSORFLOW
    if reported.startswith("tensorrt"):
        return Framework.TENSORRT
    if "pytorch" in libraries or _PYTORCH_OP.matching(types) or uses_torch_compile(profile):
        return Framework.PYTORCH
    if libraries & {"tensorflow", "eigen"}:
        return Framework.TENSORFLOW
    # PyTorch and TensorFlow call TensorRT for parts of a model, so it comes last.
    return Framework.TENSORRT if "tensorrt" in libraries else Framework.UNKNOWN


def uses_xla(profile: Profile, libraries: frozenset[str]) -> bool:
    """Whether XLA compiled any part of the program."""
    texts = {text for op in profile.ops for text in (op.name, op.op_type)}
    return "xla" in libraries or bool(_XLA.containing(texts))


def uses_torch_compile(profile: Profile) -> bool:
    """Whether ``torch.compile`` made any part of the program."""
    if inductor_kernels(profile).any():
        return True
    texts = {text for op in profile.ops for text in (op.name, op.stack_trace)}
    return any(any(sign in text for sign in _SIGNS_OF_COMPILED) and COMPILED.search(text) for text in texts)


def inductor_kernels(profile: Profile) -> Bools:
    """Which kernels have a name from Inductor."""
    distinct = distinct_values(profile.kernels.name).tolist()
    texts = {each: profile.strings[each] for each in distinct}
    named = _INDUCTOR.matching(texts.values())
    return are_among(profile.kernels.name, [each for each, text in texts.items() if text in named])
