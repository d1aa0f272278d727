"""A log directory in S3, of a server on loopback: many, slow, denied, vanished, changing and oversized objects."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorboard_plugin_dlprof as dlprof
from tensorboard_plugin_dlprof.cli.main import main
from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.test_plugin import fetch, tensorboard
from tests.waiting import wait_for

pytest.importorskip("s3fs", reason="pip install 'tensorboard_plugin_dlprof[s3]'")
pytest.importorskip("moto", reason="pip install 'moto[server]'")

from tests.storage.unruly import REGION, Unruly, serving

SECRET = "planted-secret-key"
NAME = "rank0.pt.trace.json"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Unruly]:
    """An empty bucket, and what programs need to find it."""
    with serving() as result:
        for name, value in {
            "S3_ENDPOINT": result.address,
            "AWS_ACCESS_KEY_ID": "planted-key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield result


@pytest.fixture
def trace(tmp_path: Path) -> bytes:
    """A source."""
    return write_trace(tmp_path / NAME, rank=0).read_bytes()


def ids(server: Server) -> dict[str, str]:
    """The profile of each run."""
    return {each["run"]: each["id"] for each in server.profiles()}


def said_on_opening(server: Server, profile: str) -> str:
    """What is said about a profile after it was opened and its import has ended; nothing if all went well."""
    server.change("/import", profile)
    wait_for(lambda: not server.services.imports.is_busy())
    status = server.services.imports.status(profile)
    message = status.message if status is not None else ""
    assert SECRET not in message
    assert "secret-in-a-message" not in message
    return message


def test_a_thousand_runs_are_listed_and_one_is_opened(s3: Unruly, trace: bytes, tmp_path: Path) -> None:
    """By pages of a thousand objects; what the names do not tell is read from the beginnings, and nothing else."""
    for number in range(1_000):
        s3.put(f"logs/run{number}/{NAME}", b"not read")
    s3.put("logs/named by content/noname.json", trace)
    s3.put("logs/named by content/settings.json", b"{}")
    s3.put("logs/../hostile/x.pt.trace.json", trace)
    s3.put("logs2/neighbour.pt.trace.json", trace)
    s3.put(f"logs/run7/{NAME}", trace)
    server = Server("s3://bucket/logs", tmp_path / "cache")
    assert len(server.profiles()) == 1_001
    lists = [path for method, path in s3.requests if "list-type=2" in path]
    assert len(lists) == 2
    assert len(s3.requests) < 10
    profile = ids(server)["run7"]
    assert said_on_opening(server, profile) == ""
    assert server.get(f"/dashboard?profile={profile}").json["kernel_time"]["total"]["launches"] == 6
    (named,) = (each for each in server.profiles() if each["run"] == "named by content")
    assert (named["name"], named["format"], named["state"]) == ("noname.json", "pytorch", "not_imported")
    again = Server("s3://bucket/logs", tmp_path / "cache")
    assert [each["run"] for each in again.profiles() if each["state"] == "ready"] == ["run7"]
    server.app.close()


def test_what_goes_wrong_is_one_sentence_and_costs_only_its_profile(
    s3: Unruly, trace: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Denied, vanished, replaced while it is fetched, too large, and cancelled while the storage is silent."""
    for run in ("denied", "gone", "changing", "large", "silent", "good"):
        s3.put(f"logs/{run}/{NAME}", trace + b" " * (50_000 if run == "large" else 0))
    server = Server("s3://bucket/logs", tmp_path / "cache", cache_bytes=40_000)
    of = ids(server)
    assert len(of) == 6
    s3.denied = "/logs/denied/"
    assert "may not be read: the storage denied it" in said_on_opening(server, of["denied"])
    s3.delete(f"logs/gone/{NAME}")
    assert "logs/gone/rank0.pt.trace.json does not exist" in said_on_opening(server, of["gone"])
    assert "may be fetched; raise the limit" in said_on_opening(server, of["large"])

    s3.before_get = lambda path: s3.put(path.removeprefix("/bucket/"), trace.replace(b"aten::add", b"aten::mul"))
    assert "changed while it was fetched" in said_on_opening(server, of["changing"])
    s3.before_get = lambda path: None

    answer, asked = threading.Event(), threading.Event()

    def silent(_path: str) -> None:
        asked.set()
        answer.wait()

    s3.before_get = silent
    server.change("/import", of["silent"])
    asked.wait()
    assert wait_for(lambda: server.services.imports.status(of["silent"])).stage in ("Starting", "Fetching")
    server.change("/cancel", of["silent"])
    wait_for(lambda: not server.services.imports.is_busy())
    answer.set()
    s3.before_get = lambda path: None
    assert said_on_opening(server, of["good"]) == ""
    assert not list((tmp_path / "cache").glob("work-*"))

    s3.denied = "list-type=2"
    server.rescan()
    wait_for(lambda: server.get("/profiles").json["scan"]["remote"])
    answer_now = server.get("/profiles").json
    assert answer_now["scan"]["remote"] == [
        "s3://bucket/logs may not be read: the storage denied it; check the credentials and permissions."
    ]
    assert {each["run"] for each in answer_now["profiles"]} >= {"good", "large"}
    assert SECRET not in caplog.text
    server.app.close()


