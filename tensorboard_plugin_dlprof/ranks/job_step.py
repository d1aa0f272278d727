"""The job step: all that follows from the ranks of a job together, from what their imports stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.packing import pack
from tensorboard_plugin_dlprof.database.job_rows import CollectiveRows, JobTables, read_job_info, write_job
from tensorboard_plugin_dlprof.database.rank_rows import ranks_text
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import JOB_VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.bandwidth import bus_factor, message_bytes, peak_of
from tensorboard_plugin_dlprof.ranks.clocks import Clocks, align, believe, measure_residual
from tensorboard_plugin_dlprof.ranks.findings import findings_of
from tensorboard_plugin_dlprof.ranks.matching import Matches, Operations, match
from tensorboard_plugin_dlprof.ranks.members import Fingerprint, Job, find_jobs
from tensorboard_plugin_dlprof.ranks.own_delay import Delays, own_delays
from tensorboard_plugin_dlprof.ranks.parallelism import Group, dimensions_of, groups_of
from tensorboard_plugin_dlprof.ranks.verdict import Facts, Suspect, Verdict, judge, slow_groups
from tensorboard_plugin_dlprof.ranks.waiting import Exposed, Times, exposed_parts, times_of

MEASURES = (
    *("duration", "compute", "exposed_transfer", "exposed_wait", "exposed_unmatched", "copy", "idle", "overlapped"),
    "own_delay",
)
"""The measures of ``job_matrix``."""

UNKNOWN_CELL = 0xFFFF_FFFF

_MOST_RANKS_NAMED = 20


class Made(msgspec.Struct, frozen=True):
    """A job's database."""

    database: Path
    ranks: int
    world_size: int
    is_new: bool
    """False if it was up to date already."""
    sentence: str
    """The verdict."""
    warnings: list[str]


def make_jobs(
    folder: Path,
    force: bool = False,
    progress: Callable[[str, float], None] = lambda _stage, _fraction: None,
    into: Path | None = None,
) -> tuple[list[Made], list[str]]:
    """Make the databases of the jobs below a folder, each beside the databases of its ranks; see ``find_jobs``.

    A job whose ranks have not changed is left alone. ``into`` names another folder for the databases of the jobs.

    Returns:
        The jobs, and a sentence for each profile that was left out.

    Raises:
        NotFound: there is no such folder, or no profile of more than one rank below it.
        BadRequest: the profiles contradict each other.
        OutputNotWritable: a database cannot be written.
    """
    progress("Reading the ranks", 0.0)
    jobs, unusable = find_jobs(folder)
    if not jobs:
        raise NotFound(
            f"{shown(folder)}: there is no imported profile below this folder; make one of each rank with dlprof "
            "import DIR --job."
        )
    made = []
    for number, job in enumerate(jobs):
        progress("Comparing the ranks", (number + 0.5) / len(jobs))
        made.append(make_job(job, force, into))
    return made, unusable


def make_job(job: Job, force: bool = False, into: Path | None = None) -> Made:
    """Make the database of one job, or keep the one that is there if its ranks have not changed.

    Raises:
        OutputNotWritable: it cannot be written.
    """
    target = into / job.database.name if into else job.database
    mark = _fingerprint(job.folder, (member.database for member in job.members))
    if not force:
        known = read_job_info(target)
        if known.get("fingerprint") == mark and known.get("job_version") == str(JOB_VERSION):
            answer = json.loads(known["answer"])
            sentence = answer["verdict"]["sentence"]
            return Made(target, len(job.members), job.world_size, False, sentence, answer["warnings"])
    tables, verdict, warnings = _tables(job, mark)
    write_job(target, tables)
    return Made(target, len(job.members), job.world_size, True, verdict.sentence, warnings)


def _fingerprint(folder: Path, databases: Iterable[Fingerprint]) -> str:
    names = sorted({(each.path, each.size_bytes, each.mtime_ns) for each in databases})
    return hashlib.sha256(repr((JOB_VERSION, names)).encode()).hexdigest()


class _Cells(msgspec.Struct, frozen=True):
    """Measures of ranks in iterations: shape (ranks, iterations); -1 where a rank lacks the iteration."""

    numbers: Int64s
    """Numbers of the iterations, ascending."""
    measures: dict[str, Int64s]


