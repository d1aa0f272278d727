"""The profiles that agents may ask about: those below one log directory."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tensorboard_plugin_dlprof.cli import list_profiles
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError, error_of
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.opening.regular_file import is_remote, shown
from tensorboard_plugin_dlprof.routes.profiles import database_path, importable
from tensorboard_plugin_dlprof.runs.profile import ListedProfile

Progress = Callable[[str, float], None]

POLL_SECONDS = 0.05
_MOST_NAMED = 5


class Profiles:
    """Finds the profiles below a log directory, and their databases.

    Args:
        logdir: As for TensorBoard.
        url: Address of a TensorBoard of this log directory, for links.

    Raises:
        NotFound: There is no such folder.
    """

    def __init__(self, logdir: str, url: str) -> None:
        self.logdir, self._url = logdir, url
        self.services = list_profiles.services_of(logdir)

    def find(self, named: str) -> ListedProfile:
        """The profile of an id, of a run and a name, or of a name or run that only one profile has.

        Raises:
            NotFound: There is none.
            BadRequest: There are several.
        """
        profiles = list_profiles.complete(self.services).profiles
        of_id = [each for each in profiles if each.profile_id == named]
        exact = of_id or [each for each in profiles if named in (_place(each), shown(_place(each)))]
        result = exact or [each for each in profiles if named in (each.name, each.run)]
        if not result:
            raise NotFound(f"There is no profile {shown(named[:200])!r}; list_profiles tells which there are.")
        if len(result) > 1:
            some = ", ".join(f"{each.profile_id} ({shown(_place(each))})" for each in result[:_MOST_NAMED])
            raise BadRequest(f"{len(result)} profiles are called {shown(named[:200])!r}; name one by its id: {some}.")
        return result[0]

    def database(self, profile: ListedProfile, progress: Progress) -> Path:
        """The database of a profile, which is imported into the cache of TensorBoard if it has none.

        Raises:
            ProfileError: It cannot be read.
        """
        imports = self.services.imports
        path = database_path(profile, imports)
        if path is None:
            if profile.kind == "metadata":
                raise NotFound(f"Of {shown(profile.name)} only the metadata is here, neither source nor database.")
            if profile.message:
                raise error_of(profile.code, profile.message)
            source = importable(profile)
            if source is None:
                raise NotFound(f"{shown(profile.name)} has no source that could be imported.")
            imports.start(source)
            reported = None
            while (status := imports.status(profile.profile_id)) is not None:
                if not status.is_active:
                    raise ProfileError(status.message)
                if reported != (status.stage, status.fraction):
                    reported = (status.stage, status.fraction)
                    progress(*reported)
                time.sleep(POLL_SECONDS)
            path = database_path(profile, imports)
        if path is None:
            raise ProfileError(f"{shown(profile.name)} changed while it was imported; ask again.")
        imports.cache.touch(path)
        ours = Advisor(imports.cache, imports.memory_bytes, wait_seconds=None).in_our_schema(path)
        return imports.cache.newest(ours)

    def folder(self, run: str) -> Path:
        """The folder of a run, or of several runs that have their beginning in common; ``.`` is the log directory.

        Raises:
            NotFound: There is no profile in it.
            BadRequest: It is on remote storage.
        """
        wanted = run.strip("/") or "."
        for profile in list_profiles.complete(self.services).profiles:
            if profile.file is not None and (wanted in (".", profile.run) or profile.run.startswith(f"{wanted}/")):
                if is_remote(self.logdir):
                    raise BadRequest("The ranks of a job are compared on this machine only; use dlprof import -o DIR.")
                return Path(self.logdir, wanted)
        raise NotFound(f"There is no profile in the run {shown(run[:200])!r}; list_profiles tells which there are.")

    def path(self, profile: ListedProfile) -> str:
        """The path by which commands name a profile."""
        if profile.file is None:
            return _place(profile)
        if profile.file.remote is not None:
            return profile.file.remote.store.address_of(profile.file.remote.object.relative)
        root = os.path.abspath(os.path.expanduser(self.logdir))  # noqa: PTH100, PTH111 - as TensorBoard does
        return os.fspath(Path(self.logdir, os.path.relpath(profile.file.path, root)))

    def link(self, profile: ListedProfile | None, **state: Any) -> str:
        """The address of a page about a profile in TensorBoard's tab."""
        parts = {"profile": profile.profile_id, "run": profile.run} if profile is not None else {}
        known = {**parts, **{key: str(value) for key, value in state.items() if value not in (None, "")}}
        words = urlencode(
            {f"p.dlprof.{key.replace('__', '.')}": value for key, value in sorted(known.items())}, quote_via=quote
        )
        return f"{self._url.rstrip('/')}/#dlprof{'&' if words else ''}{words}"


def command(*words: str | None) -> str:
    """A command line of ``dlprof``, quoted for a shell, without the words that are None."""
    return shlex.join(["dlprof", *(word for word in words if word is not None), "--format", "json"])


def option(name: str, value: Any) -> str | None:
    """``--name=value``, or None where nothing was asked."""
    return None if value in (None, "", ()) else f"--{name}={value}"


def _place(profile: ListedProfile) -> str:
    return profile.name if profile.run == "." else f"{profile.run}/{profile.name}"
