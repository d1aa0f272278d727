"""Many users at once, on a real TensorBoard: light answers keep coming, heavy ones come or are put off, memory stays.

Imports, exports and aggregations run beside them, and files that somebody made to stop the server lie beside theirs.
``make load`` lets it run for five minutes and looks at times as well; here it is a few seconds, and only what does not
depend on the machine is looked at.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import threading
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.browser.serving import TensorBoard, running
from tests.imports.traces import write_trace
from tests.waiting import wait_for

SECONDS = float(os.environ.get("DLPROF_LOAD_SECONDS", "4"))
IS_MEASURED = "DLPROF_LOAD_SECONDS" in os.environ
CLIENTS = 32
HEAVY_AT_ONCE = 64

LIGHT_P99_SECONDS = 0.5
MOST_GROWTH_BYTES = 100 << 20


@dataclass
class Seen:
    """What the clients saw of one route."""

    statuses: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def p99(self) -> float:
        """Seconds within which 99 of 100 answers came."""
        return sorted(self.seconds)[int(0.99 * (len(self.seconds) - 1))]


def share_pages(sound: Path, lying: Path) -> None:
    """A copy of a database whose tables count rows without end: all children of an inner page are its first."""
    data = bytearray(sound.read_bytes())
    page_bytes = int.from_bytes(data[16:18], "big")
    for page in range(page_bytes, len(data), page_bytes):
        cells = range(page + 12, page + 12 + 2 * int.from_bytes(data[page + 3 : page + 5], "big"), 2)
        if data[page] in (0x02, 0x05):
            places = [page + int.from_bytes(data[cell : cell + 2], "big") for cell in cells]
            for place in places:
                data[place : place + 4] = data[places[0] : places[0] + 4]
    assert data != sound.read_bytes()
    lying.write_bytes(data)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five profiles, one of them with more rows than a page, and two files that are made to stop a server."""
    folder = tmp_path_factory.mktemp("load") / "logs"
    for number, steps in enumerate((3, 3, 3, 3, 40)):
        source = write_trace(folder / f"run{number}" / "a.json", steps=steps, adds_per_step=4 * steps)
        target = source.parent / database_name(source.name)
        import_source(source, target, ImportOptions(), lambda _stage, _fraction: None)
    (folder / "hostile").mkdir()
    share_pages(target, folder / "hostile" / target.name)
    bomb = gzip.compress(b'{"schemaVersion": 1, "traceEvents": [') + gzip.compress(b" " * (64 << 20)) * 48
    (folder / "hostile" / "bomb.pt.trace.json.gz").write_bytes(bomb)
    return folder


@pytest.fixture(scope="module")
def board(logdir: Path) -> Iterator[TensorBoard]:
    """TensorBoard on them."""
    with running(logdir, logdir.parent / "cache") as server:
        yield server


def ask(board: TensorBoard, path: str, seen: Seen) -> None:
    """One request, on a connection of its own as browsers behind TensorBoard's server have it."""
    where = urllib.parse.urlsplit(board.address)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    started = time.monotonic()
    try:
        connection.request("GET", f"/data/plugin/dlprof/{path}")
        answer = connection.getresponse()
        body = answer.read()
    except OSError as error:
        seen.wrong.append(f"{path}: {error}")
        return
    finally:
        connection.close()
    seen.seconds.append(time.monotonic() - started)
    seen.statuses[answer.status] += 1
    if answer.status == 503 and answer.headers["Retry-After"] != "1":
        seen.wrong.append(f"{path}: 503 without Retry-After")
    if answer.status not in (200, 503):
        seen.wrong.append(f"{path}: {answer.status}")
    if "json" in answer.headers["Content-Type"]:
        json.loads(body)


