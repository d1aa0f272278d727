"""Unknown numbers of a column as None, which SQLite stores as NULL."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def positive_or_none(values: npt.NDArray[np.integer]) -> list[int | None]:
    """The values, with None for those below 0, which stand for unknown."""
    return _or_none(values, values >= 0)


def finite_or_none(values: npt.NDArray[np.floating[Any]]) -> list[float | None]:
    """The values, with None for NaN and infinity, which stand for unknown."""
    return _or_none(values, np.isfinite(values))


def _or_none(values: npt.NDArray[Any], is_known: npt.NDArray[np.bool_]) -> list[Any]:
    known = values.astype(object)
    known[~is_known] = None
    return list(known.tolist())
