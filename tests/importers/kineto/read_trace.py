"""Reads traces with any number of processes, as a program of its own: ``read_trace.py JOB``, JOB being JSON.

Prints JSON: for each trace what distinguishes captures, how many copies the process made of itself, and how often
it opened a trace. A test process may have threads, and a process with threads makes no copies.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter, reader


def digests(capture: Capture) -> dict[str, str]:
    """A digest of each part of a capture."""
    result = {"strings": _digest("\0".join(capture.strings.texts()).encode())}
    for part in capture.__struct_fields__:
        table = getattr(capture, part)
        if not isinstance(table, msgspec.Struct):
            if part not in ("strings", "store"):
                result[part] = _digest(repr(table).encode())
            continue
        for column in table.__struct_fields__:
            value = getattr(table, column)
            data = np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            result[f"{part}.{column}"] = _digest(data)
    return result


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main() -> None:
    """Reads the traces of the job that the command line gives."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    reader.CHUNK_BYTES = job["chunk_bytes"]
    copies: list[int] = []
    os.register_at_fork(after_in_parent=lambda: copies.append(1))
    if job.get("copies_die"):
        os.register_at_fork(after_in_child=lambda: os._exit(1))
    options = ReadOptions(workers=job["workers"], parallel_from_bytes=0, **job.get("options", {}))
    opened: list[str] = []
    sys.addaudithook(lambda what, given: opened.append(str(given[0])) if what == "open" else None)
    try:
        result = [digests(KinetoImporter().read(Path(path), options, lambda *_: None)) for path in job["traces"]]
    except ProfileError as error:
        if not job.get("may_fail"):
            raise
        print(json.dumps({"error": str(error)}))
        return
    times = sum(path in job["traces"] for path in opened)
    print(json.dumps({"captures": result, "copies": len(copies), "opened": times}))


if __name__ == "__main__":
    main()
