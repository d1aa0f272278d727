"""Fused attention, forward and backward.

FLOPs are those of PyTorch's ``FlopCounterMode``: two products forward, five backward (the scores are computed
anew), without regard to a causal mask. What a causal kernel leaves out is in ``Work.skipped_flops``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tensorboard_plugin_dlprof.efficiency.calls import Call, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work, moved


class Layout(NamedTuple):
    """Where an op has its operands."""

    query: int
    heads_first: bool
    """(batch, heads, sequence, size), not (batch, sequence, heads, size)."""
    causal: int
    """Position of the causal flag, -1 where it has none."""
    backward: bool = False


_LAYOUTS = {
    "scaled_dot_product_attention": Layout(0, True, 5),
    "_scaled_dot_product_flash_attention": Layout(0, True, 4),
    "_scaled_dot_product_efficient_attention": Layout(0, True, 6),
    "_scaled_dot_product_cudnn_attention": Layout(0, True, 6),
    "_scaled_dot_product_flash_attention_for_cpu": Layout(0, True, 4),
    "_scaled_dot_product_flash_attention_for_cpu_backward": Layout(1, True, 7, True),
    "_scaled_dot_product_flash_attention_backward": Layout(1, True, 11, True),
    "_scaled_dot_product_efficient_attention_backward": Layout(1, True, 11, True),
    "_scaled_dot_product_cudnn_attention_backward": Layout(1, True, 14, True),
    "_cudnn_attention_forward": Layout(0, True, 10),
    "_flash_attention_forward": Layout(0, False, 8),
    "_flash_attention_backward": Layout(1, False, 11, True),
    "_efficient_attention_forward": Layout(0, False, 9),
    "_efficient_attention_backward": Layout(1, False, 14, True),
    # flash-attn 2, Transformer Engine's and AITER's forms of it.
    "_flash_attn_forward": Layout(0, False, 5),
    "FlashAttnFunc": Layout(0, False, 5),
    "flash_attn_func": Layout(0, False, 5),
    "mha_fwd": Layout(0, False, 5),
    "fmha_v3_fwd": Layout(0, False, 5),
}


def attention(call: Call) -> Work | None:
    """None for packed sequences of several lengths, which the shapes do not tell."""
    layout = _LAYOUTS[call.name]
    operands = [call.tensor(layout.query + offset) for offset in range(3)]
    query, key, value = operands
    if query is None or key is None or value is None or any(len(one.shape) != 4 for one in (query, key, value)):
        return None
    order = (0, 1, 2, 3) if layout.heads_first else (0, 2, 1, 3)
    b, heads, s_q, d = (query.shape[axis] for axis in order)
    _, kv_heads, s_k, d_k = (key.shape[axis] for axis in order)
    d_v = value.shape[3]
    if d != d_k or not kv_heads or heads % kv_heads or key.shape[0] != b:
        return None
    scores, applied = 2 * b * heads * s_q * s_k * d, 2 * b * heads * s_q * s_k * d_v
    flops = 3 * scores + 2 * applied if layout.backward else scores + applied
    output = Tensor((*query.shape[:3], d_v), query.data_type)
    if layout.backward:
        # Gradient and output in, three gradients out.
        size, elements = moved((query, key, value, output, output, query, key, value))
    else:
        size, elements = moved((query, key, value, output))
    skipped = round(flops * _masked_fraction(s_q, s_k)) if _is_causal(call, layout) else 0
    return Work(
        "attention", flops, skipped, size, elements, query.data_type,
        (Dimension("head size", d), Dimension("head size of values", d_v)),
        f"batch {b}, heads {heads}{f' and {kv_heads}' if kv_heads != heads else ''}, {s_q} x {s_k}, head size {d}",
    )  # fmt: skip


def _is_causal(call: Call, layout: Layout) -> bool:
    """The flag; the efficient kernels have a kind of mask instead, of which 1 and 2 are causal."""
    value = call.value(layout.causal) if layout.causal >= 0 else None
    return value is True or (call.name.startswith("_efficient") and value in (1, 2))


def _masked_fraction(s_q: int, s_k: int) -> float:
    """Share of the scores above the diagonal, which ends in the last query and key."""
    if not s_q or not s_k:
        return 0.0
    if s_q <= s_k:
        return (s_q - 1) / (2 * s_k)
    return 1 - (s_k + 1) / (2 * s_q)


FORMULAS: dict[str, Callable[[Call], Work | None]] = dict.fromkeys(_LAYOUTS, attention)
