"""Say what holds the GPU's memory at its peak.

SOURCE is a trace with allocator events (profile_memory=True), a memory snapshot (*.pickle) or a database of either.
The rows at the peak add up to it; what was held before the recording is a row of its own. Nothing is written.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from typing import Any

from tensorboard_plugin_dlprof.cli.fail_on import EXIT_CODES, Kind, Values, add_fail_on_values, exit_code_of_values
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, tell_json
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.opening.option_values import named_path
from tensorboard_plugin_dlprof.units import narrow_percentage, shares, size

EPILOG = EXIT_CODES

_KINDS: dict[str, Sequence[Kind]] = {"memory_peak": ("bytes", "fraction")}

_LISTS = {
    "category": ("category", "at_peak"),
    "module": ("module", "by_module"),
    "op": ("owner", "by_owner"),
    "stack": ("stack", "by_stack"),
    "size": ("size", "by_size"),
}
"""By the values of ``--by``: what names a row, and the list of rows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("profile", metavar="SOURCE|DATABASE", type=named_path, help="trace, snapshot or database")
    parser.add_argument(
        "--format",
        choices=("text", "json", "csv", "html"),
        default="text",
        help="for people, for scripts, the whole list of --by as a table, or a page",
    )
    parser.add_argument("--device", metavar="N", help="only this GPU")
    parser.add_argument(
        "--at",
        metavar="peak|NS",
        default="peak",
        help="the moment to list, in ns of the recording, or the number of an event without times (default: peak)",
    )
    parser.add_argument("--by", choices=tuple(_LISTS), default="category", help="what the text and the table list")
    parser.add_argument(
        "--top", metavar="N", type=int, default=10, help="rows of the lists of the text and the page (default: 10)"
    )
    add_fail_on_values(parser, _KINDS, "memory_peak>90%")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer on stdout."""
    from tensorboard_plugin_dlprof.pipeline import memory_of_source

    if arguments.at != "peak" and not arguments.at.lstrip("-").isdecimal():
        raise WrongUsage(f"--at {arguments.at}: give peak, or a time in nanoseconds.")
    at_ns = None if arguments.at == "peak" else int(arguments.at)
    with ProgressBar(arguments.profile.name) as progress:
        result = memory_of_source(arguments.profile, at_ns, progress)
    if arguments.device is not None:
        if arguments.device not in result["devices"]:
            raise WrongUsage(
                f"--device {arguments.device}: the recording has {', '.join(result['devices']) or 'none'}."
            )
        result["devices"] = {arguments.device: result["devices"][arguments.device]}
    if arguments.format == "json":
        tell_json(result)
    elif arguments.format == "csv":
        _write_csv(result, arguments.by)
    elif arguments.format == "html":
        from tensorboard_plugin_dlprof.reports.memory import memory_page

        sys.stdout.writelines(memory_page(result, arguments.top))
    else:
        sys.stdout.write(_text(result, arguments.by, arguments.top))
    return exit_code_of_values(arguments, [_measured(result)])


def _measured(answer: dict[str, Any]) -> Values:
    """The peak of the GPU with the highest one, also as a share of its memory, where that is known.

    Of a recording that does not tell what was held before, the peak is unknown.
    """
    peaks = [device for device in answer["devices"].values() if not device["relative"]]
    of_memory = [device["peak_bytes"] / device["capacity_bytes"] for device in peaks if device["capacity_bytes"]]
    is_known = len(peaks) == len(answer["devices"])
    return {
        "memory_peak": {
            "bytes": max((device["peak_bytes"] for device in peaks), default=None) if is_known else None,
            "fraction": max(of_memory, default=None) if len(of_memory) == len(answer["devices"]) else None,
        }
    }


def _write_csv(answer: dict[str, Any], by: str) -> None:
    from tensorboard_plugin_dlprof.exports.cells import harmless

    writer = csv.writer(sys.stdout, lineterminator="\n")
    key, rows = _LISTS[by]
    writer.writerow(("device", "at_ns", key, "bytes", "blocks"))
    for device, each in answer["devices"].items():
        for row in each[rows]:
            cells = (device, each["at_ns"], harmless(row[key]), row["bytes"], row["blocks"])
            writer.writerow(["" if cell is None else cell for cell in cells])


def _text(answer: dict[str, Any], by: str, top: int) -> str:
    from tensorboard_plugin_dlprof.reports.held import when

    lines = [answer["headline"]]
    for device, each in answer["devices"].items():
        whole = each["in_use_bytes"]
        lines += ["", f"GPU {device}, {each['peak_of']} bytes at {when(each)}:"]
        key, rows = _LISTS[by]
        if not each[rows]:
            lines.append("  No stacks were recorded; memory snapshots have them.")
        percentages = shares([row["bytes"] for row in each[rows]], whole)
        for row, part in [*zip(each[rows], percentages, strict=True)][:top]:
            count = row["blocks"]
            blocks = "" if count is None else f" in {count:,} block{'' if count == 1 else 's'}"
            share = "" if part is None else narrow_percentage(part)
            lines.append(f"  {size(row['bytes']):>10}  {share:>7}  {row[key]}{blocks}")
        if by == "category" and each["held_before"]:
            lines.append(f"  {each['held_before']}")
        for finding in each["findings"]:
            lines += ["", finding["title"] + ".", f"   {finding['action']}"]
    return "\n".join(lines) + "\n"
