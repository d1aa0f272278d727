"""Words without which a regular expression cannot be found: a test that costs less than compiling the expression.

There are some 400 rules, and compiling their expressions takes longer than classifying the kernels of a small trace.
Most rules are of libraries that a trace does not use, and a look for ``winograd`` in a name tells as much.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_TOKEN = re.compile(
    r"\\."  # an escape
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"  # a class
    r"|\(\?<?[=!]"  # looks ahead or behind
    r"|\((?:\?[a-zA-Z-]*:?)?"  # a group
    r"|[)|]"
    r"|[?*]|\{[^}]*\}"  # makes optional what stands before
    r"|[A-Za-z0-9_:]+(?![?*{])"  # letters, all of them needed
    r"|.",
    re.DOTALL,
)
_LETTERS = re.compile(r"[A-Za-z0-9_:]{3,}\Z")
_LOOKS: Final = ("(?=", "(?!", "(?<=", "(?<!")

Words = frozenset[str]
"""In lower case; at least one stands in each text that matches. Empty: nothing is known of it."""

_NOTHING: Final[Words] = frozenset()


class _Group(NamedTuple):
    """An open group: its finished alternatives, and whether it only looks."""

    alternatives: list[Words]
    looks: bool


@lru_cache(maxsize=1024)
def required_words(pattern: str) -> Words:
    """Words of which every ASCII text that ``pattern`` is found in holds at least one, compared in lower case.

    Args:
        pattern: A regular expression without back references, conditions, comments and the verbose flag.
    """
    groups = [_Group([], False)]
    best_of = [_NOTHING]  # of the alternative that is being read, for each open group
    last = _NOTHING  # of the item before: counts once it is known not to be optional
    for token in _TOKEN.findall(pattern):
        if token in "?*" or token[0] == "{":
            last = _NOTHING
            continue
        best_of[-1] = _better(best_of[-1], last)
        last = _NOTHING
        if token == "|":
            groups[-1].alternatives.append(best_of[-1])
            best_of[-1] = _NOTHING
        elif token == ")":
            group = groups.pop()
            last = _NOTHING if group.looks else _any_of((*group.alternatives, best_of.pop()))
            if group.looks:
                best_of.pop()
        elif token[0] == "(":
            groups.append(_Group([], token in _LOOKS))
            best_of.append(_NOTHING)
        elif _LETTERS.match(token):
            last = frozenset((token.lower(),))
    return _any_of((*groups[0].alternatives, _better(best_of[0], last)))


def _any_of(alternatives: tuple[Words, ...]) -> Words:
    return frozenset().union(*alternatives) if all(alternatives) else _NOTHING


def _better(one: Words, other: Words) -> Words:
    """The one that rules more texts out: with the longer words, then with fewer."""
    if not one or not other:
        return one or other
    return max(one, other, key=lambda words: (min(map(len, words)), -len(words)))
