"""What is wrong with a command line whatever the files hold: it ends with the exit code of wrong usage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tensorboard_plugin_dlprof.errors import BadRequest


class WrongUsage(BadRequest):
    """The command line contradicts itself, or names what there is not."""


@contextmanager
def checking_options() -> Iterator[None]:
    """What is refused in the block is refused before any file is looked at."""
    try:
        yield
    except BadRequest as error:
        raise WrongUsage(str(error)) from None


def check_range(start: int | None, stop: int | None) -> None:
    """Raises ``WrongUsage`` where the first iteration comes after the last one."""
    if start is not None and stop is not None and start > stop:
        raise WrongUsage(f"--iter-start {start} is after --iter-stop {stop}; give them in order.")
