"""Texts of drafts: their recorded inputs and their stack traces."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.drafts import Drafts
from tensorboard_plugin_dlprof.events.inputs import Described, describe, tensor_data_type
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_tables import NOTHING, DraftTexts
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind
from tensorboard_plugin_dlprof.expressions import Expression


def described_texts(capture: Capture, nesting: Nesting, drafts: Drafts) -> DraftTexts:
    """The recorded inputs of each draft, parsed once per distinct inputs; ``NOTHING`` for drafts without a range."""
    ranges = capture.ranges
    described = np.flatnonzero((drafts.place >= 0) | (drafts.described_by >= 0))
    place, typed_place = drafts.place[described], drafts.described_by[described]
    own = np.where(place >= 0, nesting.row[place], -1) if len(described) else described
    typed = np.where(typed_place >= 0, nesting.row[typed_place], -1) if len(described) else described

    def text(column: Int32s, row: Int64s) -> Int32s:
        return np.where(row >= 0, column[row], np.int32(0)) if len(column) else np.zeros(len(row), np.int32)

    kind_of_key, kinds = _kinds(drafts)
    shapes_of = text(ranges.shapes, own)
    columns = (
        # Without shapes the type does not matter, and there may be as many types as ranges.
        np.where(shapes_of > 0, kind_of_key[drafts.key[described]], 0) if len(kinds) else described,
        shapes_of, text(ranges.dtypes, own), text(ranges.parameters, own),
        text(ranges.shapes, typed), text(ranges.dtypes, typed),
    )  # fmt: skip
    keys, number = numbered(combine(*columns))
    first = np.zeros(len(keys), np.int64)
    # NumPy keeps the last of several writes to one element.
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    index = np.zeros(len(drafts.key), np.int32)
    index[described] = number + 1
    distinct: list[Described] = [NOTHING]
    data_types: list[str] = [NOTHING.data_type]
    for row in zip(*(column[first].tolist() for column in columns), strict=True):
        op_type, direction = kinds[row[0]]
        shapes, dtypes, parameters, typed_shapes, typed_dtypes = (capture.strings[i] for i in row[1:])
        inputs = describe(op_type, direction, shapes, dtypes, parameters) if shapes else NOTHING
        distinct.append(inputs)
        data_types.append(tensor_data_type(typed_shapes, typed_dtypes) or inputs.data_type)
    return DraftTexts(index, distinct, data_types)


def _kinds(drafts: Drafts) -> tuple[Int64s, list[tuple[str, str]]]:
    kinds: dict[tuple[str, str], int] = {}
    ids = [kinds.setdefault((key.op_type, key.direction), len(kinds)) for key in drafts.keys]
    return np.array(ids, np.int64), list(kinds)


_FRAME: Final = int(RangeKind.FRAME)
"""As a constant, because access to enum members is slow in Python 3.11."""


class Stacks:
    """Stack traces by place: the stack recorded with the range, else the Python frames around it."""

    def __init__(self, capture: Capture, nesting: Nesting) -> None:
        self._capture, self._nesting = capture, nesting
        self._known: dict[int, str] = {}
        # Calls repeat, and share the text of their stack.
        self._joined = lru_cache(maxsize=1 << 16)(_joined)
        self._has_frames = bool((capture.ranges.kind == RangeKind.FRAME).any())

    def of_place(self, place: int) -> str:
        """The stack trace of a place: one frame per line, outermost first; empty if none was recorded or for -1."""
        if place < 0:
            return ""
        recorded = int(self._capture.ranges.stack[self._nesting.row[place]])
        if recorded:
            return _recorded_stack(self._capture.strings[recorded])
        return self._frames(place) if self._has_frames else ""

    def _frames(self, place: int) -> str:
        """The frames around a place; each distinct chain is built once."""
        known, parent = self._known, self._nesting.parent.data
        chain: list[int] = []
        while place >= 0 and place not in known:
            chain.append(place)
            place = parent[place]
        stack = known.get(place, "")
        rows = self._nesting.row[chain]
        kinds, texts = self._capture.ranges.kind[rows].tolist(), self._capture.ranges.name[rows].tolist()
        for inner, kind, text in zip(reversed(chain), reversed(kinds), reversed(texts), strict=True):
            if kind == _FRAME and (frame := _frame(self._capture.strings[text])):
                stack = self._joined(stack, frame)
            known[inner] = stack
        return stack


_BUILT_IN = Expression(r"<(?:built-in|method|slot wrapper|class|function)\b")


@lru_cache(maxsize=1 << 16)
def _frame(name: str) -> str:
    """A frame as shown to users; empty for built-in functions, which have no source line."""
    return "" if _BUILT_IN.match(name) else name


def _joined(stack: str, frame: str) -> str:
    return f"{stack}\n{frame}" if stack else frame


@lru_cache(maxsize=1 << 14)
def _recorded_stack(text: str) -> str:
    return "\n".join(reversed([frame.strip() for frame in text.split(";") if frame.strip()]))
