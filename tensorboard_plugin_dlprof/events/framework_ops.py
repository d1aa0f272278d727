"""Finds op instances in captures without DLProf's markers: PyTorch traces, and NVTX ranges of any program.

Device work belongs to the innermost op instance around its launch; a launch on a thread without ranges, to the range
that the thread which drives it is in (``with_launches_of_other_threads``). Work outside instances:

* Each launch directly inside a wrapper, mostly a compiled region, is a call of an op named after its kernel, such as
  ``/Torch-Compiled Region/triton_poi_fused_add``, without running numbers. A single op per region would hide which
  kernels matter. The CPU time of such an op is that of its launches, so that nothing is counted twice. A replayed graph
  has one launch for all of its kernels, which therefore share an op named after the call.
* Each launch directly inside a user's range that contains ops is a call of the op of that range.
* All other work gets ops named ``unassociated_<name>``: see ``unassociated``.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.ops import eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.events import names
from tensorboard_plugin_dlprof.events.drafts import Drafts, Owners
from tensorboard_plugin_dlprof.events.instances import USER, OpInstances, choose, has_role, roles
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_naming import Namer
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s, RangeKind, Rows, WorkKind
from tensorboard_plugin_dlprof.events.trees import Flags, inside, nearest_of


def find_ops(capture: Capture, nesting: Nesting, links: Links, counters: frozenset[str]) -> tuple[Drafts, Owners]:
    """Find the op instances of a capture, and the instance of each call and piece of device work, -1 for none.

    Args:
        counters: Names of annotations that number the iterations.
    """
    # Each step reads other columns, of up to ten million ranges.
    release_pages()
    role = roles(capture, nesting)
    links = with_launches_of_other_threads(capture, nesting, links, role)
    launching = links.call_place[links.work_call[links.work_call >= 0]]
    selected = choose(nesting, role, launching, of_host=not len(capture.work.kind))
    release_pages()
    namer = Namer(capture, nesting, selected, counters, launching)
    release_pages()
    places = np.flatnonzero(selected.instance)
    of_call, launches = _owners(selected, places, links)
    release_pages()
    holder = selected.holder[links.call_place[launches]]
    by_user = has_role(selected.role[holder], *USER)
    # Launches in users' ranges first, whose keys are those of the ranges.
    order = np.argsort(~by_user, kind="stable")
    launches, of_ranges = launches[order], holder[by_user]
    of_call[launches] = len(places) + np.arange(len(launches))
    drafts = _range_drafts(capture, nesting, selected, namer, places, of_ranges)
    if len(launches):
        drafts = _with_launches(drafts, capture, selected, namer, links, launches, len(of_ranges))
    launched = links.work_call >= 0
    of_work = np.full(len(launched), -1, np.int32)
    of_work[launched] = of_call[links.work_call[launched]]
    if capture.work_range is not None:
        _assign_described(of_work, capture.work_range, nesting, places)
    return drafts, Owners(of_call, of_work)


def _assign_described(of_work: Int32s, work_range: Rows, nesting: Nesting, places: Int64s) -> None:
    """Give device work to the op that its source names: one call may launch the work of many ops."""
    place_of = np.zeros(int(nesting.row.max(initial=-1)) + 1, np.int32)
    place_of[nesting.row] = np.arange(len(nesting.row), dtype=np.int32)
    reported = np.flatnonzero(work_range >= 0)
    of_work[reported] = np.searchsorted(places, place_of[work_range[reported]])


def _owners(selected: OpInstances, places: Int64s, links: Links) -> tuple[Int32s, Int64s]:
    """The draft around each call, -1 for none; and the rows of launching calls that become instances themselves."""
    owner = np.full(len(links.call_place), -1, np.int32)
    wrapped = np.zeros(len(owner), np.bool_)
    in_range = np.flatnonzero(links.call_place >= 0)
    place = links.call_place[in_range]
    wrapped[in_range] = selected.holder[place] >= 0
    around = selected.owner[place]
    owner[in_range[around >= 0]] = np.searchsorted(places, around[around >= 0])
    launches = np.zeros(len(owner), np.bool_)
    launches[links.work_call[links.work_call >= 0]] = True
    return owner, np.flatnonzero((owner < 0) & launches & wrapped)


def _range_drafts(
    capture: Capture, nesting: Nesting, selected: OpInstances, namer: Namer, places: Int64s, holders: Int32s
) -> Drafts:
    """The instances that are ranges; ``key`` goes on with those of the launches in ``holders``."""
    rows = nesting.row[places]
    ranges, keep = capture.ranges, capture.store.keep
    thread = ranges.thread[rows]
    keys, key = namer.range_keys(np.append(places, holders))
    forward = namer.forward_instance(places)
    frame = selected.role == Role.FRAME
    own_stack = (frame | inside(frame, nesting.stop))[places] | (ranges.stack[rows] > 0)
    return Drafts(
        start_ns=keep(ranges.start_ns[rows]),
        end_ns=keep(ranges.end_ns[rows]),
        process_id=keep(_process_ids(capture)[thread]),
        thread_id=keep(_thread_ids(capture)[thread]),
        key=key,
        place=places,
        described_by=keep(_typed_ranges(capture, nesting, selected)[places].astype(np.int64)),
        # Autograd's threads run no Python, so backward ops get the stack of the forward op.
        stack_of=np.where((forward >= 0) & ~own_stack, forward, places),
        keys=keys,
    )


def _with_launches(
    drafts: Drafts, capture: Capture, selected: OpInstances, namer: Namer, links: Links, launches: Int64s, known: int
) -> Drafts:
    """``drafts`` with one more instance per launch: rows of ``capture.calls``, of which the first ``known`` have their
    keys."""
    calls, work = capture.calls, capture.work
    wrapped = launches[known:]
    place = links.call_place[wrapped]
    first_work = np.full(len(calls.name), -1, np.int64)
    linked = np.flatnonzero(links.work_call >= 0)[::-1]
    first_work[links.work_call[linked]] = linked
    launched = first_work[wrapped]
    graph = np.array(["GraphLaunch" in text for text in capture.strings.texts()], np.bool_)[calls.name[wrapped]]
    kernel = (work.kind[launched] == WorkKind.KERNEL) & ~graph
    label = np.where(kernel, work.short_name[launched], calls.name[wrapped])
    keys, key = namer.launch_keys(place, selected.holder[place], label)
    thread = calls.thread[launches]
    nowhere = np.full(len(launches), -1, np.int64)
    return Drafts(
        start_ns=np.append(drafts.start_ns, calls.start_ns[launches]),
        end_ns=np.append(drafts.end_ns, calls.end_ns[launches]),
        process_id=np.append(drafts.process_id, _process_ids(capture)[thread]),
        thread_id=np.append(drafts.thread_id, _thread_ids(capture)[thread]),
        key=np.append(drafts.key, key + len(drafts.keys)),
        place=np.append(drafts.place, nowhere),
        described_by=np.append(drafts.described_by, nowhere),
        stack_of=np.append(drafts.stack_of, links.call_place[launches]),
        keys=drafts.keys + keys,
    )


def _process_ids(capture: Capture) -> Int64s:
    return np.array([thread.process_id for thread in capture.threads], np.int64)


def _thread_ids(capture: Capture) -> Int64s:
    return np.array([thread.thread_id for thread in capture.threads], np.int64)


def _typed_ranges(capture: Capture, nesting: Nesting, selected: OpInstances) -> Int32s:
    """For each instance's place, the place of the op range whose input types determine its data type; -1 for none.

    That is the last matrix product inside the instance, if there is one: under autocast, ``aten::linear`` gets float32
    and calls ``aten::addmm`` with float16, which is the type it computes in. Otherwise it is the instance's own range
    if that has typed inputs, else the first range inside it that has.
    """
    ranges = capture.ranges
    typed_op = (ranges.dtypes > 0) & are_among(ranges.kind, (RangeKind.OP, RangeKind.GRAPH_OP))
    typed = np.flatnonzero(typed_op[nesting.row] & (selected.owner >= 0))
    owner = selected.owner[typed]
    result = np.full(len(nesting.row), -1, np.int32)
    result[owner[::-1]] = typed[::-1]  # Of equal owners the last one written stays, which is the first range.
    product = _are_products(capture, ranges.name[nesting.row[typed]])
    result[owner[product]] = typed[product]
    return result


def _are_products(capture: Capture, name: Int32s) -> Flags:
    distinct, inverse = numbered(name)
    types = [names.bare_name(capture.strings[text]) for text in distinct.tolist()]
    return np.array([eligibility(kind) == Eligibility.ELIGIBLE for kind in types], np.bool_)[inverse]


def with_launches_of_other_threads(capture: Capture, nesting: Nesting, links: Links, role: Int8s) -> Links:
    """The links, with a place for each launch of a thread without ranges while the main thread is in one.

    ``loss.backward()`` runs on the main thread, but autograd launches from threads of its own. Where these record no
    ops, their launches belong to the innermost range of the user's, or module, that is open on the main thread of their
    process.
    """
    by_user = has_role(role, *USER)
    if not by_user.any():
        return links
    calls = distinct_values(links.work_call[links.work_call >= 0])
    place = links.call_place[calls]
    means = ~has_role(role, Role.HIDDEN, Role.FRAME)
    calls = calls[nearest_of(place, means, nesting.parent) < 0]
    thread = capture.calls.thread[calls]
    main = _main_threads(capture, nesting, by_user)[thread]
    rows = np.flatnonzero((main >= 0) & (main != thread))
    around = nesting.innermost(main[rows], capture.calls.start_ns[calls[rows]])
    own = nearest_of(around, by_user, nesting.parent)
    if not (own >= 0).any():
        return links
    of_call = links.call_place.copy()
    of_call[calls[rows[own >= 0]]] = own[own >= 0]
    return msgspec.structs.replace(links, call_place=of_call)


def _main_threads(capture: Capture, nesting: Nesting, by_user: Flags) -> Int32s:
    """For each thread, the main one of its process: that marks the iterations, else with most time in users' ranges; -1
    if none has any."""
    ranges, count = capture.ranges, len(capture.threads)
    marks = np.flatnonzero(ranges.kind == RangeKind.ITERATION)
    marked = np.bincount(ranges.thread[marks], ranges.end_ns[marks] - ranges.start_ns[marks], count)
    places = np.flatnonzero(by_user)
    spent = np.bincount(ranges.thread[nesting.row[places]], nesting.end_ns[places] - nesting.start_ns[places], count)
    process = np.array([thread.process_id for thread in capture.threads], np.int64)
    main = np.full(count, -1, np.int32)
    order: Int64s = np.lexsort((spent, marked))
    for thread in order[(spent > 0)[order]].tolist():  # The last one stays.
        main[process == process[thread]] = thread
    return main
