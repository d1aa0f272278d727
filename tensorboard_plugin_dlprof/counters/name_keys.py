"""Keys of kernel names that do not depend on the tool that demangled them.

NVIDIA's tools write ``f<(int)4, (bool)1>(T1 *)`` where PyTorch writes ``f<4, true>(float*)``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tensorboard_plugin_dlprof.classify.kernel_names import parse

_CAST: Final = re.compile(r"\((?:unsigned |signed )?[A-Za-z_][\w:]*(?: int| long)*\)(?=[-\w])")
_SUFFIX: Final = re.compile(r"(?<![\w.])(-?\d+)(?:[uU]?[lL]{0,2})(?![\w.])")
_TRUTH: Final = re.compile(r"\b(true|false)\b")


@lru_cache(maxsize=16_384)
def name_key(name: str) -> str:
    """The name without return type, parameters, casts and spaces."""
    text = _without_parameters(parse(name).text)
    text = _SUFFIX.sub(r"\1", _CAST.sub("", text))
    return _TRUTH.sub(lambda match: "1" if match[1] == "true" else "0", text).replace(" ", "")


def _without_parameters(text: str) -> str:
    """The text up to the first bracket that stands outside of template arguments."""
    depth = 0
    for place, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= text[place - 1] != "-"
        elif letter == "(" and depth <= 0 and place:
            return text[:place]
    return text
