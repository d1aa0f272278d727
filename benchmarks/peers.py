"""Other tools on the same trace: each installed from the package index into an environment of its own.

``python -m benchmarks.peers [--trace FILE] [--size MB]`` prints the processor time, the clock and the memory of each
against an import of ours. A peer that cannot be installed or run here is reported: Perfetto's package downloads its
program when it first runs, and TraceLens is not in the package index (the package of that name is another project).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.__main__ import TRACE
from benchmarks.importing import import_command
from benchmarks.measuring import CommandFailed, Run, median_ratio, run
from benchmarks.tiled_trace import tile_trace


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: what to install, and a program that loads the trace of ``sys.argv[1]``."""

    name: str
    requirements: tuple[str, ...]
    program: str


PEERS = (
    Peer(
        "torch-tb-profiler",
        ("torch-tb-profiler==0.4.3", "setuptools<82"),
        "import os, sys\n"
        "from torch_tb_profiler.io import Cache\n"
        "from torch_tb_profiler.profiler.loader import RunLoader\n"
        "if __name__ == '__main__':\n"
        "    run = RunLoader('run', os.path.dirname(sys.argv[1]), Cache()).load()\n"
        "    assert run.profiles, 'nothing loaded'\n",
    ),
    Peer(
        "HolisticTraceAnalysis",
        ("HolisticTraceAnalysis==0.5.0",),
        "import sys\n"
        "from hta.trace_analysis import TraceAnalysis\n"
        "if __name__ == '__main__':\n"
        "    analysis = TraceAnalysis(trace_files={0: sys.argv[1]})\n"
        "    analysis.get_temporal_breakdown(visualize=False)\n"
        "    analysis.get_gpu_kernel_breakdown(visualize=False)\n",
    ),
    Peer(
        "Perfetto",
        ("perfetto",),
        "import sys\n"
        "from perfetto.trace_processor import TraceProcessor\n"
        "with TraceProcessor(trace=sys.argv[1]) as processor:\n"
        "    assert next(processor.query('SELECT count(*) AS count FROM slice')).count, 'nothing loaded'\n",
    ),
    Peer(
        "TraceLens",
        ("TraceLens @ git+https://github.com/AMD-AGI/TraceLens.git",),
        "import os, sys\n"
        "from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch\n"
        "generate_perf_report_pytorch(sys.argv[1], output_csvs_dir=os.path.dirname(sys.argv[1]) + '/report')\n",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Compares every peer that can be installed."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    parser.add_argument("--trace", type=Path, default=TRACE, help="PyTorch trace to tile")
    parser.add_argument("--size", type=int, default=100, metavar="MB", help="size of the trace (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("build/peers"), help="environments of the peers")
    parser.add_argument("--results", type=Path, default=Path("build/peers.json"))
    options = parser.parse_args(argv)
    options.folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, float | str]] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        trace = Path(folder) / "worker0.pt.trace.json"
        tile_trace(options.trace, trace, options.size * 10**6)
        ours = import_command(trace, Path(folder) / "databases")
        print(f"{'tool':24}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}{'CPU x ours':>12}")
        for peer in PEERS:
            try:
                theirs = [str(_environment(peer, options.folder)), "-c", peer.program, str(trace)]
                pairs = [(run(ours), run(theirs)) for _ in range(options.rounds)]
            except CommandFailed as error:
                reason = str(error).splitlines()[-1]
                print(f"{peer.name:24}cannot be installed or run here: {reason}", flush=True)
                results[peer.name] = {"failed": reason}
                continue
            ratio = median_ratio([pair[1] for pair in pairs], [pair[0] for pair in pairs])
            _show("ours", pairs[0][0], 1.0)
            _show(peer.name, pairs[0][1], ratio)
            results[peer.name] = {"cpu_s": pairs[0][1].cpu_s, "peak_bytes": pairs[0][1].peak_bytes, "cpu_x_ours": ratio}
    options.results.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


def _environment(peer: Peer, folder: Path) -> Path:
    """The Python of the environment of a peer, made where there is none yet."""
    home = folder / peer.name
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        venv.create(home, with_pip=True, clear=True)
        run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *peer.requirements])
        (home / "installed").touch()
    return python.absolute()


def _show(name: str, measured: Run, ratio: float) -> None:
    print(
        f"{name:24}{measured.cpu_s:8.2f}{measured.wall_s:8.2f}{measured.peak_bytes / 1e6:9.0f}{ratio:12.1f}", flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
