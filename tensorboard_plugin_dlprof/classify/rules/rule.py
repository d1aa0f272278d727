"""The form of a rule."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.classify.required_words import required_words

NO = MatrixUnit.NO
YES = MatrixUnit.YES
UNKNOWN = MatrixUnit.UNKNOWN


class Rule(NamedTuple):
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


class LazyRule:
    """A rule whose expressions are compiled when a name holds a word that they need.

    Args:
        rule: One of ours. A user's rule may use expressions that ``required_words`` does not read: ``compile_now``.
    """

    __slots__ = ("_head", "_head_words", "_text", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule: Final = rule
        self._head: re.Pattern[str] | None = None
        self._text: re.Pattern[str] | None = None
        self._head_words = required_words(rule.head)

    @property
    def needs_text(self) -> bool:
        """Whether the function's name alone does not decide."""
        return bool(self.rule.text)

    def fits_head(self, head: str, lowered: str) -> bool:
        """Whether the pattern of the function's name is found; ``lowered`` is ``head`` in lower case, if ASCII."""
        if self._head is None:
            if lowered and self._head_words and not any(word in lowered for word in self._head_words):
                return False
            self._head = re.compile(self.rule.head)
        return self._head.search(head) is not None

    def fits_text(self, text: str, lowered: str) -> bool:
        """Whether the pattern of the whole name is found, or there is none; ``lowered`` as in ``fits_head``."""
        if self._text is None:
            words = required_words(self.rule.text)
            if lowered and words and not any(word in lowered for word in words):
                return False
            self._text = re.compile(self.rule.text)
        return self._text.search(text) is not None

    def compile_now(self) -> LazyRule:
        """Compiles the patterns, and looks for them in every name.

        Raises:
            re.error: a pattern is no regular expression.
        """
        self._head = re.compile(self.rule.head)
        self._text = re.compile(self.rule.text)
        return self
