"""Handles all requests that query the database of a profile: with cached responses, turns and pooled connections.

Several browsers may send requests at once, often the same, and a slow request must not delay others for long. A
database of NVIDIA's is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorboard_plugin_dlprof.database.memory import saved
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError, error_of
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.routes import export, responses, timeline
from tensorboard_plugin_dlprof.routes.answers import Answers
from tensorboard_plugin_dlprof.routes.comparisons import (
    SCOPE,
    TABLES,
    Comparisons,
    Kept,
    KeptRun,
    Key,
    copy_of,
    kept_run,
    series_of,
)
from tensorboard_plugin_dlprof.routes.databases import Borrowed, Databases, Identity, identity
from tensorboard_plugin_dlprof.routes.exporting import Exporter
from tensorboard_plugin_dlprof.routes.jobs import Jobs, Place, opened
from tensorboard_plugin_dlprof.routes.places import Places
from tensorboard_plugin_dlprof.routes.profiles import database_path
from tensorboard_plugin_dlprof.routes.requests import Forbidden, Parameters, asked_scope, checked_profile_id
from tensorboard_plugin_dlprof.routes.table import asked_of_comparison
from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByKey
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import FoundProfile

if TYPE_CHECKING:
    from sqlite3 import Connection

    from werkzeug.wrappers import Request, Response

    from tensorboard_plugin_dlprof.comparing.recording import Recording

TURNS = 1
TURN_SECONDS = 0.05
"""How many requests should query at once, and how long others wait before they do so all the same. Threads compete for
Python's interpreter lock at every row of SQLite, so two queries at once take longer than one after the other."""

_MOST_RUNS = 200
"""Runs of series that are kept."""

SAME_SECONDS = 5.0
"""How long a request waits for the response to an equal one."""

Body = Callable[[Borrowed, FoundProfile, Parameters], Any]
"""Queries a database about a profile, and returns the body of the response."""


class _Subject(NamedTuple):
    """The subject of a request; ``tag`` identifies the request and the state of the database."""

    parameters: Parameters
    profile: FoundProfile
    path: Path
    tag: str


