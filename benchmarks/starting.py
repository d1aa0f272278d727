"""What it costs to load the plugin and to start the command line."""

from __future__ import annotations

import statistics
import sys

from benchmarks.measuring import paired

PACKAGE = "tensorboard_plugin_dlprof"


def measure_start(rounds: int) -> dict[str, float]:
    """Milliseconds of processor time over those of a bare Python."""
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "command line": [sys.executable, "-m", PACKAGE, "--version"],
        "tensorboard": [sys.executable, "-c", "from tensorboard.plugins import base_plugin"],
        "plugin": [sys.executable, "-c", f"import {PACKAGE}.loader, {PACKAGE}.plugin"],
    }
    runs = paired(commands, rounds)
    cpu_ms = {name: statistics.median(run.cpu_s for run in some) * 1e3 for name, some in runs.items()}
    return {
        "command_line_ms": round(cpu_ms["command line"] - cpu_ms["python"], 1),
        "plugin_over_tensorboard_ms": round(cpu_ms["plugin"] - cpu_ms["tensorboard"], 1),
    }
