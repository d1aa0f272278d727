"""Compares other tools with our import on the same trace, in turn, each tool in an environment of its own.

``python -m benchmarks.peers [--trace FILE] [--size MB]`` prints the time of the processor and of the clock, and the
memory, of each tool beside ours. A tool that cannot be installed or run here is reported with the reason.
"""

from __future__ import annotations

import argparse
import json
import math
import mmap
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.__main__ import TRACE
from benchmarks.importing import import_command
from benchmarks.machine import machine
from benchmarks.measuring import CommandFailed, Limits, Run, compile_modules, median_ratio, run
from benchmarks.peer_tools import PEERS, Peer, environment
from benchmarks.tiled_trace import tile_trace

_COMPLETE = re.compile(rb'"ph"\s*:\s*"X"')
# pip's own words stand behind those of the program that it ran.
_REASON = re.compile(r"^\s*(?:fatal|error): .*$", re.IGNORECASE | re.MULTILINE)
_HEADING = f"{'tool':24}{'CPU s':>8}{'ours':>8}{'x ours':>8}{'wall s':>9}{'ours':>8}{'peak MB':>10}{'ours':>7}"


def main(argv: list[str] | None = None, peers: Sequence[Peer] = PEERS) -> int:
    """Compares every peer that can be installed and run."""
    parser = _parser(peers)
    options = parser.parse_args(argv)
    if not options.trace.is_file():
        parser.error(f"{options.trace} is no file")
    options.folder.mkdir(parents=True, exist_ok=True)
    compile_modules()
    # HTA takes a relative path for one in a folder of its own.
    with tempfile.TemporaryDirectory(dir=options.folder.resolve()) as folder:
        trace = Path(folder) / "worker0.pt.trace.json"
        tile_trace(options.trace, trace, options.size * 10**6)
        results = _compare(peers, trace, options)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(f"\nResults in {options.results}")
    return 0


def _compare(peers: Sequence[Peer], trace: Path, options: argparse.Namespace) -> dict[str, Any]:
    events = complete_events(trace)
    megabytes = trace.stat().st_size / 1e6
    print(f"{options.trace.name}, tiled: {megabytes:.0f} MB, {events:,} events with a duration\n{_HEADING}", flush=True)
    limits = Limits(options.memory_limit * 1e9, options.time_limit * 60)
    sources = dict(options.source)
    our_command = import_command(trace, trace.parent / "databases")
    run(our_command)  # An import that fails is no fault of theirs.
    measured: dict[str, Mapping[str, float | str]] = {}
    for peer in peers:
        if options.only and peer.name not in options.only:
            continue
        requirements = (sources[peer.name],) if peer.name in sources else peer.requirements
        try:
            home = environment(peer.name, requirements, options.folder.resolve())
            their_command = peer.command(home, trace, events)
            ours, theirs = [], []
            for _ in range(options.rounds):
                ours.append(run(our_command))
                theirs.append(run(their_command, limits=limits))
        except CommandFailed as error:
            measured[peer.name] = {"failed": _reason(error)}
            print(f"{peer.name:24}cannot be installed or run here: {_reason(error)}", flush=True)
        else:
            measured[peer.name] = _compared(peer.name, ours, theirs)
    return {
        "machine": machine(),
        "trace_bytes": trace.stat().st_size,
        "events_with_duration": events,
        "peers": measured,
    }


def complete_events(trace: Path) -> int:
    """Events of a trace that have a duration (phase X)."""
    with trace.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return sum(1 for _ in _COMPLETE.finditer(text))


def _compared(name: str, ours: list[Run], theirs: list[Run]) -> dict[str, float]:
    """Print the medians of both, the peak memory, and the median of the ratios of processor time."""
    results = {
        "cpu_s": statistics.median(one.cpu_s for one in theirs),
        "our_cpu_s": statistics.median(one.cpu_s for one in ours),
        "cpu_x_ours": round(median_ratio(theirs, ours), 2),
        "wall_s": statistics.median(one.wall_s for one in theirs),
        "our_wall_s": statistics.median(one.wall_s for one in ours),
        "peak_bytes": max(one.peak_bytes for one in theirs),
        "our_peak_bytes": max(one.peak_bytes for one in ours),
    }
    print(
        f"{name:24}{results['cpu_s']:8.2f}{results['our_cpu_s']:8.2f}{results['cpu_x_ours']:8.1f}"
        f"{results['wall_s']:9.2f}{results['our_wall_s']:8.2f}"
        f"{results['peak_bytes'] / 1e6:10.0f}{results['our_peak_bytes'] / 1e6:7.0f}",
        flush=True,
    )
    return results


def _reason(error: CommandFailed) -> str:
    """The most useful line of a failure: the last that calls itself an error, else the last."""
    reasons = [line.strip() for line in _REASON.findall(error.output)]
    return reasons[-1] if reasons else (error.output or "it failed and said nothing").splitlines()[-1]


def _parser(peers: Sequence[Peer]) -> argparse.ArgumentParser:
    names = [peer.name for peer in peers]
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    parser.add_argument("--trace", type=Path, default=TRACE, help="PyTorch trace to tile (default: one of our samples)")
    parser.add_argument("--size", type=int, default=100, metavar="MB", help="size of the trace (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=names, help="this tool; may be given several times")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        type=lambda text: _source(text, names),
        metavar="NAME=FOLDER",
        help="install this tool from a folder, as a clone of TraceLens where GitHub cannot be reached",
    )
    parser.add_argument(
        "--memory-limit",
        type=float,
        default=_memory_gb() * 0.8,
        metavar="GB",
        help="a tool that needs more is ended (default: four fifths of the machine's)",
    )
    parser.add_argument(
        "--time-limit", type=float, default=30, metavar="MINUTES", help="so is one that takes longer (default: 30)"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help="environments of the tools")
    parser.add_argument("--results", type=Path, default=Path("build/peers.json"), help="the results")
    return parser


def _source(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, _, folder = text.partition("=")
    if name not in names or not folder or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: NAME=FOLDER is wanted, a tool of {', '.join(names)} and its folder")
    return name, str(Path(folder).resolve())


def _memory_gb() -> float:
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    return math.inf


if __name__ == "__main__":
    sys.exit(main())
