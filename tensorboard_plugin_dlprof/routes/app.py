"""The plugin's WSGI applications, independent of TensorBoard: the route table, and the checks of every request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import msgspec
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager, Subject
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.diagnosed import diagnosed_positions, stored_diagnosis
from tensorboard_plugin_dlprof.queries.headline import source_facts
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.scope import aggregations as known_aggregations
from tensorboard_plugin_dlprof.routes import (
    aggregations,
    beside,
    jobs,
    memory,
    responses,
    static_files,
    timeline,
    views,
)
from tensorboard_plugin_dlprof.routes.comparisons import TABLES, Kept
from tensorboard_plugin_dlprof.routes.dashboard import dashboard
from tensorboard_plugin_dlprof.routes.databases import Borrowed
from tensorboard_plugin_dlprof.routes.hosts import Hosts
from tensorboard_plugin_dlprof.routes.opened import Opened
from tensorboard_plugin_dlprof.routes.profiles import about, database_path, entry, importable, profile_list
from tensorboard_plugin_dlprof.routes.questions import Questions
from tensorboard_plugin_dlprof.routes.requests import (
    Forbidden,
    Parameters,
    asked_scope,
    changing_body,
    checked_profile_id,
)
from tensorboard_plugin_dlprof.routes.table import compared, table
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import FoundProfile

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from werkzeug.wrappers import Response

_LOG = logging.getLogger(__name__)

PERFETTO = "https://ui.perfetto.dev"

_READS = ("GET", "HEAD")
_CHANGES = ("POST",)

Handler = Callable[[Request], "Response"]


class Services(msgspec.Struct, frozen=True):
    """The services that the routes use. ``import_mode`` is auto or off, ``reaggregate_mode`` on or off."""

    catalog: Catalog
    imports: ImportManager
    aggregations: ReaggregationManager
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
    """The server side of the plugin."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._questions = Questions(services.catalog, services.imports)

    def routes(self) -> dict[str, WSGIApplication]:
        """The application of each path below the plugin's prefix. ``*`` at the end matches anything."""
        return {
            "/profiles": self._application(self._profiles, _READS),
            "/dashboard": self._application(self._dashboard, _READS),
            "/compare": self._application(self._compare, _READS),
            "/compare_series": self._application(self._compare_series, _READS),
            "/compare_row": self._application(self._compare_row, _READS),
            "/table": self._application(self._table, _READS),
            "/groups": self._application(self._scoped(views.groups), _READS),
            "/iterations": self._application(self._scoped(views.iterations), _READS),
            "/diagnosis": self._application(self._diagnosis, _READS),
            "/findings": self._application(self._scoped(views.findings), _READS),
            "/efficiency": self._application(self._scoped(views.efficiency), _READS),
            "/memory": self._application(self._scoped(memory.answer), _READS),
            "/memory_curve": self._application(self._scoped(memory.curve), _READS),
            "/memory_segments": self._application(self._scoped(memory.segments), _READS),
            "/memory_at": self._application(self._scoped(memory.moment), _READS),
            "/throughput": self._application(self._scoped(views.throughput), _READS),
            "/timeline": self._application(self._tracked(timeline.window), _READS),
            "/timeline_item": self._application(self._tracked(timeline.item), _READS),
            "/launches": self._application(self._tracked(timeline.launches), _READS),
            "/trace": self._application(self._questions.trace, _READS),
            "/job": self._application(self._job, _READS),
            "/job_rank": self._application(self._of_job(jobs.summary), _READS),
            "/job_cells": self._application(self._of_job(jobs.cells), _READS),
            "/job_collectives": self._application(self._of_job(jobs.collectives), _READS),
            "/job_collective": self._application(self._of_job(jobs.collective), _READS),
            "/export": self._application(self._questions.download, _READS),
            "/import": self._application(self._import, _CHANGES),
            "/cancel": self._application(self._cancel, _CHANGES),
            "/aggregate": self._application(self._aggregate, _CHANGES),
            "/delete_aggregation": self._application(self._delete_aggregation, _CHANGES),
            "/cancel_aggregation": self._application(self._cancel_aggregation, _CHANGES),
            "/aggregation_jobs": self._application(self._aggregation_jobs, _READS),
            # The frontend is public. It must load under any host name, to explain that the other routes refuse it.
            "/static/*": self._application(self._static, _READS, Hosts()),
        }

    def close(self) -> None:
        """Close all open databases."""
        self._questions.close()

    def _application(self, handler: Handler, methods: tuple[str, ...], hosts: Hosts | None = None) -> WSGIApplication:
        def application(environ: Any, start_response: Any) -> Iterable[bytes]:
            request = Request(environ)
            response = self._respond(request, handler, methods, hosts or self._services.hosts)
            return response(environ, start_response)

        return application

    @staticmethod
    def _respond(request: Request, handler: Handler, methods: tuple[str, ...], hosts: Hosts) -> Response:
        if request.method not in methods:
            error = responses.MethodNotAllowed(f"This address takes {' and '.join(methods)} only.")
            return responses.failure(request, error, allowed=", ".join(methods))
        try:
            hosts.check(request.environ)
            return handler(request)
        except ProfileError as error:
            return responses.failure(request, error)
        except Exception:  # noqa: BLE001 - logged; the traceback has paths, which must not be sent
            _LOG.exception("A request to %s failed.", ascii(request.path))
            return responses.internal_failure(request)

    def _profiles(self, request: Request) -> Response:
        services = self._services
        snapshot = services.catalog.snapshot()
        return responses.success(
            request,
            {
                **profile_list(snapshot, services.imports, services.import_mode),
                "reaggregate_mode": services.reaggregate_mode,
                "perfetto": services.perfetto,
                "opened": services.opened.shown(snapshot) if services.opened is not None else None,
            },
        )

    def _dashboard(self, request: Request) -> Response:
        def body(borrowed: Borrowed, profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return {
                "profile": about(profile, source_facts(borrowed.connection)),
                **dashboard(borrowed.connection, scope),
            }

        return self._questions.answer(request, body)

    def _beside(self, kept: Kept, parameters: Parameters) -> Any:
        """A page of a profile's own table with the columns of a baseline."""
        with self._questions.connection(parameters) as borrowed:
            answer = table(borrowed, asked_scope(borrowed.connection, parameters), parameters)
            return beside.with_baseline(answer, parameters.required("table"), kept.found)

    def _compare_series(self, request: Request) -> Response:
        return responses.success(request, self._questions.series(Parameters(request)))

    def _compare(self, request: Request) -> Response:
        from tensorboard_plugin_dlprof.comparing.page import page

        return self._questions.compare(request, lambda kept, _parameters: page(kept.found))

    def _compare_row(self, request: Request) -> Response:
        from tensorboard_plugin_dlprof.comparing.page import row_detail

        def body(kept: Kept, parameters: Parameters) -> Any:
            found = row_detail(kept.found, parameters.integer("row", 0, 0, 2**31) or 0)
            for side, profile in (("a", "base"), ("b", "profile")):
                with self._questions.connection(parameters, profile) as borrowed:
                    beside.add_launch_sizes(found[side], borrowed.connection)
            return found

        return self._questions.compare(request, body)

    def _table(self, request: Request) -> Response:
        if request.args.get("table") in TABLES:
            return self._questions.compare(request, compared)
        if "base" in request.args and request.args.get("table") in beside.TABLES:
            return self._questions.compare(request, self._beside)

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return table(borrowed, scope, parameters)

        return self._questions.answer(request, body)

    def _scoped(self, answer: Callable[[Connection, Scope, Parameters], Any]) -> Handler:
        """A handler that responds with the result of ``answer`` for one aggregation and domain."""

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return answer(borrowed.connection, scope, parameters)

        return lambda request: self._questions.answer(request, body)

    def _tracked(self, answer: Callable[[Connection, Parameters], Any]) -> Handler:
        """A handler that responds with the result of ``answer`` for a database with tracks."""

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            return answer(borrowed.connection, parameters)

        return lambda request: self._questions.answer(request, body)

    def _job(self, request: Request) -> Response:
        listed = self._questions.listed
        return self._questions.job(request, lambda con, place, _: {"job": jobs.page(con, place, listed())})

    def _of_job(self, body: Callable[[Connection, jobs.Place, Parameters], Any]) -> Handler:
        """A handler that responds about the job that a profile is a rank of."""
        return lambda request: self._questions.job(request, body)

    def _diagnosis(self, request: Request) -> Response:
        """Responds with where the time of a typical iteration goes, or of the iterations of an added aggregation."""

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            connection = borrowed.connection
            chosen = diagnosed_positions(connection, asked_scope(connection, parameters))
            return chosen, stored_diagnosis(connection, chosen, "")

        def worked_out(path: Path, asked: Any) -> Any:
            chosen, stored = asked
            if stored is not None:
                return {**stored, "source": path.name}
            found = self._questions.advisor.diagnosis(path, chosen)
            return responses.ForNow({**views.NO_DIAGNOSIS, "source": path.name}) if found is None else found

        return self._questions.answer(request, body, worked_out)

    def _import(self, request: Request) -> Response:
        profile = self._to_change(request)
        if database_path(profile, self._services.imports) is None:
            source = importable(profile)
            if source is None:
                raise NotFound(profile.message or "This profile has no source that could be imported.")
            self._services.imports.start(source)
        return responses.success(request, entry(profile, self._services.imports))

    def _cancel(self, request: Request) -> Response:
        profile = self._to_change(request)
        self._services.imports.cancel(profile.profile_id)
        return responses.success(request, entry(profile, self._services.imports))

    def _aggregate(self, request: Request) -> Response:
        subject, body = self._to_aggregate(request)
        job = self._services.aggregations.start(subject, aggregations.aggregate_request(body))
        return responses.success(request, {"job": aggregations.shown(job)})

    def _delete_aggregation(self, request: Request) -> Response:
        subject, body = self._to_aggregate(request)
        path = self._services.imports.cache.newest(subject.database)
        with self._questions.borrow(path, subject.shown_name) as borrowed:
            wanted = aggregations.delete_request(body, known_aggregations(borrowed.connection))
        job = self._services.aggregations.start(subject, wanted)
        return responses.success(request, {"job": aggregations.shown(job)})

    def _cancel_aggregation(self, request: Request) -> Response:
        subject, body = self._to_aggregate(request)
        job = self._services.aggregations.cancel(subject.profile_id, aggregations.job_id(body))
        if job is None:
            raise NotFound("The profile has no such job; it may have ended more than an hour ago.")
        return responses.success(request, {"job": aggregations.shown(job)})

    def _aggregation_jobs(self, request: Request) -> Response:
        profile = self._services.catalog.find(Parameters(request).profile())
        jobs = self._services.aggregations.jobs(profile.profile_id)
        return responses.success(request, {"jobs": [aggregations.shown(job) for job in jobs]})

    def _to_aggregate(self, request: Request) -> tuple[Subject, dict[str, object]]:
        body = changing_body(request)
        if self._services.reaggregate_mode == "off":
            raise Forbidden(
                "Aggregating anew is switched off here (--dlprof_reaggregate off); use the command dlprof aggregate."
            )
        profile = self._services.catalog.find(checked_profile_id(body.get("profile")))
        return Subject(profile.profile_id, self._questions.own_path(profile), shown(Path(profile.name))), body

    def _to_change(self, request: Request) -> FoundProfile:
        body = changing_body(request)
        if self._services.import_mode == "off":
            raise Forbidden("Imports are switched off here (--dlprof_import off); use the command dlprof import.")
        return self._services.catalog.find(checked_profile_id(body.get("profile")))

    def _static(self, request: Request) -> Response:
        return static_files.serve(request, self._services.static_folder)
