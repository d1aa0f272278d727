"""A log directory with imported, not imported and broken profiles, TensorBoard on it, and a page that is watched."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.browser.serving import TensorBoard, running
from tests.shared_data import shared_data_or_none
from tests.waiting import PATIENCE_S

IMPORTED_SAMPLES = {
    "amp": "generated-resnet50-amp.pt.trace.json.gz",
    "ddp/rank0": "generated-transformer-bf16-rank0.pt.trace.json.gz",
    "cpu": "recorded-resnet-block-cpu.pt.trace.json.gz",
}
OTHER_SAMPLES = {
    "fp32": "generated-resnet50-fp32.pt.trace.json.gz",
    "ddp/rank1": "generated-transformer-bf16-rank1.pt.trace.json.gz",
}
REAL = {
    "h100": "torch/h100_transformer_steps",
    "mi300x": "torch/mi300x_resnet_ddp",
    "nsight": "nsight/h100_2gpu_torchrun_nccl",
    "tensorrt": "nsight/rtx3090_tensorrt_fp16",
    "cuda_graphs": "nsight/a100_cuda_graphs",
}
LACKS_WORK = {"megatron": "torch/v100_megatron_tp2_rank0"}
"""GPU work is missing from it."""

WAIT_MS = PATIENCE_S * 1_000
"""For what is to be seen, and for what a test does with the page."""
expect.set_options(timeout=WAIT_MS)


def sample(name: str) -> Path:
    """A sample profile of the package."""
    return next(path for path in samples.DATA.rglob(name))


def _import_to_folder(source: Path) -> None:
    import_source(source, source.with_name(database_name(source.name)), ImportOptions(), lambda _stage, _fraction: None)


@pytest.fixture(scope="session")
def base_url() -> None:
    """No base address. Stands before the fixture of pytest-base-url, which pytest 9 warns of."""


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with one profile each: samples, ``REAL`` and NVIDIA's own database where they are, a broken one."""
    logs = tmp_path_factory.mktemp("browser") / "logs"
    for run, name in {**IMPORTED_SAMPLES, **OTHER_SAMPLES}.items():
        (logs / run).mkdir(parents=True)
        shutil.copy(sample(name), logs / run / name)
        if run in IMPORTED_SAMPLES:
            _import_to_folder(logs / run / name)
    (logs / "broken").mkdir()
    with gzip.open(logs / "broken" / "cut.pt.trace.json.gz", "wt") as broken:
        broken.write('{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": ')
    shared = shared_data_or_none()
    if shared is not None:
        (logs / "dlprof").mkdir()
        shutil.copy(shared / "dlprof-golden" / "dlprof_dldb.sqlite", logs / "dlprof" / "dlprof_dldb.sqlite")
        for run, folder in (REAL | LACKS_WORK).items():
            (logs / run).mkdir()
            for file in (shared / folder).iterdir():
                shutil.copyfile(file, logs / run / file.name)
                _import_to_folder(logs / run / file.name)
    return logs


@pytest.fixture(scope="session")
def tensorboard(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """TensorBoard on ``logdir``."""
    with running(logdir, tmp_path_factory.mktemp("cache")) as server:
        yield server


@pytest.fixture
def real_run(request: pytest.FixtureRequest) -> str:
    """A run of the shared data; skips where there is none."""
    if shared_data_or_none() is None:
        pytest.skip("real profiles are not part of the repository; set DLPROF_TEST_DATA to a folder that holds them")
    return str(request.param)


@pytest.fixture
def hosts() -> frozenset[str]:
    """The names of this machine that a page may ask."""
    return frozenset({"localhost", "127.0.0.1"})


@pytest.fixture(autouse=True)
def complaints(page: Page, hosts: frozenset[str]) -> Iterator[list[str]]:
    """Nothing may fail in the page: no error, no violation of the content security policy, no request to elsewhere.

    A test that makes the server refuse something removes the browser's line about it.
    """
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        # Browsers ask every stand-alone page for an icon, and TensorBoard has none at that address. A server that still
        # reads a database of NVIDIA's answers 503, and the page asks again.
        expected = message.location["url"].endswith("/favicon.ico") or "status of 503" in message.text
        if message.type == "error" and not expected:
            complaints.append(f"console: {message.text} ({message.location['url']})")

    def on_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in hosts:
            complaints.append(f"request to {request.url}")

    page.context.set_default_timeout(WAIT_MS)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
    page.on("console", on_console)
    page.on("request", on_request)
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " event => console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI))"
    )
    yield complaints
    assert complaints == []
