"""Columns on why ops do not use matrix units, for tables with ``op_nodes AS node`` and ``read_only_ops AS op``."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.efficiency import CAUSES, KEPT_OFF_NS
from tensorboard_plugin_dlprof.queries.table import Column

_WORDS = " ".join(f"WHEN '{key}' THEN '{words.replace(chr(39), chr(39) * 2)}'" for key, words in CAUSES.items())


def cause_in_words(cause: str) -> str:
    """Expression for the words of a cause; NULL for none."""
    return f"CASE {cause} WHEN '' THEN NULL {_WORDS} ELSE {cause} END"


KEPT_OFF = "Why Not on TC"
"""The name of columns with causes; also of ops that use Tensor Cores in a part of their time."""

CAUSE = Column("cause", KEPT_OFF, "text",
               f"Why an eligible op does not use Tensor Cores, or not well: {'; '.join(CAUSES.values())}.",
               cause_in_words("rate.cause"), nullable=True)  # fmt: skip

KEPT_OFF_TIME = Column("kept_off_ns", "Could Be on TC", "duration_ns",
                       "Time of kernels that multiply, convolve or attend, but not on Tensor Cores, of ops that could "
                       "use them; and of those that only change the layout around kernels on Tensor Cores.",
                       KEPT_OFF_NS, nullable=True, hidden=True, tier=2)  # fmt: skip

DIMENSION = Column("dimension", "Dimension", "text", "Length that does not fit the data type, and the next that would.",
                   "CASE WHEN rate.length IS NOT NULL THEN rate.dimension || ' ' || rate.length || ' -> ' || "
                   "rate.padded_length END", nullable=True)  # fmt: skip

ELIGIBILITY = "CASE WHEN node.using_tc <> 0 THEN 'eligible' ELSE replace(rate.eligibility, '_', ' ') END"
"""Eligibility in words, consistent with the tables of ops: an op that uses matrix units is eligible, even if it stands
for work that no op is known to have launched."""

REASONS = (
    Column("eligibility", "Eligibility", "text",
           "Whether the op could use Tensor Cores: eligible, not eligible, or unknown where nothing tells what it "
           "does.", ELIGIBILITY, nullable=True, hidden=True),
    CAUSE,
    KEPT_OFF_TIME,
    msgspec.structs.replace(DIMENSION, hidden=True),
    Column("padded_shape", "Padded Shape", "text",
           "Lengths of the op's largest matrix multiplication, each padded to what the data type needs.",
           "rate.padded_shape", nullable=True, hidden=True),
)  # fmt: skip

REASONS_JOIN = "LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = node.aggr_id AND rate.read_only_ops_id = op.id"
