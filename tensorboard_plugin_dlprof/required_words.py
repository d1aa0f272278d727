"""Words without which a regular expression cannot be found: a test that costs less than compiling the expression.

There are some 400 rules, and compiling their expressions takes longer than classifying the kernels of a small trace.
Most rules are of libraries that a trace does not use, and a look for ``winograd`` in a name tells as much.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from operator import and_
from typing import Final, TypeVar

_TOKEN = re.compile(
    r"([A-Za-z0-9_:]{2,}(?![?*{])"  # letters, all of them needed
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

    def choice(word: str) -> _Choice:
        return (1 if word in _IN_MOST_NAMES else len(word), (word,))

    return frozenset(_folded(pattern, choice, _better, _any_of, _NONE)[1])


def can_match(pattern: str, lowered: str) -> bool:
    """Whether an ASCII text has all the words that ``pattern`` needs, in each group one of its alternatives.

    It rules out more than ``required_words``, whose answer serves all texts, and takes a tenth of compiling.

    Args:
        pattern: As ``required_words`` takes it.
        lowered: The text, in lower case.
    """
    return _folded(pattern, lowered.__contains__, and_, any, True)


_T = TypeVar("_T")


def _folded(
    pattern: str,
    of_word: Callable[[str], _T],
    both: Callable[[_T, _T], _T],
    any_of: Callable[[list[_T]], _T],
    unknown: _T,
) -> _T:
    """What ``pattern`` says: of a word ``of_word``, of a sequence ``both``, of alternatives ``any_of``; of what may be
    absent, or is no word, ``unknown``, which adds nothing to a sequence."""
    outer: list[tuple[list[_T], _T, bool]] = []  # of the groups around: alternatives, sequence, only looks
    alternatives: list[_T] = []
    sequence = last = unknown  # the alternative so far; the item before, which the next token may make optional
    looks = False
    for token in filter(None, _TOKEN.findall(pattern.lower())):
        first = token[0]
        if first in "?*{":
            last = unknown
            continue
        if last is not unknown:
            sequence, last = last if sequence is unknown else both(sequence, last), unknown
        if first == "|":
            alternatives.append(sequence)
            sequence = unknown
        elif first == "(":
            outer.append((alternatives, sequence, looks))
            alternatives, sequence, looks = [], unknown, token in _LOOKS
        elif first == ")":
            last = unknown if looks else any_of([*alternatives, sequence]) if alternatives else sequence
            alternatives, sequence, looks = outer.pop()
        else:
            last = of_word(token)
    return any_of([*alternatives, both(sequence, last)])


def _any_of(alternatives: list[_Choice]) -> _Choice:
    if len(alternatives) == 1:
        return alternatives[0]
    least = min(alternatives)[0]
    return (least, tuple(chain.from_iterable([words for _, words in alternatives]))) if least else _NONE


def _better(one: _Choice, other: _Choice) -> _Choice:
    """Words are better that rule more texts out: longer ones, then fewer."""
    return other if (other[0], -len(other[1])) > (one[0], -len(one[1])) else one
