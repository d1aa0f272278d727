"""Words without which a regular expression cannot be found: a test that costs less than compiling the expression.

There are some 400 rules, and compiling their expressions takes longer than classifying the kernels of a small trace.
Most rules are of libraries that a trace does not use, and a look for ``winograd`` in a name tells as much.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Final

_TOKEN = re.compile(
    r"([A-Za-z0-9_:]{3,}(?![?*{])"  # letters, all of them needed
    r"|\(\?<?[=!]|\(\?p<\w+>|\((?:\?[a-z-]*:?)?"  # looks ahead or behind, or opens a group
    r"|[)|]"
    r"|[?*]|\{[^}]*\})"  # makes optional what stands before
    # Escapes, classes, anchors, too few letters, with what follows them: none of them is a word.
    r"|(?:(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^A-Za-z0-9_:\\\[()|?*{])(?:[?*+]|\{[^}]*\})*)+"
    r"|[A-Za-z0-9_:]+(?:[?*+]|\{[^}]*\})*",
    re.DOTALL,
)
_LOOKS: Final = ("(?=", "(?!", "(?<=", "(?<!")

_IN_MOST_NAMES: Final = ("kernel", "_kernel", "kernel_", "_kernel_", "at::native::")

Words = frozenset[str]
"""In lower case; at least one stands in each text that matches. Empty: nothing is known of it."""

_Choice = tuple[int, tuple[str, ...]]
"""How many texts some words rule out (letters of the shortest one), and the words."""

_NONE: Final[_Choice] = (0, ())


@lru_cache(maxsize=1024)
def required_words(pattern: str) -> Words:
    """Words of which every ASCII text that ``pattern`` is found in holds at least one, compared in lower case.

    Args:
        pattern: A regular expression without back references, conditions, comments and the verbose flag.
    """
    outer: list[tuple[list[_Choice], _Choice, bool]] = []  # of the groups around: alternatives, best, only looks
    alternatives: list[_Choice] = []
    best = last = _NONE  # of the alternative so far; of the item before, which the next token may make optional
    looks = False
    for token in filter(None, _TOKEN.findall(pattern.lower())):
        first = token[0]
        if first in "?*{":
            last = _NONE
            continue
        if last[0] > best[0] or (last[0] == best[0] and len(last[1]) < len(best[1])):
            best = last
        last = _NONE
        if first == "|":
            alternatives.append(best)
            best = _NONE
        elif first == "(":
            outer.append((alternatives, best, looks))
            alternatives, best, looks = [], _NONE, token in _LOOKS
        elif first == ")":
            last = _NONE if looks else _any_of([*alternatives, best])
            alternatives, best, looks = outer.pop()
        else:
            last = (1 if token in _IN_MOST_NAMES else len(token), (token,))
    return frozenset(_any_of([*alternatives, max(best, last, key=_rank)])[1])


def can_match(pattern: str, lowered: str) -> bool:
    """Whether an ASCII text has all the words that ``pattern`` needs, in each group one of its alternatives.

    It rules out more than ``required_words``, whose answer serves all texts, and takes a tenth of compiling.

    Args:
        pattern: As ``required_words`` takes it.
        lowered: The text, in lower case.
    """
    outer: list[tuple[bool, bool, bool]] = []  # of the groups around: as below, and whether they only look
    earlier, so_far = False, True  # whether an alternative before has its words; whether this one has, up to here
    last = True  # the same of the item before, which the next token may make optional
    looks = False
    for token in filter(None, _TOKEN.findall(pattern.lower())):
        first = token[0]
        if first in "?*{":
            last = True
            continue
        so_far, last = so_far and last, True
        if first == "|":
            earlier, so_far = earlier or so_far, True
        elif first == "(":
            outer.append((earlier, so_far, looks))
            earlier, so_far, looks = False, True, token in _LOOKS
        elif first == ")":
            last = looks or earlier or so_far
            earlier, so_far, looks = outer.pop()
        elif so_far:
            last = token in lowered
    return earlier or (so_far and last)


def _any_of(alternatives: list[_Choice]) -> _Choice:
    if len(alternatives) == 1:
        return alternatives[0]
    least = min(alternatives)[0]
    return (least, tuple(chain.from_iterable([words for _, words in alternatives]))) if least else _NONE


def _rank(choice: _Choice) -> tuple[int, int]:
    """Words are better that rule more texts out: longer ones, then fewer."""
    return (choice[0], -len(choice[1]))
