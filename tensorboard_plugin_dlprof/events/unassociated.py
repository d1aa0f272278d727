"""Assigns calls and device work outside ops to ops named ``unassociated_<name>``, as DLProf does.

The name is the kernel's short name, or the name of the API call unless that launched exactly one kernel: copies,
synchronisations, whole graphs. Each call is an instance. Device work without a recorded call is an instance of its own,
of zero length, at the time when the work started.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, WorkKind


def add_unassociated(capture: Capture, links: Links, drafts: Drafts, owners: Owners) -> tuple[Drafts, Owners]:
    """Complete drafts and owners so that every call and every piece of device work has an instance."""
    outside = owners.of_call < 0
    first, calls = len(drafts.start_ns), int(np.count_nonzero(outside))
    works = np.flatnonzero((owners.of_work < 0) & (links.work_call < 0))
    if not calls and not len(works) and not (owners.of_work < 0).any():
        return drafts, owners
    of_call = owners.of_call.copy()
    of_call[outside] = np.arange(first, first + calls, dtype=np.int32)
    of_work = owners.of_work.copy()
    launched = np.flatnonzero((owners.of_work < 0) & (links.work_call >= 0))
    of_work[launched] = of_call[links.work_call[launched]]
    of_work[works] = first + calls + np.arange(len(works))

    name = np.concatenate((_call_names(capture, links)[outside], _work_names(capture)[works]))
    distinct, key = numbered(name)
    keys = [
        OpKey(f"unassociated_{text}", text, "", by_name=True, associated=False)
        for text in (capture.strings[index] or "unknown" for index in distinct.tolist())
    ]
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    id_of_thread = np.array([thread.thread_id for thread in capture.threads], np.int64)
    thread = capture.calls.thread[outside]
    work_start = capture.work.start_ns[works]
    key += len(drafts.keys)
    return (
        Drafts(
            start_ns=np.concatenate((drafts.start_ns, capture.calls.start_ns[outside], work_start)),
            end_ns=np.concatenate((drafts.end_ns, capture.calls.end_ns[outside], work_start)),
            process_id=np.concatenate((drafts.process_id, process_of_thread[thread], capture.work.process[works])),
            thread_id=np.concatenate((drafts.thread_id, id_of_thread[thread], np.zeros(len(works), np.int64))),
            key=np.concatenate((drafts.key.astype(np.int32), key)),
            place=drafts.place,
            described_by=drafts.described_by,
            stack_of=drafts.stack_of,
            keys=drafts.keys + keys,
        ),
        Owners(of_call, of_work),
    )


def _call_names(capture: Capture, links: Links) -> Int32s:
    """Text id of each call's op name: the kernel's name if the call launched exactly one kernel, else its own."""
    name: Int32s = capture.calls.name.copy()
    work = np.flatnonzero(links.work_call >= 0)
    launches = np.bincount(links.work_call[work], minlength=len(name)) if len(work) else np.zeros(len(name), np.int64)
    single = work[(launches[links.work_call[work]] == 1) & (capture.work.kind[work] == WorkKind.KERNEL)]
    name[links.work_call[single]] = _work_names(capture)[single]
    return name


def _work_names(capture: Capture) -> Int32s:
    work = capture.work
    kernel = (work.kind == WorkKind.KERNEL) & (work.short_name > 0)
    named: Int32s = np.where(kernel, work.short_name, work.name)
    return named
