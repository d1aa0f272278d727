"""Regular expressions that are compiled when they are first needed: most of ours are not, for most profiles.

To compile one takes 0.1 ms, as long as the import of a thousand events. Most are found only where a word stands, so
that a look for the word comes first, and is enough where it is not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from tensorboard_plugin_dlprof.required_words import Words, required_words


class Expression:
    """A regular expression that is compiled when a text holds one of the words that it needs.

    Args:
        pattern: One that ``required_words`` reads, or any where ``words`` are given.
        flags: Those of ``re``.
        words: In lower case; each text that matches holds one of them. By default those that the pattern shows; an
            empty word is in every text.
    """

    def __init__(self, pattern: str, flags: int = 0, words: Words | None = None) -> None:
        self.pattern: Final = pattern
        self._flags: Final = flags
        self._words = words
        self._shortest: tuple[str, ...] | None = None
        self._compiled: re.Pattern[str] | None = None

    @property
    def words(self) -> Words:
        """Words of which every ASCII text that matches holds at least one; empty where nothing is known of it."""
        if self._words is None:
            self._words = required_words(self.pattern)
        return self._words

    def compiled(self) -> re.Pattern[str]:
        """The compiled expression, whose methods stand in for those below from here on.

        Raises:
            re.error: the pattern is no regular expression.
        """
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
            vars(self).update({name: getattr(self._compiled, name) for name in _METHODS})
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        """``re.search``."""
        return self.compiled().search(text) if self._may_be_in(text) else None

    def search_lowered(self, text: str, lowered: str) -> re.Match[str] | None:
        """``search`` in one of many long texts: words are looked for first, also once the expression is compiled.

        Args:
            text: Where to search.
            lowered: The same in lower case; empty where it is not ASCII.
        """
        if self._shortest is None:
            # A word that holds another one tells no more than that.
            self._shortest = tuple(word for word in self.words if not any(part in word for part in self.words - {word}))
        if lowered and self._shortest:
            for word in self._shortest:
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

    def found_in(self, texts: Collection[str]) -> set[str]:
        """Those of many texts that ``search`` finds something in."""
        return {text for text in self.possible(texts) if self.search(text)}

    def matching(self, texts: Collection[str]) -> set[str]:
        """Those of many texts that ``match`` takes."""
        return {text for text in self.possible(texts) if self.match(text)}

    def possible(self, texts: Collection[str]) -> Collection[str]:
        """Those of many texts that it may be in. Words are looked for in all of them at once."""
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
        """False where no word is there. Letters beyond ASCII have a case that ``lower`` and ``re`` see differently."""
        words = self.words
        if not words or not text.isascii():
            return True
        lowered = text.lower()
        for word in words:  # noqa: SIM110  half the time of any()
            if word in lowered:
                return True
        return False


_METHODS: Final = ("search", "match", "fullmatch", "findall", "sub")
