"""Columns of a baseline beside those of a profile's own tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from tensorboard_plugin_dlprof.comparing.comparison import Comparison
from tensorboard_plugin_dlprof.comparing.recording import Op
from tensorboard_plugin_dlprof.comparing.tables import modules, types
from tensorboard_plugin_dlprof.database.path_pattern import path_pattern

_Known = Mapping[object, tuple[int | None, int | None]]
"""By the key of a row: times of A and B; None where they cannot be told apart from those of other rows."""

_COLUMNS = (
    ("a_ns", "A", "duration_ns", "Kernel time of the baseline, by unit of comparison."),
    ("b_ns", "B", "duration_ns", "Kernel time of this profile, by unit of comparison."),
    ("change_ns", "Change", "duration_ns", "Kernel time of B less that of A, by unit of comparison."),
)


def with_baseline(answer: dict[str, Any], name: str, found: Comparison) -> dict[str, Any]:
    """A page of a table of ``TABLES`` with the kernel time of the baseline, and the change.

    Rows without counterpart have neither.
    """
    known = TABLES[name](found)
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


def _of_types(found: Comparison) -> _Known:
    return {row["op_type"]: (row["a_ns"], row["b_ns"]) for row in types(found.rows)}


def _of_groups(found: Comparison) -> _Known:
    return {f"{row['path']}/": (row["a_ns"], row["b_ns"]) for row in modules(found.rows)}


def _of_ops(found: Comparison) -> _Known:
    """Ops of B that alone are a row: a row of several says nothing about one of them."""
    return {row.b[0].op_id: (row.a_ns, row.b_ns) for row in found.rows if len(row.b) == 1 and len(row.a) <= 1}


def _of_patterns(found: Comparison, own_name: int) -> _Known:
    """Sums over the ops of B of one pattern, and what they replace; a row of several says nothing about one of them."""
    known: dict[object, tuple[int | None, int | None]] = {}
    for row in found.rows:
        patterns = {_pattern(op, own_name) for op in row.b or row.a}
        for pattern in patterns:
            a_ns, b_ns = known.get(pattern, (0, 0))
            is_alone = len(patterns) == 1 and a_ns is not None and b_ns is not None
            known[pattern] = ((a_ns or 0) + row.a_ns, (b_ns or 0) + row.b_ns) if is_alone else (None, None)
    return known


def _pattern(op: Op, own_name: int) -> str:
    """As the key of ``op_paths`` and ``op_names``."""
    return f"{path_pattern(op.path, own_name)} {op.direction}"


TABLES: Mapping[str, Callable[[Comparison], _Known]] = MappingProxyType(
    {
        **dict.fromkeys(("ops", "ops_of_group", "ops_of_type", "ops_of_path", "ops_of_name"), _of_ops),
        "op_types": _of_types,
        "op_paths": partial(_of_patterns, own_name=0),
        "op_names": partial(_of_patterns, own_name=1),
        "groups": _of_groups,
    }
)
"""Tables that show a baseline where one is chosen."""
