"""Represents a recorded op by its arguments: shapes, data types and values by position."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod

import msgspec

from tensorboard_plugin_dlprof.classify.dtypes import data_type
from tensorboard_plugin_dlprof.events.inputs import recorded_list
from tensorboard_plugin_dlprof.expressions import Expression

Shape = tuple[int, ...]

_BOOLEANS = Expression(r"\b(?:True|False)\b")


class Tensor(msgspec.Struct, frozen=True):
    """A tensor argument."""

    shape: Shape
    data_type: str
    """DLProf's spelling; empty if not recorded."""

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a scalar."""
        return prod(self.shape)


class Call(msgspec.Struct, frozen=True):
    """One recorded op."""

    name: str
    arguments: tuple[tuple[Tensor, ...], ...]
    """By position: one tensor, several for a list of tensors, none for an argument that is not a tensor."""
    values: tuple[object, ...]
    """By position: value of a scalar argument; None if not recorded. May be shorter than ``arguments``, or empty."""

    def tensor(self, position: int) -> Tensor | None:
        """The tensor at a position; None if there is no tensor, or a list of tensors."""
        if 0 <= position < len(self.arguments) and len(self.arguments[position]) == 1:
            return self.arguments[position][0]
        return None

    def tensors(self) -> list[Tensor]:
        """All tensors, lists flattened."""
        return [tensor for argument in self.arguments for tensor in argument]

    def value(self, position: int) -> object:
        """The recorded value at a position; None if there is none."""
        return self.values[position] if 0 <= position < len(self.values) else None

    def integers(self, position: int) -> Shape | None:
        """The recorded list of integers at a position; None if there is none."""
        value = self.value(position)
        if isinstance(value, list) and value and all(type(item) is int for item in value):
            return tuple(value)
        return None


def parse_call(name: str, shapes: str, dtypes: str, parameters: str) -> Call:
    """The op that a source recorded.

    Args:
        name: Bare name.
        shapes: JSON list, one shape (or list of shapes) per argument; ``[]`` for scalars.
        dtypes: JSON list parallel to it; may be empty (NVTX has none).
        parameters: JSON list parallel to it; may be empty.
    """
    values = tuple(map(_value, recorded_list(parameters)))
    return make_call(name, recorded_list(shapes), recorded_list(dtypes), values)


def make_call(
    name: str, sizes: Sequence[object], types: Sequence[object], values: tuple[object, ...], assumed_type: str = ""
) -> Call:
    """As ``parse_call``, from decoded lists. ``assumed_type`` is the type of tensors that ``types`` does not cover."""
    arguments = []
    for position, size in enumerate(sizes):
        written = types[position] if position < len(types) else ""
        source = written if isinstance(written, str) else ""
        arguments.append(_tensors(size, source, bool(types), assumed_type))
    return Call(name, tuple(arguments), values)


def _tensors(size: object, source: str, typed: bool, assumed_type: str) -> tuple[Tensor, ...]:
    kind = data_type(source)
    is_list = source in ("TensorList", "GenericList", "Tensor[]")
    if not isinstance(size, list) or (typed and not kind and not is_list):
        return ()
    parts = size if size and isinstance(size[0], list) and all(isinstance(part, list) for part in size) else [size]
    # Without types, a scalar and a tensor without dimensions look the same.
    return tuple([Tensor(tuple(part), kind or assumed_type) for part in parts if (part or kind) and _are_lengths(part)])


def _are_lengths(shape: list[object]) -> bool:
    for length in shape:  # noqa: SIM110  all() would make a generator for every shape
        if type(length) is not int or length < 0:
            return False
    return True


def _value(written: object) -> object:
    """The value of a text in Python's notation, such as ``"[2, 2]"`` or ``"[True, False]"``."""
    if not isinstance(written, str):
        return written
    try:
        return json.loads(_BOOLEANS.sub(lambda match: match[0].lower(), written)) if written else None
    except (ValueError, RecursionError):
        return written
