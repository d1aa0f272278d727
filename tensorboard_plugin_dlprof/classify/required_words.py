"""Words without which a regular expression cannot be found: a test that costs less than compiling the expression.

There are some 400 rules, and compiling their expressions takes longer than classifying the kernels of a small trace.
Most rules are of libraries that a trace does not use, and a look for ``winograd`` in a name tells as much.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NOISE = re.compile(r"(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$])(?:[?*+]|\{[^}]*\})*")
"""Escapes, classes and anchors with what follows them: they need no word."""

_TOKEN = re.compile(
    r"\(\?<?[=!]"  # looks ahead or behind
    r"|\((?:\?[a-zA-Z-]*:?)?"  # a group
    r"|[)|]"
    r"|[?*]|\{[^}]*\}"  # makes optional what stands before
    r"|[A-Za-z0-9_:]+(?![?*{])"  # letters, all of them needed
    r"|.",
    re.DOTALL,
)
_LOOKS: Final = ("(?=", "(?!", "(?<=", "(?<!")

Words = frozenset[str]
"""In lower case; at least one stands in each text that matches. Empty: nothing is known of it."""

NOTHING: Final[Words] = frozenset()


@lru_cache(maxsize=1024)
def required_words(pattern: str) -> Words:
    """Words of which every ASCII text that ``pattern`` is found in holds at least one, compared in lower case.

    Args:
        pattern: A regular expression without named groups, back references, conditions, comments and the verbose flag.
    """
    outer: list[tuple[list[Words], Words, bool]] = []  # of the groups around: alternatives, best word, only looks
    alternatives: list[Words] = []
    best = last = NOTHING  # of the alternative so far; of the item before, which the next token may make optional
    looks = False
    for token in _TOKEN.findall(_NOISE.sub(" ", pattern)):
        first = token[0]
        if first in "?*{":
            last = NOTHING
            continue
        if last:
            best, last = _better(best, last), NOTHING
        if first == "|":
            alternatives.append(best)
            best = NOTHING
        elif first == "(":
            outer.append((alternatives, best, looks))
            alternatives, best, looks = [], NOTHING, token in _LOOKS
        elif first == ")":
            last = NOTHING if looks else _any_of((*alternatives, best))
            alternatives, best, looks = outer.pop()
        elif len(token) > 2:
            last = frozenset((token.lower(),))
    return _any_of((*alternatives, _better(best, last)))


def _any_of(alternatives: tuple[Words, ...]) -> Words:
    return frozenset().union(*alternatives) if all(alternatives) else NOTHING


def _better(one: Words, other: Words) -> Words:
    """The one that rules more texts out: with the longer words, then with fewer."""
    if not one or not other:
        return one or other
    return max(one, other, key=lambda words: (min(map(len, words)), -len(words)))
