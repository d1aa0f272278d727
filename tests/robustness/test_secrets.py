"""What the profiled process kept in its environment and on its command line stays out of everything that we write."""

from __future__ import annotations

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.importers.nsight.exports import Table, process, strings, thread, write_export
from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.shared_data import shared_data
from tests.waiting import wait_for

SECRETS = {
    "WANDB_API_KEY": "s3cr3t-planted-in-the-environment",
    "AWS_SECRET_ACCESS_KEY": "AKIA-planted/with+odd=letters",
    "HOME_MADE": "hunter2-planted",
}
ON_COMMAND_LINE = "t0ken-planted-on-the-command-line"


def planted() -> list[bytes]:
    """Every secret, as bytes to search for."""
    return [secret.encode() for secret in (*SECRETS.values(), ON_COMMAND_LINE)]


def export(folder: Path) -> Path:
    """An export of Nsight Systems as it is recorded: the whole environment and the command line are in it."""
    environment = "\0".join([*(f"{name}={value}" for name, value in SECRETS.items()), "RANK=1", "WORLD_SIZE=2"])
    command = f"python train.py --api-key {ON_COMMAND_LINE} --hub_token={ON_COMMAND_LINE}"
    tables: dict[str, Table] = {
        "StringIds": strings("", "some_kernel", "cudaLaunchKernel", "step"),
        "CUPTI_ACTIVITY_KIND_KERNEL": (
            "start end deviceId contextId streamId correlationId globalPid demangledName shortName",
            [[200, 450, 0, 1, 7, 1, process(100), 1, 1]],
        ),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (
            "start end eventClass globalTid correlationId nameId returnValue",
            [[110, 120, 0, thread(100, 100), 1, 2, 0]],
        ),
        "NVTX_EVENTS": ("start end eventType text globalTid textId", [[100, 500, 59, "step", thread(100, 100), None]]),
        "TARGET_INFO_SYSTEM_ENV": (
            "globalVid devStateName name nameEnum value",
            [
                [0, "", "DeviceEnvironment", 1, environment],
                [0, "", "CommandLine", 2, command],
                [0, "", "Hostname", 3, f"host1\0HUB_TOKEN={ON_COMMAND_LINE}"],
                [0, "", "CpuDescription", 4, f"a CPU --token {ON_COMMAND_LINE}"],
                [0, "", "NvDriverVersion", 5, "550.54\0" + environment],
            ],
        ),
        "META_DATA_CAPTURE": ("name value", [["PROCESS_COMMAND_LINE", command], ["ENVIRONMENT", environment]]),
        "META_DATA_EXPORT": ("name value", [["EXPORT_PRODUCT_VERSION", f"2024.1 API_KEY={ON_COMMAND_LINE}"]]),
        "PROCESSES": ("globalPid pid name", [[process(100), 100, command]]),
    }
    folder.mkdir()
    return write_export(folder / "report.sqlite", tables)


def kineto(folder: Path) -> Path:
    """A trace whose metadata holds what a careless wrapper may have put there."""
    path = write_trace(folder / "a.pt.trace.json")
    trace = json.loads(path.read_text())
    trace["environment"] = SECRETS
    trace["command_line"] = f"python train.py --token {ON_COMMAND_LINE}"
    path.write_text(json.dumps(trace))
    return path


