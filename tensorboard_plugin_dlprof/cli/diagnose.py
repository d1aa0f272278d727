"""Say why the GPU is idle, and what to change first.

The parts of each iteration's time (computing, communication, copies, and idle time by cause) add up to its length. By
default they are means over the typical iterations, without warm-up and what is unlike the rest. Nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard_plugin_dlprof.cli.fail_on import EXIT_CODES, Kind, Values, add_fail_on_values, exit_code_of_values
from tensorboard_plugin_dlprof.cli.iterations import METAVAR, parsed
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, tell_json
from tensorboard_plugin_dlprof.opening.option_values import named_path

EPILOG = EXIT_CODES

_IDLE = (
    *("queued", "blocked", "launching", "host_op", "host_code", "data_loader", "io", "unrecorded", "launch_unknown"),
)
PARTS = ("compute_tensor", "compute_other", "compute_unknown", "communication", "copy", *_IDLE)
"""As in ``answers.diagnosis``, which help must not wait for."""

_KINDS: dict[str, Sequence[Kind]] = dict.fromkeys(("idle", *PARTS), ("fraction", "ns"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, Nsight export or DLProf database"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")
    parser.add_argument(
        "--iterations",
        metavar=METAVAR,
        default="typical",
        help="which iterations means and findings are of, by number (default: the typical ones)",
    )
    add_fail_on_values(parser, _KINDS, "idle>20%")


def run(arguments: argparse.Namespace) -> int:
    """Print the diagnosis on stdout."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.diagnosis.as_text import text_of
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
    from tensorboard_plugin_dlprof.ranks.of_profile import as_its_job_tells

    selected = parsed(arguments.iterations)
    with ProgressBar(arguments.profile.name) as progress:
        options = ImportOptions(kernel_rules=load_rules(""))
        result = diagnose_source(arguments.profile, selected, options, progress, by_number=True)
    result = as_its_job_tells(result, arguments.profile)
    if arguments.format == "json":
        tell_json(result)
    else:
        sys.stdout.write(text_of(result))
    return exit_code_of_values(arguments, [_measured(result["mean"])])


def _measured(mean: Mapping[str, Any]) -> Values:
    """Each part of the time, and all idle time, of the GPU with most of it; unknown without a GPU."""
    of_devices = [device["parts"] for device in mean["devices"].values()]
    times = [{**parts, "idle": sum(parts[part] for part in _IDLE)} for parts in of_devices]
    wall_ns = mean["wall_ns"]
    most = {measure: max((each[measure] for each in times), default=None) for measure in _KINDS}
    return {
        measure: {"ns": value, "fraction": value / wall_ns if value is not None and wall_ns else None}
        for measure, value in most.items()
    }
