"""Builds a profile from a capture: nest, link, find ops, join calls, fill the tables, check."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.architecture import HIP, is_of_amd
from tensorboard_plugin_dlprof.classify.classes import Eligibility, KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.classify.kernels import DEFAULT, Classifier
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.diagnosis.calls import LIBRARY_DOMAIN
from tensorboard_plugin_dlprof.events import dlprof_markers, work_tables
from tensorboard_plugin_dlprof.events.cleaning import OF_LAUNCHES, cleaned, without
from tensorboard_plugin_dlprof.events.draft_texts import Stacks, described_texts
from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.framework_ops import find_ops
from tensorboard_plugin_dlprof.events.identity import MAX_OPS, join_calls
from tensorboard_plugin_dlprof.events.idle_causes import find_causes
from tensorboard_plugin_dlprof.events.idle_frames import find_idle_frames
from tensorboard_plugin_dlprof.events.idle_recording import Host
from tensorboard_plugin_dlprof.events.integrity import check
from tensorboard_plugin_dlprof.events.iterations import counter_names, find_iterations, first_event_ns, with_gpu_work
from tensorboard_plugin_dlprof.events.linking import Links, link
from tensorboard_plugin_dlprof.events.memory_places import with_places
from tensorboard_plugin_dlprof.events.nesting import Nesting, nest
from tensorboard_plugin_dlprof.events.op_tables import NOTHING, DraftTexts, OpTables, op_tables
from tensorboard_plugin_dlprof.events.resources import data_loader_spans, io_spans
from tensorboard_plugin_dlprof.events.sub_ops import find_sub_ops
from tensorboard_plugin_dlprof.events.tables import (
    UNIFIED_COPIES,
    Capture,
    CaptureInfo,
    Int32s,
    Int64s,
    RangeKind,
    WorkKind,
)
from tensorboard_plugin_dlprof.events.tensor_samples import use_samples
from tensorboard_plugin_dlprof.events.trees import inside
from tensorboard_plugin_dlprof.events.unassociated import add_unassociated
from tensorboard_plugin_dlprof.events.work_tables import Placed
from tensorboard_plugin_dlprof.profile.tables import (
    Coverage,
    HostRanges,
    IdleFrames,
    IterationCandidate,
    Kernels,
    Profile,
    SubOps,
)


def build_profile(capture: Capture, *, simple: bool = False, classifier: Classifier = DEFAULT) -> Profile:
    """Build the profile of a capture.

    Args:
        capture: From an importer. It is not changed, except that new texts are interned in its ``strings``.
        simple: DLProf's simple mode: ranges are ignored, and one op stands for the whole program.
        classifier: Classifies kernels by name; the user's rules come before ours.

    Raises:
        IntegrityError: The profile is inconsistent, which is a bug of ours and not the input's fault.
    """
    capture = cleaned(capture)
    keep = capture.store.keep_tables
    nesting = nest(capture.ranges, capture.store)
    keep(nesting)
    release_freed()
    links = link(capture, nesting)
    keep(links)
    release_freed()
    marked = not simple and dlprof_markers.has_markers(capture)
    find = _simple if simple else _marked if marked else _framework
    drafts, owners, tables, iterations = find(capture, nesting, links)
    # The instances have the same.
    drafts = without(drafts, "start_ns", "end_ns", "process_id", "thread_id", "described_by", "stack_of")
    keep(drafts, owners, tables, tables.instances)
    # Ranges are many, and what only ops are found by is not needed any more.
    capture.ranges = without(capture.ranges, "sequence", "forward_thread", "stack", "group")
    release_freed()
    placed = Placed(capture, links, owners, tables)
    kernels, classes = work_tables.kernels(placed, classifier, one_long_name=marked)
    keep(kernels)
    release_freed()
    use_samples(capture, kernels, classes)
    graphs = work_tables.graphs(placed)
    _judge_by_kernels(drafts, tables, kernels, classes, graphs.op, marked)
    syncs, calls = work_tables.syncs_and_calls(placed)
    memcpys, memsets = (work_tables.copies(placed, kind) for kind in (WorkKind.MEMCPY, WorkKind.MEMSET))
    keep(syncs, calls, memcpys, memsets)
    coverage = _coverage(capture, nesting, links, drafts, owners)
    capture.work = without(capture.work, *OF_LAUNCHES)
    release_freed()
    described = not marked and not simple
    sub_ops = find_sub_ops(capture, nesting, links, drafts, owners, tables) if described else empty(SubOps)
    capture.ranges = without(capture.ranges, "shapes", "dtypes", "parameters")
    activity = find_causes(Host(capture, nesting, links, drafts, owners, tables), iterations)
    keep(*activity.devices)
    release_freed()
    profile = Profile(
        info=_info(capture, classes),
        strings=capture.strings,
        ops=tables.ops,
        instances=tables.instances,
        kernels=kernels,
        kernel_classes=classes,
        memcpys=memcpys,
        memsets=memsets,
        syncs=syncs,
        calls=calls,
        graphs=graphs,
        devices=capture.devices,
        data_loader=data_loader_spans(capture),
        io=io_spans(capture),
        memory=with_places(capture, nesting, drafts, tables) if described else capture.memory,
        iterations=iterations,
        model_config=dlprof_markers.model_config(capture),
        gpu_memory_bytes=(0, 0),
        coverage=coverage,
        dlprof_markers=marked,
        one_op=simple,
        idle_frames=empty(IdleFrames) if simple else find_idle_frames(capture, links),
        activity=activity,
        host_ranges=find_host_ranges(capture, nesting),
        sub_ops=sub_ops,
    )
    check(capture, profile)
    keep(profile.sub_ops, profile.host_ranges, profile.memory)
    release_freed()
    return profile


def _info(capture: Capture, classes: dict[int, KernelClass]) -> CaptureInfo:
    """With AMD's runtime, where the source tells no version and no GPU's name, but its calls or kernels are AMD's."""
    info = capture.info
    if info.cuda_version or any(device.name for device in capture.devices):
        return info
    calls = capture.strings.some(distinct_values(capture.calls.name))
    return msgspec.structs.replace(info, cuda_version=HIP) if is_of_amd(calls, classes.values()) else info


