"""What a profile without its capture tells of idle time: databases of NVIDIA's keep ops and calls, but no ranges."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.diagnosis.calls import is_launch, is_loader, without_version
from tensorboard_plugin_dlprof.diagnosis.idle import DETAILS, IdlePieces, call_classes, find_idle
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, LONG_NS, Part
from tensorboard_plugin_dlprof.diagnosis.recording import HostCalls, HostItems, Recording, Work
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, Cause, Int32s, Int64s, Segments, of_devices
from tensorboard_plugin_dlprof.diagnosis.spans import Spans
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, Kernels, Profile, Syncs


class _Calls(msgspec.Struct):
    """All API calls of a profile, of its tables one after the other."""

    start_ns: Int64s
    stop_ns: Int64s
    process: Int64s
    thread: Int64s
    name: list[str]
    name_number: Int32s
    op: Int64s


def idle_causes(profile: Profile) -> Activity:
    """The idle time of every GPU with its causes, as far as a profile tells; the busy time is left out."""
    if not any(len(table.start_ns) for table in (profile.kernels, profile.memcpys, profile.memsets, profile.graphs)):
        return Activity([], [])
    calls = _calls(profile)
    recording = _recording(profile, calls)
    causes: dict[Cause, int] = {}
    devices = of_devices(_named(profile, calls, recording, causes, pieces) for pieces in find_idle(recording))
    return Activity(list(causes), devices)


def _calls(profile: Profile) -> _Calls:
    """Calls that launched work come first, in the order of the tables of work, for ``_recording``."""
    works: list[Kernels | Copies] = [profile.kernels, profile.memcpys, profile.memsets]
    others: list[Syncs | Calls] = [profile.syncs, profile.calls]
    launch = "cudaLaunchKernel"
    names: dict[str, int] = {launch: 0}
    number = [np.zeros(len(profile.kernels.op), np.int64)]
    named: list[Copies | Syncs | Calls] = [profile.memcpys, profile.memsets, *others]
    for table in named:
        distinct, index = numbered(table.name)
        own = [names.setdefault(profile.strings[text], len(names)) for text in distinct.tolist()]
        number.append(np.array(own or [0], np.int64)[index.astype(np.int64)])
    tables: list[Kernels | Copies | Syncs | Calls] = [*works, *others]
    return _Calls(
        start_ns=np.concatenate([table.api_start_ns for table in tables]),
        stop_ns=np.concatenate([table.api_end_ns for table in tables]),
        process=np.concatenate([table.process_id for table in tables]),
        thread=np.concatenate([table.thread_id for table in tables]),
        name=list(names),
        name_number=np.concatenate(number).astype(np.int32),
        op=np.concatenate([table.op for table in tables]).astype(np.int64),
    )


def _recording(profile: Profile, calls: _Calls) -> Recording:
    works: list[Kernels | Copies] = [profile.kernels, profile.memcpys, profile.memsets]
    graphs, instances = profile.graphs, profile.instances
    count = sum(len(table.op) for table in works)
    launched = np.concatenate([table.launched != 0 for table in works])
    row = np.where(launched, np.arange(count), -1)
    work = Work(
        np.concatenate([*(table.start_ns for table in works), graphs.start_ns]),
        np.concatenate([*(table.end_ns for table in works), graphs.end_ns]),
        np.concatenate([*(table.device for table in works), graphs.device]).astype(np.int32),
        np.concatenate([*(table.stream for table in works), graphs.stream]),
        np.concatenate((row, np.full(len(graphs.op), -1))),
    )
    # A call without work is listed as launched at the GPU's start, which is no call.
    real = np.append(launched, np.ones(len(calls.start_ns) - count, np.bool_))
    process = np.concatenate((calls.process, instances.process_id))
    thread = np.concatenate((calls.thread, instances.thread_id))
    pairs, place = np.unique(np.stack((process, thread)), axis=1, return_inverse=True)
    of_thread = place.reshape(-1).astype(np.int32)
    of_calls, of_instances = of_thread[: len(calls.start_ns)], of_thread[len(calls.start_ns) :]
    associated = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops] or [False], np.bool_)
    loads = np.array([is_loader(op.name.rpartition("/")[2]) for op in profile.ops] or [False], np.bool_)
    rows = np.flatnonzero(associated[instances.op]) if len(instances.op) else np.zeros(0, np.int64)
    main = _main(calls, of_calls, of_instances[rows], real)
    ops = HostItems(
        Spans(instances.start_ns[rows], instances.end_ns[rows], instances.op[rows].astype(np.int64)),
        of_instances[rows],
    )
    of_loader = loads[instances.op[rows]] if len(rows) else np.zeros(0, np.bool_)
    loader = HostItems(ops.spans.some(of_loader), ops.thread[of_loader])
    real_rows = np.flatnonzero(real)
    number = np.full(len(real), -1)
    number[real_rows] = np.arange(len(real_rows))
    work.call = np.where(work.call >= 0, number[work.call], -1)
    for name in ("start_ns", "stop_ns", "process", "thread", "name_number", "op"):
        setattr(calls, name, getattr(calls, name)[real_rows])
    nothing = HostItems(Spans(*(np.zeros(0, np.int64) for _ in range(3))), np.zeros(0, np.int32))
    io = HostItems(
        Spans(profile.io.start_ns, profile.io.stop_ns, np.zeros(len(profile.io.start_ns), np.int64)),
        np.full(len(profile.io.start_ns), max(main, 0), np.int32),
    )
    starts = [column for column in (work.start_ns, calls.start_ns, instances.start_ns) if len(column)]
    candidate = profile.iterations[0]
    marked = candidate.source != "whole_capture"
    cuts = (candidate.start_ns[0], candidate.stop_ns[-1]) if marked else (work.start_ns.min(), work.stop_ns.max())
    return Recording(
        work=work,
        calls=HostCalls(calls.start_ns, calls.stop_ns, of_calls[real_rows], calls.name_number),
        call_names=calls.name,
        loader=loader,
        io=io,
        ops=ops,
        code=nothing,
        process_of_thread=pairs[0],
        main=main,
        begin_ns=min(int(column.min()) for column in starts),
        end_ns=max(profile.info.end_ns, int(work.stop_ns.max())),
        cuts_ns=tuple(map(int, cuts)),
    )


def _main(calls: _Calls, of_calls: Int32s, of_ops: Int32s, real: Int64s) -> int:
    """The thread with most launches, else with most ops; -1 if there is neither."""
    launches = np.array([is_launch(name) for name in calls.name], np.bool_)
    for thread in (of_calls[launches[calls.name_number] & real], of_ops):
        if len(thread):
            return int(np.bincount(thread).argmax())
    return -1


def _named(
    profile: Profile, calls: _Calls, recording: Recording, causes: dict[Cause, int], pieces: IdlePieces
) -> Segments:
    always, if_long = call_classes(recording)
    keys: dict[tuple[int, int, int, bool, bool], int] = {}
    function = np.empty(len(pieces.part), np.int32)
    of_call = pieces.of_call & (pieces.item >= 0)
    columns = zip(pieces.part.tolist(), pieces.item.tolist(), of_call.tolist(), pieces.detail.tolist(), strict=True)
    for row, (part, item, has_call, number) in enumerate(columns):
        op, name, duration = -1, -1, 0
        if has_call:
            op, name = int(calls.op[item]), int(calls.name_number[item])
            duration = int(calls.stop_ns[item] - calls.start_ns[item])
        elif part in (Part.HOST_OP, Part.DATA_LOADER, Part.LAUNCHING):
            op = item
        key = (part * 8 + number, op, name, part == Part.BLOCKED and duration >= BLOCK_NS, duration >= LONG_NS)
        if key not in keys:
            of_op = profile.ops[op] if op >= 0 else None
            known = of_op is not None and of_op.eligibility != Eligibility.UNASSOCIATED
            word = DETAILS[number] if number >= 0 else ""
            if part == Part.BLOCKED:
                word = (if_long if key[3] else always)[name]
            cause = Cause(
                part,
                word,
                without_version(calls.name[name]) if name >= 0 else "",
                of_op.name if of_op is not None and known else "",
                "op" if known else "",
                of_op.op_id if of_op is not None and known else "",
                long=part == Part.BLOCKED and key[4],
            )
            keys[key] = causes.setdefault(cause, len(causes))
        function[row] = keys[key]
    return Segments(pieces.device, pieces.start_ns, pieces.stop_ns, function)
