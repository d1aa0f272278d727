"""Short names of kernels, as Nsight Systems writes them in ``shortName``.

A demangled name is a C++ signature: ``void at::native::vectorized_elementwise_kernel<4, F>(int, F)``.
Its short name is the function's own name: no return type, namespaces, template arguments or
parameters. Names without a signature (``ampere_sgemm_128x64_nn``, ``triton_poi_fused_add_0``,
``Cijk_Ailk_Bljk_...``) are short already.
"""

from __future__ import annotations

import re

from tensorboard_plugin_dlprof.expressions import Expression

_UNNAMED = Expression(r"\(anonymous namespace\)|<unnamed>|\(anonymous class\)")
_OPERATOR = Expression(r"\boperator\s*(\(\s*\)|<<|>>|<=>|<=|>=|->\*?|<|>|\[\s*\])")
_OPENING = "(<[{"
_BRACKETS = re.compile(r"[()<>\[\]{}]").finditer
_PARENTHESES = re.compile(r"[()]").finditer


def short_kernel_name(name: str) -> str:
    """The function's own name in a demangled kernel name.

    A name that was cut in the middle of its signature keeps the part before its first bracket.
    """
    if "(" not in name and "<" not in name:
        return _own_name(name) if name.startswith("void ") else name
    text = _OPERATOR.sub("operator", _UNNAMED.sub("", name))
    return _own_name(_outside_brackets(text)) or name


def _outside_brackets(signature: str) -> str:
    """The text outside all brackets, up to the parameters.

    Template arguments may belong to the return type, so only a parenthesis ends the name.
    """
    outside = ""
    depth = begin = 0
    for bracket in _BRACKETS(signature):
        position, letter = bracket.start(), bracket[0]
        if depth == 0:
            outside += signature[begin:position]
            begin = position + 1
        if letter in _OPENING:
            if depth == 0 and letter == "(" and _ends_name(outside):
                rest = _after_parameters(signature, position)
                if not rest.startswith("::"):
                    return outside
            depth += 1
        elif letter != ">" or signature[position - 1 : position] != "-":
            depth = max(0, depth - 1)
            begin = position + 1
    return outside + signature[begin:] if depth == 0 else outside


def _ends_name(text: str) -> bool:
    return text[-1:].isalnum() or text.endswith(("_", "$"))


def _after_parameters(signature: str, opening: int) -> str:
    """What follows the parenthesis that opens at ``opening``: ``::`` if a local entity (a lambda) is named."""
    depth = 0
    for bracket in _PARENTHESES(signature, opening):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return signature[bracket.end() :].removeprefix(" const")
    return ""


def _own_name(text: str) -> str:
    words = text.strip().split()
    return words[-1].rsplit("::", 1)[-1] if words else ""
