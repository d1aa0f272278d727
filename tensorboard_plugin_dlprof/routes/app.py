"""The plugin's WSGI applications, independent of TensorBoard: the route table, and the checks of every request."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from sqlite3 import Connection
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import msgspec
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.comparing.page import page, row_detail
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.imports.rank_jobs import RankJobManager
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager, Subject
from tensorboard_plugin_dlprof.metadata import PLUGIN_NAME
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.diagnosed import diagnosed_positions, stored_diagnosis
from tensorboard_plugin_dlprof.queries.headline import source_facts
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.scope import aggregations as known_aggregations
from tensorboard_plugin_dlprof.routes import (
    aggregations,
    baseline_columns,
    jobs,
    responses,
    static_files,
    timeline,
    views,
)
from tensorboard_plugin_dlprof.routes.answers import Answers
from tensorboard_plugin_dlprof.routes.comparisons import TABLES, CachedComparison
from tensorboard_plugin_dlprof.routes.dashboard import dashboard
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.hosts import Hosts
from tensorboard_plugin_dlprof.routes.parameters import (
    CHANGES,
    READS,
    AggregateRequest,
    CancelAggregationRequest,
    CompareRequest,
    CompareRowRequest,
    DeleteAggregationRequest,
    NothingRequest,
    ProfileRequest,
    ScopeRequest,
    SeriesRequest,
    TableRequest,
)
from tensorboard_plugin_dlprof.routes.profiles import (
    Opened,
    ProfilesAndModes,
    about,
    database_path,
    entry,
    importable,
    profile_list,
)
from tensorboard_plugin_dlprof.routes.questions import Questions
from tensorboard_plugin_dlprof.routes.requests import Forbidden, asked_in_body, asked_in_query
from tensorboard_plugin_dlprof.routes.views import compared, table
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import ListedProfile

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from werkzeug.wrappers import Response

_LOG = logging.getLogger(__name__)

_LONGEST_CAUSE = 200

_LIST_SECONDS = 0.25
"""How long a list of profiles is sent to all who ask for it, if nothing changes meanwhile."""

_LIST_BYTES = 4 << 20

PREFIX = f"/data/plugin/{PLUGIN_NAME}"
"""Path of the routes, as in TensorBoard, so that links are the same in both servers."""

PERFETTO = "https://ui.perfetto.dev"

_READS = ("GET", "HEAD")
_CHANGES = ("POST",)

Handler = Callable[[Request, Any], "Response"]
"""Responds to a request, with what it asks for decoded."""


class Services(msgspec.Struct, frozen=True):
    """The services that the routes use. ``import_mode`` is auto or off, ``reaggregate_mode`` on or off."""

    catalog: Catalog
    imports: ImportManager
    aggregations: ReaggregationManager
    rank_jobs: RankJobManager
    import_mode: str = "auto"
    reaggregate_mode: str = "on"
    opened: Opened | None = None
    """The file or folder that the command line of the standalone viewer names; None inside TensorBoard."""
    static_folder: Path = static_files.STATIC_FOLDER
    hosts: Hosts = msgspec.field(default_factory=Hosts)
    """The host names that requests may use."""
    perfetto: str | None = PERFETTO
    """Address of the Perfetto to which pages hand windows over; None offers none."""


class App:
    """The server side of the plugin, as one WSGI application for all paths below ``PREFIX``."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._questions = Questions(services.catalog, services.imports, services.rank_jobs)
        self._lists = Answers(_LIST_BYTES)
        self._applications = self.routes()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond to a request."""
        request = Request(environ)
        path = request.path.removeprefix(PREFIX)
        route = "/static/*" if path.startswith("/static/") else path.rstrip("/")
        if route in self._applications:
            return self._applications[route](environ, start_response)
        response = responses.failure(request, NotFound(f"There is no address {path[:80]!r}."))
        return response(environ, start_response)

    def routes(self) -> dict[str, WSGIApplication]:
        """The application of each path below the plugin's prefix. ``*`` at the end matches anything."""
        reads: dict[str, Handler] = {
            "/profiles": self._profiles,
            "/dashboard": self._dashboard,
            "/compare": self._compare,
            "/compare_baselines": self._compare_baselines,
            "/compare_series": self._compare_series,
            "/compare_row": self._compare_row,
            "/table": self._table,
            **{path: self._scoped(answer) for path, answer in views.VIEWS.items()},
            "/diagnosis": self._diagnosis,
            "/timeline": self._tracked(timeline.window),
            "/timeline_item": self._tracked(timeline.item),
            "/timeline_hits": self._tracked(timeline.hits),
            "/timeline_work": self._tracked(timeline.work),
            "/launches": self._tracked(timeline.launches),
            "/trace": self._questions.trace,
            "/job": self._job,
            "/job_rank": self._of_job(jobs.summary),
            "/job_cells": self._of_job(jobs.cells),
            "/job_collectives": self._of_job(jobs.collectives),
            "/job_collective": self._of_job(jobs.collective),
            "/export": self._questions.download,
            "/aggregation_jobs": self._aggregation_jobs,
            "/static/*": self._static,
        }
        changes: dict[str, Handler] = {
            "/import": self._import,
            "/cancel": self._cancel,
            "/compare_ranks": self._compare_ranks,
            "/cancel_compare_ranks": self._cancel_compare_ranks,
            "/aggregate": self._aggregate,
            "/delete_aggregation": self._delete_aggregation,
            "/cancel_aggregation": self._cancel_aggregation,
        }
        return {
            **{path: self._application(path, asked_in_query, READS[path], reads[path]) for path in READS},
            **{path: self._application(path, asked_in_body, CHANGES[path], changes[path]) for path in CHANGES},
        }

    def close(self) -> None:
        """Close all open databases."""
        self._questions.close()

    def _application(
        self, path: str, decode: Callable[[Request, Any], Any], asks: type[msgspec.Struct], handler: Handler
    ) -> WSGIApplication:
        """The application that decodes a request, once, and calls its handler."""
        methods = _READS if decode is asked_in_query else _CHANGES
        # The frontend is public. It must load under any host name, to explain that the other routes refuse it.
        hosts = Hosts() if path == "/static/*" else self._services.hosts

        def response(request: Request) -> Response:
            if request.method not in methods:
                error = responses.MethodNotAllowed(f"This address takes {' and '.join(methods)} only.")
                return responses.failure(request, error, allowed=", ".join(methods))
            try:
                hosts.check(request.environ)
                return handler(request, decode(request, asks))
            except ProfileError as error:
                if not isinstance(error.__cause__, ProfileError | OSError | None):
                    _log_cause(request, error.__cause__)
                return responses.failure(request, error)
            except Exception:  # noqa: BLE001 - logged; the traceback has paths, which must not be sent
                _LOG.exception("A request to %s failed.", ascii(request.path))
                return responses.internal_failure(request)

        def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            return response(Request(environ))(environ, start_response)

        return application

    def _profiles(self, request: Request, _asked: NothingRequest) -> Response:
        services = self._services
        snapshot = services.catalog.snapshot()
        tag = f"{snapshot.finished_at} {time.monotonic() // _LIST_SECONDS} {services.imports.states()}"
        known = responses.cached(request, tag, self._lists)
        if known is not None:
            return known
        body: ProfilesAndModes = {
            **profile_list(snapshot, services.imports, services.import_mode),
            "reaggregate_mode": "off" if services.reaggregate_mode == "off" else "on",
            "perfetto": services.perfetto,
            "opened": services.opened.shown(snapshot) if services.opened is not None else None,
        }
        return responses.cache(request, body, tag, self._lists)

    def _dashboard(self, request: Request, asked: ScopeRequest) -> Response:
        def body(borrowed: Borrowed, profile: ListedProfile) -> Any:
            scope = find_scope(borrowed.connection, asked.aggregation, asked.domain)
            return dashboard(borrowed.connection, scope, about(profile, source_facts(borrowed.connection)))

        return self._questions.answer(request, asked.profile, body)

    def _compare_baselines(self, request: Request, asked: ProfileRequest) -> Response:
        return responses.success(request, self._questions.baselines(asked.profile))

    def _compare_series(self, request: Request, asked: SeriesRequest) -> Response:
        return responses.success(request, self._questions.series(asked.profiles))

    def _compare(self, request: Request, asked: CompareRequest) -> Response:
        return self._questions.compare(request, asked, lambda cached: page(cached.comparison))

    def _compare_row(self, request: Request, asked: CompareRowRequest) -> Response:
        def body(cached: CachedComparison) -> Any:
            detail = row_detail(cached.comparison, asked.row)
            for side, profile in (("a", asked.base), ("b", asked.profile)):
                with self._questions.connection(profile) as borrowed:
                    baseline_columns.add_launch_sizes(detail[side], borrowed.connection)
            return detail

        return self._questions.compare(request, asked, body)

    def _table(self, request: Request, asked: TableRequest) -> Response:
        def with_baseline(cached: CachedComparison) -> Any:
            """A page of a profile's own table with the columns of a baseline."""
            with self._questions.connection(asked.profile) as borrowed:
                answer = table(borrowed, asked)
                return baseline_columns.with_baseline(answer, asked, cached.comparison, borrowed.connection)

        if asked.table in TABLES:
            return self._questions.compare(request, asked, lambda cached: compared(cached, asked))
        if asked.base is not None and asked.table in baseline_columns.TABLES:
            return self._questions.compare(request, asked, with_baseline)
        return self._questions.answer(request, asked.profile, lambda borrowed, _profile: table(borrowed, asked))

    def _scoped(self, answer: Callable[[Connection, Scope, Any], Any]) -> Handler:
        """A handler that responds with the result of ``answer`` for one aggregation and domain."""

        def handler(request: Request, asked: ScopeRequest) -> Response:
            def body(borrowed: Borrowed, _profile: ListedProfile) -> Any:
                con = borrowed.connection
                return answer(con, find_scope(con, asked.aggregation, asked.domain), asked)

            return self._questions.answer(request, asked.profile, body)

        return handler

    def _tracked(self, answer: Callable[[Connection, Any], Any]) -> Handler:
        """A handler that responds with the result of ``answer`` for a database with tracks."""

        def handler(request: Request, asked: ProfileRequest) -> Response:
            return self._questions.answer(
                request, asked.profile, lambda borrowed, _profile: answer(borrowed.connection, asked)
            )

        return handler

    def _job(self, request: Request, asked: ProfileRequest) -> Response:
        return self._questions.job_page(request, asked.profile, self._services.import_mode)

    def _of_job(self, body: Callable[[Connection, jobs.Place, Any], Any]) -> Handler:
        """A handler that responds about the job that a profile is a rank of."""

        def handler(request: Request, asked: ProfileRequest) -> Response:
            return self._questions.job(request, asked.profile, lambda con, place: body(con, place, asked))

        return handler

    def _diagnosis(self, request: Request, asked: ScopeRequest) -> Response:
        """Responds with where the time of a typical iteration goes, or of the iterations of an added aggregation."""

        def body(borrowed: Borrowed, _profile: ListedProfile) -> Any:
            connection = borrowed.connection
            selected = diagnosed_positions(connection, find_scope(connection, asked.aggregation, asked.domain))
            return selected, stored_diagnosis(connection, selected, "")

        def worked_out(path: Path, known: Any) -> Any:
            selected, stored = known
            result = stored or self._questions.advisor.diagnosis(path, selected)
            if result is None:
                return responses.ForNow({**views.NO_DIAGNOSIS, "source": path.name})
            return self._questions.as_its_job_tells({**result, "source": path.name}, place)

        place = self._questions.job_of(asked.profile)
        return self._questions.answer(request, asked.profile, body, worked_out, place)

    def _import(self, request: Request, asked: ProfileRequest) -> Response:
        profile = self._to_change(asked)
        if database_path(profile, self._services.imports) is None:
            source = importable(profile)
            if source is None:
                raise NotFound(profile.message or "This profile has no source that could be imported.")
            self._services.imports.start(source)
        return responses.success(request, entry(profile, self._services.imports))

    def _cancel(self, request: Request, asked: ProfileRequest) -> Response:
        profile = self._to_change(asked)
        self._services.imports.cancel(profile.profile_id)
        return responses.success(request, entry(profile, self._services.imports))

    def _compare_ranks(self, request: Request, asked: ProfileRequest) -> Response:
        profile = self._to_change(asked)
        siblings = self._questions.siblings(profile)
        if siblings is None:
            raise NotFound("No other ranks of this profile's job are below the log directory.")
        if len(siblings.files) > jobs.MOST_RANKS:
            raise Forbidden(f"A job of more than {jobs.MOST_RANKS} ranks is made by the command dlprof import --job.")
        self._services.rank_jobs.start(siblings.folder, jobs.rank_files(siblings))
        return self._job(request, asked)

    def _cancel_compare_ranks(self, request: Request, asked: ProfileRequest) -> Response:
        siblings = self._questions.siblings(self._to_change(asked))
        if siblings is not None:
            self._services.rank_jobs.cancel(siblings.folder, jobs.rank_files(siblings))
        return self._job(request, asked)

    def _aggregate(self, request: Request, asked: AggregateRequest) -> Response:
        subject = self._to_aggregate(asked)
        job = self._services.aggregations.start(subject, aggregations.aggregate_request(asked))
        return responses.success(request, {"job": aggregations.shown(job)})

    def _delete_aggregation(self, request: Request, asked: DeleteAggregationRequest) -> Response:
        subject = self._to_aggregate(asked)
        path = self._services.imports.cache.newest(subject.database)
        with self._questions.borrow(path, subject.shown_name) as borrowed:
            wanted = aggregations.delete_request(asked.aggregation, known_aggregations(borrowed.connection))
        job = self._services.aggregations.start(subject, wanted)
        return responses.success(request, {"job": aggregations.shown(job)})

    def _cancel_aggregation(self, request: Request, asked: CancelAggregationRequest) -> Response:
        subject = self._to_aggregate(asked)
        job = self._services.aggregations.cancel(subject.profile_id, asked.job)
        if job is None:
            raise NotFound("The profile has no such job; it may have ended more than an hour ago.")
        return responses.success(request, {"job": aggregations.shown(job)})

    def _aggregation_jobs(self, request: Request, asked: ProfileRequest) -> Response:
        profile = self._services.catalog.find(asked.profile)
        jobs = self._services.aggregations.jobs(profile.profile_id)
        return responses.success(request, {"jobs": [aggregations.shown(job) for job in jobs]})

    def _to_aggregate(self, asked: ProfileRequest) -> Subject:
        if self._services.reaggregate_mode == "off":
            raise Forbidden(
                "Aggregating anew is switched off here (--dlprof_reaggregate off); use the command dlprof aggregate."
            )
        profile = self._services.catalog.find(asked.profile)
        return Subject(profile.profile_id, self._questions.own_path(profile), shown(Path(profile.name)))

    def _to_change(self, asked: ProfileRequest) -> ListedProfile:
        if self._services.import_mode == "off":
            raise Forbidden("Imports are switched off here (--dlprof_import off); use the command dlprof import.")
        return self._services.catalog.find(asked.profile)

    def _static(self, request: Request, _asked: NothingRequest) -> Response:
        return static_files.serve(request, self._services.static_folder)


def _log_cause(request: Request, cause: BaseException) -> None:
    """What came of a damaged file most likely, and else of a bug: one line, because anyone may write such files."""
    *_, (frame, line) = walk_tb(cause.__traceback__)
    words = ascii(cause)[:_LONGEST_CAUSE]
    _LOG.warning("A request to %s failed in %s:%d: %s", ascii(request.path), frame.f_code.co_filename, line, words)
