"""Programs under the PyTorch recorder, and what is in the traces that it leaves."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.running import torch_recorder
from tests.running.programs import torch_python


def record(
    folder: Path, program: str, *arguments: str, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """A program under the recorder, with warnings as errors: it must not notice it."""
    (folder / "program.py").write_text(program)
    recorder = [torch_recorder.__file__, "--output-dir", str(folder / "out"), *options]
    return subprocess.run(
        [torch_python(), "-W", "error", *recorder, "program.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def events(folder: Path) -> list[dict[str, Any]]:
    """The complete events of the only trace."""
    (trace,) = (folder / "out").iterdir()
    assert trace.name.endswith(".pt.trace.json.gz")
    with gzip.open(trace) as stream:
        result = [event for event in json.load(stream)["traceEvents"] if event.get("ph") == "X"]
    return sorted(result, key=lambda event: float(event["ts"]))


def spans(folder: Path, name: str) -> dict[str, tuple[float, float]]:
    """Start and end of the events whose name begins so; of the same name the last."""
    return {
        event["name"]: (event["ts"], event["ts"] + event["dur"])
        for event in events(folder)
        if event["name"].startswith(name)
    }


def steps(folder: Path) -> list[int]:
    """Numbers of the recorded steps."""
    return [int(name.partition("#")[2]) for name in spans(folder, "ProfilerStep#")]
