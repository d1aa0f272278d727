"""Rules about kernels that could be fused: optimizers, zero_grad, elementwise chains."""

from __future__ import annotations

import re

import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import length, subtract, union
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.attention_pattern import written_out
from tensorboard_plugin_dlprof.analysis.evidence import most_in, span_evidence, work_evidence
from tensorboard_plugin_dlprof.analysis.gains import about_kernels, about_span
from tensorboard_plugin_dlprof.analysis.program import COMPILED, CUDA_LINK, Framework
from tensorboard_plugin_dlprof.analysis.rules.start import fraction_after_start
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Finding, Lacks, Pool, Severity
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.units import percentage

FUSED = (0.3, 0.85)
"""Share of the time of elementwise kernels that a compiler saves: with few chains, and in a transformer (measured)."""

_ZERO = Expression(r"zero_grad", re.IGNORECASE)

_COMPILERS = ("triton", "xla", "nvfuser", "tensorrt")
"""Libraries whose kernels are fused already."""

_FUSED = (
    "fused", "add_rmsnorm", "add_rms_norm", "rmsnorm_quant", "rms_norm_quant", "_and_mul", "rotary_emb", "rope_",
    "kv_cache", "kvcache", "splitkreduce", "split_k_reduce",
)  # fmt: skip
"""Parts of names of kernels that do what several did, as servers of language models have, or that end a product."""

_FUSED_OPTIMIZERS = ("Adam", "AdamW")
"""Optimizers of ``torch.optim`` with fused GPU kernels since 2.0; Adagrad's were for CPUs only until 2026."""

