"""The process that imports one source: ``python -m tensorboard_plugin_dlprof.imports.worker``.

It reads one line of JSON from standard input (the job), and writes lines of JSON to standard output: progress, and
at the end the result or the error. It ends when standard input closes, so it does not outlive the server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

PROGRESS_SECONDS = 0.1
EXIT_FAILED = 3
EXIT_ORPHANED = 4


def main() -> int:
    """Does the job of standard input; returns the exit code."""
    line = sys.stdin.readline()
    if not line:
        return EXIT_ORPHANED
    job = json.loads(line)
    # What a library prints must not end up between the lines for the server.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    _be_modest(job["memory_bytes"])
    try:
        _say(report, {"result": _import(job, report)})
    except _Failed as failed:
        _say(report, {"error": str(failed)})
        return EXIT_FAILED
    return 0


class _Failed(Exception):
    """Carries the sentence for the user."""


def _import(job: dict[str, Any], report: Any) -> dict[str, Any]:
    # Imported under the memory limit, and after standard output was put aside.
    from tensorboard_plugin_dlprof.errors import ProfileError
    from tensorboard_plugin_dlprof.opening.regular_file import unmoved
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    last = 0.0

    def progress(stage: str, fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS or fraction >= 1:
            last = now
            _say(report, {"stage": stage, "fraction": round(min(max(fraction, 0.0), 1.0), 4)})

    try:
        source = Path(job["source"])
        result = import_source(unmoved(source, source), Path(job["database"]), ImportOptions(), progress)
    except ProfileError as error:
        raise _Failed(str(error)) from error
    except MemoryError:
        raise _Failed(
            f"The import needs more than the {job['memory_bytes'] / (1 << 30):.2g} GB of memory that it may use; "
            "profile fewer steps, or raise --dlprof_memory_limit."
        ) from None
    except OSError as error:
        raise _Failed(f"The source cannot be imported: {os.strerror(error.errno or 0)}.") from error
    except Exception as error:
        # A bug: it would fail again in the same way, so this is no crash that is worth another attempt.
        traceback.print_exc()
        raise _Failed("The import failed through an error of the plugin; the log has the details.") from error
    return {"warnings": result.warnings}


def _say(report: Any, message: dict[str, Any]) -> None:
    report.write(json.dumps(message) + "\n")
    report.flush()


def _end_with_the_server() -> None:
    while os.read(0, 4_096):
        pass
    os._exit(EXIT_ORPHANED)


def _be_modest(memory_bytes: int) -> None:
    """Limits the memory, and lets the server and other users go first."""
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    # DATA counts what is written to, on Linux; AS would count every library and file that is mapped.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    limit = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(kind, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
