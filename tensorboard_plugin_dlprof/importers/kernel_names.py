"""Short names of kernels, as Nsight Systems writes them in ``shortName``.

A demangled name is a C++ signature: ``void at::native::vectorized_elementwise_kernel<4, F>(int, F)``.
Its short name is the function's own name: no return type, namespaces, template arguments or
parameters. Names without a signature (``ampere_sgemm_128x64_nn``, ``triton_poi_fused_add_0``,
``Cijk_Ailk_Bljk_...``) are short already.
"""

from __future__ import annotations

from tensorboard_plugin_dlprof.expressions import Expression

_UNNAMED = Expression(r"\(anonymous namespace\)|<unnamed>|\(anonymous class\)")
_OPERATOR = Expression(r"\boperator\s*(\(\s*\)|<<|>>|<=>|<=|>=|->\*?|<|>|\[\s*\])")
_OPENING = "(<[{"
_CLOSING = ")>]}"


def short_kernel_name(name: str) -> str:
    """The function's own name in a demangled kernel name.

    A name that was cut in the middle of its signature keeps the part before its first bracket.
    """
    if "(" not in name and "<" not in name:
        return _own_name(name) if name.startswith("void ") else name
    text = _OPERATOR.sub("operator", _UNNAMED.sub("", name))
    return _own_name(_outside_brackets(text)) or name


def _outside_brackets(signature: str) -> str:
    """The text that stands in no bracket, up to the parameters.

    Template arguments may belong to the return type, so only a parenthesis ends the name.
    """
    kept: list[str] = []
    depth = 0
    for position, letter in enumerate(signature):
        if letter in _OPENING:
            if depth == 0 and letter == "(" and _ends_name(kept):
                rest = _after_parameters(signature, position)
                if not rest.startswith("::"):
                    break
            depth += 1
        elif letter in _CLOSING:
            if letter == ">" and position and signature[position - 1] == "-":
                continue
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(letter)
    return "".join(kept)


def _ends_name(kept: list[str]) -> bool:
    return bool(kept) and (kept[-1].isalnum() or kept[-1] in "_$")


def _after_parameters(signature: str, opening: int) -> str:
    """What follows the parenthesis that opens at ``opening``: ``::`` where a local entity (a lambda) is named."""
    depth = 0
    for position in range(opening, len(signature)):
        if signature[position] == "(":
            depth += 1
        elif signature[position] == ")":
            depth -= 1
            if depth == 0:
                rest = signature[position + 1 :]
                return rest.removeprefix(" const")
    return ""


def _own_name(text: str) -> str:
    words = text.strip().split()
    return words[-1].rsplit("::", 1)[-1] if words else ""
