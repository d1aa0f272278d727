"""The path of an op without what only counts repetitions, by which ops that do the same are summed and named."""

from __future__ import annotations

import re
from functools import lru_cache

_INDEX = re.compile(r"\[\d+\]")
"""As in ``Bottleneck[2]``."""

_NUMBER = re.compile(r"(?<![\dA-Za-z])\d+(?![\dA-Za-z])")
"""A number that is a word, as in ``layers.12`` or ``conv2d_12``; not that of ``conv2d`` or ``128x64``."""

_NUMBER_OF_MODULE = re.compile(r"\d+(?![\dA-Za-z])")
"""A number that ends a word, as in ``layer3``: modules have it, but names of ops such as ``gemm_a16w16`` mean it."""


_LONGEST_KEPT = 500
"""Letters. Paths are at most some hundred; longer ones would take the memory of all that are kept."""


def path_pattern(path: str, own_name: int = 0) -> str:
    """The path with ``*`` in place of numbers that count repetitions, and without indices in brackets.

    Args:
        path: of an op, such as ``/ResNet/layer3/Bottleneck[2]/conv1/conv2d``.
        own_name: 1 for the last part alone, ``conv2d``.
    """
    text = str(path)
    return _known(text, own_name) if len(text) <= _LONGEST_KEPT else _pattern(text, own_name)


def _pattern(path: str, own_name: int) -> str:
    modules, slash, name = _INDEX.sub("", path).rpartition("/")
    name = _NUMBER.sub("*", name)
    return name if own_name else f"{_NUMBER_OF_MODULE.sub('*', modules)}{slash}{name}"


_known = lru_cache(1 << 14)(_pattern)
"""A page of groups asks several times for the patterns of all ops."""