def test_results_are_written_beside_the_traces_and_tensorboard_reads_them(
    s3: Unruly, trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``dlprof import`` puts databases and event files as whole objects; TensorBoard shows scalars and our tab."""
    s3.put(f"team/a/{NAME}", trace)
    s3.put("team/b/rank1.pt.trace.json", trace)
    assert main(["import", "s3://bucket/team", "-o", "s3://bucket/team", "--scalars"]) == 0
    printed = capsys.readouterr()
    assert f"s3://bucket/team/a/{NAME} -> s3://bucket/team/a/rank0.dlprof_dldb.sqlite" in printed.out
    assert main(["import", f"s3://bucket/team/a/{NAME}", "-o", "s3://bucket/team/a"]) == 0
    assert "up to date" in capsys.readouterr().out
    assert main(["import", f"s3://bucket/team/a/{NAME}", "-o", str(tmp_path / "here")]) == 0
    assert (tmp_path / "here" / "rank0.dlprof_dldb.sqlite").is_file()
    for words in (
        ["summary", f"s3://bucket/team/a/{NAME}"],
        ["diagnose", "s3://bucket/team/a/rank0.dlprof_dldb.sqlite"],
    ):
        assert main(words) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own cache"))
    for _ in range(2):
        with dlprof.open(f"s3://bucket/team/a/{NAME}") as profile:
            assert profile.summary.iterations == 3
    assert len(list((tmp_path / "own cache").rglob("*.sqlite"))) == 1
    assert main(["distributed", "s3://bucket/team", "--format", "json"]) == 0
    assert main(["import", "s3://bucket/team"]) == 2
    assert main(["import", "s3://bucket/nothing", "-o", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "s3://bucket/nothing does not exist" in said.err
    assert SECRET not in said.err + said.out + printed.err
    assert not any(SECRET.encode() in path.read_bytes() for path in (tmp_path / "here").iterdir())
    with tensorboard("--logdir", "s3://bucket/team", "--dlprof_cache_dir", str(tmp_path / "cache")) as url:
        base = f"{url}data/plugin/dlprof/"
        listed = wait_for(lambda: fetch(f"{base}profiles")["profiles"])
        assert [(each["run"], each["kind"], each["state"]) for each in listed] == [
            ("a", "source", "not_imported"),
            ("b", "source", "not_imported"),
        ]
        headline = wait_for(lambda: fetch(f"{base}profiles")["profiles"][0]["headline"])
        assert headline["iterations"] == 3
        assert "dlprof/iteration_time_ms" in fetch(f"{url}data/plugin/scalars/tags")["b"]
        body = json.dumps({"profile": listed[0]["id"]}).encode()
        urllib.request.urlopen(
            urllib.request.Request(
                f"{base}import", body, {"Content-Type": "application/json", "X-DLProf": "1"}, method="POST"
            )
        ).close()
        wait_for(lambda: fetch(f"{base}profiles")["profiles"][0]["state"] == "ready")
        assert fetch(f"{base}dashboard?profile={listed[0]['id']}")["kernel_time"]["total"]["launches"] == 6
