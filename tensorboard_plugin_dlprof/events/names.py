"""Interprets the name of a range: its role, its bare name, the counters in it.

Most functions are cached, because a capture has few distinct names if counters are ignored.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import Final

from tensorboard_plugin_dlprof.events.tables import RangeKind
from tensorboard_plugin_dlprof.expressions import Expression

EVALUATE: Final = "autograd::engine::evaluate_function: "
"""Prefix of the range in which autograd runs one node, with the accumulation of its results."""


class Role(enum.IntEnum):
    """The role of a range in the op model (event model, section 4)."""

    OP = 0
    WRAPPER = 1
    """Transparent: the ranges inside are ops; the wrapper is an op only if it contains none."""
    EVALUATE = 2
    """A wrapper around one autograd node; ops inside are not sub-ops of an op around it (re-entrant autograd)."""
    COMPILED = 3
    """A wrapper around generated code, whose kernels are distinguished by their names."""
    COLLECTIVE = 4
    """Always an op of its own, whatever range it is in."""
    OPTIMIZER = 5
    """An annotation whose ops belong to the optimizer."""
    ANNOTATION = 6
    MODULE = 7
    FRAME = 8
    HIDDEN = 9
    """Neither an op nor part of a path: iterations, DLProf's markers, libraries' ranges, the recorder itself."""
    GRAPH_OP = 10
    """Always an op of its own, which the source describes."""


_WRAPPER = Expression(
    r"(?:torch::autograd::|AOTDispatcher |TorchDynamo |Pregraph |CompiledFunction(?:Backward)?\b|"
    r"CheckpointFunction(?:Backward)?\b|UnpackSavedTensor|PrologueFunction|"
    # Nodes of TensorFlow that run other nodes.
    r"(?:Stateful|Stateless)?(?:PartitionedCall|If|While|Case): )|.*(?:cudagraph|CUDAGraph)"
)
_COMPILED = Expression(
    r"Torch-Compiled Region|## Call CompiledFxGraph|CompiledFxGraph|Call CompiledFxGraph|inductor::",
    words=("compiled", "inductor::"),
)
_COLLECTIVE = Expression(
    r"(?:_?c10d(?:_functional)?::|(?:nccl|gloo|mpi|ucc|xccl|hccl):|record_param_comms\b|"
    r"p?nccl(?:All|Reduce|Broadcast|Bcast|Send|Recv|Group|Gather|Scatter)|"
    r"FSDP::(?:all_gather|reduce_scatter|post_backward_reduce|all_reduce)|(?:aten::)?_?symm_mem::)"
)
_NOT_COLLECTIVE = Expression(r"_?c10d(?:_functional)?::(?:wait_tensor|_wrap_tensor_autograd|_resize)", words=("c10d",))
_OPTIMIZER = Expression(r"Optimizer\.(?:step|zero_grad)\b", words=("optimizer.",))
_HIDDEN = Expression(r"p?nccl[A-Z]|ProfilerStep\b|\[memory\]$|PyTorch Profiler\b|profiler::_record_function")

_SCRIPT = Expression(r"forward|fallback_function|<(?:forward|backward) op>")
"""Ranges of TorchScript's executor around the ops of a module, and around its differentiable and fallback parts."""

_NODE = Expression(r"\w*Backward\d*\Z")
_TENSORFLOW_NODE = Expression(r"(?P<kind>\w+): (?P<node>[\w.\\/>-]+)\Z")
_BACKWARD = Expression(
    r"(?:.*[\w>]Backward\d*|.*_backward(?:_\w+)?|<backward op>)\Z|"
    # A node of TensorFlow in the scope of gradients.
    r"\w+: (?:[\w.\\>-]+/)*gradient(?:s|_tape)(?:_\d+)?/"
)
_ARGUMENTS = Expression(r", (?:seq|op_id|sizes|input_op_ids|inputs|Inputs)\s*=.*", re.DOTALL)
_NUMBER = Expression(r"(?P<base>.*?\S?)(?P<gap>[\s_#:=\-.]*)(?P<number>\d+)(?P<close>[\])]?)\Z", re.DOTALL)
_GAP = " \t\n\r\f\v\x1c\x1d\x1e\x1f_#:=-."
"""Characters that may separate a name from its number."""
_NO_GAPS: Final = dict.fromkeys(map(ord, " _-"))
_MOST_DIGITS = 18
"""Most digits of a number that always fits 64 bits."""
_ADDRESS = Expression(r"\b0x[0-9a-fA-F]{4,}\b")
_OF_OBJECT = Expression(r" at 0x[0-9a-fA-F]+\b")
_COUNT = Expression(r"#\d+\b")
_INSTANCE = Expression(r"_\d+\Z")
_FROM_BRACKET = Expression(r"[\[({].*", re.DOTALL)
_DIGITS = Expression(r"\d+")


