"""The rank in the name of a profile's file or folder, as tools and people write it.

``rank-0.Apr_03.1102.pt.trace.json.gz``, ``rank0_trace.json.gz``, ``profile_rank_0.json``, ``trace_rank[3].json``,
``model-TP-0.json.gz``; a folder ``rank_3``. ``worker3_step_12...`` numbers workers, but ``worker0.<time>`` is
what PyTorch's recorder calls every rank if the user did not name it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tensorboard_plugin_dlprof.expressions import Expression

_PATTERNS = (
    Expression(r"(?:^|[^a-z])rank[-_ ]?\[?(\d{1,6})(?!\d)", re.IGNORECASE),
    Expression(r"(?:^|[-_.])tp[-_](\d{1,6})(?!\d)", re.IGNORECASE, frozenset(("tp-", "tp_"))),
    Expression(r"^worker[-_ ]?(\d{1,6})_", re.IGNORECASE),
)
_HIGHEST = 999_999

_FOLDER = Expression(r"^rank[-_ ]?(\d{1,6})$", re.IGNORECASE)


def rank_from_name(path: Path, expression: str = "") -> int:
    """The rank in the file's name; -1 if there is none.

    Args:
        expression: a regular expression of the user's, whose first group is the rank. It is searched for in the whole
            path, with slashes; where it does not match, our own rules hold.
    """
    if expression and (of_user := re.search(expression, path.as_posix())) and (of_user[1] or "").isdecimal():
        return min(int(of_user[1]), _HIGHEST)
    for pattern in _PATTERNS:
        if match := pattern.search(path.name):
            return int(match[1])
    match = _FOLDER.search(path.parent.name)
    return int(match[1]) if match else -1
