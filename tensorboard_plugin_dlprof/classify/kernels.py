"""What a kernel's name tells: family, library, precision, and whether it uses Tensor Cores or matrix cores."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tensorboard_plugin_dlprof.classify.accumulator import accumulator_of
from tensorboard_plugin_dlprof.classify.architecture import architecture_of
from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.classify.kernel_names import KernelName, library_of, parse
from tensorboard_plugin_dlprof.classify.precision import DECODERS
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.classify.rules.rule import CompiledRule, Rule, compile_rule
from tensorboard_plugin_dlprof.classify.words import holds_product, is_harmless

_COMPILED: Final = tuple(compile_rule(rule) for rule in RULES)
_PRODUCTS: Final = frozenset(("gemm", "convolution", "attention"))


@lru_cache(maxsize=65_536)
def classify(long_name: str, short_name: str = "") -> KernelClass:
    """What a kernel's name tells.

    Args:
        long_name: Demangled, mangled or plain name, with template arguments where the source has them.
        short_name: Name without template arguments; used where there is no long name.

    Returns:
        The answer of the first rule that applies. ``matrix_unit`` is ``UNKNOWN`` where the name cannot tell, and
        ``rule`` names the rule, of which ``explanation`` gives the reason.
    """
    name = parse(long_name or short_name)
    rule = _deciding_rule(name)
    library = library_of(name) if rule.library == "@namespace" else rule.library
    return KernelClass(
        rule.matrix_unit,
        rule.family,
        library,
        _precision(rule, name),
        rule.name,
        accumulator_of(name),
        architecture_of(name),
    )


def explanation(rule_name: str) -> str:
    """Why the rule of that name answers as it does; empty where its name says it all or there is none."""
    return next((rule.note for rule in RULES if rule.name == rule_name), "")


@lru_cache(maxsize=65_536)
def _candidates(head: str) -> tuple[CompiledRule, ...]:
    """The rules that a function name leaves possible, in order: many long names share one function name."""
    candidates = []
    for compiled in _COMPILED:
        if compiled.head.search(head) and _is_believed(compiled.rule, head):
            candidates.append(compiled)
            if compiled.text is None:
                break
    return tuple(candidates)


def _is_believed(rule: Rule, head: str) -> bool:
    """Whether a *no* holds of this name: a word for something else proves little beside a word for a product."""
    if rule.matrix_unit != MatrixUnit.NO or rule.knows_better or rule.family in _PRODUCTS:
        return True
    if holds_product(head):
        return False
    judged_by_words = rule.library == "custom" or (rule.library == "@namespace" and _is_unknown_library(head))
    return not judged_by_words or is_harmless(head)


def _is_unknown_library(head: str) -> bool:
    return library_of(KernelName(head, head)) == "custom"


def _deciding_rule(name: KernelName) -> Rule:
    # The last rule has no patterns, so that one always applies.
    return next(rule for rule, _, text in _candidates(name.head) if text is None or text.search(name.text))


def _precision(rule: Rule, name: KernelName) -> str:
    if rule.precision.startswith("@"):
        return DECODERS[rule.precision[1:]](name)
    return rule.precision
