"""Draws steps of training in which everything is well, and puts one thing into them that is not.

A scene is three steps of one millisecond on a GPU whose kernels leave no gap: a large product in BF16 on Tensor Cores.
What a test adds takes its time from that product.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.analysis.engine import judge
from tensorboard_plugin_dlprof.analysis.rules import RULES
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Finding, Verdict
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Device
from tensorboard_plugin_dlprof.memory.from_events import histories
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.timeline import draw

STEP_NS = 1_000_000
STEPS = 3

GOOD = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
A100 = Device(0, "NVIDIA A100-SXM4-40GB", 8, 0, 108, 42_405_855_232)
H100 = Device(0, "NVIDIA H100 80GB HBM3", 9, 0, 132, 85_018_279_936)
T4 = Device(0, "Tesla T4", 7, 5, 40, 15_835_398_144)


class Step:
    """One step, drawn line by line; times are nanoseconds from its start."""

    def __init__(self, number: int, step_ns: int) -> None:
        self.number, self.lines = number, list[str]()
        self._start, self._call = number * step_ns, number * 10_000
        self.step_ns = step_ns
        self.line("main", "iteration", 0, step_ns, f"ProfilerStep#{number + 2}")

    def line(self, where: str, what: str, start: float, end: float, name: str, **options: object) -> None:
        """Any event."""
        extras = "".join(f" ; {key}={value}" for key, value in options.items())
        self.lines.append(f"{where} {what} {round(self._start + start)}-{round(self._start + end)} {name}{extras}")

    def op(
        self, name: str, kernel: str, start: float, end: float, *, at: float | None = None, gpu: str = "gpu0",
        host_ns: int = 40, thread: str = "main", **options: object,
    ) -> None:  # fmt: skip
        """An op that launches one kernel; the host is ahead unless ``at`` says when the op begins."""
        self._call += 1
        host = (self._call % 10_000) * 50 + 100 if at is None else at
        self.line(thread, "op", host, host + host_ns, name, **options)
        self.line(thread, "call", host + 5, host + 25, "cudaLaunchKernel", corr=self._call)
        self.line(gpu, "kernel", start, end, kernel, corr=self._call, short=kernel.split("<")[0].split(" ")[-1])

    def good(self, start: float, end: float, **options: object) -> None:
        """Kernel time in which everything is well."""
        if end > start:
            self.op("aten::mm", GOOD, start, end, **options)


Body = Callable[[Step], None]


def scene(
    body: Body, *, device: Device = A100, step_ns: int = STEP_NS, steps: int = STEPS, marked: bool = True
) -> Profile:
    """Three steps; ``marked`` False leaves out the marks of iterations."""
    lines: list[str] = []
    for number in range(steps):
        step = Step(number, step_ns)
        body(step)
        lines += step.lines if marked else [line for line in step.lines if " iteration " not in line]
    capture = draw("\n".join(lines), end=steps * step_ns)
    capture.devices = [msgspec.structs.replace(device, device_id=each.device_id) for each in capture.devices]
    capture.info.recorded = frozenset({"ops", "steps", "shapes"})
    capture.info.framework = "PyTorch 2.8.0"
    return build_profile(capture)


def signals(profile: Profile) -> Signals:
    """What rules decide by."""
    aggregation = aggregate(profile)
    return Signals(profile, aggregation, efficiency(profile, measure(profile), aggregation))


def verdict(profile: Profile, selection: Selection = Selection()) -> Verdict:  # noqa: B008 (frozen)
    """What all rules say of some iterations."""
    aggregation = aggregate(profile, selection)
    rules = [(name, rule) for name, rule in RULES if name != "dominant_kernel"]  # the good product is
    return judge(profile, aggregation, efficiency(profile, measure(profile), aggregation), rules)


def findings_of(profile: Profile) -> list[str]:
    """The detectors that spoke, in order."""
    return [finding.detector for finding in verdict(profile).findings]


def with_memory(profile: Profile, reserved_bytes: int) -> Profile:
    """The profile with one event of the allocator."""
    one = np.ones(1, np.int64)
    memory = msgspec.structs.replace(
        profile.memory,
        time_ns=one, thread=np.zeros(1, np.int32), device=np.zeros(1, np.int32), num_bytes=one,
        allocated_bytes=one * reserved_bytes, reserved_bytes=one * reserved_bytes,
    )  # fmt: skip
    profile = msgspec.structs.replace(profile, memory=memory)
    return msgspec.structs.replace(profile, memory_histories=histories(profile))


def said_by(detector: str, profile: Profile, selection: Selection = Selection()) -> Finding:  # noqa: B008 (frozen)
    """The finding of a detector."""
    return next(finding for finding in verdict(profile, selection).findings if finding.detector == detector)
