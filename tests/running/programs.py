"""Programs of others that tests run: stand-ins that behave as documented, and a Python that has torch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.importers.nsight.exports import process, strings, thread, write_export

NSYS = """\
#!{python}
# Stands in for Nsight Systems: `nsys profile [options] command` runs the command and leaves <output>.nsys-rep, and
# `nsys export` makes a SQLite file of it. Here the report is that file. Every call is noted.
import json, os, shutil, subprocess, sys
from pathlib import Path

here = Path(__file__).resolve().parent
verb, *words = sys.argv[1:]
with (here / "nsys_calls.jsonl").open("a") as notes:
    notes.write(json.dumps([verb, *words]) + "\\n")
options = {{}}
while words and words[0].startswith("-"):
    name, sign, value = words.pop(0).partition("=")
    options[name] = value if sign or name.startswith("--") else words.pop(0)
output = Path(options["--output"])
assert output.is_absolute()
if verb == "profile":
    code = subprocess.run(words).returncode
    if os.environ.get("NSYS_LEAVES_NOTHING"):
        sys.exit(code)
    assert not Path(f"{{output}}.nsys-rep").exists()
    shutil.copy(here / "export.sqlite", f"{{output}}.nsys-rep")
    sys.exit(code if code >= 0 else 128 - code)
if os.environ.get("NSYS_EXPORT_FAILS"):
    print("progress")
    print("Export failed: wrong report", file=sys.stderr)
    sys.exit(1)
assert options["--type"] == "sqlite"
shutil.copy(words[0], output)
"""

MPIRUN = """\
#!{python}
# Stands in for Open MPI's mpirun: starts the command N times and tells each its rank.
import os, subprocess, sys

assert sys.argv[1] == "-np"
running = [
    subprocess.Popen(sys.argv[5:], env={{**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}})
    for rank in range(int(sys.argv[2]))
]
sys.exit(max(each.wait() for each in running))
"""


def executable(path: Path, text: str) -> Path:
    """A script that can be called by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return path


def path_with(folder: Path, *programs: str) -> Path:
    """A folder to be all of the PATH: a shell and Python, and the stand-ins that are named."""
    executable(folder / "python", '#!/bin/sh\nexec "{python}" "$@"\n')
    (folder / "sh").symlink_to("/bin/sh")
    if "nsys" in programs:
        executable(folder / "nsys", NSYS)
        small_export(folder / "export.sqlite")
    if "mpirun" in programs:
        executable(folder / "mpirun", MPIRUN)
    return folder


def small_export(path: Path) -> Path:
    """Three steps of 1 ms, in each a range ``matmul`` that launches a kernel of 0.25 ms."""
    own = process(7)
    ranges, calls, kernels = [], [], []
    for step in range(3):
        start = 1_000_000 * step
        ranges += [(start, start + 1_000_000, 59, thread(7, 7), f"step {step}")]
        ranges += [(start + 100_000, start + 200_000, 59, thread(7, 7), "matmul")]
        calls += [(start + 120_000, start + 140_000, thread(7, 7), step + 1, 2)]
        kernels += [(start + 200_000, start + 450_000, 0, 1, 7, step + 1, own, 0, 0, 1, 1, 1, 64, 1, 1)]
    return write_export(
        path,
        {
            "StringIds": strings("ampere_sgemm_64x64_nn", "", "cudaLaunchKernel_v7000"),
            "NVTX_EVENTS": ("start end eventType globalTid text", ranges),
            "CUPTI_ACTIVITY_KIND_RUNTIME": ("start end globalTid correlationId nameId", calls),
            "CUPTI_ACTIVITY_KIND_KERNEL": (
                "start end deviceId contextId streamId correlationId globalPid demangledName shortName "
                "gridX gridY gridZ blockX blockY blockZ",
                kernels,
            ),
        },
    )


def torch_python() -> str:
    """A Python that has torch: this one, or ``$DLPROF_TEST_TORCH``; skips the calling test without one."""
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    named = os.environ.get("DLPROF_TEST_TORCH")
    if not named:
        pytest.skip("torch is not installed; DLPROF_TEST_TORCH may name a Python that has it")
    subprocess.run([named, "-c", "import torch"], check=True, timeout=120)
    return named
