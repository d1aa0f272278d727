"""The memory of the GPUs: the answer about the peak, the curve, any moment."""

from __future__ import annotations

import sqlite3
from typing import Any

from tensorboard_plugin_dlprof.queries.memory import MOST_BINS, memory, memory_at, memory_curve, memory_segments
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.routes.requests import Parameters

_LATEST = 10**18
_BINS = 800


def answer(connection: sqlite3.Connection, _scope: Scope, _parameters: Parameters) -> Any:
    """The body of ``./memory``."""
    return memory(connection)


def curve(connection: sqlite3.Connection, _scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./memory_curve``."""
    return memory_curve(
        connection,
        parameters.integer("device", 0, 0, _LATEST) or 0,
        parameters.integer("from", None, -_LATEST, _LATEST),
        parameters.integer("to", None, -_LATEST, _LATEST),
        parameters.integer("bins", _BINS, 1, MOST_BINS) or _BINS,
    )


def segments(connection: sqlite3.Connection, _scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./memory_segments``."""
    return memory_segments(connection, parameters.integer("device", 0, 0, _LATEST) or 0)


def moment(connection: sqlite3.Connection, _scope: Scope, parameters: Parameters) -> Any:
    """The body of ``./memory_at``."""
    time = parameters.integer("time", 0, -_LATEST, _LATEST) or 0
    return memory_at(connection, parameters.integer("device", 0, 0, _LATEST) or 0, time)