def files_below(folder: Path, *but: Path) -> dict[Path, bytes]:
    """Every byte that was written."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path not in but}


def test_the_planted_export_is_one(tmp_path: Path) -> None:
    """The secrets are in the source as Nsight puts them there, NULs included; the importer takes it."""
    path = export(tmp_path / "logs")
    assert find_importer(path).name == "nsight_systems"
    with closing(sqlite3.connect(path)) as connection:
        (value,) = connection.execute(
            "SELECT CAST(value AS BLOB) FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'DeviceEnvironment'"
        ).fetchone()
    assert all(secret.encode() in value for secret in SECRETS.values())


@pytest.mark.parametrize("make", [export, kineto], ids=["nsight", "kineto"])
def test_no_secret_reaches_what_the_commands_write(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """Databases, event files with scalars, reports, checks and messages, of the real program with all its logging."""
    source = make(tmp_path / "logs")
    written = b""
    for arguments in (
        ["import", str(source), "--scalars", "--profile-name", "x"],
        ["summary", str(source)],
        ["summary", str(source), "--format", "json"],
        ["check", str(source), "--format", "json"],
    ):
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", _LOUD, *arguments],
            capture_output=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", **SECRETS},
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr.decode()
        written += done.stdout + done.stderr
    outputs = files_below(tmp_path, source)
    assert any(path.name.endswith("dlprof_dldb.sqlite") for path in outputs)
    assert any("tfevents" in path.name for path in outputs)
    for secret in planted():
        assert secret not in written
        assert [path.name for path, content in outputs.items() if secret in content] == []


_LOUD = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from tensorboard_plugin_dlprof.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("make", [export, kineto], ids=["nsight", "kineto"])
def test_no_secret_reaches_the_browser_or_the_log(
    make: Callable[[Path], Path], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an import on demand: every route, the cache and the log at its loudest. The server's own secrets neither."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    name = make(tmp_path / "logs").name
    server = Server(tmp_path / "logs", tmp_path / "cache")
    profile = server.profile(name)["id"]
    server.change("/import", profile)
    wait_for(lambda: not server.services.imports.is_busy())
    server.rescan()
    assert server.wait_for_state(name, "ready")
    answers = [server.get("/profiles").data]
    for route in server.app.routes():
        for table in ("ops", "kernels_of_op"):
            answers.append(server.get(f"{route}?profile={profile}&table={table}&op=step").data)
    server.app.close()
    written = b"".join([*answers, *files_below(tmp_path / "cache").values(), caplog.text.encode()])
    for secret in planted():
        assert secret not in written


def test_the_command_line_that_is_stored_is_masked(tmp_path: Path) -> None:
    """Our own, which may hold a token as well: here in the name of a folder."""
    source = write_trace(tmp_path / "a.json")
    folder = tmp_path / f"token={ON_COMMAND_LINE}"
    command = [sys.executable, "-m", "tensorboard_plugin_dlprof", "import", "a.json", "-o", folder.name]
    assert subprocess.run(command, capture_output=True, check=False, cwd=source.parent).returncode == 0
    with closing(sqlite3.connect(folder / "a.dlprof_dldb.sqlite")) as connection:
        (stored,) = connection.execute("SELECT original_command FROM read_only_system_config").fetchone()
    assert stored == "dlprof import a.json -o 'token=***'"


MARK = "s3cr3t-planted-in-a-real-export"
LARGEST_BYTES = 3 << 20


def test_no_secret_of_a_real_export_is_kept(tmp_path: Path) -> None:
    """Planted in every text about the machine, the tool and the processes of each small real export."""
    sources = [path for path in shared_data().glob("nsight/*/*.sqlite") if path.stat().st_size < LARGEST_BYTES]
    assert sources
    for source in sources:
        copy = tmp_path / f"{source.parent.name}.sqlite"
        copy.write_bytes(source.read_bytes())
        assert plant(copy) > 0
        database = copy.with_name(database_name(copy.name))
        import_source(copy, database, ImportOptions(), lambda _stage, _fraction: None)
        assert MARK.encode() not in database.read_bytes(), source.parent.name


def plant(export: Path) -> int:
    """Adds a secret to texts about the machine, tool and processes; in how many places."""
    planted_in = 0
    with closing(sqlite3.connect(export)) as connection:
        tables = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if not table.startswith(("TARGET_INFO_SYSTEM", "META_DATA", "EXPORT_META", "PROCESSES", "ANALYSIS")):
                continue
            for column in {"value", "filename", "command"}.intersection(
                str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")
            ):
                planted_in += connection.execute(
                    f"UPDATE {table} SET {column} = {column} || char(0) || 'API_KEY={MARK}' || ' --token {MARK}' "
                    f"WHERE typeof({column}) = 'text' AND name NOT LIKE '%SCHEMA%'"
                    if column == "value"
                    else f"UPDATE {table} SET {column} = {column} || ' --token {MARK}' WHERE typeof({column}) = 'text'"
                ).rowcount
        connection.commit()
    return planted_in
