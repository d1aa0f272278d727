"""Work of fused attention, forward and backward.

FLOPs are those of PyTorch's ``FlopCounterMode``: two products forward, five backward (the scores are computed
anew), without regard to masks. What a causal mask or a sliding window leaves out is in ``Work.skipped_flops``.

Packed sequences of several lengths, and sequences whose used lengths are in a tensor, are undecided, because these
lengths are values on the GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tensorboard_plugin_dlprof.efficiency.calls import Call, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work, moved, undecided


class Layout(msgspec.Struct, frozen=True):
    """The positions of an op's operands."""

    query: int
    heads_first: bool
    """(batch, heads, sequence, size), not (batch, sequence, heads, size)."""
    causal: int
    """Position of the causal flag; -1 if there is none."""
    backward: bool = False
    lengths: tuple[int, ...] = ()
    """Positions of tensors with lengths of sequences, or with their pages."""
    window: int = -1
    """Position of the number of keys to the left that a query sees, followed by that to the right; -1 if none."""


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
    "_scaled_dot_product_fused_attention_overrideable": Layout(0, True, 5),
    "_scaled_dot_product_fused_attention_overrideable_backward": Layout(1, True, 13, True),
    "_cudnn_attention_forward": Layout(0, True, 10, False, (4, 5)),
    "_cudnn_attention_backward": Layout(1, True, 14, True, (9, 10)),
    "_flash_attention_forward": Layout(0, False, 8, False, (3, 4, 13, 15), 11),
    "_flash_attention_forward_no_dropout_inplace": Layout(1, False, 9, False, (4, 5, 14, 16), 12),
    "_flash_attention_backward": Layout(1, False, 11, True, (6, 7), 15),
    "_efficient_attention_forward": Layout(0, False, 9, False, (4, 5, 12)),
    "_efficient_attention_backward": Layout(1, False, 14, True, (6, 7)),
    "_varlen_attn": Layout(0, False, -1, False, (3, 4)),
    # flash-attn 2, Transformer Engine's and AITER's forms of it.
    "_flash_attn_forward": Layout(0, False, 5, False, (), 6),
    "_flash_attn_backward": Layout(1, False, 11, True, (), 12),
    "FlashAttnFunc": Layout(0, False, 5),
    "flash_attn_func": Layout(0, False, 5),
    "mha_fwd": Layout(0, False, 5),
    "fmha_v3_fwd": Layout(0, False, 5),
}
_SCALED = {
    # The overloads for FP8, recognised by a scale in place of a number.
    "_scaled_dot_product_flash_attention": (3, Layout(0, True, 7)),
    "_flash_attention_forward": (10, Layout(0, False, 8, False, (3, 4, 16), 14)),
}


def attention(call: Call) -> Work | None:
    """Two products for each head; undecided if the lengths of sequences are in a tensor."""
    layout = _LAYOUTS[call.name]
    scale, of_scaled = _SCALED.get(call.name, (-1, layout))
    if call.tensor(scale) is not None:
        layout = of_scaled
    query, key, value = (call.tensor(layout.query + offset) for offset in range(3))
    if query is None or key is None or value is None:
        return None
    if any(len(one.shape) == 3 for one in (query, key, value)) or any(call.tensor(one) for one in layout.lengths):
        return _packed(query, value)
    if any(len(one.shape) != 4 for one in (query, key, value)):
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
    pairs = s_q * s_k
    skipped = flops // pairs * (pairs - _unmasked(call, layout, s_q, s_k)) if pairs else 0
    return Work(
        "attention", flops, skipped, size, elements, query.data_type,
        (Dimension("head size", d), Dimension("head size of values", d_v)),
        f"batch {b}, heads {heads}{f' and {kv_heads}' if kv_heads != heads else ''}, {s_q} x {s_k}, head size {d}",
    )  # fmt: skip


def _packed(query: Tensor, value: Tensor) -> Work:
    d, d_v = query.shape[-1], value.shape[-1] if value.shape else 0
    dimensions = (Dimension("head size", d), Dimension("head size of values", d_v))
    heads = f"heads {query.shape[-2]}, " if len(query.shape) > 1 else ""
    return undecided("attention", dimensions, query.data_type, f"{heads}packed sequences, head size {d}")


def _unmasked(call: Call, layout: Layout, s_q: int, s_k: int) -> int:
    """Number of pairs of query and key that a causal mask and a window keep.

    The diagonal ends at the last query and key. In the efficient kernels it starts at the first ones, unless their kind
    of mask is 2.
    """
    causal = call.value(layout.causal)
    diagonal = s_k - s_q
    if "efficient" in call.name:
        diagonal = diagonal if causal == 2 else 0
        causal = causal is True or (causal in (1, 2) and call.name.startswith("_efficient"))
    left, right = (_window(call, layout.window + side) if layout.window >= 0 else None for side in (0, 1))
    if causal is True:
        right = 0
    until = s_q * s_k if right is None else _below(diagonal + right + 1, s_q, s_k)
    return until - (0 if left is None else _below(diagonal - left, s_q, s_k))


def _window(call: Call, position: int) -> int | None:
    """Number of keys that a query sees on one side; None if all."""
    value = call.value(position)
    return value if type(value) is int and value >= 0 else None


def _below(shift: int, s_q: int, s_k: int) -> int:
    """Number of pairs of a query and a key before it, moved by ``shift``."""

    def first(count: int) -> int:
        """Sum of the numbers below ``count``, each clipped to 0 and ``s_k``."""
        growing = min(max(count, 0), s_k)
        return growing * (growing - 1) // 2 + max(count - s_k, 0) * s_k

    return first(s_q + shift) - first(shift)


FORMULAS: dict[str, Callable[[Call], Work | None]] = dict.fromkeys(_LAYOUTS, attention)
