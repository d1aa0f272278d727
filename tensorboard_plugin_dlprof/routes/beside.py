"""Columns of a baseline beside those of a profile's own tables."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.tables import types

TABLES = frozenset({"ops", "op_types", "ops_of_group", "ops_of_type", "ops_of_path", "ops_of_name"})
"""Tables that show a baseline where one is chosen."""

_COLUMNS = (
    ("a_ns", "A", "duration_ns", "Kernel time of the baseline, by unit of comparison."),
    ("b_ns", "B", "duration_ns", "Kernel time of this profile, by unit of comparison."),
    ("change_ns", "Change", "duration_ns", "Kernel time of B less that of A, by unit of comparison."),
)


def with_baseline(answer: dict[str, Any], found: Comparison) -> dict[str, Any]:
    """A page of a table with the kernel time of the baseline, and the change. Rows without counterpart have neither."""
    known = _of_types(found) if answer["key"] == "op_type" else _of_ops(found)
    for row in answer["rows"]:
        a_ns, b_ns = known.get(row[answer["key"]], (None, None))
        row.update(a_ns=a_ns, b_ns=b_ns, change_ns=None if a_ns is None or b_ns is None else b_ns - a_ns)
    columns = [
        {
            "key": key,
            "label": label,
            "type": kind,
            "description": description,
            "sortable": False,
            "filterable": False,
            "searchable": False,
            "hidden": False,
            "tier": 0,
        }
        for key, label, kind, description in _COLUMNS
    ]
    return {**answer, "columns": [answer["columns"][0], *columns, *answer["columns"][1:]]}


def _of_types(found: Comparison) -> dict[object, tuple[int | None, int | None]]:
    return {row["op_type"]: (row["a_ns"], row["b_ns"]) for row in types(found.rows)}


def _of_ops(found: Comparison) -> dict[object, tuple[int | None, int | None]]:
    """Ops of B that alone are a row: a row of several says nothing about one of them."""
    return {row.b[0].op_id: (row.a_ns, row.b_ns) for row in found.rows if len(row.b) == 1 and len(row.a) <= 1}