@lru_cache(maxsize=1 << 16)
def role(kind: int, name: str) -> Role:
    """The role of a range of this ``RangeKind`` and name."""
    if kind in (RangeKind.DLPROF_TRACE, RangeKind.DLPROF_OP, RangeKind.DLPROF_CONFIG):
        return Role.HIDDEN
    if kind == RangeKind.FRAME:
        return Role.FRAME
    if kind == RangeKind.MODULE:
        return Role.MODULE
    if kind == RangeKind.GRAPH_OP:
        return Role.GRAPH_OP
    if kind == RangeKind.OP and _SCRIPT.fullmatch(name):
        return Role.WRAPPER
    if name.startswith(EVALUATE):
        return Role.EVALUATE
    for expression, result in _BY_NAME:
        if expression.match(name):
            return result
    return Role.OP if kind == RangeKind.OP else Role.ANNOTATION


_BY_NAME: Final = (
    (_NOT_COLLECTIVE, Role.OP),
    (_COLLECTIVE, Role.COLLECTIVE),
    (_OPTIMIZER, Role.OPTIMIZER),
    (_HIDDEN, Role.HIDDEN),
    (_COMPILED, Role.COMPILED),
    (_WRAPPER, Role.WRAPPER),
)


@lru_cache(maxsize=1 << 16)
def without_arguments(name: str) -> str:
    """``name`` without the arguments that autograd's NVTX hook appends (``, seq = 3, sizes = [...]``)."""
    return (_ARGUMENTS.sub("", name) if "=" in name else name).strip()


@lru_cache(maxsize=1 << 16)
def without_counters(name: str) -> str:
    """``name`` without the parts that vary from call to call: autograd's arguments, ``#4``, addresses."""
    bare = without_arguments(name)
    if "0x" in bare:
        bare = _ADDRESS.sub("0x", bare)
    return _COUNT.sub("", bare).strip() if "#" in bare else bare


@lru_cache(maxsize=1 << 16)
def shown(name: str) -> str:
    """A range or function as sentences name it: without the address of its object, and what autograd evaluates without
    the range around it (``AccumulateGrad (backward)``)."""
    if name.startswith(EVALUATE):
        return bare_name(name) if is_backward_node(name) else f"{bare_name(name)} (backward)"
    return _OF_OBJECT.sub("", name) if " at 0x" in name else name


def split_number(name: str) -> tuple[str, int]:
    """``("Batch", 17)`` for ``Batch 17`` or ``Batch[17]``; the whole name and -1 if it does not end in a number."""
    if not name.isascii():
        return _split_any_number(name)
    opened = name[:-1] if name.endswith(("]", ")")) else name
    base = opened.rstrip("0123456789")
    number = opened[len(base) :]
    if not base and len(number) > 1:
        base, number = number[0], number[1:]
    if not number or len(number) > _MOST_DIGITS:
        return name, -1
    return base.rstrip(_GAP).rstrip(" _#:=-.[("), int(number)


def _split_any_number(name: str) -> tuple[str, int]:
    """``split_number`` for names with digits and blanks of any script."""
    match = _NUMBER.match(name)
    if match is None or len(match["number"]) > _MOST_DIGITS:
        return name, -1
    return match["base"].rstrip(" _#:=-.[("), int(match["number"])


@lru_cache(maxsize=1 << 16)
def bare_name(name: str) -> str:
    """The op type in a name: ``linear`` of ``aten::linear``, ``X`` of ``autograd::engine::evaluate_function: X``."""
    name = without_counters(name).removeprefix(EVALUATE)
    if re.fullmatch(r"[\w:.<>~-]+", name):
        name = re.sub(r"\.(?:default|out|Tensor|int|Scalar)\Z", "", name.rsplit("::", 1)[-1])
    return name or "op"


