"""DLProf's simple mode: one op stands for the whole program, whatever framework it uses.

A published run (command line reference, 2.4) shows the op's id, name and type, and that it is eligible for Tensor Cores
if and only if some kernel uses them. The op has one instance, from the start of the capture to its end, which contains
everything. Ranges are ignored, so there is nothing to divide the capture into iterations: it is a single one.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.events.drafts import Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.op_tables import NOTHING, DraftTexts, OpTables, op_tables
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

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
