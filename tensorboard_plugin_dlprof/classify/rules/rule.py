"""The form of a rule."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit

NO = MatrixUnit.NO
YES = MatrixUnit.YES
UNKNOWN = MatrixUnit.UNKNOWN


class Rule(msgspec.Struct, frozen=True):
    """One row of the tables. A rule applies if all of its patterns are found; the first rule that applies decides."""

    name: str
    """Unique; shown to users so that they can verify the result."""
    matrix_unit: MatrixUnit
    family: str
    """One of ``KernelClass.family``."""
    library: str
    """A library, or ``@namespace`` to derive it from the namespace (``kernel_names.library_of``)."""
    head: str
    """Regular expression searched in the qualified function name, without template arguments; case-sensitive."""
    precision: str = ""
    """A precision, empty for unknown, or ``@`` and the name of one of ``precision.DECODERS``."""
    text: str = ""
    """Regular expression searched in the whole name; for libraries whose function name is just ``Kernel``."""
    note: str = ""
    """The reason for the result, if the pattern does not make it obvious."""
    knows_better: bool = False
    """Whether the rule's *no* is reliable although the function name contains a word for a product, or an unknown one:
    compilers name a fusion after every op near it, and a library's helper is named after the product that it serves."""
    words: str = ""
    """Words in lower case, separated by blanks, of which every function name that ``head`` matches contains at least
    one; empty if none are known. Only where one of them stands is the expression compiled and searched for."""
    by_types: bool = False
    """Whether the rule's *no* rests on the types of the parameters: no word of products may stand in the name then, but
    none need say what the kernel does."""
    of_rest: bool = False
    """Whether the rule is for all other kernels of a library, or goes by words alone. It then applies to complete names
    only, because a truncated part might be the word that decides."""


_LETTERS: Final = 3
"""Length of the prefixes by which words are indexed."""


class LazyRule:
    """A rule whose expressions are compiled when they are first needed, since most profiles need few of them."""

    __slots__ = ("_head", "_text", "needs_text", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule: Final = rule
        self._head: re.Pattern[str] | None = None
        self._text: re.Pattern[str] | None = None
        self.needs_text: Final = bool(rule.text)
        """Whether the function name alone is not enough to decide."""

    def fits_head(self, head: str) -> bool:
        """Whether the pattern ``head`` is empty or found in a function name."""
        if not self.rule.head:
            return True
        if self._head is None:
            self._head = re.compile(self.rule.head)
        return self._head.search(head) is not None

    def fits_text(self, text: str) -> bool:
        """Whether the pattern ``text`` is empty or found in a whole name."""
        if self._text is None:
            self._text = re.compile(self.rule.text)
        return self._text.search(text) is not None

    def compile_now(self) -> LazyRule:
        """Compile the expressions now.

        Raises:
            re.error: A pattern is not a valid regular expression.
        """
        self._head, self._text = re.compile(self.rule.head), re.compile(self.rule.text)
        return self


class RulesByWord:
    """Finds the rules that may apply to a name, by the words that they need.

    There are a thousand words. Only those whose first three letters occur in the name are searched for.
    """

    def __init__(self, rules: Sequence[LazyRule]) -> None:
        self._rules: Final = rules
        self._anywhere = 0
        """Rules without words, as a bit set of their indices."""
        by_word: defaultdict[str, int] = defaultdict(int)
        for place, rule in enumerate(rules):
            words = rule.rule.words.split()
            for word in words:
                by_word[word] |= 1 << place
            if not words:
                self._anywhere |= 1 << place
        self._short: list[tuple[str, int]] = []
        """Words of fewer letters, and the bit sets of their rules."""
        self._by_beginning: defaultdict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        """The other words and the bit sets of their rules, by the words' first letters."""
        for word, places in by_word.items():
            if len(word) < _LETTERS:
                self._short.append((word, places))
            else:
                self._by_beginning[tuple(word[:_LETTERS])].append((word, places))
        self._beginnings: Final = frozenset(self._by_beginning)
        self._at = lru_cache(maxsize=65_536)(self._rules_at)

    def possible(self, lowered: str) -> Sequence[LazyRule]:
        """The rules that may apply to a function name, in order.

        Args:
            lowered: The name in lower case; empty if it is not ASCII, which leaves all rules possible.
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
