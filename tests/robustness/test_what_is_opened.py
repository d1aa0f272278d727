"""What a TensorBoard with our plugin opens and connects to, as the kernel sees it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import write_trace
from tests.waiting import PATIENCE_S, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/lib", "/lib64", "/usr", "/run", "/var/lib", "/bin", "/sbin")
_OPENED = re.compile(r'open(?:at)?\((?:[^,"]+, )?"((?:[^"\\]|\\.)*)", ([A-Z_|]+).* = (\d+)')
_CONNECTED = re.compile(r"connect\(\d+, \{sa_family=(AF_\w+)(.*)\}")

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None or sys.platform != "linux", reason="strace is not installed (apt-get install strace)"
)


@contextmanager
def traced_tensorboard(log: Path, scratch: Path, *flags: str) -> Iterator[str]:
    """The address of a TensorBoard whose calls to the kernel are written down, its children's too."""
    command = ["strace", "-f", "-qq", "-s", "400", "-e", "trace=open,openat,connect", "-o", str(log)]
    command += [sys.executable, "-m", "tensorboard.main", "--port", "0", "--load_fast", "false", *flags]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if match := re.search(r"at (http://\S+)", line):
                yield match[1]
                return
        if "ptrace" in said:
            pytest.skip("this system does not let strace look")
        raise AssertionError(f"TensorBoard did not start: {said}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # strace itself waits for whom it watches
        process.wait(PATIENCE_S)
        if process.stderr is not None:
            process.stderr.close()


def get(url: str, body: bytes | None = None) -> dict[str, object]:
    """The JSON at an address."""
    headers = {"Content-Type": "application/json", "X-DLProf": "1"}
    with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers), timeout=PATIENCE_S) as answer:
        parsed: dict[str, object] = json.loads(answer.read())
        return parsed


def test_only_allowed_files_are_opened_and_nothing_is_called_up(tmp_path: Path) -> None:
    """Scan, import on demand and pages, with links that lead out of the log directory and a writable neighbour."""
    logs, outside, cache = tmp_path / "logs", tmp_path / "outside", tmp_path / "cache"
    source = write_trace(outside / "secret.pt.trace.json")
    made = write_trace(logs / "made" / "a.json")
    import_source(made, logs / "made" / database_name(made.name), ImportOptions(), lambda _stage, _fraction: None)
    made.unlink()
    write_trace(logs / "waits" / "b.pt.trace.json")
    (logs / "out").symlink_to(outside)
    (logs / "made" / "c.pt.trace.json").symlink_to(source)
    log, scratch = tmp_path / "calls", tmp_path / "scratch"
    scratch.mkdir()
    with traced_tensorboard(log, scratch, "--logdir", str(logs), "--dlprof_cache_dir", str(cache)) as url:
        base = f"{url}data/plugin/dlprof/"

        def profiles() -> dict[str, dict[str, str]]:
            return {profile["name"]: profile for profile in get(f"{base}profiles")["profiles"]}  # type: ignore[attr-defined]

        result = wait_for(lambda: len(result := profiles()) == 2 and result)
        get(f"{base}import", json.dumps({"profile": result["b.pt.trace.json"]["id"]}).encode())
        wait_for(lambda: profiles()["b.pt.trace.json"]["state"] == "ready")
        for profile in profiles().values():
            get(f"{base}dashboard?profile={profile['id']}")
            get(f"{base}table?table=ops&profile={profile['id']}")
    calls = log.read_text(errors="replace")
    connected = [match.groups() for match in _CONNECTED.finditer(calls)]
    assert [call for call in connected if not is_of_this_machine(*call)] == []
    # TensorBoard itself lists folders behind links, to find event files.
    files = [(path, flags) for path, flags, _ in _OPENED.findall(calls) if "O_DIRECTORY" not in flags]
    opened = [(os.path.realpath(path), flags) for path, flags in files if path.startswith("/")]
    assert str(logs / "waits" / "b.pt.trace.json") in {path for path, _ in opened}, "the log is one of opened files"
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages(), site.getusersitepackages()}
    python |= {*map(os.path.realpath, sysconfig.get_paths().values()), str(Path(sys.executable).parent)}
    allowed = (*SYSTEM, *map(os.path.realpath, python), str(REPOSITORY), str(logs), str(cache), str(scratch))
    assert {path for path, _ in opened if not is_below(path, allowed)} == set()
    assert [
        path for path, flags in opened if is_below(path, [str(logs)]) and re.search("WRONLY|RDWR|CREAT", flags)
    ] == []


def is_below(path: str, folders: object) -> bool:
    """Whether the path is one of the folders or below it."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)  # type: ignore[attr-defined]


def is_of_this_machine(family: str, address: str) -> bool:
    """Whether a connection stays on this machine."""
    return family in ("AF_UNIX", "AF_NETLINK", "AF_UNSPEC") or bool(re.search(r'"(127\.|::1")', address))
