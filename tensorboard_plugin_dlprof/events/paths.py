"""Paths of ops: their positions in the model.

``/Qwen2Model/Qwen2DecoderLayer[3]/Qwen2Attention/Linear[2]`` lists the module calls around an op from the outside in.
Each module is shown by its class and, if its parent has several modules of that class, by its number among them, from 0
in the order of first calls. Outside modules, the path lists the annotations around the op; without these it is empty.
The recorder numbers module objects (``Linear_3``), so an object has one path. A module that activation checkpointing
reruns outside its parents keeps its path.

If more than a hundred ranges are around an op, as in a recursive program, the path has the outer hundred and the
innermost: ``/tree/.../leaf``. Full paths, and their groups, would grow with the square of the depth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.instances import has_role
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.events.trees import Flags, outline

_MANY_NAMES = 64
"""If more names than this differ only in numbers, the numbers are taken for counters, not for parts of the model."""

_MOST_LEVELS = 100
"""Most ranges, from the outside in, that a path names; of the ranges further inside it names only the innermost."""

_LEFT_OUT = "..."
"""Stands for the part that is left out of a path."""


class _Chains:
    """Chains of module objects or annotations from the outside in, as a tree: each chain is its parent and one label.

    A program may call each of a hundred thousand modules once, so chains are stored in columns. The first is empty.
    """

    def __init__(self) -> None:
        self.parents = [0]
        self.labels = [""]
        self.first_ns = [0]
        """Start of the first call in nanoseconds."""
        self._known: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return len(self.labels)

    def inside(self, parent: int, label: str, first_ns: int = 0) -> int:
        """The chain of a label inside another chain, which is added if it is new."""
        key = parent, label
        result = self._known.get(key)
        if result is None:
            result = self._known[key] = len(self.labels)
            self.parents.append(parent)
            self.labels.append(label)
            self.first_ns.append(first_ns)
        return result

    def inner(self) -> Iterable[tuple[int, str]]:
        """Parent and label of each chain except the first."""
        return islice(zip(self.parents, self.labels, strict=True), 1, None)


class Paths:
    """The path of each place, as an index of ``texts``. Index 0 is the empty path.

    The paths of annotations that are neither wanted nor around another wanted place are undefined.
    """

    def __init__(
        self, capture: Capture, nesting: Nesting, role: Int8s, counters: frozenset[str], wanted: Int64s
    ) -> None:
        """Build all paths.

        Args:
            counters: Names of annotations that only number the iterations and are left out of paths.
            wanted: Places of annotations whose paths are wanted, in addition to all places that are no annotations.
        """
        self._capture, self._nesting = capture, nesting
        self.texts: list[str] = [""]
        self._ids = {"": 0}
        annotations = has_role(role, Role.ANNOTATION, Role.OPTIMIZER)
        shown = self._around(annotations, wanted)
        labels = self._annotation_labels(annotations, shown, counters)
        self._of_annotation, chains = _chains(capture, nesting, shown, labels)
        self._annotation_ids = self._intern(_annotation_texts(chains))
        self._of_module, texts = module_paths(capture, nesting, role == Role.MODULE)
        self._module_ids = self._intern(texts)

    def in_module(self, places: Int64s) -> Flags:
        """Which places lie in a module."""
        return self._of_module[places] > 0

    def by_annotation(self, places: Int64s) -> Int32s:
        """Paths by annotations only, for places that annotations describe best, such as the optimizer's."""
        return self._annotation_ids[self._of_annotation[places]]

    def by_place(self, places: Int64s) -> Int32s:
        """Paths by the modules around the places, or by annotations if there is no module."""
        return np.where(self.in_module(places), self._module_ids[self._of_module[places]], self.by_annotation(places))

    def _around(self, annotations: Flags, wanted: Int64s) -> Flags:
        """Which annotations contain, or are, places whose paths are wanted.

        Out of a million annotations, most may contain no op and no launch.
        """
        asked = ~annotations
        asked[wanted] = True
        own = np.flatnonzero(annotations)
        before = np.searchsorted(places := np.flatnonzero(asked), own)
        retained = np.zeros(len(annotations), np.bool_)
        retained[own] = np.searchsorted(places, self._nesting.stop[own]) > before
        return retained

    def _annotation_labels(self, annotations: Flags, shown: Flags, counters: frozenset[str]) -> dict[int, str]:
        """How paths show annotations, by text id of the name: ``shown`` ones only; empty for iteration counters."""
        name, row = self._capture.ranges.name, self._nesting.row
        distinct, uses = np.unique(name[row[annotations]], return_counts=True)
        bare = list(map(names.without_counters, self._capture.strings.some(distinct)))
        varying = _varying(bare, uses)
        texts = distinct_values(name[row[shown]])
        labels = [bare[place].strip("# /") for place in np.searchsorted(distinct, texts).tolist()]
        result = {}
        for text, label in zip(texts.tolist(), labels, strict=True):
            template = names.template(label)
            is_counter = label in counters or template in counters or _is_numbered(label, counters)
            result[text] = "" if is_counter else template if template in varying else label
        return result

    def _intern(self, texts: list[str]) -> Int32s:
        for text in texts:
            if text not in self._ids:
                self._ids[text] = len(self.texts)
                self.texts.append(text)
        return np.array([self._ids[text] for text in texts], np.int32)


def module_paths(capture: Capture, nesting: Nesting, modules: Flags) -> tuple[Int32s, list[str]]:
    """For each place the index of the path of the modules around it, itself included; and the paths, of which the first
    is empty."""
    names_of_modules = distinct_values(capture.ranges.name[nesting.row[modules]])
    labels = map(names.module_instance, capture.strings.some(names_of_modules))
    of_place, chains = _chains(capture, nesting, modules, dict(zip(names_of_modules.tolist(), labels, strict=True)))
    return of_place, _module_texts(chains)


