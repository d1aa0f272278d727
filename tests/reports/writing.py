"""Reports as bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TextIO

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports.as_csv import write_csv
from tensorboard_plugin_dlprof.reports.as_html import write_html
from tensorboard_plugin_dlprof.reports.blocks import Block
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.shared_data import shared_data

Writer = Callable[[Iterable[Block], TextIO], None]


def golden(name: str) -> Path:
    """A file of the real run of DLProf 1.8.0."""
    return shared_data() / "dlprof-golden" / name


def dlprof_csv(word: str) -> bytes:
    """DLProf's own file of a report."""
    return golden(f"no_relu/dlprof_{REPORTS[word].file_stem}.csv").read_bytes()


def written(database: Path, word: str, write: Writer = write_csv) -> bytes:
    """One report of a database."""
    stream = io.StringIO(newline="")
    with closing(open_database(database)) as connection:
        write(REPORTS[word].blocks(connection, find_scope(connection)), stream)
    return stream.getvalue().encode()


def text_of(blocks: Iterable[Block], write: Writer) -> str:
    """Blocks in a format."""
    stream = io.StringIO(newline="")
    write(blocks, stream)
    return stream.getvalue()


def plain(page: str) -> str:
    """With spaces that end a line for those that do not."""
    return page.replace("\N{NO-BREAK SPACE}", " ")


def page_of(database: Path) -> str:
    """The page with all reports of a database."""
    stream = io.StringIO()
    with closing(open_database(database)) as connection:
        write_html(connection, find_scope(connection), list(REPORTS.values()), stream)
    return plain(stream.getvalue())