_Built = tuple[Drafts, Owners, OpTables, list[IterationCandidate]]


def _simple(capture: Capture, _nesting: Nesting, _links: Links) -> _Built:
    return one_op(capture)


def _framework(capture: Capture, nesting: Nesting, links: Links) -> _Built:
    iterations = with_gpu_work(capture, find_iterations(capture, first_event_ns(capture), capture.info.end_ns))
    drafts, owners = find_ops(capture, nesting, links, counter_names(iterations))
    drafts, owners = add_unassociated(capture, links, drafts, owners)
    capture.store.keep_tables(drafts, owners)
    texts = described_texts(capture, nesting, drafts)
    capture.store.keep_tables(texts)
    joined = _joined(drafts, texts, iterations[0])
    stacks = Stacks(capture, nesting)
    tables = op_tables(
        drafts, joined, texts, lambda draft: stacks.of_place(int(drafts.stack_of[draft])), capture.strings
    )
    return drafts, owners, tables, iterations


def _joined(drafts: Drafts, texts: DraftTexts, iterations: IterationCandidate) -> Int32s:
    """The op of each draft: one per key if the key is ``by_name``, else one per key and occurrence in an iteration."""
    by_name = np.array([key.by_name for key in drafts.keys], np.bool_)
    rows = np.flatnonzero(~by_name[drafts.key])
    start = drafts.start_ns[rows]
    index = np.searchsorted(iterations.start_ns, start, side="right") - 1
    iteration = np.where((index >= 0) & (start < iterations.stop_ns[index]), index, -1)
    if iterations.source == "whole_capture":
        iteration[:] = 0
    joined = drafts.key.copy()
    ops = join_calls(drafts.key[rows], drafts.process_id[rows], iteration, start, texts.index[rows])
    joined[rows] = ops + int(joined.max(initial=-1)) + 1
    return numbered(joined)[1].astype(np.int32)


