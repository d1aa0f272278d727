"""The plugin's WSGI applications, independent of TensorBoard: a route table, and what every request goes through."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.errors import NotFound, ProfileError, error_of
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationManager, Subject
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.findings import aggregated, with_verdict
from tensorboard_plugin_dlprof.queries.headline import source_facts
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.scope import aggregations as known_aggregations
from tensorboard_plugin_dlprof.routes import aggregations, export, measuring, responses, static_files, views
from tensorboard_plugin_dlprof.routes.answers import Answers
from tensorboard_plugin_dlprof.routes.dashboard import dashboard
from tensorboard_plugin_dlprof.routes.databases import Borrowed, Databases, identity
from tensorboard_plugin_dlprof.routes.hosts import Hosts
from tensorboard_plugin_dlprof.routes.measuring import Measures, unmeasured
from tensorboard_plugin_dlprof.routes.opened import Opened
from tensorboard_plugin_dlprof.routes.profiles import about, database_path, entry, importable, profile_list
from tensorboard_plugin_dlprof.routes.requests import (
    Forbidden,
    Parameters,
    asked_scope,
    changing_body,
    checked_profile_id,
)
from tensorboard_plugin_dlprof.routes.table import table
from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByQuestion
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import FoundProfile

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from werkzeug.wrappers import Response

_LOG = logging.getLogger(__name__)

HEAVY_AT_ONCE = 4
HEAVY_WAIT_SECONDS = 2.0

TURNS = 1
TURN_SECONDS = 0.05
"""How many questions are asked at once, and how long others wait for their turn. Threads take the interpreter from each
other at every row of SQLite's, so two questions at once take longer than one after the other."""

SAME_SECONDS = 5.0
"""How long one waits for another's answer to the same question."""

_READS = ("GET", "HEAD")
_CHANGES = ("POST",)

Handler = Callable[[Request], "Response"]
Body = Callable[[Borrowed, FoundProfile, Parameters], Any]


class Services(msgspec.Struct, frozen=True):
    """What the routes work with. ``import_mode`` is auto or off, ``reaggregate_mode`` on or off."""

    catalog: Catalog
    imports: ImportManager
    aggregations: ReaggregationManager
    import_mode: str = "auto"
    reaggregate_mode: str = "on"
    opened: Opened | None = None
    """What the command line of the standalone viewer named; nothing inside TensorBoard."""
    static_folder: Path = static_files.STATIC_FOLDER
    hosts: Hosts = msgspec.field(default_factory=Hosts)
    """The names that requests may call the server by."""
    remote: tuple[str, ...] = ()
    """Log directories on remote storage, which are not searched."""


class _Subject(NamedTuple):
    """What a question to a database is about; ``tag`` names both."""

    parameters: Parameters
    profile: FoundProfile
    path: Path
    tag: str


