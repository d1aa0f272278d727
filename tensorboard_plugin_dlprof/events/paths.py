"""Paths of ops: where in the model they stand.

``/Qwen2Model/Qwen2DecoderLayer[3]/Qwen2Attention/Linear[2]``: the module calls around the op from
the outside in, each by its class, with its number (from 0, by first call) among the modules of its
class under the same parent where there are several. Without modules the annotations around it;
without either nothing. The recorder numbers module objects (``Linear_3``), so one object has one
path; a module that activation checkpointing runs again, outside its parents, keeps it.

If more than a hundred ranges are around an op, as in a recursive program, the path names the outer hundred and the
innermost: ``/tree/.../leaf``. Full paths, and their groups, would grow with the square of the depth.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events import many_names, names
from tensorboard_plugin_dlprof.events.instances import has_role
from tensorboard_plugin_dlprof.events.many_names import ManyNames
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.events.trees import Flags, outline, spread

_MANY_NAMES = 64
"""From this many names on that differ only in numbers, the numbers are taken for counters, not parts of the model."""

_MOST_LEVELS = 100
"""Ranges, from the outside in, that a path names in full; of those further inside it names only the innermost."""

_LEFT_OUT = "..."
"""Stands in a path for what it leaves out."""

Labels = tuple[str, ...]
"""Module objects or annotations from the outside in."""


class Paths:
    """The path of each place, as an index of ``texts``. Index 0 is the empty path."""

    def __init__(
        self, capture: Capture, nesting: Nesting, role: Int8s, counters: frozenset[str], wanted: Int64s
    ) -> None:
        """Builds all paths.

        Args:
            capture: The events.
            nesting: Their ranges.
            role: Roles by place.
            counters: Names of annotations that only number the iterations; no part of a path.
            wanted: Places of annotations that paths are asked for, beside all places that are none.
        """
        self._capture, self._nesting = capture, nesting
        self.texts: list[str] = [""]
        self._ids = {"": 0}
        annotations = has_role(role, Role.ANNOTATION, Role.OPTIMIZER)
        told = self._around(annotations, wanted)
        self._of_annotation, chains, _ = self._chains(told, self._annotation_labels(annotations, told, counters))
        modules = role == Role.MODULE
        self._of_module, modules, first_calls = self._chains(modules, self._module_labels(modules))
        self._annotation_ids = self._intern(["".join(f"/{label}" for label in chain) for chain in chains])
        self._module_ids = self._intern(_module_texts(_rerooted(modules), first_calls))

    def in_module(self, places: Int64s) -> Flags:
        """Which places lie in a module."""
        return self._of_module[places] > 0

    def by_annotation(self, places: Int64s) -> Int32s:
        """For places whose annotations name them best, such as the optimizer's."""
        return self._annotation_ids[self._of_annotation[places]]

    def by_place(self, places: Int64s) -> Int32s:
        """By the modules around them, without any by the annotations."""
        return np.where(self.in_module(places), self._module_ids[self._of_module[places]], self.by_annotation(places))

    def _around(self, annotations: Flags, wanted: Int64s) -> Flags:
        """The annotations around places whose paths are wanted; of a million, most may contain no op and no launch."""
        asked = ~annotations
        asked[wanted] = True
        own = np.flatnonzero(annotations)
        before = np.searchsorted(places := np.flatnonzero(asked), own)
        kept = np.zeros(len(annotations), np.bool_)
        kept[own] = np.searchsorted(places, self._nesting.stop[own]) > before
        return kept

    def _annotation_labels(self, annotations: Flags, told: Flags, counters: frozenset[str]) -> dict[int, str]:
        """What the names of the annotations that paths tell are called there: nothing those that number iterations."""
        name, row = self._capture.ranges.name, self._nesting.row
        distinct, uses = np.unique(name[row[annotations]], return_counts=True)
        bare = ManyNames(many_names.without_counters(ManyNames(self._capture.strings.some(distinct))))
        varying = _varying(bare, uses)
        texts = distinct_values(name[row[told]])
        labels = [bare.texts[place].strip("# /") for place in np.searchsorted(distinct, texts).tolist()]
        templates = many_names.templates(ManyNames(labels))
        found = {}
        for text, label, template in zip(texts.tolist(), labels, templates, strict=True):
            is_counter = label in counters or template in counters or _is_numbered(label, counters)
            found[text] = "" if is_counter else template if template in varying else label
        return found

    def _module_labels(self, modules: Flags) -> dict[int, str]:
        distinct = distinct_values(self._capture.ranges.name[self._nesting.row[modules]])
        many = ManyNames(self._capture.strings.some(distinct))
        return dict(zip(distinct.tolist(), many_names.module_instances(many), strict=True))

    def _intern(self, texts: list[str]) -> Int32s:
        for text in texts:
            if text not in self._ids:
                self._ids[text] = len(self.texts)
                self.texts.append(text)
        return np.array([self._ids[text] for text in texts], np.int32)

    def _chains(self, own: Flags, labels: dict[int, str]) -> tuple[Int32s, list[Labels], list[int]]:
        """For each place the chain of labels of the flagged places around it, as an index of the chains.

        Returns:
            The indices, the chains, and the first start of each chain.
        """
        nesting = self._nesting
        chains: list[Labels] = [()]
        starts = [0]
        if not own.any():
            return np.zeros(len(own), np.int32), chains, starts
        places = np.flatnonzero(own).astype(np.int32)
        around, depth = outline(places, nesting.stop)
        nodes = np.zeros(len(places), np.int32)
        known: dict[tuple[int, str], int] = {}
        count = len(self._capture.strings)
        name = self._capture.ranges.name[nesting.row[places]]
        around_told = _told_around(around, depth)
        told = np.minimum(depth, _MOST_LEVELS)
        order = np.argsort(told, kind="stable")
        for level, members in enumerate(np.split(order, np.cumsum(np.bincount(told))[:-1])):
            parents = nodes[around_told[members]] if level else np.zeros(len(members), np.int32)
            left_out = (_LEFT_OUT,) if level == _MOST_LEVELS else ()
            key = parents.astype(np.int64) * count + name[members]
            distinct, inverse = np.unique(key, return_inverse=True)
            first = np.full(len(distinct), np.iinfo(np.int64).max)
            np.minimum.at(first, inverse, nesting.start_ns[places[members]])
            found = np.zeros(len(distinct), np.int32)
            for index in np.argsort(first, kind="stable").tolist():
                parent, text = divmod(int(distinct[index]), count)
                label = labels[text]
                if not label:
                    found[index] = parent
                    continue
                node = known.get((parent, label))
                if node is None:
                    node = known[parent, label] = len(chains)
                    chains.append((*chains[parent], *left_out, label))
                    starts.append(int(first[index]))
                found[index] = node
            nodes[members] = found[inverse]
        return spread(places, around, nodes, nesting.stop, nothing=0), chains, starts


