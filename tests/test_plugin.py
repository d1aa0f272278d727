"""The plugin inside TensorBoard: through its contract, and in a real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tensorboard.plugins import base_plugin

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.imports.manager import GIGABYTE
from tensorboard_plugin_dlprof.loader import DlprofLoader
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.routes.plugin import DlprofPlugin
from tensorboard_plugin_dlprof.routes.services import MIN_MEMORY_BYTES, roots_of, services_of_tensorboard
from tensorboard_plugin_dlprof.run_metadata.dlprof_plugin_pb2 import Headline, ProfileMetadata
from tensorboard_plugin_dlprof.run_metadata.event_file import write_event_file
from tensorboard_plugin_dlprof.runs.scan import Root
from tests.imports.traces import write_trace
from tests.waiting import PATIENCE_S, wait_for

HEAVY = ("numpy", "pandas", "msgspec", "sqlite3", "google.protobuf", "werkzeug", "tensorboard_plugin_dlprof.routes.app")


def context(logdir: Path | str, **flags: Any) -> base_plugin.TBContext:
    """What TensorBoard hands to a plugin in fast mode."""
    return base_plugin.TBContext(logdir=str(logdir), flags=_Flags(**flags) if flags else None)


class _Flags:
    def __init__(self, **flags: Any) -> None:
        self.__dict__.update(flags)


def modules_after(code: str) -> set[str]:
    """Modules that a fresh interpreter has after running the code, beside those of TensorBoard's own base class."""
    program = (
        "import sys\nfrom tensorboard.plugins import base_plugin\nbefore = set(sys.modules)\n"
        f"{code}\nprint('\\n'.join(set(sys.modules) - before))"
    )
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(result.stdout.split())


def test_loading_the_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    """Neither its module, nor its flags, nor making it, nor asking for its routes and tab."""
    loaded = modules_after(
        "from argparse import ArgumentParser\n"
        "from tensorboard.plugins.base_plugin import TBContext\n"
        "from tensorboard_plugin_dlprof.loader import DlprofLoader\n"
        "loader, parser = DlprofLoader(), ArgumentParser()\n"
        "loader.define_flags(parser); flags = parser.parse_args([]); loader.fix_flags(flags)\n"
        f"plugin = loader.load(TBContext(logdir={str(tmp_path)!r}, flags=flags))\n"
        "plugin.get_plugin_apps(); plugin.frontend_metadata()"
    )
    assert [name for name in HEAVY if name in loaded] == []


def test_flags_have_our_prefix_and_defaults() -> None:
    """They stand beside those of other plugins."""
    parser = ArgumentParser()
    DlprofLoader().define_flags(parser)
    flags = vars(parser.parse_args([]))
    assert all(name.startswith("dlprof_") for name in flags)
    assert flags["dlprof_import"] == "auto"
    with pytest.raises(SystemExit):
        parser.parse_args(["--dlprof_import", "maybe"])


def test_a_wrong_file_of_rules_ends_tensorboard_with_a_sentence(tmp_path: Path) -> None:
    """Before it serves anything; a right one, or none, does not."""
    parser = ArgumentParser()
    DlprofLoader().define_flags(parser)
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": []}')
    DlprofLoader().fix_flags(parser.parse_args(["--dlprof_kernel_rules", str(rules)]))
    DlprofLoader().fix_flags(parser.parse_args([]))
    with pytest.raises(base_plugin.FlagsError, match="there is no such file of kernel rules"):
        DlprofLoader().fix_flags(parser.parse_args(["--dlprof_kernel_rules", str(tmp_path / "none")]))


