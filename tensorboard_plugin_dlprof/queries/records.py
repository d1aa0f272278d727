"""Reads rows of a SELECT as a declared response: each column into the field of its name, by the type of the field."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from tensorboard_plugin_dlprof.queries.numbers import number, whole

_Record = TypeVar("_Record")


def records(
    connection: sqlite3.Connection,
    kind: type[_Record],
    select: str,
    values: Sequence[Any] | Mapping[str, Any] = (),
    most: int = 1_000,
    **others: Callable[[Any], Any],
) -> list[_Record]:
    """The rows of a SELECT whose columns have the names of the fields of ``kind``, a ``TypedDict``.

    Args:
        connection: to a database.
        kind: what each row becomes.
        select: the statement.
        values: of its parameters.
        most: rows that are read; a limit for damaged databases. Their values of other types are unknown (None).
        others: how to convert values of fields that are not numbers, texts or booleans.
    """
    cursor = connection.execute(select, values)
    names = [str(column[0]) for column in cursor.description]
    known: Any = kind
    converters = [others.get(name) or _converters(known)[name] for name in names]
    return [
        kind(**{name: convert(value) for name, convert, value in zip(names, converters, row, strict=True)})
        for row in cursor.fetchmany(most)
    ]


@cache
def _converters(kind: type[Any]) -> dict[str, Callable[[Any], Any]]:
    return {name: _converter(set(get_args(hint)) or {hint}) for name, hint in get_type_hints(kind).items()}


def _converter(types: set[Any]) -> Callable[[Any], Any]:
    if float in types:
        return number
    if bool in types:
        return bool
    return whole if int in types else str
