"""The direction of an op in words. Databases hold DLProf's, which its reports repeat; all else says these."""

from __future__ import annotations

from collections.abc import Mapping

DIRECTIONS: Mapping[str, str] = {"fprop": "forward", "bprop": "backward"}
"""Our words by DLProf's."""


def direction_in_words(direction: str) -> str:
    """``forward``, ``backward``, or what else a database says."""
    return DIRECTIONS.get(direction, direction)


_CASES = " ".join(f"WHEN '{theirs}' THEN '{ours}'" for theirs, ours in DIRECTIONS.items())

DIRECTION_SQL = f"CASE direction.string {_CASES} ELSE direction.string END"
"""As ``direction_in_words``, of ``dictionary AS direction``; NULL stays NULL."""
