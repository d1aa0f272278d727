"""The list of reports."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.blocks import Block
from tensorboard_plugin_dlprof.reports.expert_systems import expert_systems_blocks
from tensorboard_plugin_dlprof.reports.kernels import kernel_blocks, tensor_blocks
from tensorboard_plugin_dlprof.reports.launches import iteration_blocks
from tensorboard_plugin_dlprof.reports.ops import detail_blocks, group_op_blocks, op_type_blocks
from tensorboard_plugin_dlprof.reports.summary import summary_blocks


class Report(msgspec.Struct, frozen=True):
    """One of DLProf's reports."""

    word: str
    """Its name on the command line."""
    file_stem: str
    """Its files are named ``<profile name>_<file_stem>.<format>``."""
    blocks: Callable[[sqlite3.Connection, Scope], Iterable[Block]]
    """Reads the report from a connection of ``database.connection.open_database``."""


REPORTS = {
    report.word: report
    for report in (
        Report("summary", "summary", summary_blocks),
        Report("detail", "detailed", detail_blocks),
        Report("iteration", "iteration", iteration_blocks),
        Report("kernel", "kernel", kernel_blocks),
        Report("tensor", "tensor_core", tensor_blocks),
        Report("op_type", "op_type", op_type_blocks),
        Report("group_op", "group_op", group_op_blocks),
        Report("expert_systems", "expert_systems", expert_systems_blocks),
    )
}
"""The reports by word, in DLProf's order."""

ALL = "all"

SYNONYMS = {"group_node": "group_op"}
"""Words of versions before 1.7."""


def selected_reports(words: Iterable[str]) -> list[Report]:
    """The reports with these names, each once, in the order of the catalog.

    Raises:
        BadRequest: A word is not the name of a report.
    """
    selected: set[str] = set()
    for word in words:
        word = SYNONYMS.get(word, word)
        if word != ALL and word not in REPORTS:
            raise BadRequest(f"There is no report {word[:40]!r}; there are {', '.join(REPORTS)} and {ALL}.")
        selected.update(REPORTS if word == ALL else (word,))
    return [report for word, report in REPORTS.items() if word in selected]
