"""Values that Python literals write: dicts, lists, tuples, texts and numbers. Nothing is ever evaluated.

Python's own parser takes 200 microseconds for a literal of 100 characters, and a program may write another one for each
of its ops. Most are JSON but for quotes, tuples and ``None``: those are made JSON, which is read in a fiftieth of that.
"""

from __future__ import annotations

import ast
import re
import warnings

import msgspec

_JSON = msgspec.json.Decoder()

_TUPLE = re.compile(r"\((?:\s*[^\s,()\[\]{}][^,()\[\]{}]*,[^()\[\]{}]*)?\)")
"""With no other brackets in it, whose commas would not be its own: those around one value say nothing."""

_NAMES_OF_JSON = re.compile(r"true|false|null")


def read_literal(text: str) -> object:
    """The value of a literal, tuples as tuples or lists; ``None`` where the text is no literal."""
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
    """JSON that is the same value, or no JSON at all, where Python's rules alone tell: the caller has to ask Python.

    Empty for literals with escapes, with both quotes, or with brackets that may be no tuple.
    """
    quote = '"' if "'" not in text else "'"
    if "\\" in text or (quote == "'" and '"' in text) or not text.isprintable():
        return ""
    # Texts, at odd places, and what stands between them. Where no quote closes one, the JSON is none either.
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
