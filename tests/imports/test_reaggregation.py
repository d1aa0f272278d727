"""The queue of aggregations."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.imports.cache import Cache
from tensorboard_plugin_dlprof.imports.manager import GIGABYTE
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager, Request, Subject
from tests.waiting import wait_for


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_queue_goes_on_after_its_thread_has_died(tmp_path: Path) -> None:
    """As where the system makes no more threads when the list of profiles wants one."""
    described: list[int] = []

    def finished() -> None:
        described.append(len(described))
        if len(described) == 1:
            raise RuntimeError("can't start new thread")

    manager = ReaggregationManager(Cache(tmp_path / "cache"), GIGABYTE, threading.Lock(), finished)
    for number in range(2):
        gone = Subject(f"p{number}", tmp_path / "gone.sqlite", "gone.sqlite")
        manager.start(gone, Request("aggregate"))
        wait_for(lambda: manager._jobs._thread is None or not manager._jobs._thread.is_alive())
        (job,) = manager.jobs(gone.profile_id)
        assert job.state == "failed"
    assert described == [0, 1]
