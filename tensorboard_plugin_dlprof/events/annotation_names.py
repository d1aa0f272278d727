"""Groups the names of ranges that could be iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events import many_names, names
from tensorboard_plugin_dlprof.events.many_names import Flags, ManyNames
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.resources import are_of_loader
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind


class Annotations(NamedTuple):
    """The distinct names of some ranges: three columns of equal length."""

    texts: Int64s
    """Text ids, ascending."""
    names: ManyNames
    """The names without arguments."""
    plain: Flags
    """Whether a range of that name is an ordinary annotation, and not, say, a collective."""


def annotations_of(capture: Capture, rows: Int64s) -> Annotations:
    """The distinct names of the ranges in ``rows`` of ``capture.ranges``."""
    texts = distinct_values(capture.ranges.name[rows])
    bare = ManyNames(many_names.without_arguments(ManyNames(capture.strings.some(texts))))
    return Annotations(texts, bare, many_names.roles(RangeKind.ANNOTATION, bare) == Role.ANNOTATION)


def families_of(annotations: Annotations) -> dict[str, dict[int, int]]:
    """Names that end in a number: {name without the number: {text id: number}}."""
    families: dict[str, dict[int, int]] = {}
    for row in np.flatnonzero(annotations.plain & annotations.names.ending_in_number()).tolist():
        base, number = names.split_number(annotations.names.texts[row])
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
    many = annotations.names
    counted = (
        family
        for base, family in families.items()
        if len(family) > 1 and (names.counts_steps(base) or names.counts_turns(base))
    )
    numbered = [text for family in counted for text in family]
    usable = annotations.plain & ~are_among(annotations.texts, numbered) & ~are_of_loader(many)
    labels = list(many.texts)
    of_steps = np.flatnonzero(usable & many_names.mention_steps(many)).tolist()
    templates = many_names.templates(ManyNames([labels[row] for row in of_steps]))
    for row, template in zip(of_steps, templates, strict=True):
        labels[row] = template
    groups: dict[str, int] = {}
    result = np.full(len(labels), -1, np.int32)
    rows = np.flatnonzero(usable)
    result[rows] = [groups.setdefault(labels[row], len(groups)) for row in rows.tolist()]
    return result, list(groups)
