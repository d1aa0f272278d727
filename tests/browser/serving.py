"""Starts TensorBoard and dlprofviewer, as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE_S, wait_for

VIEWS = (
    "dashboard",
    "recommendations",
    "modules",
    "ops",
    "efficiency",
    "iterations",
    "timeline",
    "memory",
    "gpus",
    "compare",
)
"""The pages as the URL names them."""

ADDRESS = re.compile(r" at (http://[\w.]+:\d+/)")


class TensorBoard:
    """A running TensorBoard: its address, and what the plugin's routes answer."""

    def __init__(self, address: str, process_id: int) -> None:
        self.address = address
        self.process_id = process_id

    def get(self, route: str, **query: str) -> Any:
        """The JSON that ``route`` answers."""
        url = f"{self.address}data/plugin/dlprof/{route}?{urllib.parse.urlencode(query)}"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                # As pages do, while a database of NVIDIA's is read for the first time.
                if error.code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                    raise
            time.sleep(0.5)

    def profiles(self) -> list[dict[str, Any]]:
        """The profiles once the first scan has ended."""
        answer = wait_for(lambda: (response := self.get("profiles"))["scan"]["state"] != "scanning" and response)
        return list(answer["profiles"])

    def profile(self, run: str) -> dict[str, Any]:
        """The only profile of a run."""
        (result,) = (profile for profile in self.profiles() if profile["run"] == run)
        return result

    def dashboard(self, run: str) -> dict[str, Any]:
        """The Dashboard's answer for the only profile of a run."""
        return dict(self.get("dashboard", profile=self.profile(run)["id"]))

    def page(self, **state: str) -> str:
        """The address of the tab on its own, showing a state."""
        return f"{self.address}data/plugin_entry.html?name=dlprof{_hash(state)}"

    def tab(self, query: str = "", **state: str) -> str:
        """The address of the tab inside TensorBoard."""
        return f"{self.address}{query}{_hash(state)}"


def _hash(state: dict[str, str]) -> str:
    return "#dlprof" + "".join(
        f"&p.dlprof.{key.replace('__', '.')}={urllib.parse.quote(value, safe='')}" for key, value in state.items()
    )


class Viewer(TensorBoard):
    """A running ``dlprofviewer``, which has no page but its own."""

    def page(self, **state: str) -> str:
        """The address of the page, showing a state."""
        return f"{self.address}{_hash(state)}"


@contextlib.contextmanager
def running(logdir: Path, cache: Path, *flags: str) -> Iterator[TensorBoard]:
    """TensorBoard on ``logdir``, ended afterwards."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0"]
    with _started([*command, "--dlprof_cache_dir", str(cache), *flags], {}) as (address, process_id):
        yield TensorBoard(address, process_id)


@contextlib.contextmanager
def viewing(profile: Path, cache: Path, *flags: str, python: Path | None = None) -> Iterator[Viewer]:
    """``dlprofviewer`` on a file or folder, ended afterwards; in another Python, where one is given."""
    command = [str(python or sys.executable), "-m", "tensorboard_plugin_dlprof.viewer", "-p", "0", *flags, str(profile)]
    with _started(command, {"XDG_CACHE_HOME": str(cache)}) as (address, process_id):
        yield Viewer(address, process_id)


@contextlib.contextmanager
def _started(command: list[str], environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """A server, with the address that it says it is at, and its process id."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
    )
    said: list[str] = []
    result = threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if ADDRESS.search(line):
                result.set()
        result.set()

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        result.wait(PATIENCE_S)
        address = next((match.group(1) for line in said if (match := ADDRESS.search(line))), None)
        assert address is not None, "The server did not start:\n" + "".join(said[-20:])
        yield address, process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listener.join()
        if process.stdout is not None:
            process.stdout.close()
