"""Places other than S3: ``memory://``, ``file://``, Google's, and those that no package reads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.routes.services import RELOAD_SECONDS, make_services, roots_of
from tensorboard_plugin_dlprof.storage.store import Store
from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.waiting import wait_for

NAME = "rank0.pt.trace.json"


def test_memory(three_steps: Path, tmp_path: Path) -> None:
    """Sources are imported and databases fetched; equal listings are not asked for again before TensorBoard reloads."""
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/logs/a/b/rank0.pt.trace.json", write_trace(tmp_path / NAME, rank=0).read_bytes())
    fs.pipe_file("/logs/ready/made.dlprof_dldb.sqlite", three_steps.read_bytes())
    try:
        server = Server("memory://logs", tmp_path / "cache")
        assert {(each["run"], each["kind"], each["state"]) for each in server.profiles()} == {
            ("a/b", "source", "not_imported"),
            ("ready", "database", "not_imported"),
        }
        for each in server.profiles():
            server.change("/import", each["id"])
        wait_for(lambda: all(each["state"] == "ready" for each in server.profiles()))
        for each in server.profiles():
            launches = server.get(f"/dashboard?profile={each['id']}").json["kernel_time"]["total"]["launches"]
            assert launches == 6
        assert wait_for(lambda: all(each["headline"] for each in server.profiles()))
        server.app.close()
        lazy = Store("memory://logs", refresh_seconds=3_600)
        before = lazy.listing()
        fs.rm("/logs", recursive=True)
        assert lazy.listing() is before
    finally:
        fs.store.clear()


def test_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of this machine, with all checks of one, and without fsspec."""
    trace = write_trace(tmp_path / "logs" / "run" / NAME)
    assert [root.path for root in roots_of(f"file://{tmp_path}", "")] == [tmp_path]
    assert main(["import", f"file://{trace}", "-o", f"file://{tmp_path / 'out'}"]) == 0
    assert "-> " in capsys.readouterr().out
    assert (tmp_path / "out" / "rank0.dlprof_dldb.sqlite").is_file()


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("s3://key:planted@bucket/logs", "s3://***@bucket/logs needs the package s3fs; install it with pip install "),
        ("gs://bucket/logs", "'tensorboard_plugin_dlprof[gcs]'"),
        ("nowhere://bucket", "a package by which fsspec reads nowhere://"),
    ],
)
def test_without_a_package_one_sentence_says_what_to_install(
    address: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the list of TensorBoard's tab as well."""
    for name in ("s3fs", "gcsfs"):
        monkeypatch.setitem(sys.modules, name, None)
    registry = pytest.importorskip("fsspec.registry")
    # A test before this one may have loaded them.
    for scheme in ("s3", "s3a", "gs", "gcs"):
        monkeypatch.delitem(registry._registry, scheme, raising=False)
    with pytest.raises(BadRequest) as refused:
        Store(address).listing()
    assert advice in str(refused.value)
    assert "planted" not in str(refused.value)
    catalog = make_services(roots_of(address, "", RELOAD_SECONDS)).catalog
    assert wait_for(lambda: catalog.snapshot().errors) == (str(refused.value),)
