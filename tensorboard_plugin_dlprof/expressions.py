"""Regular expressions that are compiled when they are first needed: most profiles need few of ours.

Compiling all would take longer than a small import (``tests/test_layering.py`` counts them). An expression that can
only match a text with a certain word declares that word, and without it the expression is neither compiled nor searched
for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final


class Expression:
    """A regular expression that is compiled when it is first needed.

    Args:
        words: Words in lower case; every ASCII text that matches contains one of them; empty if none are known.
    """

    def __init__(self, pattern: str, flags: int = 0, words: Collection[str] = ()) -> None:
        self.pattern: Final = pattern
        self.words: Final = words
        self._flags: Final = flags
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """The compiled expression. From then on, its methods replace those below, which saves the search for words.

        Raises:
            re.error: The pattern is not a valid regular expression.
        """
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
            vars(self).update({name: getattr(self._compiled, name) for name in _METHODS})
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        """``re.search``."""
        return self.compiled().search(text) if self._may_be_in(text) else None

    def search_lowered(self, text: str, lowered: str) -> re.Match[str] | None:
        """``search`` for many long texts: words are searched for first even after the expression is compiled.

        Args:
            lowered: ``text`` in lower case; empty if it is not ASCII.
        """
        if lowered and self.words:
            for word in self.words:
                if word in lowered:
                    break
            else:
                return None
        return self.compiled().search(text)

    def match(self, text: str) -> re.Match[str] | None:
        """``re.match``."""
        return self.compiled().match(text) if self._may_be_in(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """``re.fullmatch``."""
        return self.compiled().fullmatch(text) if self._may_be_in(text) else None

    def containing(self, texts: Collection[str]) -> set[str]:
        """The texts in which ``search`` finds a match."""
        return {text for text in self.possible(texts) if self.search(text)}

    def matching(self, texts: Collection[str]) -> set[str]:
        """The texts that ``match`` matches."""
        return {text for text in self.possible(texts) if self.match(text)}

    def possible(self, texts: Collection[str]) -> Collection[str]:
        """The texts that may match. Words are searched for in all texts at once."""
        joined = "\n".join(texts).lower()
        words = [word for word in self.words if word in joined]
        if words:
            return [text for text in texts if not text.isascii() or any(word in text.lower() for word in words)]
        return [text for text in texts if not text.isascii()] if self.words else texts

    def findall(self, text: str) -> list[str]:
        """``re.findall``."""
        return self.compiled().findall(text) if self._may_be_in(text) else []

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """``re.sub``."""
        return self.compiled().sub(replacement, text) if self._may_be_in(text) else text

    def _may_be_in(self, text: str) -> bool:
        """False if an ASCII text contains none of the words. For other texts, ``lower`` and ``re`` disagree on case."""
        words = self.words
        if not words or not text.isascii():
            return True
        lowered = text.lower()
        for word in words:  # noqa: SIM110  any() would make a generator for every text
            if word in lowered:
                return True
        return False


_METHODS: Final = ("search", "match", "fullmatch", "findall", "sub")
