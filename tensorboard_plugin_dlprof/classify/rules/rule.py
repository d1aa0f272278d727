"""The form of a rule."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.required_words import Words, can_match, required_words

NO = MatrixUnit.NO
YES = MatrixUnit.YES
UNKNOWN = MatrixUnit.UNKNOWN


class Rule(msgspec.Struct, frozen=True):
    """One line of the tables. A rule applies when all of its patterns are found; the first that applies decides."""

    name: str
    """Unique; shown to the user who doubts an answer."""
    matrix_unit: MatrixUnit
    family: str
    """One of ``KernelClass.family``."""
    library: str
    """A library, or ``@namespace``: told by the namespace, see ``kernel_names.library_of``."""
    head: str
    """Regular expression searched in the qualified function name, without template arguments. Case counts."""
    precision: str = ""
    """A precision, empty for unknown, or ``@`` and the name of one of ``precision.DECODERS``."""
    text: str = ""
    """Regular expression searched in the whole name; for libraries whose function name is just ``Kernel``."""
    note: str = ""
    """Why, where the pattern alone does not say."""
    knows_better: bool = False
    """A *no* that holds although the function's name has a product's word in it, or one that we do not know: compilers
    name a fusion after every op near it, and a library's helper is named after the product that it serves."""
    of_rest: bool = False
    """A *no* for what no other rule of the library takes: holds of whole names only, since what a tool cut off might be
    the word that another rule looks for."""


_MOST_LOOKS: Final = 16

_LETTERS: Final = 3
"""By which words are looked for."""


class LazyRule:
    """A rule whose expressions are compiled when they are first looked for.

    Args:
        rule: One of ours. A user's rule may use expressions that ``required_words`` does not read: ``compile_now``.
    """

    __slots__ = ("_head", "_is_known", "_looks", "_text", "_text_words", "needs_text", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule: Final = rule
        self._head: re.Pattern[str] | None = None
        self._text: re.Pattern[str] | None = None
        self._text_words: Words | None = None
        self._is_known = True
        self._looks = 0
        self.needs_text: Final = bool(rule.text)
        """Whether the function's name alone does not decide."""

    @property
    def words(self) -> Words:
        """One of them stands in each function name that the rule takes; empty where nothing is known of it."""
        return required_words(self.rule.head) if self._is_known else frozenset()

    def fits_head(self, head: str, lowered: str) -> bool:
        """Whether the pattern of the function's name is found; ``lowered`` is the name in lower case, if ASCII."""
        if self._head is None:
            if self._is_ruled_out(self.rule.head, lowered):
                return False
            self._head = re.compile(self.rule.head)
        return self._head.search(head) is not None

    def fits_text(self, text: str, lowered: str) -> bool:
        """Whether the pattern of the whole name is found, or there is none; ``lowered`` is ``text``, if ASCII."""
        if self._text is None:
            if self._text_words is None:
                self._text_words = required_words(self.rule.text)
            if lowered and self._text_words:
                for word in self._text_words:
                    if word in lowered:
                        break
                else:
                    return False
            if self._is_ruled_out(self.rule.text, lowered):
                return False
            self._text = re.compile(self.rule.text)
        return self._text.search(text) is not None

    def _is_ruled_out(self, pattern: str, lowered: str) -> bool:
        """Whether other words are missing. Asked often, that takes longer than to compile the pattern and search it."""
        self._looks += 1
        return bool(lowered) and self._looks <= _MOST_LOOKS and not can_match(pattern, lowered)

    def compile_now(self) -> LazyRule:
        """Compiles the patterns, and looks for them in every name.

        Raises:
            re.error: a pattern is no regular expression.
        """
        self._head = re.compile(self.rule.head)
        self._text = re.compile(self.rule.text)
        self._is_known = False
        return self


class RulesByWord:
    """Rules, and which of them the words in a name leave possible.

    There are a thousand words: only those are looked for that begin with three letters which stand side by side in the
    name.
    """

    def __init__(self, rules: Sequence[LazyRule]) -> None:
        self._rules: Final = rules
        self._anywhere = 0
        """Places of rules, as bits: those without words."""
        by_word: defaultdict[str, int] = defaultdict(int)
        for place, rule in enumerate(rules):
            words = rule.words
            for word in words:
                by_word[word] |= 1 << place
            if not words:
                self._anywhere |= 1 << place
        self._short: list[tuple[str, int]] = []
        """Words of fewer letters, and the places of their rules."""
        self._by_beginning: defaultdict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        """First letters of words -> words, and the places of their rules."""
        for word, places in by_word.items():
            if len(word) < _LETTERS:
                self._short.append((word, places))
            else:
                self._by_beginning[tuple(word[:_LETTERS])].append((word, places))
        self._beginnings: Final = frozenset(self._by_beginning)
        self._at = lru_cache(maxsize=65_536)(self._rules_at)

    def possible(self, lowered: str) -> Sequence[LazyRule]:
        """The rules that may take a function name, in order.

        Args:
            lowered: The name in lower case; empty where it is not ASCII, and words may be written otherwise.
        """
        if not lowered:
            return self._rules
        places = self._anywhere
        for word, of_word in self._short:
            if word in lowered:
                places |= of_word
        for beginning in self._beginnings.intersection(zip(lowered, lowered[1:], lowered[2:], strict=False)):
            for word, of_word in self._by_beginning[beginning]:
                if word in lowered:
                    places |= of_word
        return self._at(places)

    def _rules_at(self, places: int) -> tuple[LazyRule, ...]:
        return tuple(rule for place, rule in enumerate(self._rules) if places >> place & 1)
