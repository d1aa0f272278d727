"""Which answers tell the efficiency of ops, and what has to be worked out for them: NVIDIA's databases tell none."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection
from typing import NamedTuple

from tensorboard_plugin_dlprof.queries.extension import is_extended, is_of_another_version
from tensorboard_plugin_dlprof.queries.findings import aggregated
from tensorboard_plugin_dlprof.routes.requests import Parameters, asked_scope

Measures = Callable[[Parameters], "bool | None"]
"""Whether an answer tells the efficiency of ops: true waits until it is worked out where the database does not hold it,
false tells it where it was, None never does."""


def never(_parameters: Parameters) -> None:
    """Of answers about something else."""


def always(_parameters: Parameters) -> bool:
    """Of answers about nothing else."""
    return True


def if_known(_parameters: Parameters) -> bool:
    """Of answers that tell it beside other things."""
    return False


def by_table(parameters: Parameters) -> bool:
    """Of tables: those of ops and groups tell causes beside other things."""
    return parameters.text("table") == "efficiency"


class Unmeasured(NamedTuple):
    """An aggregation of a database that does not tell the efficiency of its ops."""

    aggregation: int
    iter_start: int | None
    iter_stop: int | None
    key_op: str | None
    work_out: bool
    """Now; else it is told where it was before."""


def unmeasured(connection: Connection, parameters: Parameters, measures: Measures) -> Unmeasured | None:
    """What the answer needs beside the database; nothing where that holds it, or where it is not told."""
    work_out = measures(parameters)
    if work_out is None or is_extended(connection) or is_of_another_version(connection):
        return None
    scope = asked_scope(connection, parameters)
    return Unmeasured(scope.aggregation, *aggregated(connection, scope), work_out)
