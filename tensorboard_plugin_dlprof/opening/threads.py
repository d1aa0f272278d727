"""Starts threads, of which a busy machine may have no more."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tensorboard_plugin_dlprof.errors import QueueFull


def start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    """A running thread, which does not keep the process from ending.

    Raises:
        QueueFull: The system starts none.
    """
    thread = threading.Thread(target=target, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise QueueFull("The system starts no more threads; try again when the machine is less busy.") from None
    return thread
