"""Classifies kernels by name: family, library, precision, and whether they use Tensor Cores or matrix cores."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType
from typing import Final, NoReturn

from tensorboard_plugin_dlprof.classify.architecture import architecture_of
from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.classify.kernel_names import KernelName, library_of, lowered, parse
from tensorboard_plugin_dlprof.classify.precision import DECODERS
from tensorboard_plugin_dlprof.classify.rules import RULES
from tensorboard_plugin_dlprof.classify.rules.rule import LazyRule, Rule, RulesByWord
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.classify.words import (
    CUT,
    holds_product,
    is_harmless,
    is_helper,
    is_mover,
    is_risky,
    is_unsuspicious,
    says_something,
)
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.expressions import Expression

_TYPES: Final[dict[str, str]] = {
    "f16": "fp16", "fp16": "fp16", "f32": "fp32", "fp32": "fp32", "f64": "fp64", "fp64": "fp64",
    "i32": "int32", "s32": "int32", "int32": "int32",
}  # fmt: skip
_LETTERS: Final[dict[str, str]] = {
    "h": "fp16", "s": "fp32", "c": "fp32", "d": "fp64", "z": "fp64", "i": "int32",
}  # fmt: skip
_SHAPE = r"(?:884|1688|16816|161616|8816|8832|16832|16864|88128|\d+x\d+x\d+)"

_ACCUMULATORS: Final[tuple[tuple[Expression, dict[str, str]], ...]] = (
    # xmma: two operand types, the type multiplied and the type accumulated, the type of scaling.
    (Expression(r"xmma_\w*?_(?:[a-z]+\d+[a-z0-9]*?){2}_(?:c?(?:bf16|tf32|f16|f32|f64|i8|e4m3|e5m2))c?(f16|f32|f64|i32)_",
                words=("xmma_",)), _TYPES),
    # CUTLASS's instructions: the result type comes first.
    (Expression(r"(?:SM|sm)\d+_\d+x\d+x\d+_(F32|F16|S32|F64)", words=("sm",)), _TYPES),
    # A letter before the instruction: ``h884``, ``s16816gemm``, ``s64x128x16gemm``.
    (Expression(rf"(?:^|_|<)(?:g)?([shidcz])(?:{_SHAPE})(?:bf16|f16|tf32)?(?:sp)?"
                r"(?:gemm|cudnn|fprop|dgrad|wgrad|conv|symm|syrk|trmm|herk|_|$)"), _LETTERS),
    # A letter without an instruction, of CUDA cores: ``hgemm_128x64``, and once more for the data in ``hhgemm``.
    (Expression(r"(?:^|_)h?(h)(?:gemm_\d|gemm<|cudnn_\d)", words=("hgemm", "hcudnn")), _LETTERS),
    # nvjet's letters: operands, then the accumulator, then the result.
    (Expression(r"nvjet(?:_sm\d+)?_[a-z]*([shd])[a-z]_", words=("nvjet",)), _LETTERS),
    # TensorRT-LLM's generated products: result, operands, accumulator.
    (Expression(r"^(?:bmm|gemm|gemmGatedAct|fusedMoe)_[A-Za-z0-9]+_[A-Za-z0-9]+_(Fp32|Fp16|Int32)_",
                words=("fp32", "fp16", "int32")), _TYPES),
    (Expression(r"fmha_v2_\w*?(?:fp16|bf16|e4m3|int8)_(fp32|fp16|int32)_", words=("fmha_v2_",)), _TYPES),
    # CUTLASS 3 without the instruction: both operands, then the accumulator.
    (Expression(r"cutlass3x_sm\d+_\w*?gemm_[a-z0-9]+_[a-z0-9]+_(f16|f32|f64|s32|i32)_", words=("cutlass3x",)), _TYPES),
    # rocBLAS's own Tensile: one type, B for beta, H for sums in a wider type.
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_(H|B|I8|4xi8)BH_", words=("cijk_",)),
     {"h": "fp32", "b": "fp32", "i8": "int32", "4xi8": "int32"}),
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_([SDCZH])B_", words=("cijk_",)), _LETTERS),
    # Tensile: the last of three or more letters of type.
    (Expression(r"Cijk_[A-Z][a-z]+_[A-Z][a-z]+_(?:[A-Z]\d?){2,3}([SHDI])_", words=("cijk_",)), _LETTERS),
)  # fmt: skip


def accumulator_of(name: KernelName) -> str:
    """The type in which a kernel accumulates its products; empty if the name does not contain it."""
    for pattern, types in _ACCUMULATORS:
        match = pattern.search_lowered(name.text, name.lowered)
        if match:
            return types[match[1].lower()]
    return ""


_LAZY: Final = tuple(LazyRule(rule) for rule in RULES)
_RULES_SECONDS: Final = 5.0
_TYPED_NUMBER: Final = Expression(r"\)[0-9]+", words=frozenset((")",)))


class Classifier:
    """Applies the rules of a user, then those of this package.

    Args:
        user_rules: Tried first, in order; see ``user_rules.load_user_rules``.
    """

    def __init__(self, user_rules: Sequence[Rule] = ()) -> None:
        self.user_rules: Final = tuple(user_rules)
        self._rules: Final = RulesByWord((*(LazyRule(rule).compile_now() for rule in user_rules), *_LAZY))
        # Profiles repeat their names a million times, and many long names share one function name.
        self._class_of = lru_cache(maxsize=65_536)(self._decide_in_time if user_rules else self._decide)
        self._candidates = lru_cache(maxsize=65_536)(self._possible)

    def classify(self, long_name: str, short_name: str = "") -> KernelClass:
        """Classify a kernel by its name.

        Args:
            long_name: Demangled, mangled or plain name, with template arguments if the source has them.
            short_name: Name without template arguments; used if there is no long name.

        Returns:
            The result of the first rule that applies; ``rule`` is its name, see ``explanation``. ``matrix_unit`` is
            ``UNKNOWN`` if the name does not determine it.
        """
        name = long_name or short_name
        return self._class_of(name if self.user_rules else _with_zeros(name))

    def explanation(self, rule_name: str) -> str:
        """The reason behind a rule's result; empty if the rule has no note or does not exist."""
        return next((rule.note for rule in (*self.user_rules, *RULES) if rule.name == rule_name), "")

    def _decide_in_time(self, text: str) -> KernelClass:
        """As ``_decide``, with the expressions of users, some of which take longer than the universe is old."""
        try:
            with time_limit(_RULES_SECONDS):
                return self._decide(text)
        except TookTooLong:
            raise BadRequest(
                f"The kernel rules take more than {_RULES_SECONDS:.0f} s for the kernel {text[:80]!r}; simplify their "
                "regular expressions: no repetition within a repetition, such as (a+)+."
            ) from None

    def _decide(self, text: str) -> KernelClass:
        name = parse(text)
        # The last rule has no patterns, so that one always applies.
        rule = next(
            each.rule for each in self._candidates(name.head) if not each.needs_text or each.fits_text(name.text)
        )
        return KernelClass(
            rule.matrix_unit,
            rule.family,
            library_of(name) if rule.library == "@namespace" else rule.library,
            DECODERS[rule.precision[1:]](name) if rule.precision.startswith("@") else rule.precision,
            rule.name,
            accumulator_of(name),
            architecture_of(name),
        )

    def _possible(self, head: str) -> tuple[LazyRule, ...]:
        """The rules that may apply to kernels with this function name, in order."""
        candidates = []
        for each in self._rules.possible(lowered(head)):
            if each.fits_head(head) and _is_believed(each.rule, head):
                candidates.append(each)
                if not each.needs_text:
                    break
        return tuple(candidates)


