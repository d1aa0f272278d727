"""Op instances of captures without DLProf's markers: PyTorch traces, NVTX ranges of any program.

Work is given to the innermost op instance around its launch. What no instance holds:

* Launches directly in a wrapper, in a compiled region above all: each launch is an instance of an
  op named for its kernel, path ``/Torch-Compiled Region/triton_poi_fused_add``, running numbers
  stripped. One op per region would hide everything worth knowing; one per kernel reads like eager
  code, and the CPU time of each is that of its launch, so nothing is counted twice.
* Everything else is ``unassociated_<name>``: see ``unassociated``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.ops import eligibility
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.directions import backward_ranges, forward_of
from tensorboard_plugin_dlprof.events.drafts import BACKWARD, FORWARD, Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.instances import Chosen, choose, roles
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.paths import Paths
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind, WorkKind


def find_ops(capture: Capture, nesting: Nesting, links: Links, counters: frozenset[str]) -> tuple[Drafts, Owners]:
    """Finds the op instances of a capture, and gives calls and device work to them; -1 for those in none.

    Args:
        capture: The events.
        nesting: Their ranges.
        links: Their links.
        counters: Names of annotations that number the iterations.
    """
    role = roles(capture, nesting)
    launching = links.call_place[links.work_call[links.work_call >= 0]]
    chosen = choose(nesting, role, launching)
    places = np.flatnonzero(chosen.instance)
    call_owner, generated = _owners(chosen, places, links)
    context = _Context(capture, nesting, role, chosen, counters)
    drafts = context.range_instances(places)
    first_generated = len(places)
    call_owner[generated] = first_generated + np.arange(len(generated))
    drafts = context.with_generated(drafts, generated, links)
    of_work = np.where(links.work_call >= 0, call_owner[links.work_call], -1) if len(call_owner) else links.work_call
    return drafts, Owners(call_owner, of_work)


def _owners(chosen: Chosen, places: Int64s, links: Links) -> tuple[Int64s, Int64s]:
    """The instance around each call (-1 for none), and the calls that become instances themselves."""
    row_of_place = np.full(len(chosen.instance) + 1, -1, np.int64)
    row_of_place[places] = np.arange(len(places))
    inside = links.call_place >= 0
    owner = np.full(len(links.call_place), -1, np.int64)
    around = np.append(chosen.owner, -1)[links.call_place]
    owner[inside] = row_of_place[around[inside]]
    launches = np.zeros(len(owner), np.bool_)
    launches[links.work_call[links.work_call >= 0]] = True
    wrapped = np.append(chosen.named_wrapper, -1)[links.call_place] >= 0
    return owner, np.flatnonzero((owner < 0) & launches & wrapped & inside)


class _Context:
    """What the naming of instances needs to look at."""

    def __init__(
        self, capture: Capture, nesting: Nesting, role: np.ndarray, chosen: Chosen, counters: frozenset[str]
    ) -> None:
        self.capture, self.nesting, self.role, self.chosen = capture, nesting, role, chosen
        self.paths = Paths(capture, nesting, role, counters)
        backward = backward_ranges(capture, nesting, role)
        self.in_backward = nesting.inherit(backward) >= 0
        self.in_optimizer = nesting.inherit(role == Role.OPTIMIZER) >= 0
        self.forward = forward_of(capture, nesting, role, backward)
        self.name = capture.ranges.name[nesting.row].astype(np.int64)
        processes = [thread.process_id for thread in capture.threads]
        threads = [thread.thread_id for thread in capture.threads]
        self.process_of_thread = np.array(processes, np.int64)
        self.id_of_thread = np.array(threads, np.int64)

    def range_instances(self, places: Int64s) -> Drafts:
        """Drafts of the instances at the places."""
        rows = self.nesting.row[places]
        ranges = self.capture.ranges
        thread = ranges.thread[rows]
        owner = self._forward_owner(places)
        path = self._path(places, owner)
        collective = self.role[places] == Role.COLLECTIVE
        keys, key = _distinct(
            (path, self.name[places], self._direction(places), np.where(owner >= 0, self.name[owner], -1),
             collective, np.where(collective, ranges.group[rows], 0)),
            self._range_key,
        )  # fmt: skip
        typed = self._typed(places)
        return Drafts(
            start_ns=ranges.start_ns[rows],
            end_ns=ranges.end_ns[rows],
            process_id=self.process_of_thread[thread],
            thread_id=self.id_of_thread[thread],
            key=key,
            place=places,
            described_by=typed,
            stack_of=np.where((owner >= 0) & ~self._has_stack(places), owner, places),
            keys=keys,
        )

    def _range_key(self, values: list[int]) -> OpKey:
        path, name_id, direction, forward_name, collective, group = values
        name = self.capture.strings[name_id]
        if collective:
            kind = names.collective_type(name) or names.bare_name(name)
            process_group = self.capture.strings[group].strip("/ ")
            return OpKey("/".join(filter(None, ("/collectives", process_group, kind))), kind, "")
        node = ""
        kind = names.bare_name(name)
        if forward_name >= 0 and names.is_backward_node(name):
            node, kind = kind, names.bare_name(self.capture.strings[forward_name])
        return OpKey(f"{self.paths.texts[path]}/{kind}", kind, _DIRECTIONS[direction], True, node)

    def with_generated(self, drafts: Drafts, calls: Int64s, links: Links) -> Drafts:
        """``drafts`` and one instance for each of the calls, named for the kernel it launched."""
        if not len(calls):
            return drafts
        capture = self.capture
        place = links.call_place[calls]
        work = np.full(len(links.call_place), -1, np.int64)
        order = np.flatnonzero(links.work_call >= 0)[::-1]
        work[links.work_call[order]] = order
        launched = work[calls]
        wrapper = self.chosen.named_wrapper[place]
        kernel = capture.work.kind[launched] == WorkKind.KERNEL
        graph = np.array([_is_graph_launch(text) for text in capture.strings.texts()])[capture.calls.name[calls]]
        label = np.where(kernel & ~graph, capture.work.short_name[launched], capture.calls.name[calls])
        owner = self._forward_owner(place)
        keys, key = _distinct(
            (self._path(place, owner), self.name[wrapper], label, self._direction(place),
             np.isin(self.role[wrapper], (Role.COMPILED, Role.WRAPPER))),
            self._generated_key,
        )  # fmt: skip
        thread = capture.calls.thread[calls]
        return Drafts(
            start_ns=np.append(drafts.start_ns, capture.calls.start_ns[calls]),
            end_ns=np.append(drafts.end_ns, capture.calls.end_ns[calls]),
            process_id=np.append(drafts.process_id, self.process_of_thread[thread]),
            thread_id=np.append(drafts.thread_id, self.id_of_thread[thread]),
            key=np.append(drafts.key, key + len(drafts.keys)),
            place=np.append(drafts.place, np.full(len(calls), -1)),
            described_by=np.append(drafts.described_by, np.full(len(calls), -1)),
            stack_of=np.append(drafts.stack_of, place),
            keys=drafts.keys + keys,
        )

    def _generated_key(self, values: list[int]) -> OpKey:
        path, wrapper, label, direction, shown = values
        kind = names.kernel_type(self.capture.strings[label])
        region = f"/{names.region(self.capture.strings[wrapper])}" if shown else ""
        return OpKey(f"{self.paths.texts[path]}{region}/{kind}", kind, _DIRECTIONS[direction])

    def _forward_owner(self, places: Int64s) -> Int64s:
        """The forward op instance of backward places (or the forward range where no instance holds it), else -1."""
        forward = np.where(self.in_backward[places], self.forward[places], -1)
        owner = np.where(forward >= 0, self.chosen.owner[forward], -1)
        return np.where(owner >= 0, owner, forward)

    def _path(self, places: Int64s, forward: Int64s) -> Int64s:
        own = np.where(self.in_optimizer[places], self.paths.by_annotation[places], self.paths.by_place[places])
        linked = (forward >= 0) & ~self.paths.in_module[places]
        return np.where(linked, self.paths.by_place[forward], own)

    def _direction(self, places: Int64s) -> Int64s:
        return np.where(self.in_optimizer[places], 0, np.where(self.in_backward[places], 2, 1))

    def _typed(self, places: Int64s) -> Int64s:
        """The range that tells the data type of each instance.

        Its own where that has typed inputs, else the first inside it. Of products of matrices the innermost: under
        autocast ``aten::linear`` gets float32 and calls ``aten::addmm`` with float16, which is what it computes in.
        """
        ranges, nesting = self.capture.ranges, self.nesting
        has_types = (ranges.dtypes[nesting.row] > 0) & (ranges.kind[nesting.row] == RangeKind.OP)
        has_types &= self.chosen.owner >= 0
        typed = np.flatnonzero(has_types)
        owner = self.chosen.owner[typed]
        told = np.full(len(self.name), -1, np.int64)
        told[owner[::-1]] = typed[::-1]
        product = self._is_product(typed)
        told[owner[product]] = typed[product]
        return told[places]

    def _is_product(self, places: Int64s) -> np.ndarray:
        distinct, inverse = np.unique(self.name[places], return_inverse=True)
        texts = [self.capture.strings[text] for text in distinct.tolist()]
        eligible = [eligibility(names.bare_name(text)) == Eligibility.ELIGIBLE for text in texts]
        return np.array(eligible, np.bool_)[inverse]

    def _has_stack(self, places: Int64s) -> np.ndarray:
        frames = self.nesting.inherit(self.role == Role.FRAME)[places] >= 0
        return frames | (self.capture.ranges.stack[self.nesting.row[places]] > 0)


_DIRECTIONS = ("", FORWARD, BACKWARD)


def _is_graph_launch(name: str) -> bool:
    return "GraphLaunch" in name


def _distinct(columns: tuple[np.ndarray, ...], make: Callable[[list[int]], OpKey]) -> tuple[list[OpKey], Int64s]:
    """The keys of the distinct rows of the columns, and the key of each row."""
    combined = combine(*columns)
    _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
    keys: dict[OpKey, int] = {}
    rows = zip(*(column[first].tolist() for column in columns), strict=True)
    ids = [keys.setdefault(make(list(row)), len(keys)) for row in rows]
    return list(keys), np.array(ids, np.int64)[inverse] if ids else np.zeros(0, np.int64)
