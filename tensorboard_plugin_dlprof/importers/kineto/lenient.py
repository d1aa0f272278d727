"""Decodes what the typed decoder refuses, event by event: odd types, control characters, ``NaN``, bytes that are not
UTF-8; and repairs strings that PyTorch writes into a trace without escaping them.

In all versions so far (2.13), names of events may contain unescaped quotation marks: those of ``record_function``,
and of frames of code that was run from a string (pytorch issue 113001). Until 2.0, backslashes were not escaped either,
as in every path on Windows (issue 98432). The same holds for values of ``add_metadata``; those of
``add_metadata_json`` may be anything. A string that is not escaped ends where a quotation mark is followed by the next
key, or by the end of its object.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from decimal import Decimal
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.events.strings import valid_text
from tensorboard_plugin_dlprof.importers.kineto.events import DECODE_ERRORS, NO_ARGS, Event, ExactEvent
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_OPENING = re.compile(r'"[^"\\]*"\s*:\s*"')
"""A key and the quotation mark before its value."""

_TEXT = re.compile(r'"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"(?=\s*[,}])')
"""A value that is escaped correctly."""

_CLOSING = re.compile(r'"(?=\s*(?:,\s*"[^"\\]*"\s*:|,?\s*\}))')
"""The quotation mark after a value."""

_KEY = re.compile(r'"([^"\\]*)"\s*:\s*')
_BEHIND = re.compile(r"\s*[,}]")
_ANOTHER_EVENT = '"ph"'

_MOST_BROKEN_MEMBERS = 100
"""A limit, because for each of them all the text that follows may be searched."""


def decode_event(text: bytes, kind: type[Event]) -> Event | None:
    """The event in ``text``; values that make no sense count as absent. None if it is broken JSON or not an object."""
    try:
        return msgspec.json.decode(text, type=kind, strict=False)
    except DECODE_ERRORS:
        decoded = text.decode("utf-8", "replace")
    fields = _object(decoded, Decimal)
    if fields is None:
        return None
    args, category = fields.get("args"), fields.get("cat")
    return kind(
        ph=_text(fields.get("ph")),
        cat=",".join(map(_text, category)) if isinstance(category, list) else _text(category),
        name=_text(fields.get("name")),
        pid=_number_or_text(fields.get("pid")),
        tid=_number_or_text(fields.get("tid")),
        ts=_json(fields.get("ts")) if kind is ExactEvent else _number(fields.get("ts")),  # type: ignore[arg-type]
        dur=_number(fields.get("dur")),
        args=msgspec.Raw(json.dumps(args, default=float).encode()) if isinstance(args, dict) else NO_ARGS,
        id=_number_or_text(fields.get("id")),
    )


def decode_args(text: bytes | msgspec.Raw, kind: type[msgspec.Struct]) -> Any:
    """``args`` as a struct whose fields are numbers, texts or JSON; values of other types count as absent."""
    try:
        return msgspec.json.decode(text, type=kind, strict=False)
    except DECODE_ERRORS:
        fields = _object(bytes(text).decode("utf-8", "replace")) or {}
    known: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        value = fields.get(field.encode_name, field.default)
        if field.type is msgspec.Raw and field.encode_name in fields:
            known[field.name] = msgspec.Raw(json.dumps(value).encode())
        elif value is None or isinstance(value, (int, float, str)):
            known[field.name] = valid_text(value) if isinstance(value, str) else value
    return kind(**known)


def decode_members(text: bytes) -> tuple[dict[str, Any], bool]:
    """The members of a JSON object, and whether these are all; if it is broken, those that are intact."""
    decoded = text.decode("utf-8", "replace")
    members = _object(decoded)
    return (members, True) if members is not None else (_intact_members(decoded), False)


def _object(text: str, number: type[float | Decimal] = float) -> dict[str, Any] | None:
    """The JSON object in a text, whose strings may not be escaped; None if it is broken, or no object.

    Args:
        text: JSON.
        number: what numbers that are not whole become.
    """
    for mended in (str, escaped):
        with suppress(ValueError, RecursionError):
            fields = json.loads(mended(text), strict=False, parse_float=number)
            return fields if isinstance(fields, dict) else None
    return None


def _text(value: object) -> str:
    if isinstance(value, str):
        return valid_text(value)
    return str(value) if isinstance(value, (int, Decimal)) else ""


def _number_or_text(value: object) -> int | str:
    return valid_text(value) if isinstance(value, str) else whole_number(value)


def _number(value: object) -> float:
    """A number or text as a number; NaN if it is none."""
    try:
        return float(value) if isinstance(value, (int, str, Decimal)) and not isinstance(value, bool) else math.nan
    except (ValueError, ArithmeticError):
        return math.nan


def _json(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value, default=str).encode())


def escaped(text: str) -> str:
    """``text`` with all strings escaped that were not, as far as it is clear where they begin and end."""
    parts: list[str] = []
    copied = position = 0
    while opening := _OPENING.search(text, position):
        start = opening.end()
        if whole := _TEXT.match(text, start - 1):
            position = whole.end()
            continue
        closing = _CLOSING.search(text, start)
        if closing is None:
            break
        end, position = closing.span()
        if _ANOTHER_EVENT not in text[start:end]:
            parts += (text[copied:start], text[start:end].replace("\\", r"\\").replace('"', r"\""))
            copied = end
    return "".join(parts) + text[copied:]


def _intact_members(text: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    read_value = json.JSONDecoder(strict=False).raw_decode
    position = broken = 0
    while broken < _MOST_BROKEN_MEMBERS and (key := _KEY.search(text, position)):
        position = key.end()
        try:
            value, end = read_value(text, position)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if _BEHIND.match(text, end):
            members[key[1]] = value
            position = end
    return members
