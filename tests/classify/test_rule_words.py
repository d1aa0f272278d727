"""The words that rules and expressions declare are necessary: without one of them, nothing matches."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.classify import architecture, kernels, precision
from tensorboard_plugin_dlprof.classify.kernel_names import parse
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.expressions import Expression
from tests.classify.test_kernels import CORPUS


def expressions() -> Iterator[Expression]:
    """Every expression of the modules that decode names."""
    for module in (architecture, kernels, precision):
        yield from (value for value in vars(module).values() if isinstance(value, Expression))
    yield from (expression for expression, _ in kernels._ACCUMULATORS)
    yield from (expression for _, expression in (*precision._TYPE_PATTERNS, *precision._CK_TYPES))


DECLARED = [
    *((rule.name, rule.head, rule.words.split()) for rule in RULES if rule.words),
    *((each.pattern, each.pattern, each.words) for each in expressions() if each.words),
]
NAMES = [text for expected in CORPUS for text in (parse(expected.name).head, parse(expected.name).text)]


def holds_one(text: str, words: Collection[str]) -> bool:
    """Whether a text has one of the words; lower case means nothing in a text that is not ASCII."""
    return not text.isascii() or any(word in text.lower() for word in words)


@pytest.mark.parametrize(("name", "pattern", "words"), DECLARED, ids=[name for name, _, _ in DECLARED])
def test_what_matches_holds_a_word(name: str, pattern: str, words: Collection[str]) -> None:
    """In the corpora of kernels, and in texts that are made to match."""
    assert all(word == word.lower() for word in words)
    result = re.compile(pattern)
    assert [text for text in NAMES if result.search(text) and not holds_one(text, words)] == []

    @seed(1)
    @settings(max_examples=4, database=None, phases=[Phase.generate])
    @given(st.from_regex(re.compile(pattern, re.ASCII), alphabet=st.characters(codec="ascii")))
    def check(text: str) -> None:
        assert holds_one(text, words), text

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check()


def test_most_rules_declare_words() -> None:
    """Else most expressions would be compiled for a name that no library's table knows."""
    assert sum(1 for rule in RULES if rule.words) > 0.96 * len(RULES)
