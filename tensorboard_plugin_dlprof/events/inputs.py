"""The recorded inputs of an op: tensor shapes, data type and parameters, in DLProf's stored form.

Sources record all arguments, scalars included (``shapes``, ``dtypes`` and ``parameters`` of ``Ranges``); only the
tensors are kept here. Results are cached by text, because a capture has few distinct ones.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final, TypeGuard

import msgspec

from tensorboard_plugin_dlprof.classify.dtypes import data_type
from tensorboard_plugin_dlprof.events.formats import Convolution, Formats, Shape, formats, output_shapes

NULL = "null\n"
"""The text that DLProf stores for a missing value."""

_MAX_TEXT = 1 << 20
"""Characters of the longest recorded list that is parsed."""

_JSON: Final = msgspec.json.Decoder()


class Tensor(msgspec.Struct, frozen=True):
    """One tensor argument."""

    shape: Shape
    data_type: str
    """Empty if the source does not record it."""


class Described(msgspec.Struct, frozen=True):
    """The texts that DLProf stores with an op instance, and the data type and formats that it stores with the op."""

    data_type: str
    formats: Formats
    input_names: str
    input_shapes: str
    output_names: str
    output_shapes: str
    parameters: str


def stored(value: list[list[int]] | list[str]) -> str:
    """Compact JSON with a trailing newline, as DLProf stores values.

    ``msgspec`` is faster than ``json``, but rejects lone surrogates.
    """
    try:
        return _encode(value).decode() + "\n"
    except UnicodeEncodeError:
        return _stored(value) + "\n"


_encode: Final = msgspec.json.Encoder().encode
_stored: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


@lru_cache(maxsize=1 << 10)
def stored_nameless(count: int) -> str:
    """The stored names of ``count`` tensors without names; ``NULL`` for none."""
    return stored([""] * count) if count else NULL


@lru_cache(maxsize=1 << 16)
def describe(op_type: str, direction: str, shapes: str, dtypes: str, parameters: str) -> Described:
    """Convert the recorded inputs of an instance into the texts that are stored.

    Args:
        direction: ``fprop``, ``bprop`` or empty.
        shapes: JSON list, one shape per argument.
        dtypes: JSON list parallel to ``shapes``, or empty.
        parameters: JSON list parallel to ``shapes``, or empty.
    """
    inputs = tensors(shapes, dtypes)
    sizes = [tensor.shape for tensor in inputs]
    values = _values(parameters)
    if _is_transposed(op_type, values):
        # Like the ops that are always transposed; the dimension letters do not apply to these.
        op_type = f"{op_type}_transpose"
    convolution = _convolution(op_type, values)
    # Without recorded stride and padding the output of a convolution is unknown.
    known = convolution is not None or "conv" not in op_type
    outputs = output_shapes(op_type, direction, sizes, convolution) if known else None
    return Described(
        data_type=largest_data_type(inputs),
        formats=formats(op_type, direction, sizes),
        input_names=stored_nameless(len(inputs)),
        input_shapes=stored(sizes) if inputs else NULL,
        output_names=stored_nameless(len(outputs or ())),
        output_shapes=stored(outputs) if outputs else NULL,
        parameters=NULL if convolution is None else stored(convolution.lists()),
    )


@lru_cache(maxsize=1 << 16)
def tensor_data_type(shapes: str, dtypes: str) -> str:
    """Data type of the tensor argument with the most elements; empty without typed tensors."""
    return largest_data_type(tensors(shapes, dtypes))


def largest_data_type(inputs: list[Tensor]) -> str:
    """Data type of the typed tensor with the most elements, the first of equals; empty if there is none."""
    best, most = "", -1
    for tensor in inputs:
        elements = 1
        for size in tensor.shape:
            elements *= size
        if tensor.data_type and elements > most:
            best, most = tensor.data_type, elements
    return best


def tensors(shapes: str, dtypes: str) -> list[Tensor]:
    """The tensors among all recorded arguments (JSON lists as for ``describe``); lists of tensors are flattened."""
    sizes, types = recorded_list(shapes), recorded_list(dtypes)
    result: list[Tensor] = []
    for index, size in enumerate(sizes):
        written = types[index] if index < len(types) else ""
        source = written if isinstance(written, str) else ""
        kind = data_type(source)
        if not isinstance(size, list) or (types and not kind and source not in ("TensorList", "GenericList", "Tensor")):
            continue
        nested = [part for part in size if isinstance(part, list)]
        for shape in nested if nested else [size]:
            if (shape or kind) and _are_integers(shape):
                result.append(Tensor(shape, kind))
    return result


def _are_integers(values: list[object]) -> TypeGuard[list[int]]:
    for value in values:  # noqa: SIM110  all() would make a generator for every value
        if not isinstance(value, int):
            return False
    return True


def recorded_list(text: str) -> list[object]:
    """Parse a JSON list of shapes, types or values; empty if the text is not one, or too long."""
    if not text or len(text) > _MAX_TEXT:
        return []
    value = parsed_json(text)
    return value if isinstance(value, list) else []


def parsed_json(text: str) -> object:
    """Parse JSON as ``json.loads`` does; None if the text is invalid.

    ``msgspec`` is faster, but rejects NaN, infinity and lone surrogates, for which ``json`` is asked.
    """
    try:
        return _JSON.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _values(parameters: str) -> list[object] | None:
    """Recorded scalar arguments; those recorded as text are parsed. None if no arguments were recorded."""
    if not parameters:
        return None
    values: list[object] = []
    for value in recorded_list(parameters):
        if isinstance(value, str):
            value = _BOOLEANS[value] if value in _BOOLEANS else parsed_json(value) if value else None
        values.append(value)
    return values


_BOOLEANS: Final = {"True": True, "False": False}
"""Booleans as PyTorch records them: Python's text, not JSON's."""


_POSITIONS = {
    # Positions of stride, padding, dilation and groups among the arguments in the ATen schema.
    "conv1d": (3, 4, 5, 6),
    "conv2d": (3, 4, 5, 6),
    "conv3d": (3, 4, 5, 6),
    "convolution": (3, 4, 5, 8),
    "_convolution": (3, 4, 5, 8),
    "cudnn_convolution": (3, 2, 4, 5),
    "miopen_convolution": (4, 3, 5, 6),
}


_TRANSPOSED: Final = {"convolution": 6, "_convolution": 6}
"""Position of the argument ``transposed``, for ops that can be plain or transposed."""


def _is_transposed(op_type: str, values: list[object] | None) -> bool:
    position = _TRANSPOSED.get(op_type, -1)
    return values is not None and 0 <= position < len(values) and values[position] is True


def _convolution(op_type: str, values: list[object] | None) -> Convolution | None:
    positions = _POSITIONS.get(op_type)
    if positions is None or values is None or len(values) <= max(positions):
        return None
    lists = [values[position] for position in positions[:3]]
    groups = values[positions[3]]
    integers = [
        [part for part in value if isinstance(part, int)] for value in lists if isinstance(value, list) and value
    ]
    if len(integers) != 3 or not isinstance(groups, int):
        return None
    stride, padding, dilation = integers
    return Convolution(stride, padding, dilation, groups)