def test_an_embedded_tensorboard_goes_on_without_wrong_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody checked its flags; the log says which file is wrong."""
    monkeypatch.setenv("DLPROF_KERNEL_RULES", str(tmp_path / "none.json"))
    assert DlprofLoader().load(context(str(tmp_path))).is_active() is False
    assert "cannot be searched" not in caplog.text
    assert "none.json: there is no such file of kernel rules. Kernels are classified by" in caplog.text


@pytest.mark.parametrize("broken", [None, object(), base_plugin.TBContext()])
def test_the_constructor_never_raises(broken: Any) -> None:
    """Nor does asking whether it is active, whatever the host hands over."""
    plugin = DlprofPlugin(broken)
    assert plugin.is_active() is False
    assert plugin.plugin_name == "dlprof"


def test_the_tab() -> None:
    """Its module is below the paths that the plugin responds to."""
    metadata = DlprofPlugin(context("")).frontend_metadata()
    assert (metadata.tab_name, metadata.es_module_path) == ("GPU Summary", "/static/index.js")
    assert list(DlprofPlugin(context("")).get_plugin_apps()) == ["/*"]


def test_it_is_active_once_there_is_a_profile(tmp_path: Path) -> None:
    """And not before."""
    assert not DlprofPlugin(context(tmp_path)).is_active()
    write_trace(tmp_path / "a.pt.trace.json")
    plugin = DlprofPlugin(context(tmp_path))
    wait_for(plugin.is_active)


def test_being_active_is_never_decided_by_a_scan_in_the_request(tmp_path: Path) -> None:
    """The scan runs in a thread of its own, which the first question starts."""
    before = {thread.name for thread in threading.enumerate()}
    plugin = DlprofPlugin(context(tmp_path))
    assert {thread.name for thread in threading.enumerate()} == before
    plugin.is_active()
    catalog = plugin._started().catalog
    assert catalog._thread is not None
    assert catalog._thread is not threading.current_thread()


def test_flags_reach_the_services(tmp_path: Path) -> None:
    """Folders are made absolute at once; memory has a floor."""
    services = services_of_tensorboard(
        context(
            tmp_path,
            dlprof_cache_dir=str(tmp_path / "cache"),
            dlprof_import="off",
            dlprof_memory_limit=0.001,
            dlprof_allowed_dirs=f"{tmp_path / 'x'},{tmp_path / 'y'}",
        )
    )
    assert services.imports.cache.folder == tmp_path / "cache"
    assert services.import_mode == "off"
    assert services.imports.memory_bytes == MIN_MEMORY_BYTES == GIGABYTE // 4


@pytest.mark.parametrize(
    ("logdir", "spec", "expected"),
    [
        ("/logs", "", [Root(Path("/logs"))]),
        ("", "a:/x,/y,b:/z:w", [Root(Path("/x"), "a"), Root(Path("/y")), Root(Path("/z:w"), "b")]),
        ("file:///logs", "", [Root(Path("/logs"))]),
        ("", "", []),
    ],
)
def test_roots_are_named_as_tensorboard_names_them(logdir: str, spec: str, expected: list[Root]) -> None:
    """A name before a colon is that of the runs below it."""
    assert roots_of(logdir, spec) == expected


def test_addresses_are_searched_as_often_as_tensorboard_reloads() -> None:
    """They are named as folders are; credentials in them are hidden."""
    services = services_of_tensorboard(
        context("", logdir_spec="a:gs://k:s@b/x,/local,s3://other/y", reload_interval=90)
    )
    named, local, unnamed = services.catalog._roots
    assert (named.name, unnamed.name, local.store) == ("a", "", None)
    assert named.store is not None
    assert named.store.shown == "gs://***@b/x"
    assert named.store._refresh_seconds == 90


# ---- a real TensorBoard


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without an event file, a source, and an event file whose database is elsewhere."""
    folder = tmp_path_factory.mktemp("logs")
    source = write_trace(folder / "made" / "a & b" / "a.json")
    import_source(source, source.parent / database_name(source.name), ImportOptions(), lambda _stage, _fraction: None)
    source.unlink()
    write_trace(folder / "waits" / "rank1.pt.trace.json", rank=1)
    (folder / "elsewhere").mkdir()
    metadata = ProfileMetadata(
        schema_version=1,
        database_name="far.dlprof_dldb.sqlite",
        source_name="far.pt.trace.json",
        rank=2,
        gpu_names=["NVIDIA Test GPU"],
        headline=Headline(wall_time_ns=1_000, gpu_utilization_fraction=0.5),
    )
    write_event_file(folder / "elsewhere", metadata)
    return folder


@contextmanager
def tensorboard(*arguments: str) -> Iterator[str]:
    """The address of a real TensorBoard."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stderr is not None
        seen = ""
        for line in process.stderr:
            seen += line
            match = re.search(r"at (http://\S+)", line)
            if match:
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield match.group(1)
                return
        raise AssertionError(f"TensorBoard did not start: {seen}")
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        if process.stderr is not None:
            process.stderr.close()


def fetch(url: str, **options: Any) -> Any:
    """The JSON at an address."""
    request = urllib.request.Request(url, **options)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("load_fast", ["true", "false"])
def test_in_a_real_tensorboard(logs: Path, tmp_path: Path, load_fast: str) -> None:
    """Below a path prefix: the tab, the list, an import on demand and its dashboard."""
    with tensorboard(
        *("--logdir", str(logs), "--load_fast", load_fast, "--path_prefix", "/x/y"),
        *("--dlprof_cache_dir", str(tmp_path / "cache")),
    ) as url:
        assert url.endswith("/x/y/")
        base = f"{url}data/plugin/dlprof/"
        listing = wait_for(lambda: (result := fetch(f"{url}data/plugins_listing")["dlprof"])["enabled"] and result)
        assert listing["tab_name"] == "GPU Summary"
        assert listing["loading_mechanism"]["module_path"] == "/x/y/data/plugin/dlprof/static/index.js"

        def profiles() -> dict[str, Any]:
            return {profile["name"]: profile for profile in fetch(f"{base}profiles")["profiles"]}

        result = wait_for(lambda: len(result := profiles()) == 3 and result)
        assert result["a.dlprof_dldb.sqlite"]["run"] == "made/a & b"
        assert result["far.pt.trace.json"]["state"] == "metadata_only"
        assert result["far.pt.trace.json"]["headline"]["gpu_utilization_fraction"] == 0.5
        source = result["rank1.pt.trace.json"]
        assert source["state"] == "not_imported"
        fetch(
            f"{base}import",
            data=json.dumps({"profile": source["id"]}).encode(),
            headers={"Content-Type": "application/json", "X-DLProf": "1"},
            method="POST",
        )
        wait_for(lambda: profiles()["rank1.pt.trace.json"]["state"] == "ready")
        assert fetch(f"{base}dashboard?profile={source['id']}")["kernel_time"]["total"]["launches"] == 6
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(f"{base}static/%2e%2e/plugin.py")
        assert refused.value.code == 404
        refused.value.close()


def test_a_logdir_spec_in_a_real_tensorboard(logs: Path, tmp_path: Path) -> None:
    """Several log directories with names of their own; TensorBoard reads them in slow mode only."""
    spec = f"first:{logs / 'made'},{logs / 'waits'}"
    with tensorboard("--logdir_spec", spec, "--dlprof_cache_dir", str(tmp_path / "cache")) as url:
        listed = wait_for(lambda: fetch(f"{url}data/plugin/dlprof/profiles")["profiles"])
        assert [profile["run"] for profile in listed] == [".", "first/a & b"]