def _chains(capture: Capture, nesting: Nesting, own: Flags, labels: dict[int, str]) -> tuple[Int32s, _Chains]:
    """For each place, the labels of the flagged places around it, itself included, from the outside in.

    Args:
        own: Flagged places.
        labels: Label by text id; places with an empty label are skipped.

    Returns:
        For each place the index of its chain; and the chains.
    """
    chains = _Chains()
    if not own.any():
        return np.zeros(len(own), np.int32), chains
    places = np.flatnonzero(own).astype(np.int32)
    around, depth = outline(places, nesting.stop)
    nodes = np.zeros(len(places), np.int32)
    count = len(capture.strings)
    name = capture.ranges.name[nesting.row[places]]
    around_shown = _shown_around(around, depth)
    levels = np.minimum(depth, _MOST_LEVELS)
    order = np.argsort(levels, kind="stable")
    for level, members in enumerate(np.split(order, np.cumsum(np.bincount(levels))[:-1])):
        parents = nodes[around_shown[members]] if level else np.zeros(len(members), np.int32)
        key = parents.astype(np.int64) * count + name[members]
        distinct, inverse = np.unique(key, return_inverse=True)
        first = np.full(len(distinct), np.iinfo(np.int64).max)
        np.minimum.at(first, inverse, nesting.start_ns[places[members]])
        result = np.zeros(len(distinct), np.int32)
        for index in np.argsort(first, kind="stable").tolist():
            parent, text = divmod(int(distinct[index]), count)
            label = labels[text]
            if label and level == _MOST_LEVELS:
                parent = chains.inside(parent, _LEFT_OUT, int(first[index]))
            result[index] = chains.inside(parent, label, int(first[index])) if label else parent
        nodes[members] = result[inverse]
    node_of_place = np.zeros(len(own), np.int32)
    node_of_place[places] = nodes
    return np.maximum(nesting.inherit(own, node_of_place), 0), chains


def _shown_around(around: Int32s, depth: Int32s) -> Int32s:
    """For places with their ``outline``, the parent; for places deeper than paths go, the innermost named ancestor."""
    innermost = np.where(depth == _MOST_LEVELS - 1, np.arange(len(depth)), -1)
    return np.where(depth < _MOST_LEVELS, around, np.maximum.accumulate(innermost)).astype(np.int32)


def _is_numbered(label: str, counters: frozenset[str]) -> bool:
    """Whether a label is one of the counters followed by a number."""
    return label.startswith(tuple(counters)) and names.split_number(label)[0] in counters


def _varying(bare: list[str], uses: Int64s) -> set[str]:
    """Templates of names that contain a counter: of many names that differ only in numbers, mostly used once each."""
    result = [(name, names.template(name), count) for name, count in zip(bare, uses.tolist(), strict=True)]
    varies = [(name, template, count) for name, template, count in result if template != name]
    total = Counter(template for _, template, _ in varies)
    once = Counter(template for _, template, count in varies if count == 1)
    hints = {template for name, template, _ in varies if names.mentions_steps(name)}
    many = {item for item, count in total.items() if count > _MANY_NAMES and once[item] > count / 2}
    return many | {item for item in hints if total[item] > 1}


def _annotation_texts(chains: _Chains) -> list[str]:
    """The path of each chain of annotations."""
    texts = [""]
    for parent, label in chains.inner():
        texts.append(f"{texts[parent]}/{label}")
    return texts


def _module_texts(chains: _Chains) -> list[str]:
    """The path of each chain of modules: their classes, with numbers among modules of one class and parent."""
    moved, places = _rerooted(chains)
    equals = [(parent, names.module_class(label)) for parent, label in moved.inner()]
    total = Counter(equals)
    numbers: dict[tuple[int, str], int] = defaultdict(int)
    texts = [""]
    for key in equals:
        parent, module_class = key
        number = ""
        if total[key] > 1:
            number = f"[{numbers[key]}]"
            numbers[key] += 1
        texts.append(f"{texts[parent]}/{module_class}{number}")
    return [texts[place] for place in places]


def _rerooted(chains: _Chains) -> tuple[_Chains, list[int]]:
    """Move chains below the parents of their first module, if these are known from other chains.

    Returns:
        The moved chains, in the order of their first calls; and which of them each chain became.
    """
    home_of = _homes(chains)
    moved = _Chains()
    recorded, placed = ([0] + [-1] * (len(chains) - 1) for _ in range(2))

    def as_recorded(chain: int) -> int:
        if recorded[chain] < 0:
            recorded[chain] = moved.inside(as_recorded(chains.parents[chain]), chains.labels[chain])
        return recorded[chain]

    def rerooted(chain: int) -> int:
        if placed[chain] < 0:
            parent, label = chains.parents[chain], chains.labels[chain]
            around = rerooted(parent) if parent else as_recorded(home_of.get(label, 0))
            placed[chain] = moved.inside(around, label)
        return placed[chain]

    for chain in sorted(range(len(chains)), key=chains.first_ns.__getitem__):
        rerooted(chain)
    return moved, placed


def _homes(chains: _Chains) -> dict[str, int]:
    """The parents of each module that was called inside only one chain, and perhaps outside any."""
    homes: dict[str, int] = {}
    several: set[str] = set()
    for parent, label in chains.inner():
        if parent and label != _LEFT_OUT and homes.setdefault(label, parent) != parent:
            several.add(label)
    return {label: home for label, home in homes.items() if label not in several}
