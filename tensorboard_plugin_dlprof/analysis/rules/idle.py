"""Rules about time in which nothing computes: what the GPU waits for, communication, copies, and slow iterations.

All of them read the exclusive parts of the typical iterations (``Signals.diagnosis``) and name the rows behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.rules.naming import evidence_of, is_compiling, place_of, places_of
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import (
    Claim,
    Confidence,
    Evidence,
    Finding,
    Gain,
    Lacks,
    Pool,
    Severity,
)
from tensorboard_plugin_dlprof.analysis.wording import Number
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Row, far_ahead, rows_of, working
from tensorboard_plugin_dlprof.diagnosis.parts import COMPUTE, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause

Test = Callable[[Cause], bool]

_JAX_MEMORY: Final = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"

_COLD: Final = ("module", "launch", "allocation", "other")
"""Classes of blocking calls that are slow the first time."""


class Waiting(msgspec.Struct):
    """Idle time of some causes in a typical iteration."""

    time_ns: int
    """On the GPU with most of it."""
    device: DeviceDiagnosis
    rows: list[Row]
    """On that GPU, most time first."""
    others: list[tuple[int, list[Row]]]
    """The other GPUs, with their rows."""

    @property
    def count(self) -> int:
        """How often it happens in an iteration."""
        return sum(row.count for row in self.rows)


def waiting(signals: Signals, test: Test) -> Waiting | None:
    """Idle time of the causes that pass a test; None if there is none."""
    found = []
    for device in working(signals.diagnosis):
        rows = [row for row in rows_of(signals.diagnosis, device) if test(row.cause)]
        found.append((sum(row.time_ns for row in rows), device, rows))
    if not found:
        return None
    time, device, rows = max(found, key=lambda each: each[0])
    if not time:
        return None
    return Waiting(time, device, rows, [(each.device, own) for _, each, own in found if each is not device and own])


def _finding(
    signals: Signals,
    detector: str,
    cause: str,
    found: Waiting,
    part: str,
    problem: str,
    recommendation: str,
    *,
    confidence: Confidence = Confidence.MEDIUM,
    gain: tuple[float, float] | None = (0.5, 1.0),
    pool: Pool | None = None,
    how: str = "Half to all of it, by how much of the cause can be avoided.",
    numbers: dict[str, Number] | None = None,
    link: str = "",
) -> Finding | None:
    """A finding about a part of the time; None if it is not worth one, or nobody can be named."""
    share = signals.share_of_iteration(found.time_ns)
    evidence = evidence_of(signals, found.rows, found.device.device) + tuple(
        each for device, rows in found.others for each in evidence_of(signals, rows[:3], device)
    )
    if share < thresholds.MIN_GAIN_FRACTION or not evidence:
        return None
    low, high = (0, 0) if gain is None else (round(end * found.time_ns) for end in gain)
    return Finding(
        detector,
        Severity.WARNING if share >= thresholds.WARNING_FRACTION else Severity.ADVICE,
        confidence,
        cause,
        problem,
        recommendation,
        {
            "time_ns": found.time_ns,
            "share_fraction": share,
            "calls": found.count,
            "times": "once" if found.count == 1 else f"{found.count:,} times",
            "where": (places_of(found.rows) or [(place_of(found.rows[0]), 0)])[0][0],
            "most_ns": (places_of(found.rows) or [("", found.rows[0].time_ns)])[0][1],
            **(numbers or {}),
        },
        evidence,
        None if gain is None else Gain(low, high, how, () if pool is None else (Claim(pool, low, high),)),
        link,
        cause=cause,
        part=part,
        time_ns=found.time_ns,
    )


# ---- the recording ---------------------------------------------------------------------------------------------------


def missing_work(signals: Signals) -> Finding | None:
    """Launched work waited although nothing recorded ran: GPU work is missing from the recording."""
    diagnosis = signals.diagnosis
    found = waiting(signals, lambda cause: cause.part == Part.QUEUED and cause.detail in ("graph", "unexplained"))
    if found is not None and signals.share_of_iteration(found.time_ns) >= thresholds.MISSING_FRACTION:
        graphs = sum(row.time_ns for row in found.rows if row.cause.detail == "graph")
        busy = 1 - signals.share_of_iteration(int(diagnosis.mean(found.device.parts_ns)[Part.QUEUED :].sum()))
        finding = _finding(
            signals,
            "unrecorded_gpu_work",
            "missing_work",
            found,
            "queued",
            "GPU work is missing from this recording: in {time_ns} of {wall_ns} ({share_fraction}) launched work was "
            "waiting and nothing is recorded as running. GPU busy: at least {busy_fraction}.",
            "Record the kernels inside graphs: nsys profile --cuda-graph-trace=node."
            if 2 * graphs > found.time_ns
            else "Record what ran then: start the recording before the work is launched, with all processes that use "
            "this GPU, and without sampling; then look again. What waits for another rank shows in that rank's "
            "recording.",
            gain=None,
            numbers={"wall_ns": signals.diagnosis.mean_wall_ns, "busy_fraction": busy},
        )
        if finding is not None and finding.numbers["share_fraction"] < thresholds.MUCH_MISSING_FRACTION:  # type: ignore[operator]
            return msgspec.structs.replace(finding, severity=Severity.ADVICE)
        return finding
    return _missing_before(signals)


def _missing_before(signals: Signals) -> Finding | None:
    """The first recorded work had been launched long before it ran."""
    for device, lead in signals.lead_in.items():
        queued, wall = lead["queued_ns"], lead["wall_ns"]
        if queued < thresholds.MISSING_FRACTION * (wall + signals.diagnosis.mean_wall_ns):
            continue
        found = next(each for each in signals.diagnosis.devices if str(each.device) == device)
        first = int(found.launches.started_ns.min())
        return Finding(
            "unrecorded_gpu_work",
            Severity.ADVICE,
            Confidence.HIGH,
            "missing_work",
            "{queued_ns} of the {wall_ns} between the first recorded call and the first recorded GPU work, launched "
            "work was waiting: what ran then was launched before the recording began. It is left out of all shares.",
            "Start the recording when the GPU is idle: synchronise first, or give the profiler a warm-up step.",
            {"queued_ns": queued, "wall_ns": wall},
            (
                Evidence(
                    "device",
                    device,
                    queued * signals.iterations,
                    1,
                    path=f"GPU {device}",
                    device=int(device),
                    iteration=0,
                    from_ns=first - queued,
                    to_ns=first,
                ),
            ),
            cause="missing_work",
            part="queued",
            time_ns=queued,
        )
    return None


# ---- the start, and iterations that differ ---------------------------------------------------------------------------


def is_cold(cause: Cause) -> bool:
    """Whether a cause is a long call that is slow the first time only."""
    return cause.part == Part.BLOCKED and cause.long and cause.detail in _COLD


def is_cold_start(signals: Signals) -> bool:
    """Whether first calls explain much of the only window, so that their time is told once."""
    if len(signals.diagnosis.start_ns) > 1:
        return False
    found = waiting(signals, is_cold)
    return found is not None and signals.share_of_iteration(found.time_ns) >= thresholds.COLD_FRACTION


def cold_start(signals: Signals) -> Finding | None:
    """What happens once: loading modules, first launches, first allocations."""
    if len(signals.diagnosis.start_ns) > 1:
        return _warm_up(signals)
    found = waiting(signals, is_cold)
    if found is None or not is_cold_start(signals):
        return None
    named = places_of(found.rows)
    listed = "; ".join(f"{place} {{n{number}_ns}}" for number, (place, _) in enumerate(named))
    finding = _finding(
        signals,
        "cold_start",
        "cold_start",
        found,
        "blocked",
        f"Start-up takes {{time_ns}} ({{share_fraction}} of the recording) in {{calls}} first {{calls:call|calls}}: "
        f"{listed}. It happens once.",
        f"Record later: skip the first iterations ({_skipping(signals)}), so that loading modules, creating contexts "
        "and first allocations are left out.",
        gain=None,
        numbers={f"n{number}_ns": time for number, (_, time) in enumerate(named)},
    )
    return finding and msgspec.structs.replace(finding, once=True)


def _skipping(signals: Signals) -> str:
    plain = "torch.profiler.schedule(wait=1, warmup=2, active=5), nsys --delay"
    return signals.advice(
        plain,
        tensorflow="profile_batch=(10, 20) of the TensorBoard callback, nsys --delay",
        tensorrt=plain,
        jax="jax.profiler.start_trace after some steps",
        cuda=plain,
    )


def _warm_up(signals: Signals) -> Finding | None:
    """How much longer the iterations of warm-up took than a typical one, altogether."""
    diagnosis = signals.diagnosis
    first = diagnosis.typical.start
    if "warm_up" not in diagnosis.typical.why or not first or 0 in diagnosis.chosen:
        return None
    wall = diagnosis.wall_ns.tolist()
    excess = sum(wall[:first]) - first * diagnosis.mean_wall_ns
    grown = _grown(signals, list(range(first)), diagnosis.chosen)
    if excess <= 0 or grown is None:
        return None
    row, device, more = grown
    return Finding(
        "cold_start",
        Severity.INFO,
        Confidence.HIGH,
        "cold_start",
        "{which} took {excess_ns} longer than a typical one ({mean_ns}): warm-up, which is left out. Most of it: "
        "{where} ({more_ns} more).",
        "Nothing, if the program runs for long; it happens once.",
        {
            "which": "Iteration 0" if first == 1 else f"The first {first} iterations together",
            "excess_ns": excess,
            "mean_ns": diagnosis.mean_wall_ns,
            "where": place_of(row),
            "more_ns": more,
        },
        evidence_of(signals, [row], device),
        cause="cold_start",
        time_ns=excess,
        once=True,
    )


def _grown(signals: Signals, one: Sequence[int], other: Sequence[int]) -> tuple[Row, int, int] | None:
    """What takes longer in some iterations than in others: the row that grew most, its GPU, and by how much."""
    best: tuple[Row, int, int] | None = None
    for device in signals.diagnosis.devices:
        before = {
            (row.cause.part, row.cause.detail, row.cause.call, row.cause.path): row.time_ns
            for row in rows_of(signals.diagnosis, device, other, busy=True)
        }
        for row in rows_of(signals.diagnosis, device, one, busy=True):
            cause = row.cause
            more = row.time_ns - before.get((cause.part, cause.detail, cause.call, cause.path), 0)
            if best is None or more > best[2]:
                best = row, device.device, more
    return best


_KINDS = ("became_slower", "two_kinds", "slow_single", "drift")


def slow_iterations(signals: Signals) -> Finding | None:
    """Iterations of two lengths, or of a growing one: which part differs, and the call or op behind it."""
    diagnosis = signals.diagnosis
    why = next((each for each in _KINDS if each in diagnosis.typical.why), None)
    if why is None:
        return None
    wall, typical = diagnosis.wall_ns.tolist(), diagnosis.typical
    inside = list(range(typical.start, typical.stop + 1))
    if why == "slow_single":
        slow, fast = list(typical.left_out), typical.chosen
    elif why == "became_slower":
        slow, fast = inside, list(range(typical.start))
        fast = [position for position in fast if wall[position] > 0]
    else:
        ordered = sorted(inside, key=lambda position: wall[position])
        if why == "two_kinds":
            ratios = [wall[ordered[n + 1]] / max(wall[ordered[n]], 1) for n in range(len(ordered) - 1)]
            cut = ratios.index(max(ratios)) + 1
        else:
            cut = len(ordered) // 2
        fast, slow = ordered[:cut], ordered[cut:]
    if not slow or not fast:
        return None
    of_slow, of_fast = (sum(wall[position] for position in some) // len(some) for some in (slow, fast))
    grown = _grown(signals, slow, fast)
    if grown is None or of_slow <= of_fast:
        return None
    row, device, more = grown
    words = {
        "became_slower": "Iterations {first} to {last} take {slow_ns}, those before {fast_ns}",
        "two_kinds": "{count} of {all} iterations take {slow_ns}, the others {fast_ns}",
        "slow_single": "{count} of {all} iterations take {slow_ns}, the others {fast_ns}",
        "drift": "The length of the iterations drifts: the longer half takes {slow_ns}, the other {fast_ns}",
    }[why]
    return Finding(
        "slow_iterations",
        Severity.WARNING if why != "slow_single" else Severity.ADVICE,
        Confidence.MEDIUM,
        "slow_iterations",
        words + ": {where} takes {more_ns} more.",
        "Look at {where} in a slow iteration and in a fast one: what is done there only sometimes, or more and more?",
        {
            "first": slow[0],
            "last": slow[-1],
            "count": len(slow),
            "all": len(inside),
            "slow_ns": of_slow,
            "fast_ns": of_fast,
            "where": place_of(row),
            "more_ns": more,
        },
        evidence_of(signals, [row], device),
        cause="slow_iterations",
        part=Part(row.cause.part).label,
        time_ns=of_slow - of_fast,
    )


# ---- the host --------------------------------------------------------------------------------------------------------


def data_loader(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits for the next batch."""
    found = waiting(signals, lambda cause: cause.part == Part.DATA_LOADER)
    if found is None:
        return None
    names = " ".join(row.cause.path for row in found.rows)
    single, several = "_SingleProcessDataLoaderIter" in names, "_MultiProcessingDataLoaderIter" in names
    how = ", which loads in the training process itself (num_workers=0)" if single else ""
    return _finding(
        signals,
        "dataloader_detector",
        "data_loader",
        found,
        "data_loader",
        "The data loader holds up {time_ns} of each iteration ({share_fraction}){how}.",
        signals.advice(
            "Give it more workers, or less to do: DataLoader(num_workers=..., pin_memory=True, "
            "persistent_workers=True, prefetch_factor=4); then make decoding and augmentation cheaper."
            if several
            else "Load in parallel: DataLoader(num_workers=4, pin_memory=True, persistent_workers=True).",
            tensorflow="Load in parallel: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE) and "
            ".prefetch(tf.data.AUTOTUNE) last.",
            jax="Load the next batches in other processes while the GPU works (grain, or any loader with workers), and "
            "put them on the GPU early: jax.device_put returns at once.",
            tensorrt="Load and prepare the next batch in other threads while the engine runs.",
            cuda="Load and prepare what comes next in other threads while the GPU works.",
        ),
        confidence=Confidence.HIGH,
        pool=Pool.DATA_LOADER,
        how="Workers that keep up hide all of it; half, where the CPU or the storage is what limits.",
        numbers={"how": how},
        link=signals.advice(
            "https://pytorch.org/docs/stable/data.html#multi-process-data-loading",
            tensorflow="https://www.tensorflow.org/guide/data_performance",
            jax="https://google-grain.readthedocs.io/",
            tensorrt="",
            cuda="",
        ),
    )


