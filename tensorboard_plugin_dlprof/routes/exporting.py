"""Workbooks and PDFs are written in processes of their own, so that they hold up no page, and few at once."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.child import Child
from tensorboard_plugin_dlprof.routes import export, responses

AT_ONCE = 2
"""Most exports that are written at once, each on a processor of its own; further ones are refused."""

_WORKER = "tensorboard_plugin_dlprof.routes.export_worker"


class Exporter:
    """Starts the processes of one server.

    Args:
        cache: Provides work folders, which are deleted even if the server is killed.
    """

    def __init__(self, cache: Cache, memory_bytes: int) -> None:
        self._cache, self._memory_bytes = cache, memory_bytes
        self._places = threading.BoundedSemaphore(AT_ONCE)

    @contextmanager
    def place(self) -> Iterator[Path]:
        """A folder for one export, for as long as its file is needed; raises ``Busy`` if there are too many."""
        if not self._places.acquire(blocking=False):
            raise responses.Busy(f"{AT_ONCE} workbooks or PDFs are being written already; try again in a moment.")
        try:
            folder = self._cache.make_work_folder()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            self._places.release()

    def write(self, folder: Path, job: Mapping[str, Any], environ: Mapping[str, Any]) -> Path:
        """Do a job of ``export_worker``, and return the file.

        The process is ended when the client goes away, as far as the server of ``environ`` lets us see that.

        Raises:
            ProfileError: It failed, took too long, or nobody waits for it.
        """
        path = folder / "export"
        common = {"kind": "export", "database": os.fspath(path), "memory_bytes": self._memory_bytes}
        client: socket.socket | None = environ.get("werkzeug.socket")
        child = Child({**common, **job}, folder, _WORKER)
        outcome = child.listen_for(export.SECONDS, lambda: client is not None and _is_gone(client))
        if not outcome.finished:
            raise ProfileError(outcome.error or "The export took too long; filter the table or take CSV.")
        return path


def _is_gone(client: socket.socket) -> bool:
    """Whether the other side closed the connection: nothing but its end can be read of it."""
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