class Questions:
    """The requests to the databases of one server.

    Args:
        catalog: The profiles.
        imports: Provides the cache with the databases of sources, and the memory limit of worker processes.
    """

    def __init__(self, catalog: Catalog, imports: ImportManager) -> None:
        self._catalog, self._imports = catalog, imports
        self._databases = Databases(on_gone=catalog.rescan)
        self._answers = Answers()
        self._comparisons = Comparisons()
        self._jobs = Jobs()
        self._runs: dict[Identity, KeptRun] = {}
        self._places = Places()
        self._turns = Turns(TURNS, TURN_SECONDS)
        self._alike = TurnsByKey(1, SAME_SECONDS)
        self.advisor = Advisor(imports.cache, imports.memory_bytes)
        self._exporter = Exporter(imports.cache, imports.memory_bytes)

    def close(self) -> None:
        """Close all open databases."""
        self._databases.close()

    def own_path(self, profile: FoundProfile) -> Path:
        """The database of a profile, without aggregations that the server added.

        Raises:
            ProfileError: There is none yet, or it cannot be read.
        """
        path = database_path(profile, self._imports)
        if path is None:
            raise _not_ready(profile)
        return self.advisor.in_our_schema(path)

    def newest_path(self, profile: FoundProfile) -> Path:
        """The database of a profile with all aggregations; raises the same errors as ``own_path``."""
        return self._imports.cache.newest(self.own_path(profile))

    @contextmanager
    def borrow(self, path: Path, name: str) -> Iterator[Borrowed]:
        """Wait for a turn, and borrow a connection; arguments are as for ``Databases.borrow``.

        Raises:
            Busy: Too many other requests are running.
            ProfileError: As for ``Databases.borrow``.
        """
        with self._place(path), self._databases.borrow(path, name) as borrowed:
            yield borrowed

    def answer(
        self,
        request: Request,
        body: Body,
        then: Callable[[Path, Any], Any] = lambda _path, answer: answer,
    ) -> Response:
        """Respond from a profile's database; the response is cached until the database changes.

        Args:
            request: The request, whose parameters name the profile.
            body: Queries the database.
            then: Converts the result of ``body`` to the response after the connection was given back, so that it may
                take long. A result of type ``ForNow`` is not cached.
        """
        parameters = Parameters(request)
        profile = self._catalog.find(parameters.profile())
        path = self.newest_path(profile)
        # Browsers cache responses longer than a server runs, and another version may respond differently.
        tag = f"{VERSION}\0{identity(path)}\0{request.path}\0{request.query_string.decode('latin-1')}"
        known = responses.kept(request, tag, self._answers)
        if known is not None:
            return known
        # Several browsers may open a profile at once: most of them can use the response that they waited for.
        with self._alike.turn(tag):
            known = responses.kept(request, tag, self._answers)
            return known or self._asked(request, body, then, _Subject(parameters, profile, path, tag))

    def _asked(self, request: Request, body: Body, then: Callable[[Path, Any], Any], subject: _Subject) -> Response:
        """The response to a request that is not cached."""
        parameters, profile, path, tag = subject
        name = shown(Path(profile.name))
        with self.borrow(path, name) as borrowed:
            found = body(borrowed, profile, parameters)
        answer = then(path, found)
        if isinstance(answer, responses.ForNow):
            return responses.success(request, answer.body)
        if path.parent == self._imports.cache.folder:
            self._imports.cache.touch(path)
        return responses.keep(request, answer, tag, self._answers)

    def compare(self, request: Request, body: Callable[[Kept, Parameters], Any]) -> Response:
        """Respond about the change from the profile ``base`` to the profile ``profile``; the response is cached until
        either database changes."""
        parameters = Parameters(request)
        paths, key, read = self._pair(parameters)
        tag = f"{VERSION}\0{key}\0{request.path}\0{request.query_string.decode('latin-1')}"
        known = responses.kept(request, tag, self._answers)
        if known is not None:
            return known
        with self._alike.turn(repr(key)):
            known = responses.kept(request, tag, self._answers)
            if known is not None:
                return known
            with self._place(*paths):
                answer = body(self._comparisons.get(key, read), parameters)
        return responses.keep(request, answer, tag, self._answers)

    def _pair(self, parameters: Parameters) -> tuple[list[Path], Key, Callable[[], tuple[Recording, Recording]]]:
        """The databases of both profiles of a comparison, their state, and how to read them."""
        base = checked_profile_id(parameters.required("base"))
        numbers = [parameters.integer(name, None, 0, 2**31) for name in ("base_aggregation", "aggregation")]
        profiles = [self._catalog.find(profile) for profile in (base, parameters.profile())]
        try:
            before = self.newest_path(profiles[0])
        except responses.NotReady:
            raise responses.NotReady("The baseline is not imported yet; open it once, or choose another.") from None
        paths = [before, self.newest_path(profiles[1])]

        def read() -> tuple[Recording, Recording]:
            from tensorboard_plugin_dlprof.comparing.reading import read_recording

            found = []
            for profile, path, number in zip(profiles, paths, numbers, strict=True):
                name = shown(Path(profile.name))
                with self._databases.borrow(path, name) as borrowed:
                    found.append(read_recording(borrowed.connection, name, number))
            return found[0], found[1]

        return paths, (*map(identity, paths), *numbers), read

    @contextmanager
    def connection(self, parameters: Parameters, name: str = "profile") -> Iterator[Borrowed]:
        """A connection to the profile that a parameter of a request names, for a caller that has a turn."""
        profile = self._catalog.find(checked_profile_id(parameters.required(name)))
        with self._databases.borrow(self.newest_path(profile), shown(Path(profile.name))) as borrowed:
            yield borrowed

    def series(self, parameters: Parameters) -> dict[str, Any]:
        """The times of several profiles, in the order in which they ran.

        Raises:
            BadRequest: There is none, or there are too many.
        """
        from tensorboard_plugin_dlprof.comparing.reading import read_recording
        from tensorboard_plugin_dlprof.comparing.series import MOST_RUNS

        ids = [checked_profile_id(one) for one in parameters.required("profiles").split(",")]
        if len(ids) > MOST_RUNS:
            raise BadRequest(f"A series has at most {MOST_RUNS} profiles; leave some out.")
        runs = {}
        for one in ids:
            profile = self._catalog.find(one)
            path, name = self.newest_path(profile), shown(Path(profile.name))
            key = identity(path)
            run = self._runs.get(key)
            if run is None:
                with self.borrow(path, name) as borrowed:
                    run = kept_run(read_recording(borrowed.connection, name))
                if len(self._runs) > _MOST_RUNS:
                    self._runs.clear()
                self._runs[key] = run
            runs[one] = run
        return series_of(runs)

    def listed(self) -> Mapping[str, FoundProfile]:
        """The profiles by path without suffix."""
        return self._jobs.listed(self._catalog.snapshot())

    def job(self, request: Request, body: Callable[[Connection, Place, Parameters], Any]) -> Response:
        """Respond about the job that a profile is a rank of; null if there is none. The response is cached until the
        job's database changes."""
        parameters = Parameters(request)
        profile = self._catalog.find(parameters.profile())
        place = self._jobs.find(profile)
        if place is None:
            return responses.success(request, {"job": None})
        listed = len(self._catalog.snapshot().profiles)
        asked = f"{request.path}\0{request.query_string.decode('latin-1')}"
        tag = f"{VERSION}\0{identity(place.path)}\0{listed}\0{asked}"
        known = responses.kept(request, tag, self._answers)
        if known is not None:
            return known
        with self._alike.turn(tag):
            known = responses.kept(request, tag, self._answers)
            if known is not None:
                return known
            with self._place(place.path), opened(place.path) as connection:
                answer = body(connection, place, parameters)
        return responses.keep(request, answer, tag, self._answers)

    def download(self, request: Request) -> Response:
        """Respond with a download. Only its start takes a turn, because the rest is sent at the browser's pace."""
        parameters = Parameters(request)
        if parameters.text("table") in TABLES:
            return self._compared_download(request, parameters)
        profile = self._catalog.find(parameters.profile())
        path = self.newest_path(profile)
        name = shown(Path(profile.name))
        label = name if profile.run == "." else f"{shown(Path(profile.run))} {name}"
        with ExitStack() as resources:
            with self._place(path), ExitStack() as lent:
                borrowed = lent.enter_context(self._databases.borrow(path, name, export.SECONDS))
                scope = asked_scope(borrowed.connection, parameters)
                rows = lent.enter_context(timeline.with_gaps(borrowed, parameters))
                found = export.export(borrowed, scope, parameters, label)
                export.checked(found, rows.connection, rows.counts)
                if not found.is_laid_out:
                    resources.push(lent.pop_all())
                    return export.streamed(found, found.pieces(rows.connection), resources)
            folder = resources.enter_context(self._exporter.place())
            job = {"name": label, "file_name": name, "is_comparison": False, "source": str(path)}
            return self._laid_out(request, found, folder, job, resources)

    def _laid_out(
        self, request: Request, found: export.Export, folder: Path, job: dict[str, Any], resources: ExitStack
    ) -> Response:
        """The response with a workbook or PDF, which a process of its own writes into the folder."""
        query = request.query_string.decode("latin-1")
        written = self._exporter.write(folder, {**job, "query": query}, request.environ)
        return export.streamed(found, export.pieces_of(written), resources)

    def _compared_download(self, request: Request, parameters: Parameters) -> Response:
        paths, key, read = self._pair(parameters)
        with ExitStack() as resources:
            with self._place(*paths):
                kept = self._comparisons.get(key, read)
                # Few rows in memory: a connection of its own, so that others need not wait for the browser.
                connection = resources.enter_context(copy_of(kept))
            table, asked = asked_of_comparison(parameters)
            name = f"{kept.found.a.name} - {kept.found.b.name}"
            found = export.checked(export.export_of(table, SCOPE, asked, parameters, name), connection, {})
            if not found.is_laid_out:
                return export.streamed(found, found.pieces(connection), resources)
            folder = resources.enter_context(self._exporter.place())
            saved(connection, folder / "tables")
            job = {"name": name, "is_comparison": True, "source": str(folder / "tables")}
            return self._laid_out(request, found, folder, job, resources)

    def trace(self, request: Request) -> Response:
        """Respond with trace events of a window. Only its start takes a turn, as that of a download."""
        parameters = Parameters(request)
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Forbidden("Traces are for our own page only; use the command dlprof trace.")
        profile = self._catalog.find(parameters.profile())
        path = self.newest_path(profile)
        name = shown(Path(profile.name))
        with ExitStack() as resources, self._place(path):
            lent = self._databases.borrow(path, name, export.SECONDS)
            return timeline.trace(resources.enter_context(lent), parameters, resources)

    @contextmanager
    def _place(self, *databases: Path) -> Iterator[None]:
        # A slow request must not delay others for long: after waiting, they go on without a turn.
        with self._places.place(databases), self._turns.turn():
            yield


def _not_ready(profile: FoundProfile) -> ProfileError:
    if profile.kind == "metadata":
        return NotFound(
            "Only the metadata of this profile is here; its database and source are not below the log directory."
        )
    if profile.message:
        return error_of(profile.code, profile.message)
    return responses.NotReady("This profile is not imported yet.")