def together(calls: list[tuple[str, Seen]], board: TensorBoard, until: float = 0.0) -> None:
    """Every call by a client of its own, again and again until the time is over."""

    def client(path: str, seen: Seen) -> None:
        ask(board, path, seen)
        while time.monotonic() < until:
            ask(board, path, seen)

    threads = [threading.Thread(target=client, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def post(board: TensorBoard, route: str, **body: object) -> Any:
    """The answer to a change, asked for as our pages do."""
    request = urllib.request.Request(
        f"{board.address}data/plugin/dlprof/{route}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "X-DLProf": "1"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def state(board: TensorBoard, run: str) -> str:
    """Of the only profile of a run; empty before the next scan finds it."""
    return next((profile["state"] for profile in board.profiles() if profile["run"] == run), "")


class HeavyWork:
    """Imports, exports and aggregations, each by one user who starts the next when the last has ended."""

    def __init__(self, board: TensorBoard, logdir: Path, until: float) -> None:
        self.board, self.logdir, self.until = board, logdir, until
        self.largest = board.profile("run4")["id"]
        self.done: dict[str, int] = defaultdict(int)
        self._pool = ThreadPoolExecutor()

    def __enter__(self) -> HeavyWork:
        self._users = [self._pool.submit(self._again, work) for work in (self.bring, self.export, self.aggregate)]
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown()
        for user in self._users:
            user.result()

    def _again(self, work: Callable[[int], None]) -> None:
        while time.monotonic() < self.until or work.__name__ not in self.done:
            work(self.done[work.__name__])
            self.done[work.__name__] += 1

    def bring(self, number: int) -> None:
        """A new source, and the hostile one beside it again."""
        write_trace(self.logdir / f"new{number}" / "a.json", steps=20, adds_per_step=200)
        wait_for(lambda: state(self.board, f"new{number}"))
        for run in (f"new{number}", "hostile"):
            source = next(each for each in self.board.profiles() if each["run"] == run and each["kind"] == "source")
            post(self.board, "import", profile=source["id"])
        wait_for(lambda: state(self.board, f"new{number}") == "ready")

    def export(self, number: int) -> None:
        """A workbook, a PDF, or a file without a process of its own."""
        seen, kind = Seen(), ("xlsx", "pdf", "csv")[number % 3]
        ask(self.board, f"export?table=ops&profile={self.largest}&format={kind}", seen)
        assert seen.wrong == []

    def aggregate(self, number: int) -> None:
        """Other iterations, and the removal of what was made for them."""
        asked = {"iter_start": number % 20, "iter_stop": 20 + number % 19}
        job = self._ended("aggregate", **asked)
        assert job["state"] == "done", job["message"]
        self._ended("delete_aggregation", aggregation=job["aggregation"])

    def _ended(self, route: str, **body: object) -> Any:
        name = post(self.board, route, profile=self.largest, **body)["job"]["id"]

        def ended() -> Any:
            jobs = self.board.get("aggregation_jobs", profile=self.largest)["jobs"]
            return next((job for job in jobs if job["id"] == name and job["finished_at"]), None)

        return wait_for(ended)


def memory_bytes(board: TensorBoard) -> int:
    """What the server's process holds; 0 where this system does not tell."""
    try:
        status = Path(f"/proc/{board.process_id}/status").read_text()
    except OSError:
        return 0
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_thirty_two_clients(board: TensorBoard, logdir: Path) -> None:
    """No error, no answer that is neither full nor put off; memory does not grow with the number of requests."""
    profiles = [board.profile(f"run{number}")["id"] for number in range(5)]
    light, database = Seen(), Seen()
    routes = [f"{route}profile={profile}" for profile in profiles for route in ("dashboard?", "table?table=ops&")]
    calls = [("profiles", light)] * (CLIENTS // 2)
    calls += [(routes[number % len(routes)], database) for number in range(CLIENTS - len(calls))]
    together(calls, board, time.monotonic() + SECONDS / 4)
    before = memory_bytes(board)
    until = time.monotonic() + SECONDS
    with HeavyWork(board, logdir, until) as heavy:
        together(calls, board, until)
    assert light.wrong + database.wrong == []
    assert set(light.statuses) == {200}
    assert database.statuses[200] > 0
    assert memory_bytes(board) - before < MOST_GROWTH_BYTES
    if IS_MEASURED:
        print(f"light p99 {light.p99():.3f} s, database p99 {database.p99():.3f} s, {dict(heavy.done)}")
        assert light.p99() < LIGHT_P99_SECONDS, f"{light.p99():.3f} s"


def test_heavy_requests_do_not_pile_up(board: TensorBoard) -> None:
    """Sixty-four at once end in answers or in 503 with Retry-After; a light one is answered all the while."""
    profile = board.profile("run4")["id"]
    heavy, light = Seen(), Seen()
    calls = [
        (f"table?table=ops&profile={profile}&limit=1000&search={number}", heavy) for number in range(HEAVY_AT_ONCE)
    ]
    together([*calls, *[("profiles", light)] * 4], board)
    assert heavy.wrong + light.wrong == []
    assert sum(heavy.statuses.values()) == HEAVY_AT_ONCE
    assert light.statuses == {200: 4}