def _tables(job: Job, mark: str) -> tuple[JobTables, Verdict, list[str]]:
    matches = match(job)
    sequences = matches.sequences
    clocks = align(job, sequences)
    believe(sequences, clocks)
    measure_residual(sequences, clocks)
    times = [times_of(each) for each in sequences]
    exposed = exposed_parts(job, sequences, times)
    delays = own_delays(job, sequences, times)
    cells = _cells(job, exposed)
    position = _positions(job, sequences, delays, cells)
    has_waits = any(each.used.any() for each in sequences)
    own = cells.measures["own_delay"]
    if has_waits:
        inside = position >= 0
        own[cells.measures["duration"] >= 0] = 0
        np.add.at(own, (delays.member[inside], position[inside]), delays.own_delay_ns[inside])
    groups = groups_of(job, matches)
    dimensions, coordinates = dimensions_of(job, groups)
    duration = cells.measures["duration"]
    facts = Facts(
        job=job,
        sequences=sequences,
        times=times,
        delays=delays,
        iteration=position,
        iterations=len(cells.numbers),
        median_iteration_ns=int(np.median(duration[duration >= 0])) if (duration >= 0).any() else 0,
        wait_fraction=_wait_fraction(cells) if has_waits else None,
        dimensions=dimensions,
        coordinates=coordinates,
    )
    verdict = judge(facts)
    slow = slow_groups(facts)
    warnings = [*job.warnings, *clocks.warnings]
    stats = _stats(job, groups, sequences, times)
    collectives, kept = _collectives(job, groups, sequences, times, delays, clocks)
    answer = _answer(job, matches, clocks, facts, verdict, cells, warnings, kept)
    findings = findings_of(facts, verdict, cells.measures, stats)
    tables = JobTables(
        info={
            "job_version": str(JOB_VERSION),
            "name": job.name,
            "world_size": str(job.world_size),
            "knows_ranks": str(int(job.knows_ranks)),
            "fingerprint": mark,
            "answer": json.dumps(answer),
        },
        ranks=_rank_rows(job, clocks, exposed, sequences, times, delays, coordinates, has_waits),
        iterations=_iteration_rows(job, cells),
        matrix=[_packed(measure, cells.measures[measure]) for measure in MEASURES],
        groups=_group_rows(groups, sequences, times, slow),
        collectives=collectives,
        stats=stats,
        findings=findings,
    )
    return tables, verdict, warnings


def _cells(job: Job, exposed: Sequence[Exposed]) -> _Cells:
    numbers = np.unique(np.concatenate([member.tables.iterations for member in job.members]))
    found = {measure: np.full((len(job.members), len(numbers)), -1, np.int64) for measure in MEASURES}
    for row, (member, of) in enumerate(zip(job.members, exposed, strict=True)):
        parts, whole = member.tables.parts, len(member.tables.whole.start_ns)
        at = np.searchsorted(numbers, member.tables.iterations)
        told = {
            "duration": parts.stop_ns - parts.start_ns,
            "compute": parts.compute_ns,
            "exposed_transfer": of.transfer_ns[whole:],
            "exposed_wait": of.wait_ns[whole:],
            "exposed_unmatched": of.unmatched_ns[whole:],
            "copy": parts.exposed_copy_ns,
            "idle": parts.idle_ns,
            "overlapped": parts.communication_ns - parts.exposed_communication_ns,
        }
        for measure, values in told.items():
            found[measure][row, at] = values
    return _Cells(numbers, found)


def _positions(job: Job, sequences: Sequence[Operations], delays: Delays, cells: _Cells) -> Int64s:
    """Position of the iteration of each delay; -1 outside all of them."""
    found = np.full(len(delays.member), -1, np.int64)
    for number in np.unique(delays.sequence).tolist():
        each = sequences[number]
        rows = np.flatnonzero(delays.sequence == number)
        for row, place in enumerate(each.members.tolist()):
            mine = rows[delays.member[rows] == place]
            if len(mine):
                table = job.members[place].tables.communication
                iteration = table.iteration[each.rows[row, delays.column[mine]]]
                at = np.searchsorted(cells.numbers, iteration)
                found[mine] = np.where(iteration >= 0, at, -1)
    return found