def io(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits while the program reads or writes files or sockets."""
    found = waiting(signals, lambda cause: cause.part == Part.IO)
    if found is None:
        return None
    return _finding(
        signals,
        "io_detector",
        "io",
        found,
        "io",
        "The GPU waits {time_ns} of each iteration ({share_fraction}) for files or sockets: {where} most, {most_ns}.",
        "Read ahead in other threads or processes, in large pieces; write checkpoints and logs less often or in a "
        "thread.",
        pool=Pool.IO,
        how="Reading ahead hides all of it; half, where the storage is what limits.",
    )


def allocation(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits while memory is allocated from the driver, or freed, in the loop."""
    if far_ahead(signals.diagnosis):
        return None
    cold = is_cold_start(signals)

    def test(cause: Cause) -> bool:
        return cause.part == Part.BLOCKED and cause.detail == "allocation" and not (cold and is_cold(cause))

    found = waiting(signals, test)
    if found is None or (len(signals.diagnosis.start_ns) == 1 and not _goes_on(signals, found.device, test)):
        return None
    return _finding(
        signals,
        "allocation_detector",
        "allocation",
        found,
        "blocked",
        "Allocating and freeing GPU memory holds up {time_ns} of each iteration ({share_fraction}): {where} most, "
        "{most_ns}; {calls} {calls:call|calls}.",
        signals.advice(
            "Let the allocator keep what is freed: no torch.cuda.empty_cache() in the loop, shapes that stay the same, "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and no PYTORCH_NO_CUDA_MEMORY_CACHING.",
            tensorflow="Let TensorFlow take the memory at once: without set_memory_growth.",
            jax="Let JAX take the memory at once: without XLA_PYTHON_CLIENT_PREALLOCATE=false and "
            "XLA_PYTHON_CLIENT_ALLOCATOR=platform, and with donate_argnums for what a step replaces.",
            tensorrt="Allocate the buffers of the engine once, for its largest shapes.",
            cuda="Allocate once before the loop, or from a pool that keeps what is freed (cudaMallocAsync, "
            "cudaMemPoolAttrReleaseThreshold).",
        ),
        confidence=Confidence.HIGH,
        pool=Pool.SETUP,
        how="A loop that has warmed up makes no such calls.",
        link=signals.advice(
            "https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
            tensorflow="",
            tensorrt="",
            jax=_JAX_MEMORY,
            cuda="",
        ),
    )


def _goes_on(signals: Signals, device: DeviceDiagnosis, test: Test) -> bool:
    """Whether idle time of some causes is spread over nearly all of the only window, not at its start alone."""
    chosen = np.array([test(cause) for cause in signals.profile.activity.causes] or [False], np.bool_)
    start, wall = int(signals.diagnosis.start_ns[0]), max(signals.diagnosis.mean_wall_ns, 1)
    place = (device.clipped.start_ns[chosen[device.clipped.cause]] - start) * thresholds.PORTIONS // wall
    return len(distinct_values(place)) >= thresholds.PORTIONS_IN_USE


def synchronisation(signals: Signals) -> Finding | Lacks | None:
    """The host waits in a call that blocks, and the GPU has nothing to do."""
    if far_ahead(signals.diagnosis):
        return None
    found = waiting(signals, lambda cause: cause.part == Part.BLOCKED and cause.detail in ("sync", "copy"))
    if found is None:
        return None
    out = "out of the loop, or do them every hundred steps; keep metrics on the GPU."
    return _finding(
        signals,
        "sync_detector",
        "sync",
        found,
        "blocked",
        "The host is inside blocking calls while the GPU idles: {time_ns} of each iteration ({share_fraction}), "
        "{times}. Most: {where}, {most_ns}.",
        signals.advice(
            f"Take .item(), .cpu(), .numpy(), print(tensor), nonzero(), masks as indices and torch.cuda.synchronize() "
            f"{out}",
            tensorflow=f"Take .numpy(), float(tensor), print(tensor), tf.where and callbacks for every batch {out}",
            jax=f"Take float(array), np.asarray(array), .item(), print(array) and block_until_ready() {out}",
            tensorrt="Enqueue the next inference before you wait for the last one, on a stream of its own.",
            cuda="Order the work by streams and events (cudaStreamWaitEvent) in place of calls that wait and copies "
            "without Async, and launch the next work before you wait for the last.",
        ),
        pool=Pool.SYNC,
        how="Half to all of the time in these calls in which the GPU is idle.",
        link=signals.advice(
            "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
            tensorflow="",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/async_dispatch.html",
            cuda="",
        ),
    )


def launching(signals: Signals) -> Finding | Lacks | None:
    """The GPU waits for the next launch: many short kernels, or slow code between them."""
    diagnosis = signals.diagnosis
    if far_ahead(diagnosis) or "graphs_whole" in diagnosis.lower_bound:
        return None
    found = waiting(signals, lambda cause: cause.part == Part.LAUNCHING)
    if found is None:
        return None
    named = places_of(found.rows)
    listed = ", ".join(f"{{n{number}_ns}} for {place}" for number, (place, _) in enumerate(named))
    return _finding(
        signals,
        "launch_detector",
        "launching",
        found,
        "launching",
        "The GPU waits {time_ns} of each iteration ({share_fraction}) for launches: " + (listed or "{where}") + ".",
        "Capture in the graph what is launched between its replays, too; prepare the next replay while one runs."
        if signals.replays
        else signals.advice(
            'Launch less: torch.compile(model, mode="reduce-overhead") or torch.cuda.graph, fused or foreach '
            "optimizers; or give each kernel more work with a larger batch.",
            tensorflow="Launch fewer and larger kernels: tf.function(jit_compile=True) around the whole step, or a "
            "larger batch.",
            tensorrt="Capture the enqueue in a CUDA graph (--useCudaGraph of trtexec).",
            jax="Launch less: one jax.jit around the whole step in place of many small ones, jax.lax.scan over several "
            "steps, command buffers left on (XLA_FLAGS), or a larger batch.",
            cuda="Capture the launches in a CUDA graph, or do in one kernel what several in a row do.",
        ),
        gain=(0.5, 0.9),
        pool=Pool.LAUNCH,
        how="A replayed graph launches everything in one call; what the host does besides stays.",
        numbers={f"n{number}_ns": time for number, (_, time) in enumerate(named)},
        link=signals.advice(
            "https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/",
            tensorflow="",
            tensorrt="",
            jax="https://docs.jax.dev/en/latest/gpu_performance_tips.html",
            cuda="",
        ),
    )


def busy_host(signals: Signals) -> Finding | Lacks | None:
    """The host does its own work in long gaps: in an op, a range or a function that can be named."""
    if far_ahead(signals.diagnosis):
        return None
    found = waiting(signals, lambda cause: cause.part in (Part.HOST_OP, Part.HOST_CODE) and not is_compiling(cause))
    if found is None:
        return None
    in_ops = sum(row.time_ns for row in found.rows if row.cause.part == Part.HOST_OP)
    return _finding(
        signals,
        "host_detector",
        "host",
        found,
        "host_op" if 2 * in_ops > found.time_ns else "host_code",
        "The GPU waits {time_ns} of each iteration ({share_fraction}) for what the host does: {where} most, {most_ns}.",
        "Look at {where}: do its work on the GPU, in another thread or process, or once before the loop.",
        confidence=Confidence.MEDIUM if signals.marked else Confidence.LOW,
        pool=Pool.HOST,
        how="Half to all of it; times alone do not tell how much of the host's work can be avoided or moved.",
    )


def unrecorded(signals: Signals) -> Finding | Lacks | None:
    """The host does something in long gaps that was not recorded."""
    if far_ahead(signals.diagnosis):
        return None
    found = waiting(signals, lambda cause: cause.part == Part.UNRECORDED)
    if found is None:
        return None
    finding = _finding(
        signals,
        "unrecorded_detector",
        "unrecorded",
        found,
        "unrecorded",
        "In {time_ns} of each iteration ({share_fraction}) the GPU waits and nothing that the host did is recorded, "
        "most of it before {where} ({most_ns}).",
        "Find out what runs there: "
        + signals.advice(
            'torch.profiler.record_function("...") around parts of the loop, or with_stack=True.',
            jax='jax.profiler.TraceAnnotation("...") around parts of the loop, or the Python tracer '
            "(ProfileOptions.python_tracer_level = 1).",
            tensorflow="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
            tensorrt="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
            cuda="NVTX ranges around parts of the program, or nsys profile --sample=process-tree.",
        ),
        confidence=Confidence.LOW,
        gain=None,
    )
    return finding and msgspec.structs.replace(
        finding,
        cannot_tell="what the host did was not recorded",
        evidence=tuple(
            msgspec.structs.replace(each, detail=each.detail or "the next launch") for each in finding.evidence
        ),
    )


def profiler_overhead(signals: Signals) -> Finding | Lacks | None:
    """Recording stacks or modules slows the host; if it is the limit, the profile shows too much idle time."""
    recorded = sorted({"stacks", "modules"} & signals.recorded)
    if not recorded or not signals.host_bound or signals.profile.info.source_format != "pytorch":
        return None
    host = max(
        signals.share_of_iteration(int(signals.diagnosis.mean(device.parts_ns)[Part.BLOCKED :].sum()))
        for device in signals.diagnosis.devices
    )
    return Finding(
        "profiler_overhead_detector",
        Severity.INFO,
        Confidence.MEDIUM,
        "profiler",
        "The profiler recorded {what}, which slows the host; the GPU waits for the host in {share_fraction} of the "
        "time, and waits less without the profiler.",
        "Record once more without stacks (with_stack=False, with_modules=False) before you act on host time.",
        {"what": " and ".join(recorded), "share_fraction": host},
        cause="profiler_overhead",
    )


def compute_ns(signals: Signals, device: DeviceDiagnosis) -> int:
    """Time of a typical iteration in which a GPU computes."""
    return int(sum(signals.diagnosis.mean(device.parts_ns)[part] for part in COMPUTE))
