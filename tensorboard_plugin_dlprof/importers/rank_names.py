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
_FOLDER = Expression(r"^rank[-_ ]?(\d{1,6})$", re.IGNORECASE)


def rank_from_name(path: Path) -> int:
    """The rank in the file's name; -1 if there is none."""
    for pattern in _PATTERNS:
        if found := pattern.search(path.name):
            return int(found[1])
    found = _FOLDER.search(path.parent.name)
    return int(found[1]) if found else -1
