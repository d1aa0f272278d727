"""``dlprof demo``: the samples in a real TensorBoard."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files
from tests.waiting import PATIENCE_S, wait_for


def test_every_sample_gets_a_database_and_the_second_start_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log directory is kept; what is current in it stays."""
    assert main(["demo", "--no-serve", "--logdir", str(tmp_path / "logs")]) == 0
    lines = capsys.readouterr().out.splitlines()
    databases = {path: path.stat().st_ino for path in tmp_path.rglob("*.dlprof_dldb.sqlite")}
    assert len(databases) == len(lines) >= 3
    assert all(find_event_files(path.parent) for path in databases)
    assert main(["demo", "--no-serve", "--logdir", str(tmp_path / "logs")]) == 0
    assert capsys.readouterr().out.count("up to date") == len(lines)
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.dlprof_dldb.sqlite")} == databases


def fetch(url: str) -> Any:
    """JSON of a server on this machine."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def test_the_address_that_is_printed_shows_the_samples(tmp_path: Path) -> None:
    """TensorBoard lists our plugin, the plugin the samples; ending it leaves no traceback."""
    command = [sys.executable, "-m", "tensorboard_plugin_dlprof", "demo", "--port", "0", "--logdir", str(tmp_path)]
    errors = tmp_path / "errors.txt"
    with errors.open("wb") as stderr, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as demo:
        assert demo.stdout is not None
        try:
            line = next((line for line in demo.stdout if b"http://" in line), b"").decode()
            address = re.search(r"(http://localhost:\d+/)#dlprof&p\.dlprof\.profile=(\w+)&p\.dlprof\.base=(\w+) ", line)
            assert address, errors.read_text()
            assert fetch(address[1] + "data/plugins_listing")["dlprof"]["enabled"]
            listed = address[1] + "data/plugin/dlprof/profiles"
            wait_for(lambda: fetch(listed)["scan"]["state"] == "done")
            profiles = fetch(listed)["profiles"]
            assert len(profiles) >= 3
            assert {profile["state"] for profile in profiles} == {"ready"}
            runs = {profile["id"]: profile["run"] for profile in profiles}
            assert [runs[each] for each in address.groups()[1:]] == ["resnet50/amp", "resnet50/fp32"]
            assert {"job/eight_ranks/host0", "transformer/jax"} <= set(runs.values())
        finally:
            # Not Ctrl-C: a shell may have started the tests in the background, where it is ignored.
            demo.terminate()
            try:
                code = demo.wait(timeout=PATIENCE_S)
            finally:
                demo.kill()
        assert code == 128 + signal.SIGTERM
    assert "Traceback" not in errors.read_text()
