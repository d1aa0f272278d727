"""``dlprofviewer``, started for real."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import write_trace
from tests.queries.profiles import ignore
from tests.waiting import PATIENCE_S, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
API = "/data/plugin/dlprof"
POST = {"Content-Type": "application/json", "X-DLProf": "1"}


class Viewer:
    """A running viewer."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with closing(connection):
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace")

    def json(self, path: str) -> Any:
        """What a route answers."""
        return json.loads(self.ask(f"{API}{path}")[2])

    def opened(self) -> dict[str, Any]:
        """What is said about the file of the command line, once the first scan has ended."""
        wait_for(lambda: self.json("/profiles")["scan"]["state"] == "done")
        result: dict[str, Any] = self.json("/profiles")["opened"]
        return result

    def profile(self) -> dict[str, Any]:
        """The one profile, once its database was opened."""
        wait_for(lambda: self.json("/profiles")["profiles"])
        wait_for(lambda: (entry := self.json("/profiles")["profiles"][0])["headline"] or entry["state"] != "ready")
        (result,) = self.json("/profiles")["profiles"]
        return dict(result)


def command(*arguments: str) -> list[str]:
    """As the console script calls it."""
    return [sys.executable, "-m", "tensorboard_plugin_dlprof.viewer", *arguments]