_FOREACH_OPTIMIZERS = ("Adadelta", "Adafactor", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")
"""Other optimizers of ``torch.optim`` that support ``foreach``."""

_XLA_LINK = "https://www.tensorflow.org/xla#auto-clustering"


def optimizer(signals: Signals) -> Finding | Lacks | None:
    """An optimizer that works tensor by tensor."""
    selected = signals.optimizer
    if not selected.any():
        is_expected = signals.backward and signals.framework is Framework.PYTORCH
        if is_expected and "ops" in signals.recorded and not signals.of_family("optimizer").any():
            return Lacks(
                "where the optimizer works",
                "Record whole iterations with Optimizer.step in them; PyTorch's profiler marks it by itself.",
            )
        return None
    kernels = signals.of_ops(selected)
    span, time = _span(signals, kernels), signals.on_gpu(signals.time(kernels))
    waiting = max(span - time, 0)
    if signals.share(span) < thresholds.OPTIMIZER_FRACTION or not signals.optimizer_is_slow:
        return None
    name = _optimizer_name(signals, selected)
    return Finding(
        "optimizer_detector",
        Severity.WARNING,
        Confidence.MEDIUM,
        "optimizer",
        "The optimizer launches {kernels} {kernels:kernel|kernels} in each iteration, tensor by tensor, which take "
        "{kernel_ns}; from the first to the last of them {span_ns} pass ({share_fraction} of the time).",
        _at_once(name),
        {
            "kernels": signals.kernel_count(kernels),
            "span_ns": signals.per_iteration(span),
            "share_fraction": signals.share(span),
            "kernel_ns": signals.kernel_time(kernels),
            "name": name,
        },
        span_evidence(signals, kernels, span),
        link="https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
        overlaps_with=("launch_detector",),
        **about_span(
            signals, kernels, span,
            {Pool.LAUNCH: (0.5 * waiting, 0.9 * waiting), Pool.OTHER_KERNELS: (0.3 * time, 0.65 * time)},
            "A fused step needs about ten launches, so that the gaps between kernels go; it also reads and writes each "
            "tensor once, which takes a third to two thirds of the kernels' time.",
        ),
    )  # fmt: skip


def zero_grad(signals: Signals) -> Finding | Lacks | None:
    """Gradients that are set to zero one by one."""
    selected = signals.ops_where(_ZERO)
    kernels = signals.of_ops(selected)
    count = int(kernels.sum())
    span, time = _span(signals, kernels), signals.on_gpu(signals.time(kernels))
    if signals.per_gpu(count) < thresholds.ZERO_GRAD_KERNELS or signals.share(span) < thresholds.MIN_GAIN_FRACTION:
        return None
    waiting = max(span - time, 0)
    starved = waiting > time
    return Finding(
        "zero_grad_detector",
        Severity.ADVICE,
        Confidence.HIGH,
        "zero_grad",
        "Between the {kernels} {kernels:kernel|kernels} of zero_grad no kernel runs for {waiting_ns} of each iteration."
        if starved
        else "zero_grad sets gradients to zero by {kernels} {kernels:kernel|kernels} in each iteration, which take "
        "{kernel_ns}.",
        "Leave them out: optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0.",
        {
            "kernels": signals.kernel_count(kernels),
            "kernel_ns": signals.kernel_time(kernels),
            "waiting_ns": signals.per_iteration(waiting),
            "span_ns": signals.per_iteration(span),
        },
        span_evidence(signals, kernels, span) if starved else work_evidence(signals, kernels),
        link="https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
        overlaps_with=("launch_detector",),
        **about_span(
            signals, kernels, span,
            {Pool.LAUNCH: (0.5 * waiting, 0.9 * waiting), Pool.OTHER_KERNELS: (0.9 * time, time)},
            "Nothing is launched any more: its kernels' time, and half to 90 % of the gaps between them.",
        ),
    )  # fmt: skip


def fusible(signals: Signals) -> Bools:
    """Aggregated kernels that each read and write whole tensors, and that no compiler made."""
    selected = signals.of_family("elementwise", "normalisation", "softmax", "copy", "reduction", "random")
    # What changes layouts has a finding of its own.
    selected &= ~signals.of_library(*_COMPILERS) & ~signals.transposing & ~_of_attention(signals)
    return selected & ~signals.named(_FUSED) & ~signals.of_ops(signals.optimizer | signals.ops_where(_ZERO))


def _of_attention(signals: Signals) -> Bools:
    """Aggregated kernels of which ``attention_detector`` speaks."""
    attention = written_out(signals)
    return np.zeros(len(signals.kernel), np.bool_) if attention is None else signals.of_ops(attention.between)


def elementwise(signals: Signals) -> Finding | Lacks | None:
    """Consecutive elementwise kernels, which ``torch.compile`` or a programmer could fuse.

    Not for TensorFlow, for which there is ``xla``, nor for TensorRT, which has fused all it can in building the engine.
    """
    if signals.framework in (Framework.TENSORFLOW, Framework.TENSORRT):
        return None
    directed = np.array([bool(op.direction) for op in signals.profile.ops], np.bool_)
    if signals.framework is Framework.UNKNOWN and "ops" not in signals.recorded and not directed.any():
        return None  # Whole tensors are read by frameworks; what a program's own kernels do is not known.
    problem = "{kernels} elementwise, normalisation and copy {kernels:kernel takes|kernels take} {kernels_ns} "
    problem += "of each iteration ({share_fraction}{most}): each reads and writes whole tensors."
    if signals.compiled:
        selected = fusible(signals)
        inside = signals.time(selected & signals.of_ops(signals.ops_where(COMPILED))) / max(signals.time(selected), 1)
        if inside > 0.5:
            return _unfused(
                signals,
                "fusion_detector",
                problem + " Most run inside of code that torch.compile made: its backend left them as they were.",
                "Compile with Inductor, the default backend of torch.compile, which fuses them; eager, aot_eager and "
                "cudagraphs do not.",
                "https://pytorch.org/docs/stable/torch.compiler.html",
            )
        outside = "All" if inside < 0.005 else percentage(1 - inside)
        return _unfused(
            signals,
            "fusion_detector",
            problem + f" {outside} of that time is outside of the code that torch.compile made.",
            "Find out what torch.compile left out: TORCH_LOGS=graph_breaks,recompiles names the lines. Compile the "
            "whole model rather than parts of it (fullgraph=True fails where that cannot be), and the loss with it.",
            "https://pytorch.org/docs/stable/torch.compiler_troubleshooting.html",
        )
    return _unfused(
        signals,
        "fusion_detector",
        problem,
        signals.advice(
            f"Fuse them: model = torch.compile(model){_fused_layers(signals)}.",
            tensorflow="",
            tensorrt="",
            jax="Fuse them: one jax.jit around what runs op by op, so that XLA sees all of it.",
            cuda="Fuse them: one kernel for what several in a row do, or the epilogues of cuBLASLt, cuDNN and CUTLASS.",
        ),
        signals.advice(
            "https://pytorch.org/docs/stable/torch.compiler.html",
            tensorflow="",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/jit-compilation.html",
            cuda=CUDA_LINK,
        ),
    )


def xla(signals: Signals) -> Finding | Lacks | None:
    """Elementwise kernels of a TensorFlow program, which XLA could fuse. DLProf checked only whether XLA is enabled."""
    if signals.framework is not Framework.TENSORFLOW:
        return None
    kernels = "{kernels} elementwise, normalisation and copy {kernels:kernel takes|kernels take} {kernels_ns} "
    kernels += "of each iteration ({share_fraction}{most}), "
    if signals.compiled:
        return _unfused(
            signals,
            "xla_detector",
            kernels + "outside of the clusters that XLA compiles.",
            "Compile more than what clustering finds: tf.function(jit_compile=True) around the step, or "
            "model.compile(..., jit_compile=True), with shapes that do not change.",
            _XLA_LINK,
        )
    return _unfused(
        signals,
        "xla_detector",
        kernels + "and nothing shows that XLA is on: each reads and writes whole tensors.",
        "Let XLA fuse them: tf.function(jit_compile=True) around the step, model.compile(..., jit_compile=True), or "
        "TF_XLA_FLAGS=--tf_xla_auto_jit=2 without a change of the code.",
        _XLA_LINK,
    )


_LAYERS = tuple(
    (Expression(pattern, re.IGNORECASE), name)
    for pattern, name in (
        ("batch_?norm", "BatchNorm with ReLU"),
        ("layer_?norm", "LayerNorm"),
        ("rms_?norm", "RMSNorm"),
        ("group_?norm", "GroupNorm"),
        (r"rotary|rope", "rotary embedding"),
        ("gelu|silu|swiglu", "activation"),
        ("cross_?entropy", "cross entropy"),
    )
)
"""What libraries have as one kernel, by the modules and ops that it is in place of."""


def _fused_layers(signals: Signals) -> str:
    """Which layers a library may have fused, of those that the kernels are in; empty where it is none of them."""
    evidence = work_evidence(signals, fusible(signals))
    names = [name for pattern, name in _LAYERS if any(pattern.search(row.path or row.key) for row in evidence)]
    return f", or fused layers ({', '.join(names)}) of a library" if names else ""


def _unfused(signals: Signals, detector: str, problem: str, recommendation: str, link: str) -> Finding | None:
    """A finding about kernels that a compiler could fuse, if they take long enough."""
    selected = fusible(signals)
    time = signals.time(selected)
    share = signals.kernel_share(time)
    if share < thresholds.FUSION_FRACTION * fraction_after_start(signals):
        return None
    return Finding(
        detector,
        Severity.ADVICE,
        Confidence.LOW,
        "elementwise",
        problem,
        recommendation,
        {
            "kernels": signals.kernel_count(selected),
            "kernels_ns": signals.kernel_time(selected),
            "share_fraction": signals.stated_share(selected),
            "most": most_in(signals, selected),
        },
        work_evidence(signals, selected),
        link=link,
        **about_kernels(
            signals, selected, {Pool.OTHER_KERNELS: (FUSED[0] * time, FUSED[1] * time)},
            "Two neighbours in one kernel move half of what they moved; compilers fuse a third to nearly all of them.",
            fewer=True,
        ),
    )  # fmt: skip


def _span(signals: Signals, kernels: Bools) -> int:
    """Time (ns) from the first to the last chosen kernel, without other kernels in between, summed over iterations."""
    rows = signals.kernel[kernels]
    if not len(rows):
        return 0
    table = signals.profile.kernels
    iterations = signals.aggregation.iteration_ops.iter_value[signals.aggregation.iteration_kernels.iteration_op]
    values, number = np.unique(iterations[kernels], return_inverse=True)
    number = number.reshape(-1)
    first = np.full(len(values), np.iinfo(np.int64).max)
    last = np.zeros(len(values), np.int64)
    np.minimum.at(first, number, table.start_ns[rows])
    np.maximum.at(last, number, table.end_ns[rows])
    others = signals.kernel[~kernels]
    busy = union(table.start_ns[others], table.end_ns[others])
    spans = union(first, last)
    mine = length(union(table.start_ns[rows], table.end_ns[rows]))
    return max(length(subtract(spans, busy)), mine)


_NAME = Expression(r"Optimizer\.step(?:#|/)(\w+)\.step")


def _optimizer_name(signals: Signals, selected: Bools) -> str:
    for row in np.flatnonzero(selected).tolist():
        match = _NAME.search(signals.profile.ops[row].name)
        if match:
            return match[1]
    return "AdamW"


def _at_once(name: str) -> str:
    """How an optimizer of this class can update all parameters at once."""
    if name == "SGD":
        return (
            "Let it update all parameters at once: torch.optim.SGD(..., foreach=True), or, since PyTorch 2.3, "
            "fused=True."
        )
    if name in _FUSED_OPTIMIZERS:
        return "Let it update all parameters at once: torch.optim.{name}(..., fused=True), or foreach=True."
    if name in _FOREACH_OPTIMIZERS:
        return "Let it update all parameters at once: torch.optim.{name}(..., foreach=True)."
    return (
        "Let it update all parameters at once: compile its step (torch.compile(optimizer.step)), or take one that is "
        "fused or made of torch._foreach_* operations."
    )
