"""Pages of tables."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.page_answer import TablePage, page_of
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.routes.comparisons import SCOPE, CachedComparison, table_of_comparison, tables_of
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.parameters import TableRequest
from tensorboard_plugin_dlprof.routes.timeline import with_gaps


def table(borrowed: Borrowed, asked: TableRequest) -> TablePage:
    """The body of ``./table``."""
    scope = find_scope(borrowed.connection, asked.aggregation, asked.domain)
    result = table_of(borrowed.connection, asked.table)
    with with_gaps(borrowed, asked) as rows:
        return page_of(rows.connection, result, scope, asked, rows.counts)


def compared(cached: CachedComparison, asked: TableRequest) -> TablePage:
    """The body of ``./table`` for a table of a comparison."""
    with tables_of(cached) as connection:
        return page_of(connection, table_of_comparison(asked.table), SCOPE, asked, cached.counts)