def _told_around(around: Int32s, depth: Int32s) -> Int32s:
    """For places with their ``outline``, the parent, or, if that is too deep, the innermost ancestor that a path
    names."""
    innermost = np.where(depth == _MOST_LEVELS - 1, np.arange(len(depth)), -1)
    return np.where(depth < _MOST_LEVELS, around, np.maximum.accumulate(innermost)).astype(np.int32)


def _is_numbered(label: str, counters: frozenset[str]) -> bool:
    """Whether it is one of the counters and a number."""
    return label.startswith(tuple(counters)) and names.split_number(label)[0] in counters


def _varying(bare: ManyNames, uses: Int64s) -> set[str]:
    """Templates of names that hold a counter: many names that differ in numbers only, each used once."""
    found = np.array(many_names.templates(bare), np.object_)
    varies = found != np.array(bare.texts, np.object_)
    total = Counter(found[varies].tolist())
    once = Counter(found[varies & (uses == 1)].tolist())
    hints = set(found[varies & many_names.tell_of_steps(bare)].tolist())
    many = {item for item, count in total.items() if count > _MANY_NAMES and once[item] > count / 2}
    return many | {item for item in hints if total[item] > 1}


def _rerooted(chains: list[Labels]) -> list[Labels]:
    """Chains, with those whose first module is known to be inside others moved below these."""
    homes: dict[str, set[Labels]] = defaultdict(set)
    for chain in chains:
        # What a chain begins with is a chain too.
        if len(chain) > 1:
            homes[chain[-1]].add(chain[:-1])
    return [
        (*next(iter(homes[chain[0]])), *chain) if chain and len(homes.get(chain[0], ())) == 1 else chain
        for chain in chains
    ]


def _module_texts(chains: list[Labels], first_calls: list[int]) -> list[str]:
    """Chains as paths, each module by its class and number among its equals."""
    class_of = {module: names.module_class(module) for module in {module for chain in chains for module in chain}}
    siblings: dict[tuple[Labels, str], dict[str, int]] = defaultdict(dict)
    texts: dict[Labels, str] = {(): ""}
    known: set[Labels] = {()}
    for index in sorted(range(len(chains)), key=first_calls.__getitem__):
        chain = chains[index]
        while chain not in known:
            known.add(chain)
            parent, module = chain[:-1], chain[-1]
            equal = siblings[parent, class_of[module]]
            equal.setdefault(module, len(equal))
            chain = parent
    for chain in sorted(known - {()}, key=len):
        parent, module = chain[:-1], chain[-1]
        number_of = siblings[parent, class_of[module]]
        number = "" if len(number_of) == 1 else f"[{number_of[module]}]"
        texts[chain] = f"{texts[parent]}/{class_of[module]}{number}"
    return [texts[chain] for chain in chains]
