"""Writes most of our own ``ext_*`` tables, which hold what DLProf did not store."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Iterations, Part
from tensorboard_plugin_dlprof.classify.classes import KernelClass
from tensorboard_plugin_dlprof.columns.rows import (
    Columns,
    finite_or_none,
    insert_columns,
    insert_integers,
    insert_row,
    insert_rows,
    positive_or_none,
    storable,
)
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.database.aggregated_rows import PART_NAMES, Numbering
from tensorboard_plugin_dlprof.database.coverage import coverage_rows
from tensorboard_plugin_dlprof.database.diagnosis_rows import write_activity
from tensorboard_plugin_dlprof.database.digest import DIGEST_KEY, NO_DIGEST
from tensorboard_plugin_dlprof.database.fingerprint import SourceIdentity
from tensorboard_plugin_dlprof.database.memory_rows import write_memory
from tensorboard_plugin_dlprof.database.rank_rows import write_ranks
from tensorboard_plugin_dlprof.database.work_rows import write_iteration_ops, write_op_ranges
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, EXTENSION_VERSION, VERSION
from tensorboard_plugin_dlprof.profile.tables import (
    Batches,
    GraphLaunches,
    IdleFrames,
    KernelCounters,
    Profile,
    TimeSpans,
)

MEMCPY, MEMSET = 1, 2
"""``ext_memory_ops.kind``."""


def write_raw_extensions(
    con: sqlite3.Connection, profile: Profile, source: SourceIdentity, text: Int64s, profile_name: str
) -> None:
    """Store what does not depend on the choice of iterations.

    Args:
        con: an empty database with our own tables.
        source: the imported file.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
        profile_name: given by the user, else empty.
    """
    write_info(con, profile, source, profile_name)
    devices = [
        (gpu.device_id, gpu.memory_bytes, None if gpu.cuda_ordinal < 0 else gpu.cuda_ordinal) for gpu in profile.devices
    ]
    insert_rows(con, "ext_devices", ("device_id", "memory_bytes", "cuda_ordinal"), devices)
    _write_kernel_names(con, profile.kernel_classes, text)
    _write_counters(con, profile.counters)
    _write_memory_ops(con, profile)
    _write_graphs(con, profile.graphs)
    for kind, spans in (("data_loader", profile.data_loader), ("io", profile.io)):
        _write_spans(con, kind, spans)
    write_activity(con, profile.activity)
    _write_idle_frames(con, profile.idle_frames, text)
    _write_iterations(con, profile)
    write_op_ranges(con, profile)
    write_ranks(con, profile.ranks)
    release_freed()
    write_memory(con, profile)
    write_batches(con, profile.batches)


def write_coverage(con: sqlite3.Connection, profile: Profile) -> None:
    """Store what was skipped, missing, repaired or contradictory."""
    insert_rows(con, "ext_coverage", ("key", "value", "message"), coverage_rows(profile))


def write_info(con: sqlite3.Connection, profile: Profile, source: SourceIdentity, profile_name: str) -> None:
    """Store the facts about a profile and its source."""
    info = profile.info
    facts = {
        "extension_version": EXTENSION_VERSION,
        "importer_version": VERSION,
        "classification_version": CLASSIFICATION_VERSION,
        "source_name": source.name,
        "source_size_bytes": source.size_bytes,
        "source_mtime_ns": source.mtime_ns,
        "source_fingerprint": source.fingerprint,
        "format": info.source_format,
        "dlprof_markers": int(profile.dlprof_markers),
        "recorded": ",".join(sorted(info.recorded)),
        DIGEST_KEY: NO_DIGEST,
    }
    by_name = {**msgspec.structs.asdict(info), "profile_name": profile_name or info.profile_name}
    # Unknown ones are left out.
    facts |= {key: by_name[key] for key in by_name.keys() - {"source_format", *facts} if by_name[key] not in ("", -1)}
    insert_rows(con, "ext_info", ("key", "value"), [(key, storable(str(value))) for key, value in facts.items()])


def _write_kernel_names(con: sqlite3.Connection, kernel_classes: Mapping[int, KernelClass], text: Int64s) -> None:
    classes = {int(text[name]): kind for name, kind in kernel_classes.items() if text[name]}
    words = ("family", "library", "precision", "rule", "accumulator", "architecture")
    rows = [
        (name, int(kind.matrix_unit), *(getattr(kind, word) for word in words))
        for name, kind in sorted(classes.items())
    ]
    insert_rows(con, "ext_kernel_names", ("name_id", "matrix_unit", *words), rows)


def _write_memory_ops(con: sqlite3.Connection, profile: Profile) -> None:
    for kind, copies in ((MEMCPY, profile.memcpys), (MEMSET, profile.memsets)):
        columns: Columns = {
            "kind": kind,
            "row_id": np.arange(1, len(copies.op) + 1),
            "stream": copies.stream,
            "launched": copies.launched.astype(np.int64),
            "pageable": -1 if copies.pageable is None else copies.pageable.astype(np.int64),
        }
        insert_integers(con, "ext_memory_ops", columns)


def _write_graphs(con: sqlite3.Connection, graphs: GraphLaunches) -> None:
    insert_integers(
        con,
        "ext_graph_launches",
        {
            "read_only_ops_id": graphs.op.astype(np.int64) + 1,
            "op_instance": graphs.instance,
            "gpu_start": graphs.start_ns,
            "gpu_stop": graphs.end_ns,
            "device_id": graphs.device,
            "stream": graphs.stream,
        },
    )


def _write_counters(con: sqlite3.Connection, counters: KernelCounters) -> None:
    insert_columns(
        con,
        "ext_kernel_counters",
        {
            "kernel_id": (counters.kernel + 1).tolist(),
            "achieved_occupancy_fraction": finite_or_none(counters.achieved_occupancy),
            "dram_bytes": positive_or_none(counters.dram_bytes),
        },
    )


def _write_spans(con: sqlite3.Connection, kind: str, spans: TimeSpans) -> None:
    insert_integers(con, "ext_time_spans", {"start_ns": spans.start_ns, "stop_ns": spans.stop_ns, "kind": kind})


def _write_idle_frames(con: sqlite3.Connection, frames: IdleFrames, text: Int64s) -> None:
    insert_integers(
        con,
        "ext_idle_frames",
        {
            "start_ns": frames.start_ns,
            "stop_ns": frames.stop_ns,
            "function_id": np.where(frames.function > 0, text[frames.function], 0),
            "innermost_id": text[frames.innermost],
        },
    )


def _write_iterations(con: sqlite3.Connection, profile: Profile) -> None:
    for position, candidate in enumerate(profile.iterations):
        names = {"source": candidate.source, "label": storable(candidate.label)}
        count = len(candidate.values)
        insert_row(con, "ext_iteration_candidates", {"position": position, **names, "iterations": count})
        times = {"start_ns": candidate.start_ns, "stop_ns": candidate.stop_ns}
        insert_integers(con, "ext_iterations", {"position": position, "iter_value": candidate.values, **times})


def write_aggregated_extensions(
    con: sqlite3.Connection, aggr_id: int, aggregation: Aggregation, numbering: Numbering
) -> None:
    """Store the parts of an aggregation that the tables of 1.8 have no place for. The iterations' own rows in those
    tables must have been written last."""
    domain = numbering.domain
    insert_row(con, "ext_aggregations", {"aggr_id": aggr_id, "domain_id": domain, **_summary(aggregation)})
    devices = aggregation.devices
    insert_integers(
        con,
        "ext_device_times",
        {
            "aggr_id": aggr_id,
            "domain_id": domain,
            "device_id": devices.device_id,
            "in_use": devices.in_use.astype(np.int64),
            "kernels": devices.kernels,
            "kernel_ns": devices.kernel_ns,
            "busy_ns": devices.busy_ns(),
            **{f"{part.name.lower()}_ns": devices.parts_ns[:, part] for part in Part},
            "unknown_part_ns": devices.unknown_part_ns,
        },
    )
    _write_unknown(con, aggr_id, aggregation.iterations)
    write_iteration_ops(con, aggr_id, aggregation.iteration_ops, aggregation.unknown_kernels, numbering.ops)
    write_iteration_blocks(con, aggr_id)


def _write_unknown(con: sqlite3.Connection, aggr_id: int, iterations: Iterations) -> None:
    """Store how much of each iteration is unknown, by the ids that the rows of the iterations got last."""
    (last,) = con.execute("SELECT max(id) FROM iteration_aggregation_list").fetchone()
    columns = {
        "unknown_part_ns": iterations.unknown_part_ns,
        "unknown_kernels": iterations.unknown_kernels,
        "unknown_kernel_ns": iterations.unknown_kernel_ns,
        "graphs": iterations.graphs,
    }
    row = np.flatnonzero(np.any([column != 0 for column in columns.values()], axis=0))
    insert_integers(
        con,
        "ext_iteration_unknown",
        {
            "part_id": (last or 0) - len(iterations.iter_value) + 1 + row,
            "aggr_id": aggr_id,
            **{name: column[row] for name, column in columns.items()},
        },
    )


def _summary(aggregation: Aggregation) -> dict[str, int | str | None]:
    launches, efficiency = aggregation.launches, aggregation.efficiency
    outside, proposal = aggregation.outside, aggregation.proposal
    return {
        "candidate_source": aggregation.candidate.source,
        "candidate_label": storable(aggregation.candidate.label),
        "wall_ns": aggregation.wall_ns,
        "devices_in_use": int(aggregation.devices.in_use.sum()),
        "gpu_busy_ns": aggregation.busy_ns,
        **{f"{part.name.lower()}_ns": int(aggregation.parts_ns[part]) for part in Part},
        "unknown_part_ns": aggregation.unknown_part_ns,
        "kernel_launches": launches.kernels,
        "tensor_core_launches": launches.tensor_core,
        "memory_launches": launches.memory,
        "unknown_launches": launches.unknown,
        "unknown_names": launches.unknown_names,
        "other_names": launches.other_names,
        "unknown_ns": launches.unknown_ns,
        "graph_launches": launches.graphs,
        "graph_ns": launches.graph_ns,
        "eligible_ops": efficiency.eligible_ops,
        "eligible_ops_using": efficiency.eligible_ops_using,
        "eligible_ops_unknown": efficiency.eligible_ops_unknown,
        "eligible_op_ns": efficiency.eligible_op_ns,
        "eligible_kernel_ns": efficiency.kernel_ns,
        "eligible_tensor_core_ns": efficiency.tensor_core_ns,
        "eligible_unknown_ns": efficiency.unknown_ns,
        "outside_instances": outside.instances,
        "outside_kernels": outside.kernels,
        "outside_kernel_ns": outside.kernel_ns,
        "outside_memory_ops": outside.memory_ops,
        "outside_memory_ns": outside.memory_ns,
        "proposal_start": proposal.iter_start if proposal else None,
        "proposal_stop": proposal.iter_stop if proposal else None,
        "proposal_reason": proposal.reason if proposal else None,
    }


def write_batches(con: sqlite3.Connection, batches: Batches) -> None:
    """Store what the program works on."""
    columns = {
        "number": range(len(batches.time_ns)),
        "time_ns": batches.time_ns.tolist(),
        "samples": positive_or_none(batches.samples),
        "tokens": positive_or_none(batches.tokens),
    }
    insert_columns(con, "throughput_batches", columns)
    source = {
        "layer": storable(batches.layer),
        "samples_per_iteration": batches.samples_per_iteration,
        "tokens_per_iteration": batches.tokens_per_iteration,
    }
    insert_row(con, "throughput_source", source)


MANY_ITERATIONS = 1 << 13
"""Up to this many iterations need no blocks: they are added up within the time of a page (``benchmarks/serving.py``).

