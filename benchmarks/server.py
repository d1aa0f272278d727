"""Starts a TensorBoard, asks it over HTTP as a browser would, and reads its memory and processor time."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_ADDRESS = re.compile(r" at http://([\w.]+):(\d+)/")
_START_WITHIN_S = 300.0


class Server:
    """A running TensorBoard."""

    def __init__(self, host: str, port: int, process_id: int) -> None:
        self.host, self.port, self._process_id = host, port, process_id

    @staticmethod
    def path(route: str, **query: object) -> str:
        """The address of a question."""
        return f"/data/plugin/dlprof/{route}?{urllib.parse.urlencode(query)}"

    def ask(self, path: str) -> Any:
        """The JSON that the plugin answers."""
        return json.loads(self.get(path))

    def get(self, path: str, compressed: bool = False) -> bytes:
        """What the plugin answers, as browsers ask if ``compressed``; TensorBoard closes each connection."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=300)
        try:
            connection.request("GET", path, headers={"Accept-Encoding": "gzip"} if compressed else {})
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{path} answered {answer.status}: {body[:500].decode(errors='replace')}")
        return body

    def profile(self, name: str = "") -> str:
        """The id of the first profile, or of the one with this name, once all are found."""
        deadline = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < deadline:
            listing = self.ask(self.path("profiles"))
            if listing["profiles"] and listing["scan"]["state"] == "done":
                return str(next(each["id"] for each in listing["profiles"] if name in ("", each["name"])))
            time.sleep(0.05)
        raise RuntimeError("TensorBoard found no profile.")

    def memory_bytes(self) -> int:
        """Memory of the process; 0 where the system does not report it."""
        status = Path(f"/proc/{self._process_id}/statm")
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0

    def cpu_s(self) -> float:
        """Time of the processor that the process has used, in hundredths; 0 where the system does not tell."""
        status = Path(f"/proc/{self._process_id}/stat")
        if not status.exists():
            return 0.0
        # The name of the program stands in brackets and may hold anything.
        fields = status.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*databases: Path) -> Iterator[Server]:
    """Run TensorBoard with a profile in each of its runs; it is ended afterwards."""
    with tempfile.TemporaryDirectory(dir=databases[0].parent) as folder:
        logs = Path(folder) / "logs"
        for number, database in enumerate(databases):
            run = logs / f"run{number}"
            run.mkdir(parents=True)
            # A hard link: the server follows no links that lead out of its directory, and a copy would take a minute.
            os.link(database, run / "made.dlprof_dldb.sqlite")
        with serving_folder(logs, Path(folder) / "cache") as server:
            yield server


@contextmanager
def serving_folder(logs: Path, cache: Path) -> Iterator[Server]:
    """Run TensorBoard with a log directory; it is ended afterwards."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logs), "--port", "0"]
    with started([*command, "--dlprof_cache_dir", str(cache)]) as (host, port, process_id):
        yield Server(host, port, process_id)


@contextmanager
def started(command: list[str], environment: Mapping[str, str] | None = None) -> Iterator[tuple[str, int, int]]:
    """A server, with host and port as it says them, and its process id."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=said, env=None if environment is None else dict(environment)
        )
        try:
            yield *_address(process, said), process.pid
        finally:
            process.terminate()
            process.wait(60)


def _address(process: subprocess.Popen[bytes], said: IO[str]) -> tuple[str, int]:
    deadline = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < deadline:
        said.seek(0)
        text = said.read()
        if address := _ADDRESS.search(text):
            return address[1], int(address[2])
        if process.poll() is not None:
            raise RuntimeError(f"The server did not start: {text[-2000:]}")
        time.sleep(0.02)
    raise RuntimeError("The server did not say its address.")
