"""What a process leaves behind is known by its name, to processes that number processes in the same way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tensorboard_plugin_dlprof.opening.owners import is_gone, owner

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only POSIX tells whether a process is there")

CONTAINER = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
"""Runs a command that numbers its processes for itself, under the host's name."""

ASK = "import sys; from tensorboard_plugin_dlprof.opening.owners import is_gone; print(is_gone(sys.argv[1]))"


def ended() -> str:
    """The name of a process that has ended."""
    program = "from tensorboard_plugin_dlprof.opening.owners import owner; print(owner())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_process_is_gone_when_it_has_ended() -> None:
    """And names that nobody gave are never gone."""
    assert not is_gone(owner())
    assert is_gone(ended())
    for name in ("", "-", "otherhost-123", ended().replace("-", "-0000000000"), f"{ended()}-1"):
        assert not is_gone(name)


def test_a_container_does_not_tell_of_processes_outside() -> None:
    """Their numbers mean others there, or none, whatever the name of the host is."""
    try:
        subprocess.run([*CONTAINER, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no container can be made here")
    for name in (owner(), ended()):
        answer = subprocess.run([*CONTAINER, sys.executable, "-c", ASK, name], capture_output=True, text=True)
        assert answer.stdout == "False\n"