def _marked(capture: Capture, nesting: Nesting, links: Links) -> _Built:
    marked = dlprof_markers.find_marked_ops(capture, nesting, links)
    drafts, owners = add_unassociated(capture, links, marked.drafts, marked.owners)
    distinct = [NOTHING, *marked.described]
    index = np.zeros(len(drafts.key), np.int32)
    index[: len(marked.described_by)] = marked.described_by + 1
    texts = DraftTexts(index, distinct, [item.data_type for item in distinct])
    stacks = marked.stacks
    tables = op_tables(
        drafts, _joined_marked(drafts, marked), texts, lambda draft: stacks[marked.stack_of[draft]], capture.strings
    )
    end = int(drafts.end_ns.max(initial=0))
    candidates = find_iterations(capture, 0, end)
    return drafts, owners, tables, [candidates[-1], *candidates[:-1]]


def _joined_marked(drafts: Drafts, marked: dlprof_markers.MarkedOps) -> Int32s:
    """The op of each draft. Like DLProf, each marker and each call outside ops is an op.

    If these are too many to show, calls of the same name become one op, and so do markers with the same path, stack and
    tensors.
    """
    markers = len(marked.drafts.key)
    joined = np.arange(len(drafts.key), dtype=np.int32)
    if len(joined) > MAX_OPS:
        joined[markers:] = markers + drafts.key[markers:] - len(marked.drafts.keys)
    if markers > MAX_OPS:
        joined = drafts.key.astype(np.int32)
    return joined


def _judge_by_kernels(
    drafts: Drafts, tables: OpTables, kernels: Kernels, classes: dict[int, KernelClass], of_graphs: Int32s, marked: bool
) -> None:
    """Decide from their kernels which ops are eligible for matrix units, once for every table, page and report.

    Every op with a kernel that uses matrix units is eligible. For users' ranges, replayed graphs and launches, whose
    types say nothing, a kernel that multiplies matrices is enough, even if it does not use them. An op whose type could
    multiply is not eligible if none of its kernels does (an einsum that sums over nothing), or if it launched none
    while others did; DLProf judges captures with its own ``marked`` ops by their types.
    """
    named = np.array([key.by_name and key.associated for key in drafts.keys], np.bool_)
    products = [text for text, result in classes.items() if result.family in PRODUCT_FAMILIES]
    has_vague_type = np.zeros(len(tables.ops), np.bool_)
    has_vague_type[tables.op_of_draft[named[drafts.key]]] = True
    could_use = has_vague_type[kernels.op] & are_among(kernels.long_name, products)
    does_use = kernels.matrix_unit == MatrixUnit.YES
    for op in distinct_values(kernels.op[could_use | does_use]).tolist():
        if tables.ops[op].eligibility != Eligibility.UNASSOCIATED:
            tables.ops[op].eligibility = Eligibility.ELIGIBLE
    if marked or not len(kernels.op):
        return
    may_multiply = np.zeros(len(tables.ops), np.bool_)
    may_multiply[kernels.op[(kernels.matrix_unit != MatrixUnit.NO) | are_among(kernels.long_name, products)]] = True
    may_multiply[of_graphs] = True
    for row in np.flatnonzero(~may_multiply).tolist():
        if tables.ops[row].eligibility == Eligibility.ELIGIBLE:
            tables.ops[row].eligibility = Eligibility.NOT_ELIGIBLE