@lru_cache(maxsize=1 << 16)
def is_backward(name: str) -> bool:
    """Whether a range of this name is a backward op or an autograd node."""
    if "ackward" not in name and "gradient" not in name:
        return name.startswith(EVALUATE)
    return name.startswith(EVALUATE) or _BACKWARD.match(without_counters(name)) is not None


@lru_cache(maxsize=1 << 16)
def is_backward_node(name: str) -> bool:
    """Whether a range of this name is an autograd node, whose type is that of the op it differentiates."""
    return _NODE.match(without_counters(name).removeprefix(EVALUATE)) is not None


@lru_cache(maxsize=1 << 16)
def module_class(name: str) -> str:
    """``Linear`` for ``nn.Module: Linear_3``."""
    return _INSTANCE.sub("", module_instance(name)) or "Module"


@lru_cache(maxsize=1 << 16)
def module_instance(name: str) -> str:
    """``Linear_3`` for ``nn.Module: Linear_3``: the name of one module object of the model."""
    return without_counters(name).removeprefix("nn.Module:").removeprefix("layer:").strip()


_COLLECTIVES: Final = (
    (Expression(r"all_?reduce"), "all_reduce"),
    (Expression(r"all_?gather"), "all_gather"),
    (Expression(r"reduce_?scatter"), "reduce_scatter"),
    (Expression(r"all_?to_?all"), "all_to_all"),
    (Expression(r"broadcast|bcast"), "broadcast"),
    (Expression(r"barrier"), "barrier"),
    (Expression(r"recv"), "recv"),
    (Expression(r"send"), "send"),
    (Expression(r"scatter"), "scatter"),
    (Expression(r"gather"), "gather"),
    (Expression(r"reduce"), "reduce"),
)


@lru_cache(maxsize=1 << 16)
def collective_type(name: str) -> str:
    """The collective named in the name of a range or kernel (``all_reduce``); empty if there is none."""
    lower = name.lower()
    return next((result for pattern, result in _COLLECTIVES if pattern.search(lower)), "")


_CALL_OF_COLLECTIVE = Expression(r"_?c10d(?:_functional)?::")
_BACKEND_WITH_THREADS = Expression(r"(gloo|mpi|ucc):")


def is_call_of_collective(name: str) -> bool:
    """Whether a range is the program's call of a collective, rather than a backend's implementation."""
    return _CALL_OF_COLLECTIVE.match(name) is not None


def backend_with_threads(name: str) -> str:
    """The collective backend in a range's name, if it runs on a thread of its own (``gloo``); else empty."""
    match = _BACKEND_WITH_THREADS.match(name)
    return match[1] if match else ""


@lru_cache(maxsize=1 << 16)
def kernel_type(name: str) -> str:
    """The type of an op that is named after its kernel: the kernel's name without Triton's running number."""
    return _INSTANCE.sub("", name) if name.startswith("triton_") else name


@lru_cache(maxsize=1 << 16)
def region(name: str) -> str:
    """A wrapper's name as a part of a path: without graph and frame ids, and without slashes."""
    bare = re.sub(r"## (.*?) \w{20,} ##", r"\1", without_counters(name))
    return re.sub(r"[:\s]*\d+/\d+(?:_\d+)?\Z", "", bare.removeprefix(EVALUATE)).replace("/", "|").strip("# ")


_REFORMAT = Expression(r"(Reformatting CopyNode) for .*? (?:to|from) (.+)\Z", re.DOTALL)


@lru_cache(maxsize=1 << 10)
def is_layer_domain(domain: str) -> bool:
    """Whether the ranges of an NVTX domain are TensorRT layers, whose names list the nodes they fuse."""
    return domain.lower().startswith("tensorrt")