def _wait_fraction(cells: _Cells) -> float | None:
    duration, wait = cells.measures["duration"], cells.measures["exposed_wait"]
    total = np.maximum(duration, 0).sum(1)
    shares = np.maximum(wait, 0).sum(1)[total > 0] / total[total > 0]
    return float(shares.mean()) if len(shares) else None


def _exposed_fraction(cells: _Cells) -> float | None:
    """Mean over ranks of exposed communication as a fraction of the time of the iterations."""
    names = ("exposed_transfer", "exposed_wait", "exposed_unmatched")
    duration = np.maximum(cells.measures["duration"], 0).sum(1)
    exposed = sum(np.maximum(cells.measures[name], 0).sum(1) for name in names)
    shares = (exposed / np.maximum(duration, 1))[duration > 0]
    return float(shares.mean()) if len(shares) else None


def _own_fraction(cells: _Cells, facts: Facts, first: Suspect | None) -> float | None:
    """The largest mean own delay of a rank, or what a slow link costs, as a fraction of the median iteration."""
    own = cells.measures["own_delay"]
    if not (own >= 0).any() or not facts.median_iteration_ns:
        return None
    mean = np.maximum(own, 0).sum(1) / max(facts.iterations, 1)
    return max(float(mean.max()) / facts.median_iteration_ns, first.share if first is not None else 0.0)


