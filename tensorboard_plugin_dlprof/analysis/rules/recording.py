"""Rules about the recording itself: iterations, GPUs without work, the kernels of CUDA graphs."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.analysis.evidence import op_evidence
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Confidence, Evidence, Finding, Lacks, Severity
from tensorboard_plugin_dlprof.analysis.wording import percentage
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values


def iterations(signals: Signals) -> Finding | Lacks | None:
    """No marked iterations."""
    candidate = signals.aggregation.candidate
    if candidate.source != "whole_capture" or not signals.devices:
        return None
    return Finding(
        "no_iterations_detector",
        Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "The profile has no marked iterations, so it is shown as one; times per iteration are those of the whole "
        "capture, set-up included.",
        signals.advice(
            "Call profiler.step() after each step, or put an NVTX range around it",
            tensorflow="Put an NVTX range around each step",
            tensorrt="Put an NVTX range around each inference",
            cuda="Put an NVTX range around each iteration",
        )
        + ", or choose a key op that runs once in each.",
        {},
    )


def iteration_range(signals: Signals) -> Finding | Lacks | None:
    """The aggregated iterations include warm-up or outliers."""
    proposal, rows = signals.aggregation.proposal, signals.aggregation.iterations
    if proposal is None:
        return None
    outside = (rows.iter_value < proposal.iter_start) | (rows.iter_value > proposal.iter_stop)
    if not outside.any():
        return None
    length = rows.stop_ns - rows.start_ns
    kept = length[~outside]
    first, last = proposal.iter_start, proposal.iter_stop
    numbers: dict[str, int | float | str] = {
        "outside": int(outside.sum()),
        "all": len(outside),
        "kept": len(kept),
        "reason": proposal.reason,
        "range": f"the iterations {first} to {last}" if first < last else f"iteration {first}",
    }
    if len(kept):
        numbers["mean_ns"], numbers["all_ns"] = round(float(kept.mean())), round(float(length.mean()))
    return Finding(
        "iteration_range_detector",
        Severity.INFO,
        Confidence.HIGH,
        "iterations",
        "{outside} of {all} aggregated iterations {outside:is|are} unlike the {kept:other|others}. {reason}",
        "Aggregate {range} alone.",
        numbers,
        tuple(
            Evidence("iteration", str(int(rows.iter_value[row])), int(length[row]))
            for row in np.flatnonzero(outside)[: thresholds.EVIDENCE_ROWS].tolist()
        ),
    )


def unused_gpus(signals: Signals) -> Finding | Lacks | None:
    """GPUs that the capture lists, but that did nothing."""
    devices = signals.aggregation.devices
    idle = devices.device_id[~devices.in_use]
    if not len(idle) or not signals.devices:
        return None
    if signals.profile.info.world_size > 1 or signals.profile.info.rank >= 0 or signals.of_family("collective").any():
        return None  # Other ranks use them.
    return Finding(
        "underutilized_gpu_detector",
        Severity.INFO,
        Confidence.LOW,
        "gpus",
        "{idle} of {all} GPUs did nothing in this profile: {ids}.",
        "If they are meant for this job, "
        + signals.advice(
            "start one process for each of them (torchrun, DistributedDataParallel)",
            tensorflow="use a strategy (tf.distribute.MirroredStrategy) or a process for each of them (Horovod)",
            tensorrt="run an engine on each of them, in a process or a thread of its own",
            cuda="give each of them a part of the work, from a process of its own or after cudaSetDevice",
        )
        + ", and check CUDA_VISIBLE_DEVICES and the options of the container.",
        {"idle": len(idle), "all": len(devices.device_id), "ids": ", ".join(str(device) for device in idle.tolist())},
        tuple(Evidence("device", str(device), 0) for device in idle.tolist()),
        link=signals.advice(
            "https://pytorch.org/docs/stable/elastic/run.html",
            tensorflow="https://www.tensorflow.org/guide/distributed_training",
            tensorrt="",
            cuda="",
        ),
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
        "Record the kernels inside: nsys profile --cuda-graph-trace=node, which costs a little time for each of them, "
        "so a few steps will do. Where that is too slow, record once with the graphs turned off.",
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


def recorded_ops(signals: Signals) -> Finding | Lacks | None:
    """Kernels without the ops that launched them, to which most rules about models cannot apply."""
    if not signals.devices:
        return Lacks("any GPU work", _how_to_record_gpus(signals))
    total = signals.time(np.ones(len(signals.kernel), np.bool_))
    if not total or signals.aggregation.launches.graph_ns > total:
        return None  # Nothing to judge, or for the most part what `graphs_as_a_whole` says.
    outside = signals.time(~signals.of_ops(signals.associated))
    share = outside / total
    if share > 0.5:
        return Lacks(
            f"the ops of {percentage(share)} of the kernel time",
            "Record ops: "
            + signals.advice(
                "activities=[CPU, CUDA], emit_nvtx(), nsys --pytorch=autograd-nvtx",
                tensorflow="TF_ENABLE_NVTX_RANGES=1 in NVIDIA's TensorFlow",
                tensorrt="--profilingVerbosity=detailed when the engine is built",
                cuda="an NVTX range around each part of the program, and nsys profile -t cuda,nvtx",
            )
            + "; start before the first step.",
        )
    return None


def _how_to_record_gpus(signals: Signals) -> str:
    if any("--counters" in reason for reason in signals.profile.coverage.skipped):
        return "It holds counters in place of kernels: give it as --counters beside a recording without counters."
    if signals.profile.info.source_format == "pytorch":
        return "Record it: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
    return "Record it: nsys profile -t cuda,nvtx."