@contextmanager
def viewing(path: Path, *arguments: str) -> Iterator[Viewer]:
    """A viewer of a file or folder on a free port."""
    # Not below what is viewed: a copy with further aggregations would be one more profile of a folder.
    with TemporaryDirectory() as cache, ExitStack() as resources:
        process = resources.enter_context(
            subprocess.Popen(
                command("-p", "0", *arguments, str(path)),
                stdout=subprocess.PIPE,
                text=True,
                cwd=REPOSITORY,
                env={**os.environ, "XDG_CACHE_HOME": cache, "PYTHONUNBUFFERED": "1"},
            )
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            match = re.search(r"http://\S+:(\d+)/", line)
            assert match, line
            yield Viewer(int(match.group(1)))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three steps; another profile lies beside it, which nobody asked for."""
    folder = tmp_path_factory.mktemp("viewer")
    source = write_trace(folder / "a.json")
    import_source(source, folder / database_name(source.name), ImportOptions(), ignore)
    write_trace(folder / "other.pt.trace.json")
    return folder / database_name(source.name)


@pytest.fixture(scope="module")
def viewer(database: Path) -> Iterator[Viewer]:
    """Shows the database."""
    with viewing(database) as result:
        yield result


def test_the_page_loads_the_frontend_under_tensorboards_policy(viewer: Viewer) -> None:
    """The one inline script is allowed by its hash, and what it loads is there."""
    status, headers, page = viewer.ask("/")
    script = re.search(r'<script type="module">(.*?)</script>', page)
    assert status == 200
    assert script
    digest = base64.b64encode(hashlib.sha256(script.group(1).encode()).digest()).decode()
    policy = headers["Content-Security-Policy"]
    assert f"'sha256-{digest}'" in policy
    assert "default-src 'self'" in policy
    assert "object-src 'none'" in policy
    assert f'<base href="{API[1:]}/">' in page
    assert viewer.ask(f"{API}/static/index.js")[0] == 200


def test_it_opens_the_named_file_alone(viewer: Viewer, database: Path) -> None:
    """What lies beside it is not listed; the page knows what to open."""
    entry = viewer.profile()
    assert (entry["name"], entry["state"], entry["code"]) == (database.name, "ready", "")
    assert viewer.opened() == {"name": database.name, "profile": entry["id"], "code": "", "message": ""}
    assert viewer.json(f"/dashboard?profile={entry['id']}")["kernel_time"]["total"]["launches"] == 6


def test_every_route_of_tensorboard_is_there(viewer: Viewer) -> None:
    """Tables, exports, and aggregating anew."""
    profile = viewer.profile()["id"]
    assert viewer.json(f"/table?profile={profile}&table=op_types")["total"] == 1
    assert viewer.ask(f"{API}/export?profile={profile}&table=ops&format=csv")[2].count("\r\n") == 3
    body = {"profile": profile, "iter_start": 1}
    assert viewer.ask(f"{API}/aggregate", "POST", body, **{"Content-Type": "application/json"})[0] == 403
    assert viewer.ask(f"{API}/aggregate", "POST", body, **POST)[0] == 200
    jobs = f"/aggregation_jobs?profile={profile}"
    assert wait_for(lambda: viewer.json(jobs)["jobs"][0]["finished_at"])
    assert viewer.json(jobs)["jobs"][0]["state"] == "done"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_is_refused(viewer: Viewer, host: str) -> None:
    """A page of another site could have its name resolve to this machine. The page itself shows the refusal."""
    status, _, text = viewer.ask(f"{API}/profiles", Host=host)
    assert status == 403
    assert json.loads(text)["error"]["code"] == "foreign_host"
    assert "--allowed-hosts" in json.loads(text)["error"]["message"]
    assert viewer.ask("/", Host=host)[0] == viewer.ask(f"{API}/static/index.js", Host=host)[0] == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "localhost."])
def test_every_name_of_this_machine_is_taken(viewer: Viewer, host: str) -> None:
    """With any port: it may be forwarded by SSH."""
    assert viewer.ask(f"{API}/profiles", Host=host)[0] == 200


def test_a_name_that_is_allowed(database: Path) -> None:
    """And no other."""
    with viewing(database, "--allowed-hosts", "gpu1.example, proxy.example") as viewer:
        assert viewer.ask(f"{API}/profiles", Host="Proxy.Example:443")[0] == 200
        assert viewer.ask(f"{API}/profiles", Host="evil.example")[0] == 403


def test_other_pages_and_methods(viewer: Viewer) -> None:
    """The one error body."""
    assert json.loads(viewer.ask("/nothing")[2])["error"]["code"] == "not_found"
    assert viewer.ask("/", "POST")[0] == 405
    assert viewer.ask("/../../etc/passwd")[0] == 404


def test_a_folder(database: Path) -> None:
    """Everything below it; none of it is opened at once."""
    with viewing(database.parent) as viewer:
        wait_for(lambda: len(viewer.json("/profiles")["profiles"]) == 2)
        assert viewer.opened() == {"name": database.parent.name, "profile": None, "code": "", "message": ""}


def imported(viewer: Viewer) -> dict[str, Any]:
    """The profile once its import, which is asked for here, has ended."""
    assert viewer.ask(f"{API}/import", "POST", {"profile": viewer.profile()["id"]}, **POST)[0] == 200
    return dict(wait_for(lambda: (result := viewer.profile())["state"] in ("ready", "failed") and result))


@pytest.mark.parametrize("option", ["--cache-dir", "--dlprof_cache_dir"])
def test_a_folder_for_what_is_made(tmp_path: Path, option: str) -> None:
    """Where the usual one cannot be written to, the page names the option that is to be given."""
    source = write_trace(tmp_path / "a.json")
    (tmp_path / "file").write_text("")
    with viewing(source, option, str(tmp_path / "file" / "cache")) as viewer:
        assert "start the server with --dlprof_cache_dir" in str(imported(viewer))
    with viewing(source, option, str(tmp_path / "cache")) as viewer:
        assert imported(viewer)["state"] == "ready"
    assert list((tmp_path / "cache").glob("*.dlprof_dldb.sqlite"))


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_folder_into_which_links_may_lead(tmp_path: Path) -> None:
    """Others are refused, as in TensorBoard."""
    outside = write_trace(tmp_path / "scratch" / "a.json")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.json").symlink_to(outside)
    with viewing(tmp_path / "logs") as viewer:
        viewer.opened()
        result = viewer.json("/profiles")
        assert (result["profiles"], [link["name"] for link in result["scan"]["refused"]]) == ([], ["a.json"])
    with viewing(tmp_path / "logs", "--allowed-dirs", f"{tmp_path / 'none'},{outside.parent}") as viewer:
        assert viewer.profile()["state"] == "not_imported"


def test_a_source_is_imported_when_it_is_opened(tmp_path: Path) -> None:
    """Whatever it is called; its folder stays as it is."""
    folder = tmp_path / "profile"
    source = write_trace(folder / "trace.json").rename(folder / "my trace")
    with viewing(source) as viewer:
        entry = viewer.profile()
        assert entry["state"] == "not_imported"
        assert viewer.ask(f"{API}/import", "POST", {"profile": entry["id"]}, **POST)[0] == 200
        wait_for(lambda: viewer.profile()["state"] == "ready")
    assert [path.name for path in folder.iterdir()] == ["my trace"]


def changed(database: Path, path: Path, *statements: str) -> Path:
    """A copy of a database in which somebody changed something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(database.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


VERSION_IS = "UPDATE db_version SET current_version = "


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        (f"{VERSION_IS}'1.2.0'", "too_old"),
        ("DROP TABLE db_version", "too_old"),
        (f"{VERSION_IS}'0.9.0'", "too_old"),
        (f"{VERSION_IS}'1.9.0'", "too_new"),
        (f"{VERSION_IS}'2.0.0'", "too_new"),
        ("DELETE FROM model_summary", "not_a_database"),
        ("DELETE FROM db_version", "not_a_database"),
    ],
)
def test_a_database_that_cannot_be_shown_is_listed_with_a_code(
    database: Path, tmp_path: Path, statement: str, code: str
) -> None:
    """So that the page for it can be shown; whatever the file is called."""
    path = changed(database, tmp_path / "x" / "strange.db", statement)
    with viewing(path) as viewer:
        entry = wait_for(lambda: (result := viewer.profile())["state"] == "failed" and result)
        assert entry["code"] == code
        assert path.name in entry["message"]
        assert str(tmp_path) not in entry["message"]
        status, _, text = viewer.ask(f"{API}/dashboard?profile={entry['id']}")
        assert (status, json.loads(text)["error"]["code"]) == (422, code)


