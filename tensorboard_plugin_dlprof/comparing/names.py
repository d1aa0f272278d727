"""Names as far as they survive another build, another tile size or another layer number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_NUMBER = re.compile(r"\d+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_SIZE = re.compile(r"_\d+(?:x\d+)*(?=_|\Z)")
_ANONYMOUS = re.compile(r"<unnamed>|\(anonymous namespace\)|\{anonymous\}")
_BRACKETS = re.compile(r"[<>()\[\]{}]")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")
"""What numbers, underscores and capitals part; types such as ``f16`` are none."""
_OPENING = frozenset("<([{")


@lru_cache(maxsize=8_192)
def normal_kernel_name(name: str) -> str:
    """A kernel's name without namespaces, template arguments, parameters, and numbers between underscores:
    ``volta_sgemm_128x64_tn`` becomes ``volta_sgemm_tn``."""
    depth, retained, place = 0, [], 0
    text = _ANONYMOUS.sub("", _HEXADECIMAL.sub("", name))
    for bracket in _BRACKETS.finditer(text):
        if depth == 0:
            retained.append(text[place : bracket.start()])
        depth = depth + 1 if bracket[0] in _OPENING else max(depth - 1, 0)
        place = bracket.end()
    if depth == 0:
        retained.append(text[place:])
    head = "".join(retained).strip().rpartition("::")[2].rpartition(" ")[2]
    return _SIZE.sub("", head) or name


class Likeness:
    """How alike kernels of A and of B are by the words of their names: ``dgrad`` says what one kernel of an op does,
    ``gemm`` says less if others have it, too."""

    def __init__(self, a: Iterable[str], b: Iterable[str]) -> None:
        """Of the names of both sides."""
        self._a, self._b = (Counter(word for name in set(side) for word in _words(name)) for side in (a, b))

    def __call__(self, a: str, b: str) -> float:
        """The more, the more alike."""
        return sum(1 / (self._a[word] * self._b[word]) for word in sorted(_words(a) & _words(b)))


@lru_cache(maxsize=8_192)
def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


def without_numbers(path: str) -> str:
    """A path with ``#`` in place of every number: all layers of a model share it."""
    return _NUMBER.sub("#", path)