def _coverage(capture: Capture, nesting: Nesting, links: Links, drafts: Drafts, owners: Owners) -> Coverage:
    duration = capture.work.end_ns - capture.work.start_ns
    associated = np.array([key.associated for key in drafts.keys], np.bool_)
    unassociated = ~associated[drafts.key[owners.of_work]] if len(duration) else np.zeros(0, np.bool_)
    # Work may tell its op itself, as that of compiled programs does.
    uncalled = np.flatnonzero((links.work_call < 0) & unassociated)
    migrate = np.isin(capture.work.copy_kind[uncalled], UNIFIED_COPIES)
    migrate &= capture.work.kind[uncalled] == WorkKind.MEMCPY
    migrations, unlaunched = uncalled[migrate], uncalled[~migrate]
    return Coverage(
        unlaunched_work=len(unlaunched),
        unlaunched_work_ns=int(duration[unlaunched].sum()),
        unassociated_work=int(np.count_nonzero(unassociated)),
        unassociated_work_ns=int(duration[unassociated].sum()),
        repaired_overlaps=nesting.repaired_overlaps,
        skipped=capture.skipped,
        migrations=len(migrations),
        migrations_ns=int(duration[migrations].sum()),
    )


LEVELS = 3


def find_host_ranges(capture: Capture, nesting: Nesting) -> HostRanges:
    """Users' ranges and modules with at most two of their kind around them, by thread and start."""
    ranges = capture.ranges
    kind = ranges.kind[nesting.row]
    own = (kind == RangeKind.MODULE) | (kind == RangeKind.ANNOTATION)
    if own.any():
        domains = [
            text for text in distinct_values(ranges.domain).tolist() if LIBRARY_DOMAIN.match(capture.strings[text])
        ]
        own &= ~are_among(ranges.domain[nesting.row], domains)
    places, levels = list[Int64s](), list[Int64s]()
    for level in range(LEVELS):
        if not own.any():
            break
        # Those with none of their kind around them; the next level is found without them.
        outermost = np.flatnonzero(own & ~inside(own, nesting.stop))
        places.append(outermost)
        levels.append(np.full(len(outermost), level))
        own = own.copy()
        own[outermost] = False
    place, level_of = (np.concatenate([np.zeros(0, np.int64), *each]) for each in (places, levels))
    order = np.argsort(place, kind="stable")
    place, level_of = place[order], level_of[order]
    row = nesting.row[place]
    thread = ranges.thread[row]
    process_ids = np.array([one.process_id for one in capture.threads], np.int64)
    thread_ids = np.array([one.thread_id for one in capture.threads], np.int64)
    return HostRanges(
        start_ns=nesting.start_ns[place],
        stop_ns=nesting.end_ns[place],
        process_id=process_ids[thread] if len(thread) else np.zeros(0, np.int64),
        thread_id=thread_ids[thread] if len(thread) else np.zeros(0, np.int64),
        level=level_of.astype(np.int8),
        name=ranges.name[row],
    )


OP_NAME = "simple_mode_global_node_name"
OP_TYPE = "simple_mode_global_node_op_type"


def one_op(capture: Capture) -> tuple[Drafts, Owners, OpTables, list[IterationCandidate]]:
    """The only instance; the owners, which are always that instance; its op; the only iteration."""

    def column(value: int) -> Int64s:
        return np.full(1, value, np.int64)

    first = capture.threads[0] if capture.threads else None
    drafts = Drafts(
        start_ns=column(0),
        end_ns=column(capture.info.end_ns),
        process_id=column(first.process_id if first else 0),
        thread_id=column(first.thread_id if first else 0),
        key=column(0),
        place=column(-1),
        described_by=column(-1),
        stack_of=column(-1),
        keys=[OpKey(OP_NAME, OP_TYPE, "")],
    )
    owners = Owners(np.zeros(len(capture.calls.start_ns), np.int32), np.zeros(len(capture.work.start_ns), np.int64))
    texts = DraftTexts(np.zeros(1, np.int32), [NOTHING], [NOTHING.data_type])
    tables = op_tables(drafts, np.zeros(1, np.int32), texts, lambda _draft: "", capture.strings)
    whole = IterationCandidate("whole_capture", "Whole recording", column(0), column(0), column(capture.info.end_ns))
    return drafts, owners, tables, [whole]
