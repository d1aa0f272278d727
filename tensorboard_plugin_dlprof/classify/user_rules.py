"""Reads a user's own kernel rules from a JSON file.

::

    {"rules": [
      {"name": "our-gemm", "function": "^acme::.*gemm", "matrix_unit": "yes", "family": "gemm",
       "library": "acme", "precision": "bf16", "note": "wgmma on bf16"},
      {"name": "our-norm", "function": "^acme::", "full_name": "RmsNorm", "matrix_unit": "no",
       "family": "normalisation"}
    ]}

``name``, ``matrix_unit`` (yes, no or unknown), ``family`` and at least one of ``function`` and ``full_name`` are
required. The latter two are Python regular expressions that may match anywhere: ``function`` in the qualified name
without template arguments, ``full_name`` in the whole name. A rule applies if all of its expressions match. The first
rule that applies decides; these rules come before those of this package. A rule is shown as ``user:`` and its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.rules.rule import Rule
from tensorboard_plugin_dlprof.classify.vocabulary import FAMILIES, PRECISIONS
from tensorboard_plugin_dlprof.errors import BadRequest, no_file, reason_of

MAXIMUM_BYTES: Final = 1 << 20
_KEYS: Final = ("name", "function", "full_name", "matrix_unit", "family", "library", "precision", "note")
_UNITS: Final = {unit.name.lower(): unit for unit in MatrixUnit}
_HELP: Final = "the README of the folder classify describes the format"


def load_user_rules(path: Path) -> tuple[Rule, ...]:
    """Load the rules of a file, in order.

    Raises:
        NotFound: The path does not exist or is not a regular file.
        BadRequest: The file cannot be read or its content is invalid; the message says which rule is wrong, and why.
    """
    try:
        if not path.is_file():
            raise no_file(path, "kernel rules")
        with path.open("rb") as file:
            content = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"{path}: the kernel rules cannot be read: {reason_of(error)}.") from None
    if len(content) > MAXIMUM_BYTES:
        raise BadRequest(f"{path} is not a file of kernel rules: it is larger than 1 MB; {_HELP}.")
    return parse_user_rules(content, str(path))


def parse_user_rules(content: bytes, shown: str) -> tuple[Rule, ...]:
    """Parse the content of a rules file.

    Args:
        content: JSON in UTF-8.

    Raises:
        BadRequest: As for ``load_user_rules``.
    """
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadRequest(f"{shown}: the kernel rules are not UTF-8 text; save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits are no JSONDecodeError
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadRequest(f"{shown}: the kernel rules are not valid JSON{where}; {_HELP}.") from None
    entries = document.get("rules") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise BadRequest(f'{shown}: the kernel rules need a list called "rules"; {_HELP}.')
    rules: list[Rule] = []
    for number, entry in enumerate(entries, 1):
        try:
            rules.append(_rule(entry))
        except _Wrong as wrong:
            raise BadRequest(f"{shown}: kernel rule {number} {wrong}; {_HELP}.") from None
        if any(rule.name == rules[-1].name for rule in rules[:-1]):
            name = rules[-1].name.removeprefix("user:")
            raise BadRequest(
                f'{shown}: kernel rule {number} is the second one called "{name}"; give each its own name.'
            )
    return tuple(rules)


class _Wrong(Exception):
    """A rule is invalid; the message completes the sentence "kernel rule 1 ..."."""


def _rule(entry: Any) -> Rule:
    if not isinstance(entry, dict):
        raise _Wrong("is not an object")
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise _Wrong(f'has an unknown key "{unknown[0]}" (there are {", ".join(_KEYS)})')
    texts = {key: entry.get(key, "") for key in _KEYS}
    wrong = [key for key, value in texts.items() if not isinstance(value, str)]
    if wrong:
        raise _Wrong(f'has a "{wrong[0]}" that is not a text')
    if not texts["name"]:
        raise _Wrong("has no name")
    if not texts["function"] and not texts["full_name"]:
        raise _Wrong('has neither "function" nor "full_name"')
    return Rule(
        f"user:{texts['name']}",
        _UNITS[_one_of(texts["matrix_unit"], tuple(_UNITS), "matrix_unit")],
        _one_of(texts["family"], FAMILIES, "family"),
        texts["library"] or "custom",
        _pattern(texts["function"], "function"),
        _one_of(texts["precision"], ("", *PRECISIONS), "precision"),
        _pattern(texts["full_name"], "full_name"),
        texts["note"],
        knows_better=True,
    )


def _one_of(value: str, allowed: Sequence[str], key: str) -> str:
    if value not in allowed:
        has = f'has the {key} "{value}"' if value else f"has no {key}"
        raise _Wrong(f"{has}; it must be one of {', '.join(filter(None, allowed))}")
    return value


def _pattern(text: str, key: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise _Wrong(f'has a "{key}" that is not a valid regular expression: {error}') from None
    return text
