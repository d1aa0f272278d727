"""Rules about attention: written out as matrix multiplications and a softmax, or with kernels of an older GPU."""

from __future__ import annotations

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.attention_pattern import WrittenOut, written_out
from tensorboard_plugin_dlprof.analysis.evidence import work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels
from tensorboard_plugin_dlprof.analysis.program import CUDNN_LINK, TENSORRT_LINK
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.expressions import Expression

_SECOND = Expression(
    r"flash_(?<=\bflash_)(?:fwd|bwd)_(?!\w*sm\d)(?!\w*(?:combine|convert|dot_do|process))\w*kernel\b(?!.*Sm\d)"
)
"""The kernels of FlashAttention 2, which know the instructions of Ampere; of its helpers none. Letters come first, as
they are found at once."""

_WITH_OWN_KERNELS = (9, 10)
"""Major capabilities of Hopper and of data centre Blackwell, for which cuDNN, FlashAttention 3 and 4 have kernels."""

_FASTER = (0.17, 0.5)
"""Share of the time that kernels of the GPU's own save (Shah et al., FlashAttention-3, figures 5 and 6, on an H100):
1.2 times as fast for heads of 64 and short sequences, 2.1 times for heads of 256 and long ones."""


_FUSED_RATE = (0.25, 0.5)
"""Part of the dense 16-bit rate that fused attention reaches: 200 to 400 TFLOP/s on an H100 (FlashAttention)."""

_LEFT = 0.7
"""Share of the kernels between the products that goes at least, where shapes are missing."""


def written(signals: Signals) -> Finding | Lacks | None:
    """Attention as product, softmax, product, with the scores in memory."""
    attention = written_out(signals)
    if attention is None:
        return None
    between = signals.of_ops(attention.between)
    time = signals.time(between)
    if signals.kernel_share(time) < thresholds.ATTENTION_FRACTION:
        return None
    products = signals.of_ops(attention.products) & ~between
    selected = between | products
    saved, reasoning = _fused(signals, between, products, attention)
    return Finding(
        "attention_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "elementwise",
        "Attention is written out as matrix multiplications with a softmax between them: {calls} {calls:time|times} "
        "in each iteration the scores go through memory. It takes {attention_ns} ({share_fraction} of the time), of "
        "which {between_ns} in the kernels between these.",
        signals.advice(
            "Call torch.nn.functional.scaled_dot_product_attention, which keeps the scores on the chip (FlashAttention "
            'for 16 bits); in Transformers, where the model has it: attn_implementation="sdpa".',
            tensorflow="Let XLA fuse what is between the multiplications: tf.function(jit_compile=True).",
            jax='Call jax.nn.dot_product_attention(..., implementation="cudnn"), which keeps the scores on the chip.',
            tensorrt="Let TensorRT fuse them: it knows attention where the network has it as two multiplications with "
            "nothing but a softmax between them, in 16 bits or less.",
            cuda="Use one kernel for both multiplications and the softmax between them (cuDNN's attention, "
            "FlashAttention).",
        ),
        {
            "calls": signals.per_iteration(attention.calls),
            "attention_ns": signals.kernel_time(selected),
            "between_ns": signals.kernel_time(between),
            "products_ns": signals.kernel_time(products),
            "share_fraction": signals.stated_share(selected),
        },
        work_evidence(signals, selected),
        link=signals.advice(
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
            tensorflow="https://www.tensorflow.org/xla",
            tensorrt=TENSORRT_LINK,
            jax="https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html",
            cuda=CUDNN_LINK,
        ),
        **about_kernels(signals, selected, saved, reasoning, fewer=True),
    )  # fmt: skip


def _fused(
    signals: Signals, between: Bools, products: Bools, result: WrittenOut
) -> tuple[dict[Pool, tuple[float, float]], str]:
    """The kernel time that one kernel for all saves, and how it was found."""
    now, ops, peaks = signals.time(between | products), signals.efficiency.ops, signals.peaks
    rows = result.products[ops.op] & (ops.kernel_ns > 0)
    rate = peaks.best_half() if peaks is not None else None
    if rate and rows.any() and (ops.product_flops[rows] > 0).all():
        flops = float(ops.product_flops[rows].sum())
        low, high = (max(now - flops / (rate * reached) * 1e9, 0.0) for reached in _FUSED_RATE)
        return {Pool.OTHER_KERNELS: (low, high)}, (
            "The multiplications alone, at a quarter to half of the dense 16-bit rate, as FlashAttention reaches; what "
            "is between them goes."
        )
    time = signals.time(between)
    return {Pool.OTHER_KERNELS: (_LEFT * time, time)}, (
        "The kernels between the multiplications go; what these gain is not known without shapes and the GPU's rates."
    )


def older_kernels(signals: Signals) -> Finding | Lacks | None:
    """FlashAttention 2 on a GPU for which there are newer kernels, with asynchronous products."""
    if signals.capability_major not in _WITH_OWN_KERNELS:
        return None
    selected = _of_second(signals)
    time = signals.time(selected)
    share = signals.kernel_share(time)
    if share < thresholds.OLDER_ATTENTION_FRACTION:
        return None
    hopper = signals.capability_major == _WITH_OWN_KERNELS[0]
    return Finding(
        "older_attention_detector",
        Severity.ADVICE,
        Confidence.LOW,
        "attention",
        "Kernels of FlashAttention 2 (for Ampere) run on a {gpu} GPU: {kernels} of them take {kernels_ns} of each "
        "iteration ({share_fraction}).",
        "Use kernels made for this GPU: "
        + signals.advice(
            "torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION) around scaled_dot_product_attention, or "
            "{package}.",
            tensorflow="cuDNN's attention, or {package}.",
            jax='jax.nn.dot_product_attention(..., implementation="cudnn"), or {package}.',
            tensorrt="let TensorRT fuse the attention itself, without a plugin.",
            cuda="cuDNN's attention, or {package}.",
        ),
        {
            "gpu": "Hopper" if hopper else "Blackwell",
            "kernels": signals.kernel_count(selected),
            "kernels_ns": signals.kernel_time(selected),
            "share_fraction": signals.stated_share(selected),
            "package": "FlashAttention 4" if not hopper else "FlashAttention 3" + signals.advice(
                ' (in Transformers: attn_implementation="flash_attention_3")', tensorflow="", tensorrt="", cuda=""
            ),
        },
        work_evidence(signals, selected),
        link=signals.advice(
            "https://pytorch.org/blog/flashattention-3/",
            tensorflow=CUDNN_LINK,
            tensorrt=TENSORRT_LINK,
            cuda=CUDNN_LINK,
        ),
        **about_kernels(
            signals, selected, {Pool.PRODUCTS: (_FASTER[0] * time, _FASTER[1] * time)},
            "Such kernels are 1.2 to 2.1 times as fast on an H100 in the paper about FlashAttention 3: least for "
            "heads of 64 and short sequences, most for heads of 256 and long ones.",
        ),
    )  # fmt: skip


def _of_second(signals: Signals) -> Bools:
    """Aggregated kernels of FlashAttention 2."""
    texts, names = signals.profile.strings, signals.profile.kernels.long_name[signals.kernel]
    return are_among(names, [name for name in distinct_values(names).tolist() if _SECOND.search(texts[name])])
