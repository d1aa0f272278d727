"""Names of ranges that could be iterations, and which of them belong together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.distinct import are_among, distinct_values
from tensorboard_plugin_dlprof.events import many_names, names
from tensorboard_plugin_dlprof.events.many_names import Flags, ManyNames
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.resources import are_of_loader
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind


class Annotations(NamedTuple):
    """The distinct names of some ranges."""

    texts: Int64s
    """Their ids, ascending."""
    names: ManyNames
    """Without arguments."""
    plain: Flags
    """Those that are annotations and nothing else."""


def annotations_of(capture: Capture, rows: Int64s) -> Annotations:
    """The names of some ranges."""
    texts = distinct_values(capture.ranges.name[rows])
    bare = ManyNames(many_names.without_arguments(ManyNames(capture.strings.some(texts))))
    return Annotations(texts, bare, many_names.roles(RangeKind.ANNOTATION, bare) == Role.ANNOTATION)


def families_of(annotations: Annotations) -> dict[str, dict[int, int]]:
    """Bases of names that end in a number -> {text id: number}."""
    families: dict[str, dict[int, int]] = {}
    for row in np.flatnonzero(annotations.plain & annotations.names.ending_in_number()).tolist():
        base, number = names.split_number(annotations.names.texts[row])
        if number >= 0 and base:
            families.setdefault(base, {})[int(annotations.texts[row])] = number
    return families


def repeats_of(annotations: Annotations, families: dict[str, dict[int, int]]) -> tuple[Int32s, list[str]]:
    """Groups ranges that could be repeats of each other, apart from numbered ones.

    Names that mention steps and differ only in numbers form one group (``step[DECODE bs=32]``), others only if equal.

    Returns:
        For each name its group, numbered from 0 in the order of the ids, or -1 for none; and the label of each group.
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
    telling = np.flatnonzero(usable & many_names.tell_of_steps(many)).tolist()
    templates = many_names.templates(ManyNames([labels[row] for row in telling]))
    for row, template in zip(telling, templates, strict=True):
        labels[row] = template
    groups: dict[str, int] = {}
    found = np.full(len(labels), -1, np.int32)
    rows = np.flatnonzero(usable)
    found[rows] = [groups.setdefault(labels[row], len(groups)) for row in rows.tolist()]
    return found, list(groups)
