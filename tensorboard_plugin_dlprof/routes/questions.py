"""Handles all requests that query the database of a profile: with cached responses, turns and pooled connections.

Several browsers may send requests at once, often the same, and a slow request must not delay others for long. A
database of NVIDIA's is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tensorboard_plugin_dlprof.comparing.reading import read_recording
from tensorboard_plugin_dlprof.database.memory import saved
from tensorboard_plugin_dlprof.errors import BadRequest, NotADatabase, NotFound, ProfileError, error_of
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.imports.rank_jobs import RankJobManager
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.regular_file import Identity, shown
from tensorboard_plugin_dlprof.queries.headline import rank_count, source_facts
from tensorboard_plugin_dlprof.queries.job_waits import with_known_waits
from tensorboard_plugin_dlprof.queries.op_groups import gpu_time_by_path, kernel_time_by_name
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.system import profile_title
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.routes import baselines, export, responses, timeline
from tensorboard_plugin_dlprof.routes.answers import Answers
from tensorboard_plugin_dlprof.routes.baselines import GpuTimes, LikelyBaselines
from tensorboard_plugin_dlprof.routes.comparisons import (
    SCOPE,
    TABLES,
    CachedComparison,
    CachedRun,
    ComparedSeries,
    Key,
    cache_of_comparisons,
    cached_run,
    compared,
    copy_of,
    series_of,
    table_of_comparison,
)
from tensorboard_plugin_dlprof.routes.databases import Borrowed, Databases, identity
from tensorboard_plugin_dlprof.routes.exporting import Exporter
from tensorboard_plugin_dlprof.routes.jobs import Jobs, Place, opened
from tensorboard_plugin_dlprof.routes.parameters import CompareRequest, ExportRequest, TableRequest, WindowRequest
from tensorboard_plugin_dlprof.routes.profiles import database_path
from tensorboard_plugin_dlprof.routes.requests import Forbidden
from tensorboard_plugin_dlprof.routes.turns import Places, Turns, TurnsByKey
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.siblings import Siblings

if TYPE_CHECKING:
    from sqlite3 import Connection

    from werkzeug.wrappers import Request, Response


TURNS = 1
TURN_SECONDS = 0.05
"""How many requests should query at once, and how long others wait before they do so all the same. Threads compete for
Python's interpreter lock at every row of SQLite, so two queries at once take longer than one after the other."""

_MOST_RUNS = 200
"""Runs of series that are kept."""

_MOST_GROUPS = 200_000
"""Groups of ops of all profiles whose GPU times are kept."""

SAME_SECONDS = 5.0
"""How long a request waits for the response to an equal one."""

Compared: TypeAlias = CompareRequest | TableRequest
"""Names two profiles."""

Body = Callable[[Borrowed, ListedProfile], Any]
"""Queries a database about a profile, and returns the body of the response."""