class App:
    """The plugin's server side."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._databases = Databases(on_gone=services.catalog.rescan)
        self._answers = Answers()
        self._heavy = Turns(HEAVY_AT_ONCE, HEAVY_WAIT_SECONDS)
        self._turns = Turns(TURNS, TURN_SECONDS)
        self._alike = TurnsByQuestion(SAME_SECONDS)
        self._advisor = Advisor(services.imports.cache, services.imports.memory_bytes)

    def routes(self) -> dict[str, WSGIApplication]:
        """Path below the plugin's prefix -> application. ``*`` at the end stands for anything."""
        return {
            "/profiles": self._application(self._profiles, _READS),
            "/dashboard": self._application(self._dashboard, _READS),
            "/table": self._application(self._table, _READS),
            "/groups": self._application(self._scoped(views.groups, measuring.if_known), _READS),
            "/op": self._application(self._scoped(views.op), _READS),
            "/iterations": self._application(self._scoped(views.iterations), _READS),
            "/findings": self._application(self._findings, _READS),
            "/efficiency": self._application(self._scoped(views.efficiency, measuring.always), _READS),
            "/export": self._application(self._export, _READS),
            "/import": self._application(self._import, _CHANGES),
            "/cancel": self._application(self._cancel, _CHANGES),
            "/aggregate": self._application(self._aggregate, _CHANGES),
            "/delete_aggregation": self._application(self._delete_aggregation, _CHANGES),
            "/cancel_aggregation": self._application(self._cancel_aggregation, _CHANGES),
            "/aggregation_jobs": self._application(self._aggregation_jobs, _READS),
            # The frontend is nobody's secret, and says in words what the other routes refuse.
            "/static/*": self._application(self._static, _READS, Hosts()),
        }

    def close(self) -> None:
        """Closes what is open."""
        self._databases.close()

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
        except Exception:  # noqa: BLE001 - logged; the traceback holds paths, which belong into the log alone
            _LOG.exception("A request to %s failed.", ascii(request.path))
            return responses.internal_failure(request)

    def _profiles(self, request: Request) -> Response:
        services = self._services
        snapshot = services.catalog.snapshot()
        return responses.success(
            request,
            {
                **profile_list(snapshot, services.imports, services.import_mode, services.remote),
                "reaggregate_mode": services.reaggregate_mode,
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

        return self._from_database(request, body)

    def _table(self, request: Request) -> Response:
        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return table(borrowed, scope, parameters)

        return self._from_database(request, body, measures=measuring.by_table)

    def _scoped(
        self, answer: Callable[[Connection, Scope, Parameters], Any], measures: Measures = measuring.never
    ) -> Handler:
        """A handler that gives what ``answer`` says about one aggregation and domain."""

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return answer(borrowed.connection, scope, parameters)

        return lambda request: self._from_database(request, body, measures=measures)

    def _findings(self, request: Request) -> Response:
        """What the database holds, else what our rules say about it now."""

        def body(borrowed: Borrowed, _profile: FoundProfile, parameters: Parameters) -> Any:
            scope = asked_scope(borrowed.connection, parameters)
            return scope.aggregation, views.findings(borrowed.connection, scope), aggregated(borrowed.connection, scope)

        def worked_out(path: Path, found: Any) -> Any:
            number, answer, iterations = found
            if answer["judged"]:
                return answer
            verdict = self._advisor.findings(path, number, *iterations)
            return responses.ForNow(answer) if verdict is None else with_verdict(answer, verdict)

        return self._from_database(request, body, worked_out)

    def _export(self, request: Request) -> Response:
        """A download. Only its beginning counts as heavy: the rest goes at the pace of the browser."""
        parameters = Parameters(request)
        profile = self._services.catalog.find(parameters.profile())
        path = self._path(profile)
        name = shown(Path(profile.name))
        with self._heavy_place(), self._databases.borrow(path, name) as borrowed:
            wanted = unmeasured(borrowed.connection, parameters, measuring.by_table)
        measured = wanted and self._advisor.measured(path, *wanted)
        with ExitStack() as resources:
            with self._heavy_place():
                borrowed = resources.enter_context(self._databases.borrow(path, name, export.SECONDS, measured))
                scope = asked_scope(borrowed.connection, parameters)
                label = name if profile.run == "." else f"{shown(Path(profile.run))} {name}"
                found = export.export(borrowed, scope, parameters, label, resources)
            return export.streamed(found, resources.pop_all())

    def _path(self, profile: FoundProfile) -> Path:
        """The database to read: with all aggregations so far."""
        return self._services.imports.cache.newest(self._own_path(profile))

    def _own_path(self, profile: FoundProfile) -> Path:
        path = database_path(profile, self._services.imports)
        if path is None:
            raise _not_ready(profile)
        return path

    @contextmanager
    def _heavy_place(self) -> Iterator[None]:
        with self._heavy.turn() as has_place:
            if not has_place:
                raise responses.Busy("The server is busy with other requests.")
            # A long question holds up nobody for long: who waited enough goes without a turn.
            with self._turns.turn():
                yield

    def _from_database(
        self,
        request: Request,
        body: Body,
        then: Callable[[Path, Any], Any] = lambda _path, answer: answer,
        measures: Measures = measuring.never,
    ) -> Response:
        """An answer from a profile's database, sent again only when the database or the question changes.

        Args:
            request: With the profile.
            body: Asks the database.
            then: Finishes what ``body`` gave, when the database is given back: it may take its time. What it gives
                ``ForNow`` is not kept.
            measures: Whether the answer tells the efficiency of ops.
        """
        parameters = Parameters(request)
        profile = self._services.catalog.find(parameters.profile())
        path = self._path(profile)
        # Browsers keep answers longer than a server lives: another version may answer otherwise.
        tag = f"{VERSION}\0{identity(path)}\0{request.path}\0{request.query_string.decode('latin-1')}"
        known = responses.kept(request, tag, self._answers)
        if known is not None:
            return known
        # Several browsers may open a profile at once: most of them need not ask what they waited for.
        with self._alike.turn(tag):
            known = responses.kept(request, tag, self._answers)
            return known or self._asked(request, body, then, measures, _Subject(parameters, profile, path, tag))

    def _asked(
        self, request: Request, body: Body, then: Callable[[Path, Any], Any], measures: Measures, subject: _Subject
    ) -> Response:
        """The answer to a question that is not kept."""
        parameters, profile, path, tag = subject
        name = shown(Path(profile.name))
        with self._heavy_place(), self._databases.borrow(path, name) as borrowed:
            wanted = unmeasured(borrowed.connection, parameters, measures)
            found = body(borrowed, profile, parameters) if wanted is None else None
        if wanted is not None:
            measured = self._advisor.measured(path, *wanted)
            tag = f"{tag}\0{'' if measured is None else identity(measured)}"
            known = responses.kept(request, tag, self._answers)
            if known is not None:
                return known
            with self._heavy_place(), self._databases.borrow(path, name, measured=measured) as borrowed:
                found = body(borrowed, profile, parameters)
        answer = then(path, found)
        if isinstance(answer, responses.ForNow):
            return responses.success(request, answer.body)
        if path.parent == self._services.imports.cache.folder:
            self._services.imports.cache.touch(path)
        return responses.keep(request, answer, tag, self._answers)

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
        with self._heavy_place(), self._databases.borrow(path, subject.shown_name) as borrowed:
            wanted = aggregations.delete_request(body, known_aggregations(borrowed.connection))
        job = self._services.aggregations.start(subject, wanted)
        return responses.success(request, {"job": aggregations.shown(job)})

    def _cancel_aggregation(self, request: Request) -> Response:
        subject, body = self._to_aggregate(request)
        job = self._services.aggregations.cancel(subject.profile_id, aggregations.job_id(body))
        if job is None:
            raise NotFound("The profile has no such job; it may have ended long ago.")
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
        return Subject(profile.profile_id, self._own_path(profile), shown(Path(profile.name))), body

    def _to_change(self, request: Request) -> FoundProfile:
        body = changing_body(request)
        if self._services.import_mode == "off":
            raise Forbidden("Imports are switched off here (--dlprof_import off); use the command dlprof import.")
        return self._services.catalog.find(checked_profile_id(body.get("profile")))

    def _static(self, request: Request) -> Response:
        return static_files.serve(request, self._services.static_folder)


def _not_ready(profile: FoundProfile) -> ProfileError:
    if profile.kind == "metadata":
        return NotFound(
            "Only the metadata of this profile is here; its database and source are not below the log directory."
        )
    if profile.message:
        return error_of(profile.code, profile.message)
    return responses.NotReady("This profile is not imported yet.")