TEXT = b"no profile at all, and quite some text " * 10


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("notes.txt", TEXT, "unreadable", "text"),
        ("dlprof_dldb.sqlite", TEXT, "not_a_database", "SQLite"),
        ("empty.sqlite", b"", "unreadable", "is empty"),
        ("cut.sqlite", b"SQLite format 3\0" + bytes(4080), "unreadable", "damaged"),
    ],
)
def test_what_is_no_profile(tmp_path: Path, name: str, content: bytes, code: str, said: str) -> None:
    """The page says so, and what the file looks like; by its name, not by where it lies."""
    path = tmp_path / "x" / name
    path.parent.mkdir()
    path.write_bytes(content)
    with viewing(path) as viewer:
        opened = viewer.opened()
        entries = viewer.json("/profiles")["profiles"]
        if entries:
            wait_for(lambda: viewer.profile()["state"] == "failed")
            opened = viewer.profile()
        assert opened["code"] == code
        assert name in opened["message"]
        assert said in opened["message"]
        assert str(tmp_path) not in opened["message"]


def test_a_file_that_is_deleted_meanwhile(database: Path, tmp_path: Path) -> None:
    """Not found, in the list and for each request."""
    path = changed(database, tmp_path / "x" / database.name)
    with viewing(path) as viewer:
        profile = viewer.profile()["id"]
        path.unlink()
        status, _, text = viewer.ask(f"{API}/dashboard?profile={profile}")
        assert (status, json.loads(text)["error"]["code"]) == (404, "not_found")
        assert wait_for(lambda: viewer.opened()["code"]) == "not_found"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One that ends by itself."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=REPOSITORY
    )


def test_a_port_that_is_taken(database: Path) -> None:
    """A sentence with the option that helps."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = run("-p", str(port), str(database))
    assert answer.returncode == 1
    assert f"Port {port}" in answer.stderr
    assert "-p" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_an_address_that_cannot_be_told_is_one_sentence(database: Path) -> None:
    """And no traceback, neither now nor when the output is closed."""
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            command("-p", "0", str(database)),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    assert answer.returncode == 1
    assert answer.stderr == "dlprofviewer: error: the output cannot be written: No space left on device.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["/nothing/at/all"], 1, "no such file"),
        (["-b", "192.0.2.1", "."], 1, "-b"),
        (["-b", "no.such.host.invalid", "."], 1, "-b"),
        (["-b", "two..dots", "."], 1, "-b"),
        (["-p", "70000", "."], 2, "65535"),
        (["-p", "x", "."], 2, "65535"),
        (["--memory-limit", "0", "."], 2, "'0' is not a number of GB above 0"),
        ([""], 2, "argument DATABASE|SOURCE|FOLDER: the name is empty"),
        ([], 2, "usage"),
    ],
)
def test_wrong_command_lines(arguments: list[str], code: int, words: str) -> None:
    """One sentence each."""
    answer = run(*arguments)
    assert answer.returncode == code
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


def test_help_and_version() -> None:
    """DLProf's options, and its default of a local address."""
    text = run("--help").stdout
    for words in ("-b", "-p", "--version", "localhost", "8000", "0.0.0.0", "DATABASE"):
        assert words in text
    assert run("--version").stdout == f"dlprofviewer {VERSION}\n"
