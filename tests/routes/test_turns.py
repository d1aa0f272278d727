"""Who asks a server waits for those who came before, and for nobody else."""

from __future__ import annotations

import threading
import time

from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByKey


def _waiting(turns: Turns) -> int:
    return len(turns._waiting)


def test_the_first_to_come_is_the_first_to_go() -> None:
    """Ten wait for one place; each gets it in the order of coming, and nobody comes in between."""
    turns, went = Turns(1, 60), list[int]()

    def go(number: int) -> None:
        with turns.turn() as has_turn:
            assert has_turn
            went.append(number)

    with turns.turn():
        threads = []
        for number in range(10):
            threads.append(threading.Thread(target=go, args=(number,)))
            threads[-1].start()
            while _waiting(turns) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert went == list(range(10))
    assert _waiting(turns) == 0


def test_who_waited_enough_is_told_so() -> None:
    """It takes nobody's place, now or later."""
    turns = Turns(2, 0.01)
    with turns.turn() as first, turns.turn() as second, turns.turn() as third:
        assert (first, second, third) == (True, True, False)
    with turns.turn() as first, turns.turn() as second, turns.turn() as third:
        assert (first, second, third) == (True, True, False)


def test_a_place_is_given_back_after_an_error() -> None:
    """Whatever happened at one's turn."""
    turns = Turns(1, 0.01)
    for _ in range(3):
        try:
            with turns.turn() as has_turn:
                assert has_turn
                raise RuntimeError
        except RuntimeError:
            pass


def test_many_at_once_are_never_more_than_there_are_places() -> None:
    """Eight threads, three places."""
    turns, lock = Turns(3, 60), threading.Lock()
    now, most = 0, 0

    def go() -> None:
        nonlocal now, most
        for _ in range(200):
            with turns.turn():
                with lock:
                    now += 1
                    most = max(most, now)
                with lock:
                    now -= 1

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert now == 0
    assert most <= 3


def test_who_asks_something_else_waits_for_nobody() -> None:
    """Nothing is kept of a question that nobody asks any more, whatever happened at its turn."""
    turns = TurnsByKey(1, 0.01)
    with turns.turn("a") as first, turns.turn("b") as second, turns.turn("a") as third:
        assert (first, second, third) == (True, True, False)
    try:
        with turns.turn("a") as has_turn:
            assert has_turn
            raise RuntimeError
    except RuntimeError:
        pass
    assert not turns._turns


def test_who_asks_the_same_waits_for_the_others() -> None:
    """Four ask; never two of them at once."""
    turns, went = TurnsByKey(1, 60), list[str]()

    def go() -> None:
        with turns.turn("a") as has_turn:
            assert has_turn
            went.append("begins")
            time.sleep(0.001)
            went.append("ends")

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert went == ["begins", "ends"] * 4
    assert not turns._turns
