"""Remembers what a function returns, because the columns of a profile have few different values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MOST = 1 << 16
"""A limit, since all values of a column may differ."""


class Memo(dict[Any, Any]):
    """What a function returns for each key: a known key costs one look-up."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: Any) -> Any:
        value = self._function(key)
        if len(self) < _MOST:
            self[key] = value
        return value
