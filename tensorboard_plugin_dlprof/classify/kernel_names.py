"""The parts of a kernel's name that rules look at."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ANONYMOUS = re.compile(r"(?:\(anonymous namespace\)|<unnamed>|\{anonymous\}|_GLOBAL__N_\d*)::")
_NOISE = re.compile(r"^(?:static |inline |__global__ |void |auto )+")
_ITANIUM_WORD = re.compile(r"(\d+)")
_ENDS_HEAD: Final = ("<", "(", "[")
_SUFFIXES = re.compile(r"(?:\.kd|\s*\[clone [^\]]*\])+\Z")

_MAXIMUM_LENGTH: Final = 20_000
"""Names longer than this are cut before they are matched: a demangled lambda can fill megabytes."""


class KernelName(NamedTuple):
    """One name, taken apart."""

    head: str
    """Qualified function name without return type, template arguments and parameters: ``at::native::reduce_kernel``."""
    text: str
    """The whole name, without anonymous namespaces."""


def parse(name: str) -> KernelName:
    """Takes a demangled, mangled or plain kernel name apart. Never fails."""
    text = _SUFFIXES.sub("", name.strip()[:_MAXIMUM_LENGTH])
    if text.startswith("_Z"):
        return KernelName(_mangled_head(text), text)
    text = _ANONYMOUS.sub("", _NOISE.sub("", text))
    ends = [index for mark in _ENDS_HEAD if (index := text.find(mark)) > 0]
    return KernelName(text[: min(ends)].strip() if ends else text, text)


def _mangled_head(text: str) -> str:
    """Function name of an Itanium-mangled symbol, namespaces joined with ``::``; the symbol itself if it is none.

    Reads ``_Z`` ``N``? (``<length><identifier>``)*; template arguments (``I``) end it. The rest of the grammar does not
    occur in the names of ``__global__`` functions.
    """
    position = 2
    nested = text[position : position + 1] == "N"
    if nested:
        position += 1
        while text[position : position + 1] in ("K", "V", "r"):
            position += 1
    elif text[position : position + 1] == "L":
        position += 1
    words: list[str] = []
    while length := _ITANIUM_WORD.match(text, position):
        size = int(length.group(1))
        start = length.end()
        if size > len(text) - start:
            break
        words.append(text[start : start + size])
        position = start + size
        if not nested or text[position : position + 1] in ("I", "E", "C", "D"):
            break
    kept = [word for word in words if not word.startswith("_GLOBAL__N")]
    return "::".join(kept) or text