class Questions:
    """The requests to the databases of one server.

    Args:
        imports: Provides the cache with the databases of sources, and the memory limit of worker processes.
        rank_jobs: Makes the jobs of many ranks.
    """

    def __init__(self, catalog: Catalog, imports: ImportManager, rank_jobs: RankJobManager) -> None:
        self._catalog, self._imports = catalog, imports
        self._databases = Databases(on_gone=catalog.rescan)
        self._answers = Answers()
        self._comparisons = cache_of_comparisons()
        self._jobs = Jobs(rank_jobs, self._with_ranks)
        self._runs: LruCache[Identity, CachedRun] = LruCache(_MOST_RUNS)
        self._times: LruCache[Identity, GpuTimes] = LruCache(_MOST_GROUPS, lambda times: sum(map(len, times[:2])) + 1)
        self._places = Places()
        self._turns = Turns(TURNS, TURN_SECONDS)
        self._alike = TurnsByKey(1, SAME_SECONDS)
        self.advisor = Advisor(imports.cache, imports.memory_bytes)
        self._exporter = Exporter(imports.cache, imports.memory_bytes)

    def close(self) -> None:
        """Close all open databases."""
        self._databases.close()

    def own_path(self, profile: ListedProfile) -> Path:
        """The database of a profile, without aggregations that the server added.

        Raises:
            ProfileError: There is none yet, or it cannot be read.
        """
        path = database_path(profile, self._imports)
        if path is None:
            raise _not_ready(profile)
        return self.advisor.in_our_schema(path)

    def newest_path(self, profile: ListedProfile) -> Path:
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
        profile_id: str,
        body: Body,
        then: Callable[[Path, Any], Any] = lambda _path, answer: answer,
        place: Place | None = None,
    ) -> Response:
        """Respond from a profile's database; the response is cached until the database changes.

        Args:
            profile_id: The profile that it names.
            body: Queries the database.
            then: Converts the result of ``body`` to the response after the connection was given back, so that it may
                take long. A result of type ``ForNow`` is not cached.
            place: The job of which the response tells something, too.
        """
        profile = self._catalog.find(profile_id)
        path = self.newest_path(profile)
        # Browsers cache responses longer than a server runs, and another version may respond differently.
        tag = f"{VERSION}\0{identity(path)}\0{request.path}\0{request.query_string.decode('latin-1')}"
        if place is not None:
            tag += f"\0{place.identity}"

        def asked() -> Any:
            with self.borrow(path, shown(Path(profile.name))) as borrowed:
                result = body(borrowed, profile)
            answer = then(path, result)
            if not isinstance(answer, responses.ForNow) and path.parent == self._imports.cache.folder:
                self._imports.cache.touch(path)
            return answer

        return self._cached(request, tag, tag, asked)

    def _cached(self, request: Request, tag: str, alike: str, asked: Callable[[], Any]) -> Response:
        """The response of a tag, if it is cached; else the one with the result of ``asked``.

        Several browsers may open a profile at once: most of them can use the response that they waited for. Requests
        that are ``alike`` wait for each other.
        """
        known = responses.cached(request, tag, self._answers)
        if known is not None:
            return known
        with self._alike.turn(alike):
            known = responses.cached(request, tag, self._answers)
            if known is not None:
                return known
            answer = asked()
        if isinstance(answer, responses.ForNow):
            return responses.success(request, answer.body)
        return responses.cache(request, answer, tag, self._answers)

    def compare(self, request: Request, asked: Compared, body: Callable[[CachedComparison], Any]) -> Response:
        """Respond about the change from the profile ``base`` to the profile ``profile``; the response is cached until
        either database changes."""
        paths, key, read = self._pair(asked)
        tag = f"{VERSION}\0{key}\0{request.path}\0{request.query_string.decode('latin-1')}"

        def answer() -> Any:
            with self._place(*paths):
                return body(self._comparisons.made(key, read))

        return self._cached(request, tag, repr(key), answer)

    def _pair(self, asked: Compared) -> tuple[list[Path], Key, Callable[[], CachedComparison]]:
        """The databases of both profiles of a comparison, their state, and how to compare them."""
        if asked.base is None:
            raise BadRequest("The parameter base is missing; add it.")
        numbers = (asked.base_aggregation, asked.aggregation)
        profiles = [self._catalog.find(profile) for profile in (asked.base, asked.profile)]
        try:
            before = self.newest_path(profiles[0])
        except responses.NotReady:
            raise responses.NotReady("The baseline is not imported yet; open it once, or choose another.") from None
        paths = [before, self.newest_path(profiles[1])]

        def read() -> CachedComparison:
            result = []
            for profile, path, number in zip(profiles, paths, numbers, strict=True):
                name = shown(Path(profile.name))
                with self._databases.borrow(path, name) as borrowed:
                    result.append(read_recording(borrowed.connection, name, number))
            return compared(*result)

        return paths, (*map(identity, paths), *numbers), read

    @contextmanager
    def connection(self, profile_id: str) -> Iterator[Borrowed]:
        """A connection to a profile, for a caller that has a turn."""
        profile = self._catalog.find(profile_id)
        with self._databases.borrow(self.newest_path(profile), shown(Path(profile.name))) as borrowed:
            yield borrowed

    def baselines(self, profile_id: str) -> LikelyBaselines:
        """The profiles that are worth comparing with. Those that would have to be imported first are left out."""
        profile = self._catalog.find(profile_id)
        others = []
        for one in baselines.candidates(self._catalog.snapshot().profiles, profile):
            with suppress(ProfileError):
                path = database_path(one, self._imports)
                if path is not None and self.advisor.is_read(path):
                    others.append((one.profile_id, self._gpu_times(one)))
        return baselines.likely(profile_id, self._gpu_times(profile), others)

    def _gpu_times(self, profile: ListedProfile) -> GpuTimes:
        """GPU time of a profile by group of ops, and by kernel."""
        path = self.newest_path(profile)

        def read() -> GpuTimes:
            with self.borrow(path, shown(Path(profile.name))) as borrowed:
                con, scope = borrowed.connection, find_scope(borrowed.connection)
                return GpuTimes(gpu_time_by_path(con, scope), *kernel_time_by_name(con, scope))

        return self._times.made(identity(path), read)

    def series(self, ids: Sequence[str]) -> ComparedSeries:
        """The times of several profiles, in the order in which they ran."""

        def read(path: Path, name: str) -> CachedRun:
            with self.borrow(path, name) as borrowed:
                return cached_run(read_recording(borrowed.connection, name))

        runs = {}
        for one in ids:
            profile = self._catalog.find(one)
            path, name = self.newest_path(profile), shown(Path(profile.name))
            runs[one] = self._runs.made(identity(path), partial(read, path, name))
        return series_of(runs)

    def _with_ranks(self, profile: ListedProfile) -> tuple[ListedProfile, int]:
        """The profile with what its database says of its rank, which the list learns later, and how many ranks it
        holds."""
        path = database_path(profile, self._imports)
        if path is None:
            return profile, 1
        with self.borrow(path, shown(Path(profile.name))) as borrowed:
            facts, processes = source_facts(borrowed.connection), rank_count(borrowed.connection)
        rank = profile.rank if facts["rank"] is None else facts["rank"]
        return msgspec.structs.replace(profile, rank=rank, world_size=facts["world_size"]), processes

    def siblings(self, profile: ListedProfile) -> Siblings | None:
        """What may be the other ranks of a profile's job; None if there are no others."""
        return self._jobs.siblings(profile, self._catalog.snapshot())

    def job_of(self, profile_id: str) -> Place | None:
        """The job that a profile is a rank of; None if there is none."""
        return self._jobs.find(self._catalog.find(profile_id), self._catalog.snapshot())

    def as_its_job_tells(self, diagnosis: dict[str, Any], place: Place | None) -> dict[str, Any]:
        """The diagnosis of a rank without gains that its job excludes."""
        if place is not None:
            # One that is damaged, or of another version, tells nothing; the pages that are about it say so.
            with self._place(place.path), suppress(NotADatabase, NotFound), opened(place.path) as connection:
                return with_known_waits(connection, place.rank, diagnosis)
        return diagnosis

    def job_page(self, request: Request, profile_id: str, import_mode: str) -> Response:
        """Respond with all that the page of a job shows at first, or with what could be compared."""
        snapshot = self._catalog.snapshot()
        profile = self._catalog.find(profile_id)

        def page(con: Connection, place: Place) -> Any:
            return {"job": self._jobs.page(con, place, snapshot), "offer": None}

        def none() -> Any:
            return {"job": None, "offer": self._jobs.offer(profile, snapshot, import_mode)}

        return self.job(request, profile_id, page, none)

    def job(
        self,
        request: Request,
        profile_id: str,
        body: Callable[[Connection, Place], Any],
        none: Callable[[], Any] = lambda: {"job": None},
    ) -> Response:
        """Respond about the job that a profile is a rank of, with ``none()`` if there is none. The response is cached
        until the job's database changes."""
        place = self.job_of(profile_id)
        if place is None:
            return responses.success(request, none())
        listed = len(self._catalog.snapshot().profiles)
        query = f"{request.path}\0{request.query_string.decode('latin-1')}"
        tag = f"{VERSION}\0{place.identity}\0{listed}\0{query}"

        def answer() -> Any:
            with self._place(place.path), opened(place.path) as connection:
                result = body(connection, place)
            if place.path.parent == self._imports.cache.folder:
                self._imports.cache.touch(place.path)
            return result

        return self._cached(request, tag, tag, answer)

    def download(self, request: Request, asked: ExportRequest) -> Response:
        """Respond with a download. Only its start takes a turn, because the rest is sent at the browser's pace."""
        if asked.table in TABLES:
            return self._compared_download(request, asked)
        profile = self._catalog.find(asked.profile)
        path = self.newest_path(profile)
        name = shown(Path(profile.name))
        label = name if profile.run == "." else f"{shown(Path(profile.run))} {name}"
        with ExitStack() as resources:
            with self._place(path), ExitStack() as lent:
                borrowed = lent.enter_context(self._databases.borrow(path, name, export.SECONDS))
                connection = borrowed.connection
                scope = find_scope(connection, asked.aggregation, asked.domain)
                rows = lent.enter_context(timeline.with_computed(borrowed, asked))
                title = profile_title(connection) or label
                result = export.export(table_of(connection, asked.table), scope, asked, title)
                export.checked(result, rows.connection, rows.counts)
                if not result.is_laid_out:
                    resources.push(lent.pop_all())
                    return responses.download(
                        result.pieces(rows.connection), resources, result.content_type, result.file_name
                    )
            folder = resources.enter_context(self._exporter.place())
            job = {"name": label, "file_name": name, "is_comparison": False, "source": str(path)}
            return self._laid_out(request, result, folder, job, resources)

    def _laid_out(
        self, request: Request, result: export.Export, folder: Path, job: dict[str, Any], resources: ExitStack
    ) -> Response:
        """The response with a workbook or PDF, which a process of its own writes into the folder."""
        query = request.query_string.decode("latin-1")
        written = self._exporter.write(folder, {**job, "query": query}, request.environ)
        return responses.download(export.pieces_of(written), resources, result.content_type, result.file_name)

    def _compared_download(self, request: Request, asked: ExportRequest) -> Response:
        paths, key, read = self._pair(asked)
        with ExitStack() as resources:
            with self._place(*paths):
                cached = self._comparisons.made(key, read)
                # Few rows in memory: a connection of its own, so that others need not wait for the browser.
                connection = resources.enter_context(copy_of(cached))
            name = f"{cached.comparison.a.name} - {cached.comparison.b.name}"
            result = export.export(table_of_comparison(asked.table), SCOPE, asked, name)
            export.checked(result, connection, {})
            if not result.is_laid_out:
                return responses.download(result.pieces(connection), resources, result.content_type, result.file_name)
            folder = resources.enter_context(self._exporter.place())
            saved(connection, folder / "tables")
            job = {"name": name, "is_comparison": True, "source": str(folder / "tables")}
            return self._laid_out(request, result, folder, job, resources)

    def trace(self, request: Request, asked: WindowRequest) -> Response:
        """Respond with trace events of a window. Only its start takes a turn, as that of a download."""
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Forbidden("Traces are for our own page only; use the command dlprof trace.")
        profile = self._catalog.find(asked.profile)
        path = self.newest_path(profile)
        name = shown(Path(profile.name))
        with ExitStack() as resources, self._place(path):
            lent = self._databases.borrow(path, name, export.SECONDS)
            return timeline.trace(resources.enter_context(lent), asked, resources)

    @contextmanager
    def _place(self, *databases: Path) -> Iterator[None]:
        # A slow request must not delay others for long: after waiting, they go on without a turn.
        with self._places.place(databases), self._turns.turn():
            yield


def _not_ready(profile: ListedProfile) -> ProfileError:
    if profile.kind == "metadata":
        return NotFound(
            "Only the metadata of this profile is here; its database and source are not below the log directory."
        )
    if profile.message:
        return error_of(profile.code, profile.message)
    return responses.NotReady("This profile is not imported yet.")
