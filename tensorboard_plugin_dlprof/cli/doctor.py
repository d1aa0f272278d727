"""Print what a bug report should contain: versions, paths, the cache, and whether a tiny profile can be imported.

Nothing leaves the machine, and nothing is written except a temporary folder, which is removed again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME, VERSION

_PACKAGES = ("tensorboard", "numpy", "pandas", "msgspec", "protobuf", "werkzeug")

_WAIT_SECONDS = 60.0

_KERNEL = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for scripts")


def run(arguments: argparse.Namespace) -> int:
    """Print the facts on stdout. Returns 1 if the tiny profile cannot be imported and read."""
    facts = dict(_facts())
    started = time.monotonic()
    problem = _round_trip()
    facts["round trip"] = problem or f"passed in {time.monotonic() - started:.1f} s"
    if arguments.format == "json":
        json.dump({**facts, "passed": not problem}, sys.stdout, indent=2)
        print()
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name:<{width}}  {value}")
    return exit_codes.FAILURE if problem else exit_codes.SUCCESS


def _facts() -> Iterator[tuple[str, str]]:
    import sqlite3
    from importlib import metadata

    yield "dlprof", f"{VERSION} in {Path(__file__).resolve().parents[1]}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}) at {sys.executable}"
    # platform.platform() would start the program uname.
    yield "system", f"{platform.system()} {platform.release()} on {platform.machine()}, {os.cpu_count()} CPUs"
    yield (
        "SQLite",
        f"{sqlite3.sqlite_version}, limits {'yes' if hasattr(sqlite3.Connection, 'setlimit') else 'no'}, "
        f"switches {'yes' if hasattr(sqlite3.Connection, 'setconfig') else 'no'}",
    )
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            yield package, "is not installed"
    result = [entry for entry in metadata.entry_points(group="tensorboard_plugins") if entry.name == PLUGIN_NAME]
    yield "plugin", f"{result[0].value}" if result else "TensorBoard cannot find it: install the package with pip"
    yield from _cache_facts()
    yield "temporary folder", tempfile.gettempdir()


def _cache_facts() -> Iterator[tuple[str, str]]:
    from tensorboard_plugin_dlprof.imports.cache import Cache
    from tensorboard_plugin_dlprof.imports.manager import GIGABYTE, default_memory_bytes

    cache = Cache()
    nearest = next(folder for folder in (cache.folder, *cache.folder.parents) if folder.exists())
    yield "cache", f"{cache.folder}, {cache.state()}{'' if os.access(nearest, os.W_OK) else ', CANNOT be written to'}"
    yield "memory of an import", f"at most {default_memory_bytes() / GIGABYTE:.1f} GB"


def _round_trip() -> str:
    """Import a profile of one kernel in a worker process and read its headline; what goes wrong, or empty."""
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.errors import ProfileError
    from tensorboard_plugin_dlprof.imports.cache import Cache
    from tensorboard_plugin_dlprof.imports.manager import ImportManager, Source
    from tensorboard_plugin_dlprof.queries.headline import headline

    with tempfile.TemporaryDirectory(prefix="dlprof-doctor-") as folder:
        trace = Path(folder, "doctor.pt.trace.json").resolve()
        trace.write_text(json.dumps(_trace()), encoding="utf-8")
        status = trace.stat()
        source = Source("doctor", trace, status.st_size, status.st_mtime_ns, trace.name)
        imports = ImportManager(Cache(Path(folder, "cache")))
        try:
            imports.start(source)
            end = time.monotonic() + _WAIT_SECONDS
            while imports.is_busy() and time.monotonic() < end:
                time.sleep(0.02)
            if (state := imports.status("doctor")) is not None:
                imports.cancel("doctor")
                return f"FAILED: {state.message or 'the import did not end in time'}"
            database = imports.cache.find(trace, status.st_size, status.st_mtime_ns)
            if database is None:
                return "FAILED: the import made no database"
            with opened_database(database) as connection:
                result = headline(connection)
        except ProfileError as error:
            return f"FAILED: {error}"
    wall_ns, iterations, fraction = result["wall_time_ns"], result["iterations"], result["gpu_utilization_fraction"]
    if (wall_ns, iterations, fraction) != (1_000_000, 1, 0.25):
        return f"FAILED: the numbers are wrong: {wall_ns} ns, {iterations} iterations, GPU utilization {fraction}"
    return ""


def _trace() -> dict[str, object]:
    """One step of 1 ms with a kernel of 250 µs."""
    host, gpu = {"ph": "X", "pid": 1, "tid": 1}, {"ph": "X", "pid": 0, "tid": 7}
    launch: dict[str, object] = {"correlation": 1}
    on_gpu = {**launch, "device": 0, "stream": 7}
    return {
        "schemaVersion": 1,
        "traceEvents": [
            {**host, "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 1_000},
            {**host, "cat": "cpu_op", "name": "aten::mm", "ts": 100, "dur": 100},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 110, "dur": 10, "args": launch},
            {
                **gpu,
                "cat": "kernel",
                "name": _KERNEL,
                "ts": 200,
                "dur": 250,
                "args": on_gpu,
            },
        ],
    }
