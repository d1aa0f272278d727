"""Rules about the recording itself: iterations, GPUs without work, the kernels of CUDA graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import op_evidence
from tensorboard_plugin_dlprof.analysis.program import Framework
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Lacks, Severity
from tensorboard_plugin_dlprof.analysis.wording import Number
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import Diagnosis, diagnose
from tensorboard_plugin_dlprof.diagnosis.calls import is_launch, without_version
from tensorboard_plugin_dlprof.diagnosis.headline import how_to_record_kernels
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES, Part
from tensorboard_plugin_dlprof.diagnosis.places import NO_MARKS
from tensorboard_plugin_dlprof.diagnosis.windows import said
from tensorboard_plugin_dlprof.units import percentage, short_duration

_STEPS_OF_XPLANE = {
    Framework.JAX: 'jax.profiler.StepTraceAnnotation("train", step_num=i)',
    Framework.TENSORFLOW: 'tf.profiler.experimental.Trace("train", step_num=i, _r=1)',
    Framework.PYTORCH: 'torch_xla.debug.profiler.StepTrace("train", step_num=i)',
}


def how_to_mark(signals: Signals, each: str) -> str:
    """How what recorded a program is told where each of its steps, or batches, begins: the start of a sentence."""
    recorder, framework = signals.profile.info.source_format, signals.framework
    if recorder == "xplane":
        mark = _STEPS_OF_XPLANE.get(framework, "an annotation with a step number")
    elif recorder != "pytorch":
        mark = f'torch.cuda.nvtx.range("{each}")' if framework is Framework.PYTORCH else "an NVTX range"
    elif signals.serves and not signals.backward:
        return f'Put record_function("{each}") around each {each} of the server'  # It has no loop of its user's.
    else:
        return f"Call profiler.step() after each {each}"
    return f"Put {mark} around each {each}"


def iterations(signals: Signals) -> Finding | Lacks | None:
    """No marked iterations."""
    candidate = signals.aggregation.candidate
    if candidate.source not in ("whole_capture", "module_run") or not signals.devices:
        return None
    return Finding(
        "no_iterations_detector",
        Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "No iterations are marked: all from the first to the last GPU work counts as one, with what happens only once."
        if candidate.source == "whole_capture"
        else "No iterations are marked: each run of {module}, the compiled function with most GPU time, counts as one.",
        how_to_mark(signals, "step") + ", or choose a key node, an op that runs once in each.",
        {"module": candidate.label} if candidate.source == "module_run" else {},
        cause="iterations",
    )


def iteration_range(signals: Signals) -> Finding | Lacks | None:
    """Iterations unlike the others, which are left out or, if the user chose so, counted."""
    diagnosis = signals.diagnosis
    count = len(diagnosis.start_ns)
    outside = sorted(set(range(count)) - set(diagnosis.typical.selected))
    if not diagnosis.marked or not outside:
        return None
    counted = set(outside).intersection(diagnosis.selected)
    wall = diagnosis.wall_ns.tolist()
    typical = sorted(set(diagnosis.typical.selected).intersection(diagnosis.selected))
    change = _change(diagnosis, diagnosis, typical) if counted and typical else None
    how = (
        " Over all, “{part}” takes {with_fraction} of the time; over typical ones, {without_fraction}."
        if change
        else ""
    )
    return Finding(
        "iteration_range_detector",
        Severity.ADVICE if change else Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "{said}{still}" + how,
        "Choose the typical iterations, or record later."
        if counted
        else "Include them where you want to see them: all iterations are on the page Iterations.",
        {
            "said": said(diagnosis.typical, wall, [str(value) for value in diagnosis.candidate.values.tolist()]),
            "still": f" {len(counted):,} unlike the others {'is' if len(counted) == 1 else 'are'} counted all the same."
            if counted
            else "",
            **(change or {}),
        },
        tuple(
            Evidence(
                "iteration",
                str(int(diagnosis.candidate.values[position])),
                wall[position] * signals.iterations,  # not a mean: it happened once
                path=diagnosis.labels[position],
                iteration=position,
            )
            for position in outside[: thresholds.EVIDENCE_ROWS]
        ),
        cause="iterations",
    )


def _change(diagnosis: Diagnosis, other: Diagnosis, windows: Sequence[int]) -> dict[str, Number] | None:
    """The part of the time that other windows change most, and its share with both choices, as numbers of a sentence;
    None if what is said of one choice holds for the other."""
    ours, theirs = (
        {each.device: each.parts_ns[rows].sum(axis=0) / max(int(some.wall_ns[rows].sum()), 1) for each in some.devices}
        for some, rows in ((diagnosis, diagnosis.selected), (other, list(windows)))
    )
    changes = [
        (abs(share - theirs[device][part]), Part(part), float(share), float(theirs[device][part]))
        for device in ours.keys() & theirs.keys()
        for part, share in enumerate(ours[device])
    ]
    most, part, with_fraction, without_fraction = max(changes, default=(0.0, Part(0), 0.0, 0.0))
    if most < thresholds.DECIDES_FRACTION:
        return None
    return {
        "part": NAMES[part.label].format(unit=diagnosis.matrix_unit),
        "with_fraction": with_fraction,
        "without_fraction": without_fraction,
    }


def step_holds_many(signals: Signals) -> Finding | None:
    """Marks of iterations around several steps of an optimizer, or several batches of inference."""
    diagnosis = signals.diagnosis
    if not diagnosis.marked or not diagnosis.selected or diagnosis.candidate.source == "optimizer_step":
        return None
    steps = next((each for each in signals.profile.iterations if each.source == "optimizer_step"), None)
    if steps is None:
        return _holds_batches(signals)
    ends = np.sort(steps.stop_ns)
    inside = np.searchsorted(ends, diagnosis.stop_ns, side="right") - np.searchsorted(
        ends, diagnosis.start_ns, side="right"
    )
    middle = int(np.sort(inside[diagnosis.selected])[len(diagnosis.selected) // 2])
    if middle < thresholds.STEPS_IN_ONE:
        return None
    of_steps = diagnose(signals.profile, steps)
    change = _change(diagnosis, of_steps, of_steps.selected)
    return Finding(
        "step_holds_many",
        Severity.ADVICE if change else Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "Each {mark} holds {steps} steps of the optimizer: times per iteration are those of {steps} steps"
        + (
            " and of what is not like them: “{part}” takes {with_fraction} of the time in it, {without_fraction} in a "
            "typical step."
            if change
            else "."
        ),
        "Choose {candidate} as iterations, or mark each step.",
        {"mark": diagnosis.candidate.label, "steps": middle, "candidate": steps.label, **(change or {})},
        (Evidence("iteration", steps.label, count=middle * signals.iterations, path=steps.label),),
        cause="iterations",
    )


def _holds_batches(signals: Signals) -> Finding | None:
    """Marks around several fetches of the data loader. In training, gradients of several batches may make one step."""
    if signals.backward or signals.optimizer.any():
        return None
    result, loads = signals.diagnosis, np.sort(signals.profile.data_loader.start_ns)
    inside = np.searchsorted(loads, result.stop_ns) - np.searchsorted(loads, result.start_ns)
    middle = int(np.sort(inside[result.selected])[len(result.selected) // 2])
    if middle <= thresholds.STEPS_IN_ONE:  # The last fetch finds out that there is no batch left.
        return None
    return Finding(
        "step_holds_many",
        Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "Each {mark} holds {fetches} fetches of the data loader: times per iteration are those of several batches.",
        how_to_mark(signals, "batch") + ".",
        {"mark": result.candidate.label, "fetches": middle},
        cause="iterations",
    )


def unused_gpus(signals: Signals) -> Finding | Lacks | None:
    """GPUs that did nothing, in a recording of several processes, which would show what others do with them."""
    devices = signals.aggregation.devices
    idle = devices.device_id[~devices.in_use]
    kernels = signals.profile.kernels
    if not len(idle) or not signals.devices or len(distinct_values(kernels.process_id)) < 2:
        return None
    if signals.profile.info.world_size > 1 or signals.profile.info.rank >= 0 or signals.of_family("collective").any():
        return None  # Other ranks use them.
    return Finding(
        "unused_gpu",
        Severity.INFO,
        Confidence.LOW,
        "gpus",
        "{idle} of {all} GPUs did nothing in this recording of several processes: {ids}.",
        "If they are meant for this job, give them a share of the work, and check CUDA_VISIBLE_DEVICES.",
        {"idle": len(idle), "all": len(devices.device_id), "ids": ", ".join(str(device) for device in idle.tolist())},
        tuple(Evidence("device", str(device), 0) for device in idle.tolist()),
        cause="unused_gpu",
    )


def graphs_as_a_whole(signals: Signals) -> Finding | Lacks | None:
    """CUDA graphs of which only start and end were recorded, so that rules about kernels cannot cover that time."""
    launches, nodes = signals.aggregation.launches, signals.aggregation.op_nodes
    total = launches.graph_ns + signals.time(np.ones(len(signals.kernel), np.bool_))
    if not launches.graph_ns or launches.graph_ns < thresholds.GRAPH_FRACTION * total:
        return None
    launching = np.flatnonzero(are_among(nodes.op, distinct_values(signals.profile.graphs.op).tolist()))
    return Finding(
        "cuda_graph_detector",
        Severity.WARNING if launches.graph_ns > total / 2 else Severity.ADVICE,
        Confidence.HIGH,
        "recording",
        "{graphs} {graphs:launch|launches} of CUDA graphs, {graph_ns} or {graph_fraction} of the kernel time, "
        "{graphs:was|were} recorded as a whole: which kernels ran, whether they used Tensor Cores, and in which "
        "precision is not known of that time.",
        "Record the kernels inside: XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty) turns command buffers off "
        "while you profile."
        if signals.profile.info.source_format == "xplane"
        else "Record the kernels inside: nsys profile --cuda-graph-trace=node, which costs a little time for each of "
        "them, so a few steps will do. Where that is too slow, record once with the graphs turned off.",
        {
            "graphs": launches.graphs,
            "graph_ns": launches.graph_ns,
            "graph_fraction": launches.graph_ns / total,
        },
        (Evidence("call", "cudaGraphLaunch", launches.graph_ns, launches.graphs),
         *op_evidence(signals, launching, nodes.times.gpu.sum[launching])),
        part="compute",
        time_ns=signals.per_gpu(launches.graph_ns),
        link="https://docs.nvidia.com/nsight-systems/UserGuide/index.html#cuda-graph-trace",
    )  # fmt: skip


def clocks_apart(signals: Signals) -> Lacks | None:
    """Work that begins before the call that asks for it: the clocks of host and GPU are apart, or drift."""
    profile = signals.profile
    tables = (profile.kernels, profile.memcpys, profile.memsets)
    ahead = np.concatenate([table.api_start_ns - table.start_ns for table in tables])
    early = ahead[ahead > thresholds.EARLY_WORK_NS]
    # Work without a recorded call has that of its own begin.
    asked = sum(int(np.count_nonzero(table.api_end_ns != table.start_ns)) for table in tables)
    if not len(early) or len(early) <= thresholds.EARLY_WORK_FRACTION * asked:
        return None
    return Lacks(
        f"why the GPU waits in gaps of up to {short_duration(int(early.max()))}: {percentage(len(early) / asked)} of "
        "the work begins before its call, so the clocks of host and GPU are apart",
        "Record again, without other profilers at the same time; a shorter recording drifts less.",
    )


def recorded_ops(signals: Signals) -> Finding | Lacks | None:
    """Kernels without the ops that launched them, to which most rules about models cannot apply."""
    if not signals.devices:
        return _launches_alone(signals) or Lacks("any GPU work", _how_to_record_gpus(signals))
    total = signals.time(np.ones(len(signals.kernel), np.bool_))
    if not total or signals.aggregation.launches.graph_ns > total:
        return None  # Nothing to judge, or for the most part what `graphs_as_a_whole` says.
    outside = signals.time(~signals.of_ops(signals.associated))
    share = outside / total
    if share > 0.5:
        return Lacks(
            f"which ops launched {percentage(share)} of the kernel time",
            "Record ops: "
            + signals.advice(
                "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
                torch_nsys="emit_nvtx(), or nsys profile --pytorch=autograd-nvtx",
                tensorflow="TF_ENABLE_NVTX_RANGES=1 in NVIDIA's TensorFlow",
                tensorflow_profiler="ProfilerOptions(host_tracer_level=2, device_tracer_level=1)",
                jax="jax.jit around what runs op by op, jax.named_scope around parts of the model",
                tensorrt="--profilingVerbosity=detailed when the engine is built",
                cuda="an NVTX range around each part of the program, and nsys profile -t cuda,nvtx",
            )
            + "; start before the first step.",
        )
    return None


def _launches_alone(signals: Signals) -> Finding | None:
    """Calls that launch kernels are recorded, but none of the kernels."""
    calls, strings = signals.profile.calls, signals.profile.strings
    names = [name for name in distinct_values(calls.name).tolist() if is_launch(strings[name])]
    if not names:
        return None
    times = {name: int((calls.name == name).sum()) for name in names}
    return Finding(
        "coverage_detector",
        Severity.WARNING,
        Confidence.HIGH,
        "recording",
        "{launches} {launches:launch is|launches are} recorded, but none of the kernels: what the GPU did is unknown.",
        _how_to_record_gpus(signals, traced=True),
        {"launches": sum(times.values())},
        tuple(
            Evidence("call", without_version(strings[name]), count=count, call=without_version(strings[name]))
            for name, count in times.items()
        ),
        cause="coverage",
    )


def _how_to_record_gpus(signals: Signals, *, traced: bool = False) -> str:
    """What to do where no GPU work is recorded; ``traced``: although calls that launch it are."""
    if any("--counters" in reason for reason in signals.profile.coverage.skipped):
        return "It holds counters in place of kernels: give it as --counters beside a recording without counters."
    if reported := signals.profile.info.reported.translate(NO_MARKS):
        return (
            how_to_record_kernels("nsight_systems", reported)
            + " Take the newest Nsight Systems, which has to know the GPU and its driver, and let the program end by "
            "itself."
        )
    if signals.profile.info.source_format == "pytorch" and traced:
        return (
            "The activity CUDA was on, for calls are recorded: synchronise before the profiler stops, let no other "
            "profiler use CUPTI meanwhile, and look for its errors in the program's output."
        )
    if signals.profile.info.source_format == "nsight_systems" and traced:
        return (
            "nsys traced CUDA, for calls are recorded: take the newest Nsight Systems, which has to know the GPU and "
            "its driver, let the program end by itself, and read what nsys reports."
        )
    if signals.profile.info.source_format == "pytorch":
        return "Record it: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
    if signals.profile.info.source_format == "xplane":
        return "Record it: device_tracer_level=1 in the options of the profiler, and a GPU that the program uses."
    return "Record it: nsys profile -t cuda,nvtx."
