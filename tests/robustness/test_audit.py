"""What the commands open, connect to and start, as Python itself reports it: on every system, without any tool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from tests.imports.traces import write_trace

REPOSITORY = Path(__file__).resolve().parents[2]
WATCHED = (
    *("open", "sqlite3.connect", "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"),
    *("socket.gethostbyname", "urllib.Request", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"),
)

HOOK = f"""
import json, os, sys
_log = os.open(os.environ["DLPROF_TEST_AUDIT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def _note(event, arguments):
    if event == "socket.bind" and arguments[1][:2] == ("::1", 0):
        return  # urllib3, which TensorBoard imports where boto3 is installed, asks whether the machine knows IPv6
    if event in {WATCHED!r} and not (event == "open" and not isinstance(arguments[0], (str, bytes, os.PathLike))):
        first = arguments[1] if event == "socket.connect" else arguments[0]
        name = os.fsdecode(first) if isinstance(first, (str, bytes, os.PathLike)) else ascii(first)
        os.write(_log, (json.dumps([event, name, os.getcwd()]) + "\\n").encode())
sys.addaudithook(_note)
"""
"""A ``sitecustomize`` module: every Python process of the test reports from its first moment, worker processes too."""

COMMANDS = (
    ("import", "{logs}/a.pt.trace.json", "-o", "{out}", "--scalars"),
    ("check", "{logs}/a.pt.trace.json"),
    ("check", "{out}/a.dlprof_dldb.sqlite"),
    ("summary", "{out}/a.dlprof_dldb.sqlite"),
    ("reports", "{out}/a.dlprof_dldb.sqlite", "--formats", "csv,json,md,html", "--output_path", "{out}/reports"),
    ("aggregate", "{out}/a.dlprof_dldb.sqlite", "--iter-start", "1"),
    ("cache", "--dir", "{out}"),
    ("doctor",),
)


def audited(folder: Path, command: tuple[str, ...], **places: Path) -> list[tuple[str, str]]:
    """Event and subject of all that a command and its children did."""
    hook, log = folder / "hook", folder / "audit"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(HOOK)
    log.unlink(missing_ok=True)
    words = [word.format(**places) for word in command]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(hook), str(REPOSITORY)]),
        "DLPROF_TEST_AUDIT": str(log),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tensorboard_plugin_dlprof", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=folder,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result = []
    for line in log.read_text(encoding="ascii").splitlines():
        event, subject, working = json.loads(line)
        if event in ("open", "sqlite3.connect") and not subject.startswith("file:"):
            subject = os.path.join(working, subject)  # noqa: PTH118
        result.append((event, subject))
    return result


def planted(folder: Path) -> Path:
    """A trace that names a file outside wherever a path or an address can stand."""
    secret = folder / "outside" / "secret.json"
    secret.parent.mkdir()
    secret.write_text("{}")
    source = write_trace(folder / "logs" / "a.pt.trace.json")
    trace = json.loads(source.read_text())
    for event in trace["traceEvents"]:
        event["args"] |= {
            "Call stack": f"{secret}(1): f;{secret}(2): g",
            "file": str(secret),
            "url": "http://example.com/",
        }
    trace |= {"traceName": str(secret), "include": f"file://{secret}", "next": "https://example.com/trace.json"}
    source.write_text(json.dumps(trace))
    (source.parent / "b.pt.trace.json").symlink_to(secret)
    return secret


@pytest.mark.skipif(os.name != "posix", reason="the folders that Python itself reads are told apart on POSIX only")
def test_commands_open_what_they_are_told_and_call_up_nobody(tmp_path: Path) -> None:
    """Whatever stands in the file: no path in it is opened, no connection is made, no program but Python is started."""
    secret = planted(tmp_path)
    places = {"logs": tmp_path / "logs", "out": tmp_path / "out"}
    python = {
        sys.prefix,
        sys.base_prefix,
        *sysconfig.get_paths().values(),
        str(Path(sys.executable).resolve().parents[1]),
    }
    system = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/bin", "/System", "/Library")
    temporary = Path(tempfile.gettempdir())
    for command in COMMANDS:
        seen = audited(tmp_path, command, **places)
        assert {event for event, _ in seen} <= {"open", "sqlite3.connect", "subprocess.Popen"}, command
        assert {subject for event, subject in seen if event == "subprocess.Popen"} <= {sys.executable}, command
        files = {subject for event, subject in seen if event == "open"}
        own = [*places.values(), tmp_path / "hook", tmp_path / "cache", tmp_path / "audit", REPOSITORY]
        allowed = [os.path.realpath(folder) for folder in (*own, *python)] + [*python, *system]
        strangers = {
            file
            for file in files
            if not any(f"{os.path.realpath(file)}/".startswith(f"{folder}/") for folder in allowed)
            and not is_scratch(Path(file), temporary)
        }
        assert strangers == set(), command
        assert not any(str(secret) in subject for _, subject in seen), command


def is_scratch(path: Path, temporary: Path) -> bool:
    """Whether a file is in a temporary folder that one of our commands made, or a trial of tempfile itself."""
    try:
        first, *below = path.relative_to(temporary).parts
    except ValueError:
        return False
    return first.startswith("dlprof-") or (not below and len(first) == 8)
