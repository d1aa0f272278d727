"""The words without which an expression cannot be found: right for each construct, and never wrong about a rule."""

from __future__ import annotations

import re

import pytest

from tensorboard_plugin_dlprof.classify.kernel_names import parse
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.required_words import can_match, required_words
from tests.classify.test_kernels import CORPUS


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("winograd", {"winograd"}),
        (r"^Cijk_\w*_MI\d+x", {"cijk_"}),
        (r"\bnvjet|\bmarlin::", {"nvjet", "marlin::"}),
        (r"(?:volta|turing)_\w*", {"volta", "turing"}),
        (r"(?:volta|turing)?_sgemm", {"_sgemm"}),
        (r"(?:volta|turing)*_(?:sgemm){0,2}", set()),
        (r"flash_attns?_", {"flash_attn"}),
        (r"colou?r", {"colo"}),
        (r"(?!.*gemm)reduce", {"reduce"}),
        (r"(?<=norm)(?=soft)", set()),
        (r"softmax|\w+", set()),
        (r"[abc]def[^)(]ghij", {"ghij"}),
        (r"a\(b\)|\[x\]", set()),
        (r"(?i)LayerNorm", {"layernorm"}),
        (r"(?i:LayerNorm)(?:_(?:fwd|bwd))+", {"layernorm"}),
        (r"x{3}yz", {"yz"}),
        (r"(?:ab|c)d", set()),
        (r"abc?|(?:ln|bn)\b", {"ab", "ln", "bn"}),
        (r"nccl\w*(?:Kernel|_)|\brccl\w*Kernel", {"nccl", "rccl"}),
        (r"\w+_kernel_", {"_kernel_"}),
        (r"(?P<kind>\w+): (?P<node>name)", {"name"}),
        (r"(?:softmax)+?|(?:layer)+", {"softmax", "layer"}),
        (r"a-?bcd -efg", {"bcd"}),
        ("", set()),
    ],
)
def test_words_of_each_construct(pattern: str, words: set[str]) -> None:
    """The longest needed word of each alternative; nothing where one of them needs none."""
    assert required_words(pattern) == words


@pytest.mark.parametrize(
    ("pattern", "text", "can"),
    [
        ("", "", True),
        (r"^cutlass\w*_simt_", "cutlass_80_simt_sgemm", True),
        (r"^cutlass\w*_simt_", "cutlass_80_tensorop_sgemm", False),
        (r"(?:volta|turing)_\w*(?:fprop|dgrad)", "volta_sgemm_dgrad", True),
        (r"(?:volta|turing)_\w*(?:fprop|dgrad)", "volta_sgemm", False),
        (r"(?:volta|turing)_\w*(?:fprop|\d)", "volta_4", True),
        (r"(?:volta)?_sgemm(?:_(?:fprop))*", "_sgemm", True),
        (r"(?!.*gemm)reduce(?=_kernel)", "reduce", True),
        (r"cufft|regular_(?:fft|radix)", "regular_elementwise", False),
        (r"cufft|regular_(?:fft|radix)|vector", "vectorized_elementwise", True),
    ],
)
def test_a_text_needs_a_word_of_each_group(pattern: str, text: str, can: bool) -> None:
    """Of each alternative all words; none of what is optional, and none of what is only looked at."""
    assert can_match(pattern, text) is can


def test_no_rule_is_missed() -> None:
    """Wherever a rule's expression is found in a name of the corpora, the name holds one of its words."""
    names = [parse(expected.name) for expected in CORPUS]
    for rule in RULES:
        for pattern, texts in ((rule.head, [name.head for name in names]), (rule.text, [name.text for name in names])):
            words, found = required_words(pattern), re.compile(pattern)
            missed = [
                text for text in texts if found.search(text) and words and not any(w in text.lower() for w in words)
            ]
            assert not missed, (rule.name, missed[:3])
            ruled_out = [
                text for text in texts if found.search(text) and text.isascii() and not can_match(pattern, text.lower())
            ]
            assert not ruled_out, (rule.name, ruled_out[:3])


def test_most_rules_are_spared() -> None:
    """The test is worth its while: nearly all rules have words that a name must hold."""
    assert sum(1 for rule in RULES if required_words(rule.head)) > 0.96 * len(RULES)