def _with_zeros(name: str) -> str:
    """Replace numbers without meaning by 0, so that thousands of names that differ only there are classified once.

    These are template arguments as Nsight Systems writes them, with their types (``(int)128``), and the running numbers
    of kernels generated by Inductor or XLA.
    """
    if ")" in name:
        return _TYPED_NUMBER.sub(")0", name)
    base = name.rstrip("0123456789")
    if len(base) == len(name) or not (base.startswith(("triton_", "wrapped_")) or "fusion" in base):
        return name
    # ``sm_90`` ends in an architecture, which must stay.
    return f"{base}0" if base.endswith("_") and not base.lower().endswith("sm_") else name


def _is_believed(rule: Rule, head: str) -> bool:
    """Whether a rule's *no* is reliable for this function name; see the README, "When a "no" is believed".

    A *yes* is not if the name says that the kernel is a helper of a product.
    """
    if rule.of_rest and head.endswith(CUT):
        return False
    if rule.matrix_unit == MatrixUnit.YES:
        return rule.knows_better or not is_helper(head)
    if rule.matrix_unit == MatrixUnit.UNKNOWN and rule.name == "triton-other":
        own = head.removeprefix("triton_")  # a prefix that says nothing, of users' kernels
        return holds_product(own) or not (is_harmless(own) and says_something(own))
    if rule.matrix_unit == MatrixUnit.UNKNOWN and rule.library == "custom" and not holds_product(head):
        # Where a product stands in the namespace alone: ``turbomind::gemm::convert_kernel``.
        return not (is_helper(head) or is_mover(head) or (rule.name.startswith("word-") and is_unsuspicious(head)))
    if rule.name == "word-unlisted":
        return is_unsuspicious(head)
    if rule.matrix_unit != MatrixUnit.NO or rule.knows_better or rule.family in PRODUCT_FAMILIES:
        return True
    if holds_product(head):
        return False
    if rule.by_types:
        return not is_risky(head)
    judged_by_words = rule.library == "custom" or (rule.library == "@namespace" and _is_unknown_library(head))
    return not judged_by_words or is_harmless(head)


def _is_unknown_library(head: str) -> bool:
    return library_of(KernelName(head, head)) == "custom"


DEFAULT: Final = Classifier()
"""The classifier without user rules."""

classify = DEFAULT.classify
explanation = DEFAULT.explanation


class TookTooLong(Exception):
    """The block did not end in time."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the time of a block. Without effect on Windows and in other threads than the main one, where no signal can
    interrupt Python's regular expressions.

    Raises:
        TookTooLong: The time is over.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TookTooLong
