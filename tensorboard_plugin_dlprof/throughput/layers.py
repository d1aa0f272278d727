"""What the inputs of a layer tell about the batch that it gets."""

from __future__ import annotations

import json
from typing import NamedTuple

_CONVOLUTIONS = {"conv1d": 3, "conv2d": 4, "conv3d": 5}
"""Dimensions of a batch."""

_ANY_CONVOLUTION = frozenset({"convolution", "_convolution", "cudnn_convolution", "miopen_convolution", "conv"})
_PRODUCTS = {"linear": 0, "mm": 0, "matmul": 0, "_addmm_activation": 1, "addmm": 1}
"""Which input holds the batch."""

_RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_WHOLE_LAYERS = frozenset({"_native_multi_head_attention", "_transformer_encoder_layer_fwd"})
_ATTENTION = "scaled_dot_product_attention"
_SCORES = frozenset({"matmul", "bmm", "baddbmm"})
"""Products that attention may be written with."""
_OTHERS = frozenset({"batch_norm", "flatten", "max_pool2d", "group_norm"})

FIRST_LAYERS = frozenset(
    {"embedding", "embedding_bag", *_CONVOLUTIONS, *_ANY_CONVOLUTION, *_PRODUCTS, *_RECURRENT, *_WHOLE_LAYERS, *_OTHERS}
)
"""Types of ops whose inputs may tell the batch."""

ATTENTION = frozenset({_ATTENTION, *_SCORES})

CONFIRMING = FIRST_LAYERS - {"embedding", "embedding_bag", *_RECURRENT} | {"bmm"}
"""Types of ops that work on whole batches, so that what they get is a multiple of one."""


class Batch(NamedTuple):
    """What a layer gets at once; None is unknown."""

    samples: int | None
    tokens: int | None


UNKNOWN = Batch(None, None)


class Sequences(NamedTuple):
    """The input of attention: ``batch`` sequences of ``length`` tokens."""

    batch: int
    length: int
    of_heads: bool = False
    """Whether the heads of a sequence count as sequences."""

    @property
    def tokens(self) -> int | None:
        """All tokens; None where heads count."""
        return None if self.of_heads else self.batch * self.length


def shapes_of(text: str) -> list[list[int]]:
    """The shapes of the inputs of an op, as ``Instances.input_shapes`` holds them; what is no tensor has none."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(entries, list):
        return []
    return [
        shape if isinstance(shape, list) and all(isinstance(n, int) and n > 0 for n in shape) else []
        for shape in entries
    ]


def sequences(op_type: str, shapes: list[list[int]]) -> Sequences | None:
    """The sequences that attention gets: from the query (batch, heads, length, width) of scaled dot product attention,
    or from a product of queries and keys, which has a row and a column for each token."""
    if not shapes:
        return None
    query = shapes[0]
    if op_type == _ATTENTION:
        return Sequences(query[0], query[2]) if len(query) == 4 else None
    first = 1 if op_type == "baddbmm" else 0
    query, keys = [*shapes[first : first + 2], [], []][:2]
    if len(query) not in (3, 4) or query[-2] == 1 or keys != [*query[:-2], query[-1], query[-2]]:
        return None
    return Sequences(query[0], query[-2], of_heads=len(query) == 3)


def leading(op_type: str, shapes: list[list[int]]) -> int | None:
    """The first size of what a layer of ``CONFIRMING`` gets; None where that is of no batch, or not recorded."""
    place = _PRODUCTS.get(op_type, 0)
    shape = shapes[place] if place < len(shapes) else []
    # What all samples share, such as angles of positions, has a first size of 1.
    return shape[0] if len(shape) > 1 and (shape[0] > 1 or op_type not in _SCORES) else None


def batch_of(op_type: str, shapes: list[list[int]], batch_first: bool | None, attends: Sequences | None) -> Batch:
    """The batch that a layer gets.

    Args:
        op_type: One of ``FIRST_LAYERS``.
        shapes: Of its inputs.
        batch_first: Whether a recurrent layer says that the batch comes first; None if it is not recorded.
        attends: The sequences of the attention that follows, which tell tokens from samples; None if there is none.
    """

    def of(place: int) -> list[int]:
        return shapes[place] if place < len(shapes) else []

    if op_type == "embedding":
        return _of_indices(of(1), attends)
    if op_type == "embedding_bag":
        # Indices in rows, or in one list with the place where each bag begins.
        return Batch(of(1)[0] if len(of(1)) == 2 else of(2)[0] if len(of(2)) == 1 else None, None)
    first = of(_PRODUCTS.get(op_type, 0))
    if op_type in _PRODUCTS:
        return _of_rows(first, attends)
    if op_type in _CONVOLUTIONS:
        return Batch(first[0], None) if len(first) == _CONVOLUTIONS[op_type] else UNKNOWN
    if op_type in _ANY_CONVOLUTION:
        return Batch(first[0], None) if len(first) >= 3 and len(first) == len(of(1)) else UNKNOWN
    if op_type in _RECURRENT:
        return Batch(first[0 if batch_first else 1], None) if batch_first is not None and len(first) == 3 else UNKNOWN
    if op_type in _WHOLE_LAYERS:
        return Batch(first[0], first[0] * first[1]) if len(first) == 3 else UNKNOWN
    return Batch(first[0], None) if len(first) >= 3 or (op_type == "batch_norm" and len(first) == 2) else UNKNOWN


def _of_indices(indices: list[int], attends: Sequences | None) -> Batch:
    if len(indices) == 2:
        first, second = indices
        if attends is not None and second != attends.length:
            # The sequences come second, or attention is on others.
            first = second if first == attends.length else attends.batch if attends.batch == first else 0
        return Batch(first, indices[0] * second) if first else UNKNOWN
    return _of_rows([*indices, 1], attends) if len(indices) == 1 else UNKNOWN


def _of_rows(shape: list[int], attends: Sequences | None) -> Batch:
    """Rows of a product: samples; in a model with attention its tokens, or its sequences."""
    if len(shape) == 2:
        rows = shape[0]
        if attends is None or rows == attends.batch:
            return Batch(rows, None)
        return Batch(attends.batch, rows) if rows == attends.batch * attends.length else UNKNOWN
    if len(shape) != 3:
        return Batch(shape[0], None) if len(shape) > 3 else UNKNOWN
    if attends is None:
        return Batch(shape[0], None)
    if attends.batch in shape[:2]:
        return Batch(attends.batch, shape[0] * shape[1])
    return UNKNOWN
