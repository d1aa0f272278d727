"""Reads the path that JAX or TensorFlow gives an op: ``jit(train_step)/transpose(jvp(Model))/Dense_0/dot_general``.

Transformations wrap the names of the scopes they are applied to. ``transpose`` around ``jvp`` is the backward pass; the
name inside is the same in both passes, so that forward and backward of a layer are in one group.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_WRAPPED = re.compile(r"(\w+)\((.*)\)\Z", re.DOTALL)
_WRAPPERS = frozenset(
    (
        *("jit", "pjit", "xla_call", "pmap", "xla_pmap", "vmap", "shard_map", "jvp", "transpose", "custom_jvp"),
        *("custom_vjp", "checkpoint", "remat", "remat2", "rematted_computation", "named", "core_call", "closed_call"),
        *("batch",),
    )
)
_JIT = frozenset(("jit", "pjit"))
_COMPILED = _JIT | {"pmap", "xla_pmap"}
"""What is around the name of the compiled function, with which a path begins."""
_CONTROL_FLOW = frozenset(
    (
        *("while", "body", "cond", "closed_call", "scan", "main", "custom_vjp_call", "custom_jvp_call"),
        *("checkpoint", "rematted_computation", "remat", "remat2", "shard_map", "shmap_body", ""),
    )
)
_BRANCH = re.compile(r"branch_\d+_fun\Z")
_EINSUM = re.compile(r"[a-zA-Z,;.]+->[a-zA-Z.]*\Z")
_NEXT_PATH = re.compile(r";(?=\w+\()")
"""Between the paths of ops that XLA made into one. A formula in an annotation has semicolons for its commas."""
_CONSTRUCTOR = "~"
"""What Haiku writes behind a module whose constructor made the next."""
_CALL = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?\Z")
"""The call of a ``tf.function``."""
_REPLICA = re.compile(r"replica_\d+\Z")
_GRADIENT = re.compile(r"(?:gradient_tape|gradients?(?:_\d+)?|GradientTape)\Z")
_JNP_NAMES = frozenset(
    (
        *(
            "matmul",
            "dot",
            "einsum",
            "where",
            "clip",
            "take",
            "mean",
            "var",
            "std",
            "sum",
            "max",
            "min",
            "softmax",
            "relu",
        ),
        *("silu", "gelu", "swish", "one_hot", "log_softmax", "tril", "triu", "norm", "multiply", "add", "true_divide"),
    )
)
"""Functions of ``jax.numpy`` and ``jax.nn``, which are compiled apart but are no part of a model."""


class OpPath(msgspec.Struct, frozen=True):
    """What a path says."""

    module: str
    """The compiled function; empty if the path does not name it."""
    groups: tuple[str, ...]
    op_type: str
    """Empty if the path stops early."""
    backward: bool
    forward: bool
    """Whether it is marked as the forward pass of something that is differentiated (``jvp``)."""
    recomputed: bool
    """Whether it does forward work again, in the backward pass."""


@lru_cache(maxsize=1 << 16)
def read_jax_path(path: str) -> OpPath:
    """The parts of a path of JAX; of several paths those of the first."""
    segments = _segments(_NEXT_PATH.split(path, maxsplit=1)[0].removesuffix(":"))
    module = ""
    groups: list[str] = []
    op_type = ""
    backward = forward = recomputed = False
    for index, segment in enumerate(segments):
        name, wrappers = _unwrapped(segment)
        backward |= "transpose" in wrappers and "jvp" in wrappers
        forward |= "jvp" in wrappers
        recomputed |= name == "rematted_computation" or "rematted_computation" in wrappers
        is_last = index == len(segments) - 1
        if index == 0 and not _COMPILED.isdisjoint(wrappers):
            module = name
        elif is_last and not wrappers and not _is_control_flow(name):
            op_type = name.partition("[")[0]
        elif backward and "jvp" in wrappers and groups[-1:] == [name]:
            continue  # ``transpose(jvp(Model))/jvp(Model)/checkpoint/Block``: the same scope once more.
        elif not _is_no_scope(name, wrappers):
            groups += (each for each in name.split("/") if each != _CONSTRUCTOR)
    return OpPath(module, tuple(groups), op_type, backward, forward and not backward, recomputed)


def is_jax_path(path: str) -> bool:
    """Whether a path begins with a compiled function, as JAX's do."""
    match = _WRAPPED.match(_segments(path)[0])
    return match is not None and match[1] in _WRAPPERS


@lru_cache(maxsize=1 << 16)
def read_tensorflow_path(annotation: str) -> OpPath:
    """The parts of a node's name and type: ``replica_4/bert/dropout_1/GreaterEqual:GreaterEqual``."""
    node, colon, kind = annotation.partition("#")[0].rpartition(":")
    if not colon:
        node, kind = kind, ""
    segments = node.strip("/").split("/")
    groups = [each for each in segments[:-1] if not _CALL.match(each)]
    named = len(groups)
    groups = [each for each in groups if not _GRADIENT.match(each)]
    backward = len(groups) < named
    while groups and _REPLICA.match(groups[0]):
        del groups[0]
    if backward and groups and groups[-1].endswith("_grad"):  # TensorFlow 1's, in the place of the op itself.
        del groups[-1]
    return OpPath("", tuple(groups), kind or segments[-1], backward, not backward, recomputed=False)


def _is_no_scope(name: str, wrappers: set[str]) -> bool:
    """Whether a segment is control flow, an einsum's formula, or a function of JAX's own that is compiled apart."""
    own = not _JIT.isdisjoint(wrappers) and (name.startswith("_") or name in _JNP_NAMES)
    return own or _is_control_flow(name) or ("->" in name and _EINSUM.match(name) is not None)


def _is_control_flow(name: str) -> bool:
    return name in _CONTROL_FLOW or (name.startswith("branch_") and _BRANCH.match(name) is not None)


def _segments(path: str) -> list[str]:
    """The path split at slashes outside of brackets."""
    if "(" not in path and "[" not in path:
        return path.strip("/").split("/")
    segments: list[str] = []
    depth = 0
    for part in path.split("/"):
        if depth > 0:
            segments[-1] += f"/{part}"
        else:
            segments.append(part)
        depth += sum(map(part.count, "([")) - sum(map(part.count, ")]"))
    return segments


def _unwrapped(segment: str) -> tuple[str, set[str]]:
    """The name inside a segment, and the transformations around it."""
    wrappers: set[str] = set()
    while "(" in segment and (match := _WRAPPED.match(segment)) and match[1] in _WRAPPERS:
        wrappers.add(match[1])
        segment = match[2]
    return segment, wrappers
