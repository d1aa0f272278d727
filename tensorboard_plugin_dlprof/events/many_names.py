"""The functions of ``names`` for many names at once, with the same results.

A program may give each of a million ranges a name of its own, and matching one name against ten patterns takes tens of
microseconds. So all names are joined in one byte string, which is searched for the words of the patterns at memory
speed. Only names that contain such a word are then matched one by one, and names that a byte search could miss: those
with letters that case-insensitive patterns treat as ASCII letters, or with digits or blanks of other scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.tables import Int8s, Int64s, RangeKind
from tensorboard_plugin_dlprof.expressions import Expression

Flags = npt.NDArray[np.bool_]

_WIDTH: Final = 8
"""Bytes of a prefix that are compared: as many as an integer has."""

_LINE: Final = ord("\n")
_SEARCHED: Final = 1 << 22
"""Bytes searched at a time, rounded up to whole lines."""

_FROM_BRACKET: Final = Expression(r"[\[({].*")


class ManyNames:
    """Names, joined in one byte string. The methods return one flag per name.

    A flag may be true for a name that does not qualify, never false for one that does.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts: Final = texts
        self.odd: Final[Flags] = np.zeros(len(texts), np.bool_)
        """Names that must be matched one by one: with line breaks, or with letters that patterns treat as ASCII."""
        joined = "\n".join(texts)
        like_ascii = frozenset() if joined.isascii() else frozenset(filter(_is_like_ascii, _letters(joined)))
        if like_ascii or joined.count("\n") >= max(len(texts), 1):
            self.odd[:] = [not like_ascii.isdisjoint(text) or "\n" in text for text in texts]
            joined = "\n".join(["" if odd else text for text, odd in zip(texts, self.odd.tolist(), strict=True)])
        self._text: Final = (joined + "\n").encode() if len(texts) else b""
        self._codes: Final = np.frombuffer(self._text, np.uint8)
        self._stop: Final[Int64s] = np.flatnonzero(self._codes == _LINE)
        self._start: Final[Int64s] = np.append(0, self._stop + 1)[: len(texts)]

    @cached_property
    def _lowered(self) -> bytes:
        return self._text.lower()

    def holding(self, *words: bytes, lowered: bool = False) -> Flags:
        """Which names may contain one of some words. ``lowered`` ignores case; the words must then be in lower case."""
        text = self._lowered if lowered else self._text
        result: Flags = self.odd.copy()
        begin = 0
        while begin < len(text):
            end = text.find(b"\n", begin + _SEARCHED) + 1 or len(text)
            block = text[begin:end]
            lines = slice(*np.searchsorted(self._stop, (begin, end)))
            for word in words:
                if result[lines].all():
                    break
                # Splitting and adding up lengths finds all occurrences in a fifth of the time of repeated find().
                between = block.split(word)
                lengths = np.fromiter(map(len, between[:-1]), np.int64, len(between) - 1)
                places = begin + np.cumsum(lengths) + len(word) * np.arange(len(lengths))
                result[np.searchsorted(self._stop, places)] = True
            begin = end
        return result

    def beginning_with(self, beginnings: Iterable[bytes], *, lowered: bool = False) -> Flags:
        """Which names may begin with one of some prefixes; only the first eight bytes are compared."""
        text = np.frombuffer((self._lowered if lowered else self._text) + bytes(_WIDTH), np.uint8)
        windows = np.lib.stride_tricks.sliding_window_view(text, _WIDTH)
        heads = np.ascontiguousarray(windows[self._start]).view(np.uint64).reshape(-1)
        result: Flags = self.odd.copy()
        for beginning in {beginning[:_WIDTH] for beginning in beginnings}:
            mask, wanted = (
                np.frombuffer(value.ljust(_WIDTH, b"\0"), np.uint64)[0]
                for value in (b"\xff" * len(beginning), beginning)
            )
            result |= heads & mask == wanted
        return result

    def ending_in_number(self) -> Flags:
        """Which names may end in a digit, or in a digit and a closing bracket."""
        last, before = (self._codes[np.maximum(self._stop - back, 0)] for back in (1, 2))
        closed = (last == ord("]")) | (last == ord(")"))
        result: Flags = self.odd | _are_digits(last) | closed & _are_digits(before)
        return result


def _letters(text: str) -> Iterable[str]:
    """The distinct non-ASCII characters of a text."""
    result = np.zeros(0x110000, np.bool_)
    for begin in range(0, len(text), _SEARCHED):
        result[np.frombuffer(text[begin : begin + _SEARCHED].encode("utf-32-le", "surrogatepass"), np.uint32)] = True
    return map(chr, (np.flatnonzero(result[128:]) + 128).tolist())


def _is_like_ascii(letter: str) -> bool:
    """Whether patterns may treat a character as an ASCII letter, a digit or a blank; or it is a lone surrogate."""
    cases = letter.lower() + letter.upper() + letter.casefold()
    return letter.isspace() or letter.isnumeric() or "\ud800" <= letter <= "\udfff" or any(map(str.isascii, cases))


def _are_digits(codes: npt.NDArray[np.uint8]) -> Flags:
    result: Flags = (codes >= ord("0")) & (codes <= ord("9"))
    return result


def roles(kind: RangeKind, many: ManyNames) -> Int8s:
    """``names.role`` of each."""
    plain = names.role(kind, "")
    result = np.full(len(many.texts), plain, np.int8)
    if plain not in (Role.OP, Role.ANNOTATION):
        return result
    possible = many.beginning_with(_ROLE_PREFIXES) | many.holding(*_ROLE_WORDS)
    if kind == RangeKind.OP:
        possible |= many.beginning_with(_SCRIPT_PREFIXES)
    of_shape = _RolesOfShapes(kind)
    rows = np.flatnonzero(possible)
    result[rows] = [of_shape[_shape(many.texts[row])] for row in rows.tolist()]
    return result


