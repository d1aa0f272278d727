"""The words without which an expression cannot be found: right for each construct, and never wrong about a rule."""

from __future__ import annotations

import re

import pytest

from tensorboard_plugin_dlprof.classify.kernel_names import parse
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.required_words import required_words
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
        (r"x{3}yz", set()),
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


def test_most_rules_are_spared() -> None:
    """The test is worth its while: nearly all rules have words that a name must hold."""
    assert sum(1 for rule in RULES if required_words(rule.head)) > 0.96 * len(RULES)
