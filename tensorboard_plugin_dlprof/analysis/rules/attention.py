"""Rules about attention: written out as products and a softmax, or with kernels of an older GPU."""

from __future__ import annotations

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.attention_pattern import written_out
from tensorboard_plugin_dlprof.analysis.evidence import kernel_evidence, op_evidence
from tensorboard_plugin_dlprof.analysis.gains import kernel_gain
from tensorboard_plugin_dlprof.analysis.rules.fusing import op_rows
from tensorboard_plugin_dlprof.analysis.signals import CUDNN_LINK, TENSORRT_LINK, Signals
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

_FASTER = (0.15, 0.5)
"""Share of the time that kernels of the GPU's own save (Shah et al., FlashAttention-3, figures 5 and 6, on an H100):
1.2 times as fast for heads of 64 and short sequences, 2.1 times for heads of 256 and long ones."""


def written(signals: Signals) -> Finding | Lacks | None:
    """Attention as product, softmax, product, with the scores in memory."""
    found = written_out(signals)
    if found is None:
        return None
    kernels = signals.of_ops(found.between)
    time = signals.time(kernels)
    if signals.kernel_share(time) < thresholds.ATTENTION_FRACTION:
        return None
    products = signals.time(signals.of_ops(found.products))
    return Finding(
        "attention_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "elementwise",
        "Attention is written out as products with a softmax between them: {calls} {calls:time|times} in each "
        "iteration the scores go through memory. The kernels between the products take {between_ns} "
        "({share_fraction} of the time).",
        signals.advice(
            "Call torch.nn.functional.scaled_dot_product_attention, which keeps the scores on the chip (FlashAttention "
            'for 16 bits); in Transformers: attn_implementation="sdpa".',
            tensorflow="Let XLA fuse what is between the products: tf.function(jit_compile=True).",
            tensorrt="Let TensorRT fuse them: it knows attention where the network has it as two products with "
            "nothing but a softmax between them, in 16 bits or less.",
            cuda="Use one kernel for both products and the softmax between them (cuDNN's attention, FlashAttention).",
        ),
        {
            "calls": signals.per_iteration(found.calls),
            "between_ns": signals.per_gpu(time),
            "products_ns": signals.per_gpu(products),
            "share_fraction": signals.kernel_share(time),
        },
        op_evidence(signals, op_rows(signals, found.between | found.products)),
        kernel_gain(
            signals, {Pool.OTHER_KERNELS: (0.5 * time, time), Pool.PRODUCTS: (0, 0.3 * products)},
            "The kernels between the products go, at best with the part of the products that moves the scores; in FP32 "
            "the fused kernel saves less.",
        ),
        signals.advice(
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
            tensorflow="https://www.tensorflow.org/xla",
            tensorrt=TENSORRT_LINK,
            cuda=CUDNN_LINK,
        ),
    )  # fmt: skip


def older_kernels(signals: Signals) -> Finding | Lacks | None:
    """FlashAttention 2 on a GPU for which there are newer kernels, with asynchronous products."""
    if signals.capability_major not in _WITH_OWN_KERNELS:
        return None
    chosen = _of_second(signals)
    time = signals.time(chosen)
    share = signals.kernel_share(time)
    if share < thresholds.OLDER_ATTENTION_FRACTION:
        return None
    hopper = signals.capability_major == _WITH_OWN_KERNELS[0]
    return Finding(
        "older_attention_detector",
        Severity.ADVICE,
        Confidence.MEDIUM,
        "attention",
        "Attention runs in kernels of FlashAttention 2, which were made for Ampere, on a {gpu} GPU: {kernels} of them "
        "take {kernels_ns} of each iteration ({share_fraction}).",
        "Use kernels of this GPU: "
        + signals.advice(
            "torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION) around scaled_dot_product_attention, or "
            "{package}.",
            tensorflow="cuDNN's attention, or {package}.",
            tensorrt="let TensorRT fuse the attention itself, without a plugin.",
            cuda="cuDNN's attention, or {package}.",
        ),
        {
            "gpu": "Hopper" if hopper else "Blackwell",
            "kernels": signals.per_gpu(int(chosen.sum())),
            "kernels_ns": signals.per_gpu(time),
            "share_fraction": share,
            "package": "FlashAttention 4" if not hopper else "FlashAttention 3" + signals.advice(
                ' (in Transformers: attn_implementation="flash_attention_3")', tensorflow="", tensorrt="", cuda=""
            ),
        },
        kernel_evidence(signals, chosen),
        kernel_gain(
            signals, {Pool.PRODUCTS: (_FASTER[0] * time, _FASTER[1] * time)},
            "Such kernels are 1.2 to 2.1 times as fast on an H100 in the paper about FlashAttention 3: least for "
            "heads of 64 and short sequences, most for heads of 256 and long ones.",
        ),
        signals.advice(
            "https://pytorch.org/blog/flashattention-3/",
            tensorflow=CUDNN_LINK,
            tensorrt=TENSORRT_LINK,
            cuda=CUDNN_LINK,
        ),
    )  # fmt: skip


def _of_second(signals: Signals) -> Bools:
    """Aggregated kernels of FlashAttention 2."""
    texts, names = signals.profile.strings, signals.profile.kernels.long_name[signals.kernel]
    return are_among(names, [name for name in distinct_values(names).tolist() if _SECOND.search(texts[name])])
