"""The scope of a query: one aggregation in one NVTX domain."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

import msgspec

from tensorboard_plugin_dlprof.errors import NotADatabase, NotFound
from tensorboard_plugin_dlprof.queries.extension import shown_name
from tensorboard_plugin_dlprof.queries.numbers import whole

MAX_SCOPES = 1_000


class Scope(msgspec.Struct, frozen=True):
    """One aggregation in one NVTX domain."""

    aggregation: int
    """``aggregations.id``."""
    domain: int
    """``read_only_domains.id``."""
    domain_name: str
    iterations: int = 1
    """How many iterations sums are of; 1 where nobody knows."""


class Aggregation(TypedDict):
    """One choice of key op and iteration range."""

    id: int
    iter_start: int | None
    iter_stop: int | None
    iterations: int | None
    key_node: str
    label: str
    """The key op, or how else the iterations were found; empty if NVIDIA's database does not say."""


def aggregations(connection: sqlite3.Connection) -> list[Aggregation]:
    """All finished aggregations, ordered by id."""
    cursor = connection.execute(
        "SELECT aggr_id, iter_start, iter_stop, iter_aggregated, key_node_name FROM view_aggregations ORDER BY aggr_id"
    )
    labels = _labels(connection)
    result: dict[int, Aggregation] = {}
    for number, start, stop, count, key_node in cursor.fetchmany(MAX_SCOPES):
        if not isinstance(number, int):
            continue
        # A database with several domains has a row for each aggregation in each of them.
        result.setdefault(
            number,
            Aggregation(
                id=number,
                iter_start=whole(start),
                iter_stop=whole(stop),
                iterations=whole(count),
                key_node=str(key_node or ""),
                label=str(key_node or labels.get(number, "")),
            ),
        )
    return list(result.values())


def _labels(connection: sqlite3.Connection) -> dict[int, str]:
    """How the iterations of each aggregation were found, as far as the database says."""
    cursor = connection.execute("SELECT aggr_id, candidate_label FROM ext_aggregations")
    return {number: str(label or "") for number, label in cursor.fetchmany(MAX_SCOPES)}


def domains(connection: sqlite3.Connection, aggregation: int) -> list[str]:
    """Names of the NVTX domains that an aggregation has results for."""
    cursor = connection.execute(
        "SELECT name.string FROM model_summary AS summary JOIN read_only_domains AS domain "
        "ON domain.id = summary.domain_id JOIN dictionary AS name ON name.id = domain.domain_name_id "
        "WHERE summary.aggr_id = ? ORDER BY summary.domain_id",
        (aggregation,),
    )
    return [str(row[0]) for row in cursor.fetchmany(MAX_SCOPES)]


def find_scope(connection: sqlite3.Connection, aggregation: int | None = None, domain: str | None = None) -> Scope:
    """The scope of a request; by default, the first aggregation and its first domain.

    Raises:
        NotFound: there is no such aggregation or domain.
        NotADatabase: the database has no aggregation at all.
    """
    scopes = _scopes(connection)
    if not scopes:
        raise NotADatabase(f"{shown_name(connection)} holds no aggregated results; import its source again.")
    for scope in scopes:
        if aggregation in (None, scope.aggregation) and (not domain or domain == scope.domain_name):
            return scope
    wanted = f"aggregation {aggregation}" if aggregation is not None else f"domain {str(domain)[:80]!r}"
    known = (
        sorted({scope.aggregation for scope in scopes})
        if aggregation is not None
        else sorted({scope.domain_name for scope in scopes})
    )
    raise NotFound(f"The profile has no {wanted}; it has {', '.join(map(str, known))}.")


def _scopes(connection: sqlite3.Connection) -> list[Scope]:
    """All scopes, ordered by aggregation and domain; kept with the connection if the file does not change."""
    cache: dict[str, list[Scope]] = getattr(connection, "cache", {})
    result = cache.get("scopes")
    if result is None:
        cursor = connection.execute(
            "SELECT summary.aggr_id, summary.domain_id, name.string, summary.iter_aggregated "
            "FROM model_summary AS summary "
            "JOIN read_only_domains AS domain ON domain.id = summary.domain_id "
            "JOIN dictionary AS name ON name.id = domain.domain_name_id "
            "JOIN aggregations AS aggregation ON aggregation.id = summary.aggr_id "
            "ORDER BY summary.aggr_id, summary.domain_id"
        )
        result = cache["scopes"] = [
            Scope(row[0], row[1], str(row[2]), max(whole(row[3]) or 1, 1))
            for row in cursor.fetchmany(MAX_SCOPES)
            if isinstance(row[0], int) and isinstance(row[1], int)
        ]
    return result


def iteration_windows(con: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Number, start and stop (ns since the start of the capture) of every iteration, by start: those of the best way to
    divide the capture; of NVIDIA's databases, those of the first aggregation."""
    # What is no number in a damaged database counts as 0.
    columns = ", ".join(
        f"CAST(ifnull({name}, 0) AS INTEGER) AS {name}" for name in ("iter_value", "start_ns", "stop_ns")
    )
    return con.execute(f"SELECT {columns} FROM ext_iterations WHERE position = 0 ORDER BY start_ns").fetchall()