def _packed(measure: str, values: Int64s) -> tuple[str, int, bytes]:
    unit = 1
    while int(values.max(initial=0)) // unit >= UNKNOWN_CELL:
        unit *= 1_000
    known = np.where(values >= 0, (values + unit // 2) // unit, UNKNOWN_CELL)
    return measure, unit, known.astype("<u4").tobytes()


def _rank_rows(
    job: Job,
    clocks: Clocks,
    exposed: Sequence[Exposed],
    sequences: Sequence[Operations],
    times: Sequence[Times],
    delays: Delays,
    coordinates: dict[int, tuple[int, ...]],
    has_waits: bool,
) -> list[dict[str, Any]]:
    count = len(job.members)
    own = np.zeros(count, np.int64)
    np.add.at(own, delays.member, delays.own_delay_ns)
    last = np.zeros(count, np.int64)
    for each, of in zip(sequences, times, strict=True):
        late = _late(each, of)
        last += np.bincount(each.members[of.last[late]], minlength=count)
    rows = []
    for place, (member, parts) in enumerate(zip(job.members, exposed, strict=True)):
        tables = member.tables
        whole = {name: getattr(tables.whole, name).tolist() for name in tables.whole.__struct_fields__}
        row: dict[str, Any] = {
            "rank": member.rank,
            "database": member.database.path,
            "name": member.name,
            "process_index": member.process_index,
            "host": member.host,
            "device_id": tables.device if tables.device >= 0 else None,
            "gpu_name": tables.gpu_name,
            "coordinates": ",".join(map(str, coordinates.get(member.rank, ()))),
            "island": int(clocks.island[place]),
            "clock_offset_ns": int(clocks.offset_ns[place]),
            "clock_drift": float(clocks.drift[place]),
            "kernels": tables.kernels,
            "last": int(last[place]),
            "own_delay_ns": int(own[place]) if has_waits else None,
        }
        names = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        known = bool(whole["start_ns"])
        row |= {name: whole[name][0] if known else None for name in names}
        row["window_ns"] = whole["stop_ns"][0] - whole["start_ns"][0] if known else None
        row["overlapped_ns"] = whole["communication_ns"][0] - whole["exposed_communication_ns"][0] if known else None
        row["exposed_transfer_ns"] = int(parts.transfer_ns[0]) if known and has_waits else None
        row["exposed_wait_ns"] = int(parts.wait_ns[0]) if known and has_waits else None
        row["exposed_unmatched_ns"] = int(parts.unmatched_ns[0]) if known and has_waits else None
        rows.append(row)
    return rows


def _late(each: Operations, of: Times) -> Int64s:
    """Operations at which one member was clearly later than the others."""
    ordered = np.sort(of.wait_ns, axis=0)
    least = np.maximum(thresholds.LATE_NS, thresholds.LATE_FRACTION * of.transfer_ns)
    return np.flatnonzero(each.used & (ordered[1] > least))


def _iteration_rows(job: Job, cells: _Cells) -> list[tuple[Any, ...]]:
    duration, own = cells.measures["duration"], cells.measures["own_delay"]
    rows = []
    for position, number in enumerate(cells.numbers.tolist()):
        found = duration[duration[:, position] >= 0, position]
        worst = int(own[:, position].argmax())
        delay = int(own[worst, position])
        rank = job.members[worst].rank if delay > 0 else None
        rows.append(
            (
                *(position, number, len(found), int(np.median(found)), int(found.min()), int(found.max())),
                *(delay if delay >= 0 else None, rank),
            )
        )
    return rows


def _group_rows(
    groups: Sequence[Group], sequences: Sequence[Operations], times: Sequence[Times], slow: set[int]
) -> list[tuple[Any, ...]]:
    rows = []
    for number, group in enumerate(groups, 1):
        transfer = wait = 0
        for place in group.sequences:
            used = sequences[place].used
            transfer += int(times[place].transfer_ns[used].sum())
            wait += int(times[place].wait_ns[:, used].sum())
        rows.append(
            (
                *(number, group.name, group.description, group.kind, int(group.inferred), ranks_text(group.ranks)),
                *(group.size if group.size >= 0 else None, int(group.believed), group.reason, group.matched),
                *(transfer, wait, group.spread_ns, int(not slow.isdisjoint(group.sequences))),
            )
        )
    return rows


def _name(kind: int) -> str:
    return Collective(kind).name.lower()


def _collectives(
    job: Job,
    groups: Sequence[Group],
    sequences: Sequence[Operations],
    times: Sequence[Times],
    delays: Delays,
    clocks: Clocks,
) -> tuple[CollectiveRows, int]:
    """Rows of matched operations, and how many there are in all."""
    group_of = {place: number for number, group in enumerate(groups, 1) for place in group.sequences}
    first = min(
        (
            int(clocks.aligned(np.array([place]), np.array([[member.first_ns]]))[0, 0])
            for place, member in enumerate(job.members)
        ),
        default=0,
    )
    waits = [of.wait_ns.sum(0) for of in times]
    total = sum(int(np.count_nonzero(each.used)) for each in sequences)
    least = -1
    if total > thresholds.MOST_COLLECTIVES:
        found = np.concatenate([wait[each.used] for each, wait in zip(sequences, waits, strict=True)])
        least = int(np.partition(found, -thresholds.KEPT_COLLECTIVES)[-thresholds.KEPT_COLLECTIVES])
    causes = {}
    parts = np.maximum(delays.excess_ns, 0)
    share = parts / np.maximum(parts[:, :-1].sum(1, keepdims=True), 1)
    for row, key in enumerate(zip(delays.sequence.tolist(), delays.column.tolist(), strict=True)):
        causes[key] = int(delays.own_delay_ns[row]), _cause(share[row])

    def rows() -> Iterable[tuple[Any, ...]]:
        for place, (each, of) in enumerate(zip(sequences, times, strict=True)):
            chosen = np.flatnonzero(each.used & (waits[place] >= least))
            if not len(chosen):
                continue
            ranks = np.array([job.members[member].rank for member in each.members.tolist()], np.int64)
            start = clocks.aligned(each.members, each.start_ns) - first
            size = message_bytes(each)
            iterations = np.stack(
                [
                    job.members[member].tables.communication.iteration[each.rows[row]]
                    for row, member in enumerate(each.members.tolist())
                ]
            )
            for column in chosen.tolist():
                late = int(of.last[column])
                delay, cause = causes.get((place, column), (0, ""))
                iteration = int(iterations[late, column])
                yield (
                    *(group_of[place], iteration if iteration >= 0 else None, _name(int(each.kind[column]))),
                    *(int(size[column]) if size[column] >= 0 else None, len(ranks), int(start[:, column].min())),
                    *(int(of.transfer_ns[column]), int(of.wait_ns[:, column].max()), int(waits[place][column])),
                    *(int(ranks[late]), delay, cause),
                    pack([ranks, of.wait_ns[:, column], start[:, column]]),
                )

    return rows(), total


def _cause(share: Any) -> str:
    compute, copy, waiting, host, _ = share.tolist()
    if compute >= thresholds.CAUSE_FRACTION:
        return "compute"
    if copy >= thresholds.CAUSE_FRACTION:
        return "copy"
    if waiting + host >= thresholds.CAUSE_FRACTION:
        return "input" if waiting >= thresholds.CAUSE_FRACTION * (waiting + host) else "host"
    return "mixed"


def _stats(
    job: Job, groups: Sequence[Group], sequences: Sequence[Operations], times: Sequence[Times]
) -> list[dict[str, Any]]:
    """Sums over operations of one dimension, kind, size and number of ranks."""
    kinds = {place: group.kind for group in groups for place in group.sequences}
    gathered: dict[tuple[str, int, int, int], list[tuple[int, Int64s]]] = {}
    for place, each in enumerate(sequences):
        sizes = message_bytes(each)
        keys = np.stack([each.kind, sizes])
        for kind, message in np.unique(keys[:, each.used], axis=1).T.tolist():
            chosen = np.flatnonzero(each.used & (each.kind == kind) & (sizes == message))
            key = kinds.get(place, ""), kind, message, len(each.members)
            gathered.setdefault(key, []).append((place, chosen))
    rows = []
    for (group_kind, kind, message, size), found in gathered.items():
        transfer = np.concatenate([times[place].transfer_ns[chosen] for place, chosen in found])
        waits = [times[place].wait_ns[:, chosen] for place, chosen in found]
        skew = np.concatenate([wait.max(0) for wait in waits])
        bandwidth = reason = None
        if message < 0:
            reason = "the size of its messages is unknown"
        elif message == 0:
            reason = "its messages are empty"
        else:
            bandwidth = message * bus_factor(kind, size) / (max(float(np.median(transfer)), 1.0) / 1e9)
        peaks = {peak_of(job, sequences[place]) for place, _ in found}
        peak, why = peaks.pop() if len(peaks) == 1 else (None, "its groups have different links")
        if 0 <= message < thresholds.LATENCY_BOUND_BYTES:
            peak, why = None, "messages below 1 MiB are bound by latency"
        last = np.zeros(len(job.members), np.int64)
        for place, chosen in found:
            late = np.intersect1d(_late(sequences[place], times[place]), chosen)
            last += np.bincount(sequences[place].members[times[place].last[late]], minlength=len(job.members))
        rows.append(
            {
                "group_kind": group_kind,
                "kind": _name(kind),
                "bytes": message if message >= 0 else None,
                "ranks": size,
                "operations": len(transfer),
                "transfer_ns": int(transfer.sum()),
                "transfer_median_ns": int(np.median(transfer)),
                "transfer_p95_ns": int(np.percentile(transfer, 95)),
                "wait_ns": sum(int(wait.sum()) for wait in waits),
                "skew_p95_ns": int(np.percentile(skew, 95)),
                "bus_bandwidth": bandwidth,
                "peak_bandwidth": peak if bandwidth is not None else None,
                "bandwidth_reason": reason or why,
                "imbalance": _imbalance(job, sequences, found) if kind == Collective.ALL_TO_ALL else None,
                "last_rank": job.members[int(last.argmax())].rank if last.any() else None,
                "last_fraction": float(last.max() / last.sum()) if last.any() else None,
            }
        )
    return sorted(rows, key=lambda row: -(row["transfer_ns"] + row["wait_ns"]))


def _imbalance(job: Job, sequences: Sequence[Operations], found: Sequence[tuple[int, Int64s]]) -> float | None:
    """Largest by mean number of elements that members put into an operation; the median of operations."""
    ratios = []
    for place, chosen in found:
        each = sequences[place]
        elements = np.stack(
            [
                job.members[member].tables.communication.in_elements[each.rows[row, chosen]]
                for row, member in enumerate(each.members.tolist())
            ]
        )
        known = (elements >= 0).all(0) & (elements.sum(0) > 0)
        ratios.append(elements[:, known].max(0) / elements[:, known].mean(0))
    together = np.concatenate(ratios)
    return float(np.median(together)) if len(together) else None


def _answer(
    job: Job,
    matches: Matches,
    clocks: Clocks,
    facts: Facts,
    verdict: Verdict,
    cells: _Cells,
    warnings: Sequence[str],
    operations: int,
) -> dict[str, Any]:
    present = {member.rank for member in job.members}
    missing = sorted(set(range(job.world_size)) - present)
    first = verdict.suspects[0] if verdict.suspects else None
    alone = first is not None and (verdict.stage is None) and not (first.cause == "link" and len(verdict.suspects) > 1)
    left_out = matches.left_out
    unbelieved = [each for each in matches.sequences if not each.believed]
    islands = int(clocks.island.max(initial=-1)) + 1
    hosts = {member.host for member in job.members}
    is_aligned = clocks.residual_ns is not None and clocks.residual_ns <= thresholds.UNALIGNED_NS and islands == 1
    return {
        "job": job.name,
        "world_size": job.world_size,
        "ranks_present": len(present),
        "knows_ranks": job.knows_ranks,
        "hosts": len(hosts - {""}) if "" not in hosts else None,
        "gpus": sorted({member.tables.gpu_name for member in job.members} - {""}),
        "iterations": len(cells.numbers),
        "median_iteration_ns": facts.median_iteration_ns,
        "wait_fraction": facts.wait_fraction,
        "exposed_communication_fraction": _exposed_fraction(cells),
        "own_delay_fraction": _own_fraction(cells, facts, first),
        "dimensions": [{"kind": each.kind, "size": each.size} for each in facts.dimensions],
        "matched_by": matches.how,
        "operations": operations,
        "verdict": {
            "rank": first.rank if first is not None and alone else None,
            "cause": first.cause if first is not None else None,
            "detail": first.detail or None if first is not None else None,
            "own_delay_ns": first.own_delay_ns if first is not None else None,
            "share": first.share if first is not None else None,
            "sentence": verdict.sentence,
            "judged": verdict.judged,
            "stage": verdict.stage,
            "host": verdict.host or None,
            "ratio": first.ratio if first is not None else None,
            "runners_up": [msgspec.to_builtins(each) for each in verdict.suspects[1:3]],
        },
        "missing": {"ranks": missing[:_MOST_RANKS_NAMED], "count": len(missing)},
        "clocks": {
            "aligned": is_aligned,
            "islands": islands,
            "pairs": clocks.pairs,
            "samples": clocks.samples,
            "residual_ns": clocks.residual_ns,
            "residual_p90_ns": clocks.residual_p90_ns,
            "sentence": _clock_sentence(clocks, islands, is_aligned, len(hosts - {""}) if "" not in hosts else None),
        },
        "left_out": {
            "without_group": left_out.without_group,
            "missing_ranks": left_out.missing_ranks,
            "incomplete": left_out.incomplete,
            "inconsistent": left_out.inconsistent,
            "not_paired": left_out.not_paired,
            "not_believed": sum(len(each.kind) for each in unbelieved),
            "not_synchronising": sum(int(np.count_nonzero(~each.used)) for each in matches.sequences if each.believed),
            "unknown_type": sum(
                int(np.count_nonzero((each.elements >= 0) & (each.in_bytes < 0))) for each in matches.sequences
            ),
            "graphs": sum(member.tables.graphs for member in job.members),
        },
        "warnings": list(warnings),
    }


def _clock_sentence(clocks: Clocks, islands: int, is_aligned: bool, hosts: int | None) -> str:
    if is_aligned and clocks.residual_ns is not None and clocks.residual_p90_ns is not None:
        of = f"{hosts} {'host' if hosts == 1 else 'hosts'}, aligned" if hosts else "aligned"
        return (
            f"Clocks: {of} on {clocks.samples:,} collectives, residual {clocks.residual_ns / 1e3:.3g} us "
            f"(p90 {clocks.residual_p90_ns / 1e3:.3g} us)."
        )
    if clocks.residual_ns is None or islands == 1:
        return "Clocks: not aligned; times of different hosts cannot be compared."
    return (
        f"Clocks: {islands} islands of ranks that share no collective; times of different islands cannot be compared."
    )
