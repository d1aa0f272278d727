"""The reports that there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.blocks import Block
from tensorboard_plugin_dlprof.reports.summary import summary_blocks


@dataclass(slots=True, frozen=True)
class Report:
    """One report of DLProf's."""

    word: str
    """What the user calls it on the command line."""
    file_stem: str
    """Its file is ``<profile name>_<file_stem>.<format>``."""
    blocks: Callable[[sqlite3.Connection, Scope], Iterable[Block]]
    """From a connection of ``database.connection.open_database`` to what the report shows."""


REPORTS = {report.word: report for report in (Report("summary", "summary", summary_blocks),)}
"""By word."""
