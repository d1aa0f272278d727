"""Lets commands that read profiles take addresses in the cloud: what they name is fetched into a temporary folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from tensorboard_plugin_dlprof.opening.regular_file import is_remote

READERS = frozenset(
    ("diagnose", "summary", "table", "compare", "distributed", "memory", "reports", "trace", "export", "check")
)
_PROFILES = ("profile", "profiles", "against")
"""Arguments of these commands that name profiles."""


@contextmanager
def here(arguments: argparse.Namespace) -> Iterator[None]:
    """Replace addresses among the profiles of a command by files of this machine, for the duration of the block.

    Raises:
        ProfileError: One cannot be fetched.
    """
    named = {name: getattr(arguments, name) for name in _PROFILES if hasattr(arguments, name)}
    given = [each for value in named.values() for each in (value if isinstance(value, list) else [value])]
    if getattr(arguments, "command", "") not in READERS or not any(_is_address(each) for each in given):
        yield
        return
    from tensorboard_plugin_dlprof.cli.messages import renaming
    from tensorboard_plugin_dlprof.opening.temporary import temporary_folder

    with temporary_folder() as folder:
        names: dict[str, str] = {}

        def local(given: Any) -> Any:
            if not _is_address(given):
                return given
            result = _fetched(str(given), folder / str(len(names)), names)
            return result if isinstance(given, Path) else str(result)

        for name, value in named.items():
            setattr(arguments, name, _each(local, value))
        with renaming(names):
            yield


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    return [change(each) for each in value] if isinstance(value, list) else change(value)


def _is_address(given: Any) -> bool:
    return isinstance(given, (str, Path)) and is_remote(str(given)) and not Path(given).exists()


def _fetched(given: str, folder: Path, names: dict[str, str]) -> Path:
    """The object at an address, or all profiles below it, with their folders.

    Args:
        given: The address, in which pathlib may have removed a slash.
        folder: Where to fetch to.
        names: Gets the address of the folder that is fetched to.
    """
    from tensorboard_plugin_dlprof.cli.messages import ProgressBar
    from tensorboard_plugin_dlprof.database.naming import is_candidate_name
    from tensorboard_plugin_dlprof.metadata import RANK_SUFFIX
    from tensorboard_plugin_dlprof.storage.store import Store

    scheme, _, place = given.partition(":/")
    store = Store(f"{scheme}://{place.lstrip('/')}")
    objects = store.listing().objects
    name = PurePosixPath(store.address).name
    if [each.relative for each in objects] == [""]:
        target, names[str(folder)] = folder / name, store.shown.rpartition("/")[0]
    else:
        target, names[str(folder / name)] = folder / name, store.shown
        objects = tuple(
            each
            for each in objects
            if is_candidate_name(each.relative.rpartition("/")[2]) or each.relative.endswith(RANK_SUFFIX)
        )
    for each in objects:
        path = target / each.relative if each.relative else target
        path.parent.mkdir(parents=True, exist_ok=True)
        with ProgressBar(path.name) as progress:
            store.fetch(each, path, progress, sys.maxsize)
    return target
