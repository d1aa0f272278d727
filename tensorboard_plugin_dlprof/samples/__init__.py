"""Profiles that come with the package, so that there is something to see before the user records a profile.

All but one are **generated** by ``scripts/samples`` with durations from a roofline estimate, because the project had no
GPU to record on. The names of their files say so, and ``answers.json`` has what every view must show for them. The
other one was recorded on a CPU by ``scripts/samples/record_cpu.py``.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

from tensorboard_plugin_dlprof.errors import OutputExists, OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.opening.outputs import make_folder

DATA: Final = Path(__file__).resolve().parent / "data"
"""The folder of the sample files; the Nsight Systems export in it is compressed."""

RUNS: Final[dict[str, tuple[str, ...]]] = {
    "resnet50/fp32": ("generated-resnet50-fp32.pt.trace.json.gz",),
    "resnet50/amp": ("generated-resnet50-amp.pt.trace.json.gz",),
    "transformer/bf16_ddp": (
        "generated-transformer-bf16-rank0.pt.trace.json.gz",
        "generated-transformer-bf16-rank1.pt.trace.json.gz",
    ),
    "mnist/nsight_systems": ("generated-mnist-nsys.sqlite.gz",),
    "transformer/jax/plugins/profile/2026_11_23_02_30_00": ("generated-transformer-jax.xplane.pb",),
    "resnet_block/cpu_recorded": ("recorded-resnet-block-cpu.pt.trace.json.gz",),
}
"""Run (a folder below the log directory) -> its profiles."""


JOB_RUN: Final = "job/eight_ranks"
"""The run of a generated job of eight ranks."""

OPENED_RUN: Final = "resnet50/amp"
BASELINE_RUN: Final = "resnet50/fp32"
"""What the demo opens with, and what that is compared with."""


def install(folder: Path) -> list[Path]:
    """Installs the sample profiles as runs in a log directory. Existing files with the same content are not changed.

    Args:
        folder: The log directory; created if it is missing.

    Returns:
        The paths of the profiles, in the order of ``RUNS``.

    Raises:
        OutputExists: there is a file with the same name but other content.
        OutputNotWritable: the folder cannot be written to.
    """
    installed = []
    for run, names in RUNS.items():
        for name in names:
            content = (DATA / name).read_bytes()
            if name.endswith(".sqlite.gz"):
                content = gzip.decompress(content)
            target = folder / run / name.replace(".sqlite.gz", ".sqlite")
            _install_one(content, target)
            installed.append(target)
    return installed


def install_job(folder: Path) -> list[Path]:
    """Writes the ranks of a generated job, one of which costs time, into a run of a log directory.

    Args:
        folder: The log directory; created if it is missing.

    Returns:
        The paths of the profiles.

    Raises:
        OutputExists: there is a file with the same name but other content.
        OutputNotWritable: the folder cannot be written to.
    """
    from tensorboard_plugin_dlprof.samples.job import Plan, job

    installed = []
    for name, content in job(Plan()):
        _install_one(content, folder / JOB_RUN / name)
        installed.append(folder / JOB_RUN / name)
    return installed


def _install_one(content: bytes, target: Path) -> None:
    try:
        if target.exists():
            if target.read_bytes() == content:
                return
            raise OutputExists(f"{target} exists and is not the sample of that name; choose another folder.")
        make_folder(target.parent)
        unfinished = target.with_name(f".{target.name}.unfinished")
        unfinished.write_bytes(content)
        unfinished.replace(target)
    except OSError as error:
        raise OutputNotWritable(f"Cannot write {target}: {reason_of(error)}.") from error
