"""Imports from and to the cloud: sources are fetched one by one, and results written as whole objects."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli.importing import Job, exit_code, import_all
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, renaming, say
from tensorboard_plugin_dlprof.cli.sources import find_sources
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.database.naming import (
    database_name,
    event_file_name,
    is_candidate_name,
    is_database_name,
    is_trace_name,
    run_and_prefix,
)
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.opening.regular_file import is_remote
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.storage.listings import Object
from tensorboard_plugin_dlprof.storage.store import Store

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.pipeline import ImportOptions


class Remote(Job):
    """A source to import, of which the source, the result or both are in the cloud.

    Args:
        source: Where the source is, or is fetched to.
        database: Where the database is made.
        force: As for ``Job``.
        origin: Where the source is fetched from; None if it is on this machine.
        results: Where the results are written to; None for this machine.
        folder: Folder of the results below ``results``, with slashes.
    """

    def __init__(
        self,
        source: Path,
        database: Path,
        force: bool,
        origin: tuple[Store, Object] | None,
        results: Store | None,
        folder: str,
    ) -> None:
        super().__init__(source, database, force)
        self._origin, self._results, self._folder = origin, results, folder
        self._state: tuple[int, int] | None = None
        """Size and time of the database that was there already."""

    def prepare(self) -> None:
        """Fetch the source, and the database that is there already, which may be kept."""
        if self._origin is not None:
            self.source.parent.mkdir(parents=True, exist_ok=True)
            _fetch(*self._origin, self.source)
        if self._results is not None and not self.force:
            known = self._results.find(self._place(self.database.name))
            if known is not None:
                self.database.parent.mkdir(parents=True, exist_ok=True)
                _fetch(self._results, known, self.database)
                self._state = _state(self.database)

    def finish(self) -> None:
        """Write the results, and make space for the next."""
        if self._results is not None:
            if self._state != _state(self.database):
                self._results.put(self.database, self._place(self.database.name))
            events = event_file_name(self.database.name)
            self._results.put(self.database.with_name(events), self._place(events))
            self.database.unlink()
        if self._origin is not None:
            self.source.unlink()

    def _place(self, name: str) -> str:
        return str(PurePosixPath(self._folder, name))


def import_remote(arguments: argparse.Namespace, options: ImportOptions) -> int:
    """Import sources of which some, or the folder of the results, are in the cloud; returns the exit code.

    Sources in the cloud keep their folders below the address that was named.

    Raises:
        WrongUsage: No folder of results is named, or an option is for folders of this machine only.
    """
    output: Path | str | None = arguments.output
    if output is None:
        raise WrongUsage("Sources in the cloud need -o: a folder of this machine, or an address, such as their own.")
    if arguments.job or arguments.shard or arguments.dask or arguments.workers > 1:
        raise WrongUsage("--job, --shard, --dask and --workers are for folders of this machine; import with -o DIR.")
    with temporary_folder() as work:
        results = Store(output) if isinstance(output, str) else None
        made = work / "made" if results is not None else Path(output)
        names = {str(made): results.shown} if results is not None else {}
        jobs: list[Job] = []
        errors: list[ProfileError] = []

        def add(source: Path, folder: str, name: str, origin: tuple[Store, Object] | None = None) -> None:
            jobs.append(Remote(source, made / folder / database_name(name), arguments.force, origin, results, folder))

        for number, argument in enumerate(arguments.sources):
            if not is_remote(argument):
                result, failed = find_sources([argument])
                errors += failed
                for source in result:
                    add(source, "", source.name)
                continue
            store, fetched = Store(argument), work / "fetched" / str(number)
            names[str(fetched)] = store.shown
            try:
                for each, folder, name in _sources(store):
                    if not each.relative:
                        names[str(fetched)] = store.shown.rpartition("/")[0]
                    add(fetched / (each.relative or name), folder, name, (store, each))
            except ProfileError as problem:
                errors.append(problem)
        with renaming(names):
            for error in errors:
                say(f"error: {error}")
            return exit_code(import_all(jobs, options, arguments.scalars), len(jobs), bool(errors))


def _sources(store: Store) -> Iterator[tuple[Object, str, str]]:
    """The sources at or below an address: each with the folder of its run below it, and its name in the run.

    Raises:
        NotFound: There is none.
        ProfileError: The address cannot be listed.
    """
    from tensorboard_plugin_dlprof.runs.recognise import recognise_head

    listing = store.listing()
    if listing.is_truncated:
        say(f"warning: {store.shown} holds more objects than are listed; name a place below it.")
    candidates = [each for each in listing.objects if _is_candidate(_path(store, each).name)]
    unnamed = [each for each in candidates if not is_trace_name(_path(store, each).name)]
    heads = zip(unnamed, store.heads(unnamed), strict=True)
    sources = {each for each, head in heads if head and recognise_head(_path(store, each).name, head)}
    result = [each for each in candidates if each in sources or is_trace_name(_path(store, each).name)]
    if not result:
        raise NotFound(f"{store.shown}: there is no profile at or below this address.")
    for each in result:
        folder = str(PurePosixPath(each.relative).parent)
        name = _path(store, each).name
        run, prefix = run_and_prefix(folder, name)
        yield each, run, prefix + name


def _is_candidate(name: str) -> bool:
    return is_candidate_name(name) and not is_database_name(name)


def _path(store: Store, each: Object) -> PurePosixPath:
    return PurePosixPath(store.address_of(each.relative))


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _fetch(store: Store, wanted: Object, target: Path) -> None:
    with ProgressBar(target.name) as progress:
        store.fetch(wanted, target, progress, sys.maxsize)