class _RolesOfShapes(dict[str, Role]):
    """Shape of a name -> ``names.role``."""

    def __init__(self, kind: RangeKind) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, shape: str) -> Role:
        role = self[shape] = names.role(self._kind, shape)
        return role


def _shape(name: str) -> str:
    """``name`` with its trailing number replaced by 0: the patterns of ``names`` do not depend on its value."""
    base = name.rstrip("0123456789")
    return name if len(base) == len(name) else f"{base}0"


def matching(many: ManyNames, pattern: Expression, possible: Flags) -> Flags:
    """Which of the names flagged as ``possible`` match a pattern."""
    result = np.zeros(len(many.texts), np.bool_)
    rows = np.flatnonzero(possible)
    result[rows] = [pattern.match(many.texts[row]) is not None for row in rows.tolist()]
    return result


_ROLE_WORDS: Final = (b"cudagraph", b"CUDAGraph")
_ROLE_PREFIXES: Final = (
    b"autograd::engine", b"c10d", b"_c10d", b"nccl", b"pnccl", b"gloo:", b"mpi:", b"ucc:", b"xccl:", b"hccl:",
    b"record_param_comms", b"FSDP::", b"symm_mem::", b"_symm_mem::", b"aten::symm_mem::", b"aten::_symm_mem::",
    b"Optimizer.", b"ProfilerStep", b"[memory]", b"PyTorch Profiler", b"profiler::_record_function", b"Torch-Compiled",
    b"## Call CompiledFxGraph", b"CompiledFxGraph", b"Call CompiledFxGraph", b"inductor::", b"torch::autograd::",
    b"AOTDispatcher ", b"TorchDynamo ", b"Pregraph ", b"CompiledFunction", b"CheckpointFunction", b"UnpackSavedTensor",
    b"PrologueFunction", b"Stateful", b"Stateless", b"PartitionedCall", b"If: ", b"While: ", b"Case: ",
)  # fmt: skip
"""Prefixes of all names that a role pattern of ``names`` matches, except for those with the words above."""

_SCRIPT_PREFIXES: Final = (b"forward", b"fallback_function", b"<forward op>", b"<backward op>")


def are_backward(many: ManyNames) -> Flags:
    """``names.is_backward`` of each."""
    result = many.holding(*_BACKWARD_WORDS)
    rows = np.flatnonzero(result)
    result[rows] = [names.is_backward(many.texts[row]) for row in rows.tolist()]
    return result


_BACKWARD_WORDS: Final = (b"ackward", b"gradient", names.EVALUATE.encode())


def without_arguments(many: ManyNames) -> list[str]:
    """``names.without_arguments`` of each."""
    result = [text.strip() for text in many.texts]
    for row in np.flatnonzero(many.holding(b", ")).tolist():
        result[row] = names.without_arguments(many.texts[row])
    return result


def without_counters(many: ManyNames) -> list[str]:
    """``names.without_counters`` of each."""
    result = [text.strip() for text in many.texts]
    for row in np.flatnonzero(many.holding(b", ", b"0x", b"#")).tolist():
        result[row] = names.without_counters(many.texts[row])
    return result


def module_instances(many: ManyNames) -> list[str]:
    """``names.module_instance`` of each."""
    return [text.removeprefix("nn.Module:").removeprefix("layer:").strip() for text in without_counters(many)]


def module_classes(many: ManyNames) -> list[str]:
    """``names.module_class`` of each."""
    result = module_instances(many)
    for row in np.flatnonzero(many.holding(b"_")).tolist():
        instance = result[row]
        base = instance.rstrip("0123456789")
        if base.endswith("_") and len(base) < len(instance):
            result[row] = base[:-1]
    for row in np.flatnonzero(many.odd).tolist():
        result[row] = names.module_class(many.texts[row])
    return [text or "Module" for text in result]


def mention_steps(many: ManyNames) -> Flags:
    """``names.mentions_steps`` of each."""
    result = many.holding(*_STEP_HINTS, lowered=True)
    if result.any():
        result &= ~many.holding(*_PART_WORDS, lowered=True)
    for row in np.flatnonzero(many.odd).tolist():
        result[row] = names.mentions_steps(many.texts[row])
    return result


_STEP_HINTS: Final = tuple(word.encode() for word in names.STEP_HINTS)
_PART_WORDS: Final = tuple(word.encode() for word in names.PART_WORDS)


def _with_n_for_digits(text: str) -> str:
    """A text with each run of digits replaced by N."""
    codes = np.frombuffer(text.encode(), np.uint8)
    digits = _are_digits(codes)
    first = digits.copy()
    first[1:] &= ~digits[:-1]
    with_n = codes.copy()
    with_n[first] = ord("N")
    return bytes(with_n[first | ~digits]).decode()


def templates(many: ManyNames) -> list[str]:
    """``names.template`` of each."""
    plain = ["" if odd else text for text, odd in zip(many.texts, many.odd.tolist(), strict=True)]
    heads = [text.strip(" _:-") or text for text in plain]
    for row in np.flatnonzero(many.holding(b"[", b"(", b"{")).tolist():
        heads[row] = _FROM_BRACKET.sub("", plain[row]).strip(" _:-") or plain[row]
    result = _with_n_for_digits("\n".join(heads)).split("\n")[: len(plain)]
    for row in np.flatnonzero(many.odd).tolist():
        result[row] = names.template(many.texts[row])
    return result