@lru_cache(maxsize=1 << 16)
def layer(name: str) -> tuple[str, str]:
    """Folder and type of a fused layer: ``/a/Conv_1 + /b/Relu`` is ``("/a", "Conv + Relu")``."""
    reformat = _REFORMAT.match(name)
    if reformat:
        return layer(reformat[2])[0], reformat[1]
    parts = [part.strip() for part in name.split(" + ")]
    folder = parts[0].rpartition("/")[0] if parts[0].startswith("/") else ""
    types = [_INSTANCE.sub("", part.rpartition("/")[2] if part.startswith("/") else part) for part in parts]
    return folder, " + ".join(kind or "layer" for kind in types)


@lru_cache(maxsize=1 << 16)
def graph_node(domain: str, name: str) -> tuple[str, str] | None:
    """Name and type of a node of TensorFlow's graph: ``MatMul: dense/MatMul`` is ``("dense/MatMul", "MatMul")``.

    None if the range is no such node.
    """
    result = _TENSORFLOW_NODE.match(name) if domain.lower().startswith("tensorflow") else None
    return None if result is None else (result["node"], result["kind"])


_STEP_WORD = Expression(
    r"(?:.*[^a-z])?(?:(?:mini|global|train(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|test|decode|generat\w*|sampl\w*|"
    r"inference|denois\w*|profiler)?[\s_.\-:/#]*(?:steps?|batch(?:es)?|iter(?:ation)?s?|epochs?|it))\Z",
    re.IGNORECASE,
    frozenset(("step", "batch", "epoch", "it")),
)
_STEP_CAMEL = Expression(r".*(?:Step|Batch|Iter|Iteration|Epoch)\Z")
STEP_HINTS: Final = ("step", "iter", "batch", "epoch", "execute", "decode", "prefill", "generat", "request")
PART_WORDS: Final = (
    *("layer", "block", "stage", "head", "expert", "rank", "gpu", "device", "bucket", "worker", "stream", "chunk"),
    *("micro", "module", "conv", "linear"),
)


_STEP_ENDINGS: Final = (
    *("step", "steps", "batch", "batches", "epoch", "epochs"),
    *("it", "iter", "iters", "iteration", "iterations"),
)


def counts_steps(base: str) -> bool:
    """Whether a numbered name counts steps (``step``, ``Batch``, ``train_iter``), not parts of a model (``layer``)."""
    if base.isascii() and not base.lower().endswith(_STEP_ENDINGS):
        return False
    if _holds(base, PART_WORDS):
        return False
    return _STEP_WORD.match(base) is not None or _STEP_CAMEL.match(base) is not None


_TURN_WORDS: Final = (
    *("run", "loop", "round", "cycle", "trial", "repeat", "repetition", "replay", "tick", "timed", "benchmark"),
    *("measure", "measured", "measurement", "warmup", "warm-up", "warm_up", "warm up", "inference", "generation"),
    *("prediction", "episode", "rollout", "update", "request", "prompt", "query", "frame", "image", "sample"),
    *("sentence", "token"),
)


def counts_turns(base: str) -> bool:
    """Whether a numbered name may count what a program does repeatedly: ``run``, ``VideoFrame``, ``measure``.

    This is less certain than for steps: a run may contain several iterations.
    """
    lowered = base.lower()
    if not lowered.endswith(_TURN_WORDS) or _holds(base, PART_WORDS):
        return False
    starts = (len(base) - len(word) for word in _TURN_WORDS if lowered.endswith(word))
    return any(not start or not base[start - 1].isalpha() or base[start].isupper() for start in starts)


def is_warm_up(base: str) -> bool:
    """Whether a numbered name is about warm-up: ``warmup``, ``Warm-up Step``."""
    return "warmup" in base.lower().translate(_NO_GAPS)


@lru_cache(maxsize=1 << 16)
def mentions_steps(name: str) -> bool:
    """Whether a name mentions something that a program does repeatedly, and no part of a model."""
    return _holds(name, STEP_HINTS) and not _holds(name, PART_WORDS)


def _holds(name: str, words: tuple[str, ...]) -> bool:
    return any(map(name.lower().__contains__, words))


@lru_cache(maxsize=1 << 16)
def template(name: str) -> str:
    """``name`` without its variable parts: ``step`` for ``step[DECODE bs=32]``, ``execute_N_new`` for
    ``execute_8_new``."""
    head = _FROM_BRACKET.sub("", name).strip(" _:-") or name
    return _DIGITS.sub("N", head)