More are stored as at least half as many blocks.
"""

_SUMS = {
    **{f"{part.name.lower()}_ns": f"part.{name}_duration" for part, name in zip(Part, PART_NAMES, strict=True)},
    "unknown_part_ns": "unknown.unknown_part_ns",
}

_INSERT = (
    "INSERT INTO ext_iteration_blocks (aggr_id, position, width, block, is_aggregated, iterations, first_value, "
    f"last_value, start_ns, duration_ns, shortest_ns, longest_ns, {', '.join(_SUMS)}) "
    "SELECT :aggregation, row_number() OVER (ORDER BY min(each.iter_value)) - 1, :width, each.iter_value / :width, "
    "part.id IS NOT NULL, count(*), min(each.iter_value), max(each.iter_value), min(each.start_time), "
    "sum(each.stop_time - each.start_time), min(each.stop_time - each.start_time), "
    "max(each.stop_time - each.start_time), "
    + ", ".join(f"ifnull(sum({column}), 0)" for column in _SUMS.values())
    + " FROM iteration_list AS each LEFT JOIN iteration_aggregation_list AS part "
    "ON part.aggr_id = each.aggr_id AND part.iter_value = each.iter_value "
    "LEFT JOIN ext_iteration_unknown AS unknown ON unknown.part_id = part.id "
    "WHERE each.aggr_id = :aggregation GROUP BY each.iter_value / :width, part.id IS NOT NULL"
)


def write_iteration_blocks(con: sqlite3.Connection, aggr_id: int) -> None:
    """Store the blocks of an aggregation with more than ``MANY_ITERATIONS`` iterations; otherwise store none.

    A block holds the iterations with the same ``iter_value // width``, where the width is a power of two. Aggregated
    and other iterations are never in the same block. The rows of the iterations are written before.
    """
    count, first = con.execute(
        "SELECT count(*), min(iter_value) FROM iteration_list WHERE aggr_id = ?", (aggr_id,)
    ).fetchone()
    if count > MANY_ITERATIONS and first >= 0:
        width = 1 << (-(-count // MANY_ITERATIONS) - 1).bit_length()
        con.execute(_INSERT, {"aggregation": aggr_id, "width": width})
