"""Calls and device work inside no op: ops named ``unassociated_<name>``, as DLProf's.

The name is the kernel's short name, or the API call's where no single kernel was launched: copies,
synchronisations, whole graphs. Each call is an instance; work without a recorded call is an
instance of its own at the time it ran.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.distinct import numbered
from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, WorkKind


def add_unassociated(capture: Capture, links: Links, drafts: Drafts, owners: Owners) -> tuple[Drafts, Owners]:
    """Drafts and owners in which every call and every piece of device work has an instance."""
    calls = np.flatnonzero(owners.of_call < 0)
    works = np.flatnonzero((owners.of_work < 0) & (links.work_call < 0))
    of_call = owners.of_call.copy()
    of_call[calls] = len(drafts.start_ns) + np.arange(len(calls))
    of_work = owners.of_work.copy()
    launched = np.flatnonzero((owners.of_work < 0) & (links.work_call >= 0))
    of_work[launched] = of_call[links.work_call[launched]]
    of_work[works] = len(drafts.start_ns) + len(calls) + np.arange(len(works))

    name = np.append(_call_names(capture, links)[calls], _work_names(capture)[works])
    distinct, key = numbered(name)
    keys = [
        OpKey(f"unassociated_{text}", text, "", by_name=True, associated=False)
        for text in (capture.strings[index] or "unknown" for index in distinct.tolist())
    ]
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    id_of_thread = np.array([thread.thread_id for thread in capture.threads], np.int64)
    thread = capture.calls.thread[calls]
    work_start = capture.work.start_ns[works]
    return (
        Drafts(
            start_ns=np.concatenate((drafts.start_ns, capture.calls.start_ns[calls], work_start)),
            end_ns=np.concatenate((drafts.end_ns, capture.calls.end_ns[calls], work_start)),
            process_id=np.concatenate((drafts.process_id, process_of_thread[thread], capture.work.process[works])),
            thread_id=np.concatenate((drafts.thread_id, id_of_thread[thread], np.zeros(len(works), np.int64))),
            key=np.append(drafts.key, key + len(drafts.keys)),
            place=drafts.place,
            described_by=drafts.described_by,
            stack_of=drafts.stack_of,
            keys=drafts.keys + keys,
        ),
        Owners(of_call, of_work),
    )


def _call_names(capture: Capture, links: Links) -> Int64s:
    """The name under which each call is known: its kernel's where it launched one kernel, else its own."""
    name = capture.calls.name.astype(np.int64)
    work = np.flatnonzero(links.work_call >= 0)
    launches = np.bincount(links.work_call[work], minlength=len(name)) if len(work) else np.zeros(len(name), np.int64)
    single = work[(launches[links.work_call[work]] == 1) & (capture.work.kind[work] == WorkKind.KERNEL)]
    name[links.work_call[single]] = _work_names(capture)[single]
    return name


def _work_names(capture: Capture) -> Int64s:
    work = capture.work
    kernel = (work.kind == WorkKind.KERNEL) & (work.short_name > 0)
    return np.where(kernel, work.short_name, work.name).astype(np.int64)
