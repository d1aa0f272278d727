"""Parses Python literals: dicts, lists, tuples, strings and numbers. Nothing is ever evaluated.

Python's own parser is slow, and a program may write a different literal for each of its ops. Most literals differ from
JSON only in quotes, tuples and ``None``. These are converted to JSON, which is parsed much faster.
"""

from __future__ import annotations

import ast
import re
import warnings

import msgspec

_JSON = msgspec.json.Decoder()

_TUPLE = re.compile(r"\((?:\s*[^\s,()\[\]{}][^,()\[\]{}]*,[^()\[\]{}]*)?\)")
"""A tuple without inner brackets, whose commas would not be its own. Parentheses around a single value without a comma
do not match, as they make no tuple."""

_NAMES_OF_JSON = re.compile(r"true|false|null")


def read_literal(text: str) -> object:
    """The value of a literal, with tuples as tuples or lists; ``None`` if the text is not a literal."""
    as_json = _as_json(text)
    if as_json:
        try:
            return _JSON.decode(as_json)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _as_json(text: str) -> str:
    """JSON of the same value, or invalid JSON if only Python's own parser can read the text.

    Empty for literals with escapes, with both kinds of quotes, or with parentheses that may not be tuples.
    """
    quote = '"' if "'" not in text else "'"
    if "\\" in text or (quote == "'" and '"' in text) or not text.isprintable():
        return ""
    # Strings are at odd indices. If the last quote is not closed, the result is invalid JSON too.
    parts = text.split(quote)
    outside = '""'.join(parts[::2])
    if not len(_TUPLE.findall(outside)) == outside.count("(") == outside.count(")") or _NAMES_OF_JSON.search(outside):
        return ""
    parts[::2] = map(_structure_as_json, parts[::2])
    return '"'.join(parts)


def _structure_as_json(structure: str) -> str:
    if "(" in structure or ")" in structure:
        structure = structure.replace(",)", "]").replace("(", "[").replace(")", "]")
    if "e" in structure:
        structure = structure.replace("None", "null").replace("True", "true").replace("False", "false")
    return structure
