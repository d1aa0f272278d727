"""The words of a kernel's name."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.classify.words import holds_product, is_harmless, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vectorAdd2", ["vector", "add", "2"]),
        ("RMSNormKernel", ["rms", "norm", "kernel"]),
        ("_per_token_quant_fp8", ["per", "token", "quant", "fp", "8"]),
        ("", []),
    ],
)
def test_names_fall_into_words(name: str, expected: list[str]) -> None:
    """Words end at underscores, changes of case and digits."""
    assert words(name) == expected


def test_a_product_is_found_as_a_word_only() -> None:
    """``linear`` is a product, ``linearize`` is none, and a namespace is not the function's name."""
    assert holds_product("fused_linear_kernel")
    assert holds_product("my::sgemm_bias")
    assert not holds_product("linearize_index_kernel")
    assert not holds_product("fused_attn::remove_padding")


def test_one_unknown_word_is_enough_for_doubt() -> None:
    """Only a name whose words are all known is harmless."""
    assert is_harmless("vectorized_add_kernel")
    assert not is_harmless("vectorized_expert_add_kernel")
