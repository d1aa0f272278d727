"""The columns of short tables that the pages do not show as tables: findings, notes, aggregations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tensorboard_plugin_dlprof.queries.filters import ColumnType


class ShortColumn(NamedTuple):
    """One column of a short table."""

    key: str
    type: ColumnType
    description: str


FINDINGS = (
    ShortColumn("detector", "text", "the rule that found it; DLProf's names where it is one of DLProf's detectors"),
    ShortColumn("severity", "text", "how much it matters: info, advice, warning"),
    ShortColumn("confidence", "text", "how sure the estimate of the gain is: low, medium, high"),
    ShortColumn("area", "text", "findings of one area are different ways to the same gain: only the largest counts"),
    ShortColumn("problem", "long_text", "what was found, with its numbers"),
    ShortColumn("recommendation", "long_text", "what to change"),
    ShortColumn(
        "gain_low_ns", "duration_ns", "least that an iteration would be shorter; unknown where no time is named"
    ),
    ShortColumn(
        "gain_high_ns", "duration_ns", "most that an iteration would be shorter; unknown where no time is named"
    ),
    ShortColumn("link", "text", "address to read on, or empty"),
    ShortColumn(
        "evidence",
        "long_text",
        "the first places behind it, one a line, with their time in all iterations; evidence() has all",
    ),
)

EVIDENCE = (
    ShortColumn("detector", "text", "the rule of the finding, as in findings()"),
    ShortColumn("path", "text", "path of the op, or name of the range, function, kernel or GPU"),
    ShortColumn("call", "text", "API call or kernel, or empty"),
    ShortColumn("kind", "text", "what path names: op, range, function, kernel, call, iteration, device"),
    ShortColumn("op_id", "text", "id of the op, as in ops(), or empty"),
    ShortColumn("device_id", "text", "number of the GPU, or empty"),
    ShortColumn("count", "integer", "how often in a typical iteration; unknown where nothing is counted"),
    ShortColumn("time_ns", "duration_ns", "how long in a typical iteration; unknown where no time is meant"),
    ShortColumn("iteration", "integer", "position of the iteration with most of it, from 0; unknown where none is"),
    ShortColumn("from_ns", "duration_ns", "start of its longest stretch there, on the clock of the diagnosis"),
    ShortColumn("to_ns", "duration_ns", "end of that stretch"),
    ShortColumn("detail", "text", "source line, sizes, kind of memory, or an example of several ops; or empty"),
)

NOTES = (
    ShortColumn("severity", "text", "info or warning"),
    ShortColumn("message", "long_text", "what the profile cannot tell"),
    ShortColumn("hint", "long_text", "what would bring it, or empty"),
)

AGGREGATIONS = (
    ShortColumn("id", "integer", "number of the aggregation in its database"),
    ShortColumn("iter_start", "integer", "number of the first iteration"),
    ShortColumn("iter_stop", "integer", "number of the last iteration, which belongs to it"),
    ShortColumn("iterations", "integer", "how many iterations are aggregated"),
    ShortColumn("key_node", "text", "the op that ends each iteration, or empty"),
    ShortColumn(
        "label", "text", "the key op, or what the iterations were found by; empty where the database is silent"
    ),
)

MEMORY = (
    ShortColumn("device_id", "integer", "number of the GPU"),
    ShortColumn("category", "text", "what it holds, by the phases in which it was allocated and freed"),
    ShortColumn("size_bytes", "bytes", "in use at the peak"),
    ShortColumn("blocks", "integer", "how many; unknown for what was held before the recording"),
)

MEMORY_BLOCKS = (
    ShortColumn("device_id", "integer", "number of the GPU"),
    ShortColumn("size_bytes", "bytes", "size of the block"),
    ShortColumn("category", "text", "what it holds, by the phases in which it was allocated and freed"),
    ShortColumn("owner", "text", "path of the op, or place in the program, that allocated it; or empty"),
    ShortColumn("stack", "text", "lines of the program that allocated it, innermost first (snapshots); or empty"),
    ShortColumn("allocated_event", "integer", "number of the event that allocated it"),
    ShortColumn("freed_event", "integer", "number of the event that freed it; unknown if none did"),
    ShortColumn("allocated_ns", "duration_ns", "when it was allocated"),
    ShortColumn("freed_ns", "duration_ns", "when it was freed; unknown if it was not"),
)

MEMORY_CURVE = (
    ShortColumn("begin", "integer", "start of the bin: ns of the recording, or number of an event"),
    ShortColumn("in_use_min_bytes", "bytes", "least in use"),
    ShortColumn("in_use_max_bytes", "bytes", "most in use"),
    ShortColumn("reserved_max_bytes", "bytes", "most reserved by the allocator"),
)

THROUGHPUT = (
    ShortColumn("iteration", "integer", "number of the iteration"),
    ShortColumn("duration_ns", "duration_ns", "how long it took"),
    ShortColumn("samples", "integer", "samples that it works on; unknown where neither shapes nor the user tell"),
    ShortColumn("tokens", "integer", "tokens that it works on; likewise"),
    ShortColumn("samples_per_s", "number", "samples a second, of all GPUs"),
    ShortColumn("tokens_per_s", "number", "tokens a second, of all GPUs"),
)

SHORT_TABLES: Mapping[str, tuple[ShortColumn, ...]] = {
    "findings": FINDINGS,
    "evidence": EVIDENCE,
    "notes": NOTES,
    "aggregations": AGGREGATIONS,
    "memory": MEMORY,
    "memory_blocks": MEMORY_BLOCKS,
    "throughput": THROUGHPUT,
}
