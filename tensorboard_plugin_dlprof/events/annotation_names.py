"""Groups the names of ranges that could be iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.resources import DATA_LOADER
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind
from tensorboard_plugin_dlprof.events.trees import Flags


class Annotations(NamedTuple):
    """The distinct names of some ranges: three columns of equal length."""

    texts: Int64s
    """Text ids, ascending."""
    names: list[str]
    """The names without arguments."""
    plain: Flags
    """Whether a range of that name is an ordinary annotation, and not, say, a collective."""


def annotations_of(capture: Capture, rows: Int64s) -> Annotations:
    """The distinct names of the ranges in ``rows`` of ``capture.ranges``."""
    texts = distinct_values(capture.ranges.name[rows])
    bare = list(map(names.without_arguments, capture.strings.some(texts)))
    plain = [names.role(RangeKind.ANNOTATION, name) == Role.ANNOTATION for name in bare]
    return Annotations(texts, bare, np.array(plain, np.bool_))


def families_of(annotations: Annotations) -> dict[str, dict[int, int]]:
    """Names that end in a number: {name without the number: {text id: number}}."""
    families: dict[str, dict[int, int]] = {}
    for row in np.flatnonzero(annotations.plain).tolist():
        base, number = names.split_number(annotations.names[row])
        if number >= 0 and base:
            families.setdefault(base, {})[int(annotations.texts[row])] = number
    return families


def repeats_of(annotations: Annotations, families: dict[str, dict[int, int]]) -> tuple[Int32s, list[str]]:
    """Group the names of ranges that could repeat each other; ``families`` that count steps or turns are left out.

    Names that mention steps form one group if they differ only in numbers (``step[DECODE bs=32]``); any other name is a
    group of its own.

    Returns:
        The group of each name, numbered from 0 in the order of the text ids, -1 for none; and the label of each group.
    """
    counted = (
        family
        for base, family in families.items()
        if len(family) > 1 and (names.counts_steps(base) or names.counts_turns(base))
    )
    numbered = [text for family in counted for text in family]
    usable = annotations.plain & ~are_among(annotations.texts, numbered)
    groups: dict[str, int] = {}
    result = np.full(len(usable), -1, np.int32)
    for row in np.flatnonzero(usable).tolist():
        name = annotations.names[row]
        if not DATA_LOADER.match(name):
            label = names.template(name) if names.mentions_steps(name) else name
            result[row] = groups.setdefault(label, len(groups))
    return result, list(groups)
