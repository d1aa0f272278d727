"""Answers that were given before are not worked out again, and never take more memory than they may."""

from __future__ import annotations

import base64
import gzip
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.routes.answers import Answer, Answers, compressed
from tensorboard_plugin_dlprof.routes.databases import Borrowed, Databases
from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByKey
from tests.routes.serving import Server, wait_for

DATABASE = "made.dlprof_dldb.sqlite"


def test_the_oldest_go_when_there_are_too_many() -> None:
    """What was asked for lately stays."""
    answers = Answers(most_bytes=10_000)
    for number in range(5):
        answers.put(str(number), Answer(bytes(1_200)))
    assert answers.get("0") == Answer(bytes(1_200))
    answers.put("5", Answer(bytes(1_200)))
    assert [number for number in range(6) if answers.get(str(number))] == [0, 2, 3, 4, 5]


def test_what_is_too_large_is_not_kept() -> None:
    """Nor does it push out the others."""
    answers = Answers(most_bytes=10_000)
    answers.put("small", Answer(b"1"))
    answers.put("large", Answer(bytes(10_001)))
    assert answers.get("large") is None
    assert answers.get("small") == Answer(b"1")


def test_an_answer_that_is_replaced_counts_once() -> None:
    """Two threads may work out the same one."""
    answers = Answers(most_bytes=4_000)
    answers.put("first", Answer(bytes(1_000)))
    for _ in range(9):
        answers.put("other", Answer(bytes(1_000)))
    assert answers.get("first") is not None


@pytest.mark.parametrize("path", ["/dashboard?", "/table?table=ops&", "/groups?", "/iterations?", "/findings?"])
def test_the_second_answer_is_the_first(server: Server, path: str) -> None:
    """Compressed or not, as the browser takes it; HEAD has no body."""
    address = f"{path}profile={server.profile(DATABASE)['id']}"
    plain = [server.get(address) for _ in range(2)]
    packed = [server.get(address, headers={"Accept-Encoding": "gzip"}) for _ in range(2)]
    assert plain[0].data == plain[1].data
    assert plain[0].headers["ETag"] == packed[1].headers["ETag"]
    assert [answer.headers.get("Content-Encoding") for answer in (*plain, *packed)] == [None, None, "gzip", "gzip"]
    assert gzip.decompress(packed[0].data) == gzip.decompress(packed[1].data) == plain[0].data
    assert all(answer.headers["Content-Type"] == "application/json" for answer in (*plain, *packed))
    assert server.client.head(address).data == b""


class Counted(Databases):
    """Databases that count how often they are asked."""

    asked = 0

    def borrow(self, *arguments: Any, **options: Any) -> AbstractContextManager[Borrowed]:
        """As they do."""
        self.asked += 1
        return super().borrow(*arguments, **options)


def test_who_waited_for_the_same_answer_is_given_it(server: Server) -> None:
    """Eight who open a profile at once ask its database once; another question waits for its own turn only."""
    profile = server.profile(DATABASE)["id"]
    questions, given = server.app._questions, list[bytes]()
    databases = questions._databases = Counted()
    questions._turns, questions._alike = Turns(1, 60), TurnsByKey(1, 60)

    def ask(question: str) -> threading.Thread:
        thread = threading.Thread(target=lambda: given.append(server.get(f"{question}profile={profile}").data))
        thread.start()
        return thread

    with questions._turns.turn():
        threads = [ask("/groups?") for _ in range(8)] + [ask("/iterations?")]
        wait_for(lambda: len(questions._turns._waiting) == 2)
        wait_for(lambda: max(len(turns._waiting) for turns in questions._alike._turns.values()) == 7)
        assert len(questions._turns._waiting) == 2
    for thread in threads:
        thread.join(60)
    assert sorted(map(given.count, set(given))) == [1, 8]
    assert databases.asked == 2
    assert not questions._alike._turns


def test_the_database_is_asked_once(server: Server, logdir: Path) -> None:
    """The second answer needs nothing of the file: here there is nothing in it any more that could be read."""
    file = logdir / "run" / "a" / DATABASE
    address = f"/dashboard?profile={server.profile(DATABASE)['id']}"
    before, status = server.get(address), file.stat()
    file.write_bytes(bytes(status.st_size))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    server.app.close()  # connections, which remember pages of the file
    assert server.get(address).data == before.data
    assert server.get(f"{address}&aggregation=1").status_code == 422, "another question is asked"


def test_a_changed_database_is_asked_anew(server: Server, logdir: Path) -> None:
    """What was kept of the file before is not sent."""
    file = logdir / "run" / "a" / DATABASE
    address = f"/dashboard?profile={server.profile(DATABASE)['id']}"
    before = server.get(address)
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    os.utime(file, ns=(1, 1))
    after = server.get(address)
    assert after.status_code == 200
    assert before.headers["ETag"] != after.headers["ETag"]


def test_errors_are_not_kept(server: Server, logdir: Path) -> None:
    """A database that is whole again is shown."""
    file = logdir / "run" / "a" / DATABASE
    address = f"/table?table=ops&profile={server.profile(DATABASE)['id']}"
    assert server.get(f"{address}&sort=nothing").status_code == 400
    assert server.get(f"{address}&sort=nothing").status_code == 400
    whole = file.read_bytes()
    status = file.stat()
    file.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    assert server.get(address).status_code == 422
    file.write_bytes(whole)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert server.get(address).status_code == 200


def test_another_version_of_the_package_answers_anew(
    server: Server, logdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser may still have what the version before answered, which the pages of this one could not show."""
    address = f"/dashboard?profile={server.profile(DATABASE)['id']}"
    before = server.get(address).headers["ETag"]
    assert server.get(address, headers={"If-None-Match": before}).status_code == 304
    monkeypatch.setattr("tensorboard_plugin_dlprof.routes.questions.VERSION", "0.0.9")
    upgraded = Server(logdir, tmp_path / "cache")
    upgraded.profiles()
    assert upgraded.get(address, headers={"If-None-Match": before}).status_code == 200
    upgraded.app.close()


def test_packed_numbers_are_compressed_fast_and_text_well() -> None:
    """The heat map of 1,024 ranks takes half of the time; JSON is as small as gzip makes it."""
    numbers = np.random.default_rng(1).integers(0, 2_000_000, 102_400).astype("<u4")
    packed = base64.b64encode(numbers.tobytes())
    text = b'{"rank": 1, "database": "host1/rank1.dlprof_dldb.sqlite"}, ' * 4_000

    def seconds(compress: Callable[[bytes], object]) -> float:
        begin = time.process_time()
        compress(packed)
        return time.process_time() - begin

    usual = min(seconds(lambda body: gzip.compress(body, 3)) for _ in range(3))
    assert min(seconds(compressed) for _ in range(3)) < 0.8 * usual
    for body in (packed, text, b"", b"{}"):
        assert gzip.decompress(compressed(body).content) == body
    assert len(compressed(text).content) <= 1.01 * len(gzip.compress(text, 3))
