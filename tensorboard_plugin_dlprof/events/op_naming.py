"""Path, type and direction of op instances (event model, section 4).

* An autograd node gets the path and type of the op it differentiates, so that forward and backward of a layer are in
  one group; other ops of the backward pass get only the path.
* Ops of the optimizer have no direction, and their path is that of the annotations.
* Collectives have the path ``/collectives/<process group>/<type>`` and no direction. What a CPU backend does for a
  recorded call on a thread of its own gets another type (``gloo_all_reduce``), so that it is not counted as a second
  call.
* The name of a TensorRT layer lists the nodes it fuses: ``/conv1/Conv + /relu/Relu`` has the type ``Conv + Relu`` and
  is in ``/conv1``.
* A node of TensorFlow's graph, ``MatMul: dense/MatMul``, is one op of that name, however often it runs.
* Ranges named by users with the launches in them are one op per path, of the type ``range``; modules have their class.
  Launches named after their kernels are one op per name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.vocabulary import RANGE_TYPE
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.directions import backward_ranges, forward_of
from tensorboard_plugin_dlprof.events.drafts import BACKWARD, FORWARD, OpKey
from tensorboard_plugin_dlprof.events.instances import USER, OpInstances
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.paths import Paths
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, inside

_DIRECTIONS = ("", FORWARD, BACKWARD)


class Namer:
    """Names the op instances of one capture.

    Args:
        counters: Names of annotations that number the iterations; these are left out of paths.
        launching: Place of the innermost range around each call that launched device work, -1 for none.
    """

    def __init__(
        self, capture: Capture, nesting: Nesting, selected: OpInstances, counters: frozenset[str], launching: Rows
    ) -> None:
        self._strings = capture.strings
        self._counters = counters
        self._graph_ops = capture.graph_ops
        self._role, self._owner = selected.role, selected.owner
        wanted = np.append(np.flatnonzero(selected.instance), launching[launching >= 0])
        self._paths = Paths(capture, nesting, selected.role, counters, wanted)
        release_pages()
        backward = backward_ranges(capture, nesting, selected.role)
        optimizer = selected.role == Role.OPTIMIZER
        self._in_backward: Flags = backward | inside(backward, nesting.stop)
        self._in_optimizer: Flags = optimizer | inside(optimizer, nesting.stop)
        self._forward = forward_of(capture, nesting, selected.role, backward, self._in_backward)
        self._ranges, self._row = capture.ranges, nesting.row
        self._group = self._groups(capture, nesting)
        self._collective, self._called = self._collectives()

    def _groups(self, capture: Capture, nesting: Nesting) -> Int32s:
        """Process group (text id) of the instance at each place: the first recorded with it or a range inside it."""
        group = capture.ranges.group
        grouped = np.flatnonzero((group > 0)[nesting.row] & (self._owner >= 0))[::-1]
        result = np.zeros(len(nesting.row), np.int32)
        result[self._owner[grouped]] = group[nesting.row[grouped]]
        return result

    def _collectives(self) -> tuple[Int32s, frozenset[str]]:
        """The names from which collectives get their types, and the types whose calls were recorded.

        Returns:
            For each place of a collective the text id of its own name, or else of the first name inside it that
            contains a type (``nccl:all_to_all``); 0 if there is none. And the types.
        """
        places = np.flatnonzero((self._role == Role.COLLECTIVE) & (self._owner >= 0))
        distinct, inverse = np.unique(self._names(places), return_inverse=True)
        texts = [self._strings[text] for text in distinct.tolist()]
        called = frozenset(names.collective_type(text) for text in texts if names.is_call_of_collective(text))
        has_type = np.array([names.collective_type(text) != "" for text in texts], np.bool_)
        typed = places[has_type[inverse]]
        result = np.zeros(len(self._role), np.int32)
        # Written from the last place to the first, so that the first, often the instance itself, stays.
        result[self._owner[typed[::-1]]] = self._names(typed[::-1])
        return result, called

    def _names(self, places: npt.NDArray[np.integer]) -> Int32s:
        names_of_places: Int32s = self._ranges.name[self._row[places]]
        return names_of_places

    def forward_instance(self, places: Int64s) -> Int64s:
        """For places in the backward pass the place of their forward instance, or of the forward range if that is in no
        instance; -1 for others."""
        forward = np.where(self._in_backward[places], self._forward[places], -1)
        owner = np.where(forward >= 0, self._owner[forward], -1)
        return np.where(owner >= 0, owner, forward)

    def range_keys(self, places: Int64s) -> tuple[list[OpKey], Int64s]:
        """Keys of instances that are ranges: the distinct keys, and the index of each place's key."""
        forward = self.forward_instance(places)
        forward_name = np.where(forward >= 0, self._names(forward), -1)
        name, collective = self._names(places), self._collective[places]
        columns = (
            self._role[places],
            self._path(places, forward),
            np.where((self._role[places] == Role.COLLECTIVE) & (collective > 0), collective, name),
            self._direction(places),
            forward_name,
            self._group[places],
            self._ranges.domain[self._row[places]],
        )
        return _distinct(columns, self._range_key)

    def _range_key(
        self, role: int, path: int, name_id: int, direction: int, forward_name: int, group: int, domain: int
    ) -> OpKey:
        name, around = self._strings[name_id], self._paths.texts[path]
        if given := self._graph_ops.get(name_id):
            return OpKey(given.path, given.op_type, given.direction, node=given.key, by_name=True)
        if role == Role.COLLECTIVE:
            kind = names.collective_type(name) or names.bare_name(name)
            if kind in self._called and (backend := names.backend_with_threads(name)):
                kind = f"{backend}_{kind}"
            process_group = self._strings[group].strip("/ ")
            return OpKey("/".join(filter(None, ("/collectives", process_group, kind))), kind, "")
        if role in USER:
            return self._user_key(role, name, around)
        if names.is_layer_domain(self._strings[domain]):
            folder, kind = names.layer(name)
            return OpKey(f"{around}{folder}/{kind}", kind, _DIRECTIONS[direction])
        if graph_node := names.graph_node(self._strings[domain], name):
            return OpKey(f"{around}/{graph_node[0]}", graph_node[1], _DIRECTIONS[direction], by_name=True)
        kind, node = names.bare_name(name), ""
        if forward_name >= 0 and names.is_backward_node(name):
            node, kind = kind, names.bare_name(self._strings[forward_name])
        return OpKey(f"{around}/{kind}", kind, _DIRECTIONS[direction], node=node)

    def _user_key(self, role: int, name: str, around: str) -> OpKey:
        """The key of a user's range or module, whose path has its name unless that only numbers the iterations."""
        if role == Role.MODULE:
            return OpKey(around, names.module_class(name), "", by_name=True)
        # The path has the name; hundreds of names of a program's own would be no types.
        kind = names.without_counters(name).strip("# /")
        for shown in (kind, names.template(kind)):
            if around.endswith(f"/{shown}"):
                return OpKey(around, RANGE_TYPE, "", by_name=True)
        base = names.split_number(kind)[0]
        kind = base if base in self._counters else kind
        return OpKey(f"{around}/{kind}", RANGE_TYPE, "", by_name=True)

    def launch_keys(self, places: Rows, wrapper: Int32s, label: Int64s) -> tuple[list[OpKey], Int64s]:
        """Keys of instances that are launches in wrappers: the distinct keys, and the index of each launch's key.

        Args:
            places: Place of the innermost range around each launch.
            wrapper: Place of the wrapper that each launch belongs to.
            label: Text id of the kernel or call that each launch is named after.
        """
        path = self._path(places, self.forward_instance(places))
        return _distinct((path, self._names(wrapper), label, self._direction(places)), self._launch_key)

    def _launch_key(self, path: int, wrapper: int, label: int, direction: int) -> OpKey:
        kind = names.kernel_type(self._strings[label])
        region = names.region(self._strings[wrapper])
        return OpKey(f"{self._paths.texts[path]}/{region}/{kind}", kind, _DIRECTIONS[direction], by_name=True)

    def _path(self, places: Int64s, forward: Int64s) -> Int64s:
        paths = self._paths
        own = np.where(self._in_optimizer[places], paths.by_annotation(places), paths.by_place(places))
        linked = (forward >= 0) & ~paths.in_module(places)
        return np.where(linked, paths.by_place(forward), own)

    def _direction(self, places: Int64s) -> Int64s:
        return np.where(self._in_optimizer[places], 0, np.where(self._in_backward[places], 2, 1))


def _distinct(columns: tuple[npt.NDArray[Any], ...], make: Callable[..., OpKey]) -> tuple[list[OpKey], Int64s]:
    """The distinct keys that ``make`` returns for the rows of the columns, and the index of each row's key."""
    _, first, inverse = np.unique(combine(*columns), return_index=True, return_inverse=True)
    keys: dict[OpKey, int] = {}
    rows = zip(*(column[first].tolist() for column in columns), strict=True)
    ids = [keys.setdefault(make(*row), len(keys)) for row in rows]
    return list(keys), np.array(ids, np.int64)[inverse] if ids else np.zeros(0, np.int64)
