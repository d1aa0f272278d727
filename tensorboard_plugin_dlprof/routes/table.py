"""Pages of tables."""

from __future__ import annotations

import sqlite3
from typing import Any

from tensorboard_plugin_dlprof.queries.iteration_tables import ITERATION_LINK
from tensorboard_plugin_dlprof.queries.page_answer import MAX_LIMIT, MAX_OFFSET, page_of
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Request, Table
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.routes.comparisons import SCOPE, Kept, tables_of
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.requests import LARGEST_ITERATION, Parameters
from tensorboard_plugin_dlprof.routes.timeline import with_gaps


def table(borrowed: Borrowed, scope: Scope, parameters: Parameters) -> dict[str, Any]:
    """The body of ``./table``."""
    found, request = asked(borrowed.connection, parameters)
    with with_gaps(borrowed, parameters) as rows:
        return page_of(rows.connection, found, scope, request, rows.counts)


def compared(kept: Kept, parameters: Parameters) -> dict[str, Any]:
    """The body of ``./table`` for a table of a comparison."""
    found, request = asked_of_comparison(parameters)
    with tables_of(kept) as connection:
        return page_of(connection, found, SCOPE, request, kept.counts)


def asked(connection: sqlite3.Connection, parameters: Parameters) -> tuple[Table, Request]:
    """The table that a request names, and the rows that it asks for.

    Raises:
        BadRequest: A parameter is missing or invalid.
        NotFound: There is no such table.
    """
    found = table_of(connection, parameters.required("table"))
    return found, _request(found, parameters)


def asked_of_comparison(parameters: Parameters) -> tuple[Table, Request]:
    """As ``asked``, for the tables of a comparison."""
    from tensorboard_plugin_dlprof.comparing.tables import TABLES

    found = TABLES[parameters.required("table")]
    return found, _request(found, parameters)


def _request(found: Table, parameters: Parameters) -> Request:
    links: dict[str, str | int] = {**parameters.named(found.links)}
    if ITERATION_LINK in links:
        iteration = parameters.integer(ITERATION_LINK, None, -LARGEST_ITERATION, LARGEST_ITERATION)
        links[ITERATION_LINK] = iteration if iteration is not None else ""
    return Request(
        offset=parameters.integer("offset", 0, 0, MAX_OFFSET) or 0,
        limit=_limit(parameters),
        sort=parameters.text("sort"),
        search=parameters.text("search"),
        filters=parameters.where(),
        links=links,
    )


def _limit(parameters: Parameters) -> int:
    limit = parameters.integer("limit", 25, 0, MAX_LIMIT)
    return 25 if limit is None else limit
