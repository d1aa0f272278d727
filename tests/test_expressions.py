"""Expressions that are compiled when they are needed answer as ``re`` does, and are not compiled where they are not."""

from __future__ import annotations

import re
from unittest import mock

import pytest

from tensorboard_plugin_dlprof.expressions import Expression

PATTERN = r"(?P<sign>[a-z]*)winograd(\d+)|cijk_"

WORDS = ("winograd", "cijk_")

TEXTS = [
    *("", "volta_sgemm", "xwinograd4 winograd", "WINOGRAD4", "cijk_winograd12_", "CIJK_", "\N{KELVIN SIGN}_cij"),
    *("C\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}JK_", "cij\N{KELVIN SIGN}_ winograd7"),
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize("compiled_before", [False, True])
def test_every_method_answers_as_the_compiled_expression(text: str, flags: int, compiled_before: bool) -> None:
    """Where no word stands, where one does, and where letters have a case of their own."""
    ours, compiled = Expression(PATTERN, flags, WORDS), re.compile(PATTERN, flags)
    for method in ("search", "match", "fullmatch"):
        if compiled_before:
            ours.compiled()
        answer, expected = getattr(ours, method)(text), getattr(compiled, method)(text)
        assert (answer and (answer.span(), answer.groups())) == (expected and (expected.span(), expected.groups()))
    assert ours.findall(text) == compiled.findall(text)
    assert ours.sub("-", text) == compiled.sub("-", text)


def test_an_expression_is_compiled_once_and_only_for_a_text_that_holds_a_word() -> None:
    """The words are those that it declares."""
    for expression in (Expression(PATTERN, words=WORDS), Expression(r"\bck", words=("ck",))):
        with mock.patch("re.compile", wraps=re.compile) as compile_:
            assert expression.search("volta_sgemm") is None
            assert expression.findall("") == []
            assert not compile_.called
            for _ in range(2):
                assert (expression.search("x ck winograd4")) is not None
            assert compile_.call_count == 1


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize(("pattern", "words"), [(PATTERN, WORDS), (r"[a-z]\w", ())])
def test_many_texts_are_answered_as_each_is(pattern: str, words: tuple[str, ...], flags: int) -> None:
    """With words and without, where the others hold one, and where none does."""
    for texts in ([*TEXTS, "two\ncijk_"], [TEXTS[1]], []):
        ours, compiled = Expression(pattern, flags, words), re.compile(pattern, flags)
        assert ours.containing(texts) == set(filter(compiled.search, texts))
        assert ours.matching(texts) == set(filter(compiled.match, texts))


def test_without_words_it_is_looked_for_in_every_text() -> None:
    """Nothing is known of what it needs."""
    assert Expression(r"[ab]\d").search("xa1") is not None


@pytest.mark.parametrize("text", TEXTS)
def test_a_search_in_a_text_whose_lower_case_is_known(text: str) -> None:
    """It finds what ``re`` finds, whether the text is ASCII or not."""
    for flags in (0, re.IGNORECASE):
        result = Expression(PATTERN, flags, WORDS).search_lowered(text, text.lower() if text.isascii() else "")
        expected = re.search(PATTERN, text, flags)
        assert (result and result.span()) == (expected and expected.span())
    assert Expression(r"[ab]\d").search_lowered("xa1", "xa1") is not None
