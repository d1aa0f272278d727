"""By which names a server may be called: the defence against pages whose name leads to this machine."""

from __future__ import annotations

import http.client
import json
import socket
import urllib.parse
from argparse import Namespace
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.routes.hosts import ForeignHost, Hosts, allowed_hosts
from tensorboard_plugin_dlprof.routes.services import hosts_of_tensorboard
from tests.browser.serving import TensorBoard, running
from tests.imports.traces import write_trace
from tests.waiting import PATIENCE_S

API = "/data/plugin/dlprof"
HUB = {"JUPYTERHUB_SERVICE_PREFIX": "/user/ada/"}
CHANGES = ("import", "cancel", "aggregate", "delete_aggregation", "cancel_aggregation")
VARIABLES = ("DLPROF_ALLOWED_HOSTS", "JUPYTERHUB_SERVICE_PREFIX", "COLAB_RELEASE_TAG", "TENSORBOARD_PROXY_URL")


@pytest.fixture(autouse=True)
def _outside_of_any_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def ask(board: TensorBoard, path: str, host: str, method: str = "GET") -> tuple[int, str]:
    """Status and text of what a real TensorBoard answers when it is called by a name."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(board.address).netloc, timeout=PATIENCE_S)
    with closing(connection):
        connection.request(method, path, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")


def test_a_tensorboard_of_this_machine_refuses_foreign_names(tmp_path: Path) -> None:
    """Every route of ours but the frontend, with a sentence that names the flag; TensorBoard's own go on."""
    write_trace(tmp_path / "logs" / "a.pt.trace.json")
    with running(tmp_path / "logs", tmp_path / "cache") as board:
        profile = board.profiles()[0]["id"]
        reads = ("profiles", f"dashboard?profile={profile}", f"export?profile={profile}", "aggregation_jobs")
        for path, method in [(path, "GET") for path in reads] + [(path, "POST") for path in CHANGES]:
            status, text = ask(board, f"{API}/{path}", "rebound.evil.example:6006", method)
            assert status == 403, path
            error = json.loads(text)["error"]
            assert error["code"] == "foreign_host"
            assert "rebound.evil.example" in error["message"]
            assert "--dlprof_allowed_hosts" in error["message"]
            assert "a.pt.trace" not in text
        for name in ("localhost", "127.0.0.1:6006", "[::1]:1", socket.gethostname(), "10.1.2.3"):
            assert ask(board, f"{API}/profiles", name)[0] == 200, name
        assert ask(board, f"{API}/static/index.js", "evil.example")[0] == 200
        assert ask(board, "/data/plugin_entry.html?name=dlprof", "evil.example")[0] == 200


def test_a_tensorboard_answers_to_the_names_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By flag and by environment variable together."""
    write_trace(tmp_path / "logs" / "a.pt.trace.json")
    monkeypatch.setenv("DLPROF_ALLOWED_HOSTS", "notebook.example")
    with running(tmp_path / "logs", tmp_path / "cache", "--dlprof_allowed_hosts", "gpu1,proxy.example") as board:
        for name in ("gpu1:6006", "PROXY.example.", "notebook.example", "localhost"):
            assert ask(board, f"{API}/profiles", name)[0] == 200, name
        assert ask(board, f"{API}/profiles", "evil.example")[0] == 403


def answers(hosts: Hosts, name: str) -> bool:
    """Whether a request by this name passes."""
    try:
        hosts.check({"HTTP_HOST": name})
    except ForeignHost:
        return False
    return True


@pytest.mark.parametrize(
    ("is_local", "listed", "environment", "foreign", "named"),
    [
        (True, "", {}, False, False),
        (True, "named.example", {}, False, True),
        (True, "*", {}, True, True),
        (True, "", {"DLPROF_ALLOWED_HOSTS": "named.example"}, False, True),
        (True, "", {"DLPROF_ALLOWED_HOSTS": "*"}, True, True),
        (True, "", HUB, True, True),
        (True, "named.example", HUB, False, True),
        (True, "", {"COLAB_RELEASE_TAG": "release-colab"}, True, True),
        (True, "", {"TENSORBOARD_PROXY_URL": "/proxy/%PORT%"}, True, True),
        (True, "other", {"TENSORBOARD_PROXY_URL": "https://named.example:8443/tb/"}, False, True),
        (True, " , ", {}, False, False),
        (False, "", {}, True, True),
        (False, "named.example:6006", {}, False, True),
    ],
)
def test_which_names_are_answered(
    is_local: bool, listed: str, environment: dict[str, str], foreign: bool, named: bool
) -> None:
    """A list is kept to; without one it depends on where the server listens and on who stands before it."""
    hosts = allowed_hosts(is_local, listed, "--flag", environment)
    assert answers(hosts, "evil.example") is foreign
    assert answers(hosts, "named.example:1234") is named
    for own in ("localhost:6006", "a.localhost", "127.0.0.1", "[fe80::1]:80", "192.168.0.7", socket.gethostname()):
        assert answers(hosts, own), own


@pytest.mark.parametrize(
    "name",
    ["localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "", "::1", "[", "a\x1b[31m", "x" * 9_000],
)
def test_what_only_looks_like_this_machine(name: str) -> None:
    """Is refused with a short sentence that acts on no terminal."""
    with pytest.raises(ForeignHost) as refused:
        allowed_hosts(True, "", "--flag", {}).check({"HTTP_HOST": name})
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("flags", "is_local"),
    [
        (Namespace(host=None, bind_all=False), True),
        (Namespace(host="localhost", bind_all=False), True),
        (Namespace(host="127.0.0.1", bind_all=False), True),
        (Namespace(host="::1", bind_all=False), True),
        (Namespace(host=None, bind_all=True), False),
        (Namespace(host="0.0.0.0", bind_all=False), False),
        (Namespace(host="gpu1.example", bind_all=False), False),
        (None, False),
    ],
)
def test_tensorboards_flags_tell_whether_it_listens_here_alone(flags: Namespace | None, is_local: bool) -> None:
    """Without flags a program embeds TensorBoard, and nobody knows where it listens."""
    assert answers(hosts_of_tensorboard(flags), "evil.example") is not is_local
