"""Many users at once, on a real TensorBoard: light answers keep coming, heavy ones come or are put off, memory stays.

``make load`` lets it run for five minutes and looks at times as well; here it is a few seconds, and only what does not
depend on the machine is looked at.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.browser.serving import TensorBoard, running
from tests.imports.traces import write_trace

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


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoard]:
    """TensorBoard with five profiles, one of them with more rows than a page."""
    folder = tmp_path_factory.mktemp("load")
    for number, steps in enumerate((3, 3, 3, 3, 40)):
        source = write_trace(folder / "logs" / f"run{number}" / "a.json", steps=steps, adds_per_step=4 * steps)
        target = source.parent / database_name(source.name)
        import_source(source, target, ImportOptions(), lambda _stage, _fraction: None)
    with running(folder / "logs", folder / "cache") as found:
        yield found


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


def memory_bytes(board: TensorBoard) -> int:
    """What the server's process holds; 0 where this system does not tell."""
    try:
        status = Path(f"/proc/{board.process_id}/status").read_text()
    except OSError:
        return 0
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_thirty_two_clients(board: TensorBoard) -> None:
    """No error, no answer that is neither full nor put off; memory does not grow with the number of requests."""
    profiles = [profile["id"] for profile in board.profiles()]
    light, database = Seen(), Seen()
    routes = [f"{route}profile={profile}" for profile in profiles for route in ("dashboard?", "table?table=ops&")]
    calls = [("profiles", light)] * (CLIENTS // 2)
    calls += [(routes[number % len(routes)], database) for number in range(CLIENTS - len(calls))]
    together(calls, board, time.monotonic() + SECONDS / 4)
    before = memory_bytes(board)
    together(calls, board, time.monotonic() + SECONDS)
    assert light.wrong + database.wrong == []
    assert set(light.statuses) == {200}
    assert database.statuses[200] > 0
    assert memory_bytes(board) - before < MOST_GROWTH_BYTES
    if IS_MEASURED:
        assert light.p99() < LIGHT_P99_SECONDS, f"{light.p99():.3f} s"


def test_heavy_requests_do_not_pile_up(board: TensorBoard) -> None:
    """Sixty-four at once end in answers or in 503 with Retry-After; a light one is answered all the while."""
    profile = max(board.profiles(), key=lambda profile: profile["size_bytes"])["id"]
    heavy, light = Seen(), Seen()
    calls = [
        (f"table?table=ops&profile={profile}&limit=1000&search={number}", heavy) for number in range(HEAVY_AT_ONCE)
    ]
    together([*calls, *[("profiles", light)] * 4], board)
    assert heavy.wrong + light.wrong == []
    assert sum(heavy.statuses.values()) == HEAVY_AT_ONCE
    assert light.statuses == {200: 4}
