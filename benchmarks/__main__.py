"""Runs the benchmarks, prints ratios, and writes all results as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import clicking, frames, serving
from benchmarks.importing import measure_import
from benchmarks.machine import machine
from benchmarks.measuring import compile_modules
from benchmarks.starting import measure_start
from benchmarks.tiled_export import tile_export
from benchmarks.tiled_trace import tile_trace

SAMPLES = Path(__file__).parent.parent / "tensorboard_plugin_dlprof" / "samples" / "data"
TRACE = SAMPLES / "generated-resnet50-amp.pt.trace.json.gz"
EXPORT = SAMPLES / "generated-mnist-nsys.sqlite.gz"


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks that the command line asks for."""
    options = _parser().parse_args(argv)
    options.folder.mkdir(parents=True, exist_ok=True)
    compile_modules()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = run(options, Path(folder))
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(f"\nResults in {options.results}")
    return 0


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all benchmarks; their inputs and databases are kept in ``folder`` while they run."""
    results: dict[str, Any] = {"machine": machine(), "imports": {}, "serving": {}, "clicking": {}, "frames": {}}
    print(f"{'import':34}{'CPU s':>8}{'x floor':>9}{'2 workers':>11}{'s per GB':>10}{'peak MB':>9}{'bytes/kernel':>14}")
    for megabytes in options.sizes:
        plain = folder / f"trace_{megabytes}MB.json"
        tile_trace(options.trace, plain, megabytes * 10**6)
        results["imports"][plain.name] = _import(plain, folder, options.rounds)
        if megabytes == options.sizes[0]:
            packed = folder / f"trace_{megabytes}MB.json.gz"
            tile_trace(options.trace, packed, megabytes * 10**6)
            results["imports"][packed.name] = _import(packed, folder, options.rounds)
        plain.unlink()
    for kernels in options.kernels:
        export = folder / f"export_{kernels}_kernels.sqlite"
        tile_export(options.export, export, kernels, options.ranges)
        results["imports"][export.name] = _import(export, folder, options.rounds)
        export.unlink()
    print(f"\n{'question (ms)':40}{'first':>9}{'p50':>9}{'p95':>9}{'cpu':>9}{'p95 of 8':>9}{'cpu of 8':>9}")
    for name, result in results["imports"].items():
        if name == max(results["imports"], key=lambda item: results["imports"][item]["kernels"]):
            print(f"{name}: {result['kernels']:,} kernels")
            results["serving"][name] = _serve(Path(result["database"]), options.questions)
    for kernels, one_iteration in [(number, False) for number in options.serving] + [
        (number, True) for number in options.one_iteration
    ]:
        name = f"{kernels:,} kernels{' in one iteration' if one_iteration else ''}"
        print(name)
        database = folder / f"served_{kernels}_{int(one_iteration)}.dlprof_dldb.sqlite"
        serving.make(database, kernels, options.trace, one_iteration=one_iteration)
        results["serving"][name] = _serve(database, options.questions)
        database.unlink()
    for kernels in options.clicks:
        database = folder / f"clicked_{kernels}.dlprof_dldb.sqlite"
        serving.make(database, kernels, options.trace)
        clicking.add_aggregation(database)
        name = f"{kernels:,} kernels"
        results["clicking"][name] = clicking.measure([database, database], options.rounds, options.pages)
        print(f"\n{name} in a browser", *clicking.lines(results["clicking"][name]), sep="\n")
        database.unlink()
    for kernels in options.frames:
        database = folder / f"drawn_{kernels}.dlprof_dldb.sqlite"
        serving.make(database, kernels, options.trace)
        results["frames"][f"{kernels:,} kernels"] = measured = frames.measure(database)
        print(f"\n{kernels:,} kernels on the Timeline: {measured}", flush=True)
        database.unlink()
    results["start"] = measure_start(options.rounds)
    print(f"\nstart: {results['start']}")
    return results


def _serve(database: Path, questions: int) -> dict[str, Any]:
    result = serving.measure(database, questions)
    for question, times in result["answers"].items():
        print(f"{question:40}" + "".join(f"{value:9.2f}" for value in times.values()))
    print(
        f"{result['bytes_per_kernel']} bytes for each kernel, {result['memory_gained_bytes'] / 1e6:.0f} MB of memory",
        flush=True,
    )
    return result


def _import(source: Path, folder: Path, rounds: int) -> dict[str, Any]:
    result = measure_import(source, folder / "databases", rounds)
    per_gigabyte = result["import_cpu_s"] / result["expanded_bytes"] * 1e9
    per_kernel = result["database_bytes"] / max(result["kernels"], 1)
    print(
        f"{source.name:34}{result['import_cpu_s']:8.2f}{result['cpu_over_floor']:9.2f}"
        f"{result['wall_over_two_workers']:10.2f}x{per_gigabyte:10.2f}"
        f"{result['peak_bytes'] / 1e6:9.0f}{per_kernel:14.0f}",
        flush=True,
    )
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--trace", type=Path, default=TRACE, help="PyTorch trace to tile (default: one of our samples)")
    parser.add_argument("--export", type=Path, default=EXPORT, help="Nsight Systems export to tile")
    parser.add_argument(
        "--sizes", type=_numbers, default=[100, 500], metavar="MB,MB", help="sizes of the traces (default: 100,500)"
    )
    parser.add_argument(
        "--kernels", type=_numbers, default=[100_000], metavar="N,N", help="kernels of the exports (default: 100000)"
    )
    parser.add_argument("--ranges", type=int, default=0, metavar="N", help="NVTX ranges of the exports, at least")
    parser.add_argument(
        "--serving",
        type=_numbers,
        default=[],
        metavar="N,N",
        help="kernels of databases made for questions, such as 10000000",
    )
    parser.add_argument(
        "--one-iteration", type=_numbers, default=[], metavar="N,N", help="the same, all kernels in one iteration"
    )
    parser.add_argument(
        "--clicks", type=_numbers, default=[], metavar="N,N", help="kernels of databases made to be clicked through"
    )
    parser.add_argument(
        "--frames", type=_numbers, default=[], metavar="N,N", help="kernels of databases whose Timeline is drawn"
    )
    parser.add_argument(
        "--pages", type=_names, default=[], metavar="NAME,NAME", help="pages to click on, as in the menu (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument("--questions", type=int, default=serving.ROUNDS, help="number of questions of each kind")
    parser.add_argument("--folder", type=Path, default=Path("build/benchmarks"), help="folder for the inputs")
    parser.add_argument("--results", type=Path, default=Path("build/benchmarks.json"), help="file for the results")
    return parser


def _names(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


if __name__ == "__main__":
    sys.exit(main())
