"""The form of a rule."""

from __future__ import annotations

import re
from typing import NamedTuple

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit

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


class CompiledRule(NamedTuple):
    """A rule with its patterns compiled."""

    rule: Rule
    head: re.Pattern[str]
    text: re.Pattern[str] | None


def compile_rule(rule: Rule) -> CompiledRule:
    """Compiles the patterns of ``rule``.

    Raises:
        re.error: a pattern is no regular expression.
    """
    return CompiledRule(rule, re.compile(rule.head), re.compile(rule.text) if rule.text else None)
