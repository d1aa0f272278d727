"""What every question to the database of a profile goes through: answers that were given before, turns, a connection.

Several browsers ask at once, most of them the same; a long question must hold up nobody for long; and what NVIDIA's
databases do not tell is worked out beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorboard_plugin_dlprof.errors import NotFound, ProfileError, error_of
from tensorboard_plugin_dlprof.imports.advising import Advisor
from tensorboard_plugin_dlprof.imports.manager import ImportManager
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.routes import export, measuring, responses
from tensorboard_plugin_dlprof.routes.answers import Answers
from tensorboard_plugin_dlprof.routes.databases import Borrowed, Databases, identity
from tensorboard_plugin_dlprof.routes.measuring import Measures, unmeasured
from tensorboard_plugin_dlprof.routes.profiles import database_path
from tensorboard_plugin_dlprof.routes.requests import Parameters, asked_scope
from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByQuestion
from tensorboard_plugin_dlprof.runs.catalog import Catalog
from tensorboard_plugin_dlprof.runs.profile import FoundProfile

if TYPE_CHECKING:
    from werkzeug.wrappers import Request, Response

HEAVY_AT_ONCE = 4
HEAVY_WAIT_SECONDS = 2.0

TURNS = 1
TURN_SECONDS = 0.05
"""How many questions are asked at once, and how long others wait for their turn. Threads take the interpreter from each
other at every row of SQLite's, so two questions at once take longer than one after the other."""

SAME_SECONDS = 5.0
"""How long one waits for another's answer to the same question."""

Body = Callable[[Borrowed, FoundProfile, Parameters], Any]
"""Asks a database about a profile."""


class _Subject(NamedTuple):
    """What a question to a database is about; ``tag`` names both."""

    parameters: Parameters
    profile: FoundProfile
    path: Path
    tag: str


class Questions:
    """The questions of one server.

    Args:
        catalog: the profiles.
        imports: where the databases of sources are, and what worker processes may use.
    """

    def __init__(self, catalog: Catalog, imports: ImportManager) -> None:
        self._catalog, self._imports = catalog, imports
        self._databases = Databases(on_gone=catalog.rescan)
        self._answers = Answers()
        self._heavy = Turns(HEAVY_AT_ONCE, HEAVY_WAIT_SECONDS)
        self._turns = Turns(TURNS, TURN_SECONDS)
        self._alike = TurnsByQuestion(SAME_SECONDS)
        self.advisor = Advisor(imports.cache, imports.memory_bytes)

    def close(self) -> None:
        """Closes what is open."""
        self._databases.close()

    def own_path(self, profile: FoundProfile) -> Path:
        """The database of a profile, without the aggregations that the server added.

        Raises:
            ProfileError: there is none yet, or it cannot be read.
        """
        path = database_path(profile, self._imports)
        if path is None:
            raise _not_ready(profile)
        return path

    def newest_path(self, profile: FoundProfile) -> Path:
        """The database to read: with all aggregations so far; raises as ``own_path`` does."""
        return self._imports.cache.newest(self.own_path(profile))

    @contextmanager
    def borrow(self, path: Path, name: str, measured: Path | None = None) -> Iterator[Borrowed]:
        """A connection when it is one's turn; messages call the database ``name``, beside which ``measured`` lies.

        Raises:
            Busy: too many others wait.
            ProfileError: as ``Databases.borrow``.
        """
        with self._heavy_place(), self._databases.borrow(path, name, measured=measured) as borrowed:
            yield borrowed

    def answer(
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
        profile = self._catalog.find(parameters.profile())
        path = self.newest_path(profile)
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
        with self.borrow(path, name) as borrowed:
            wanted = unmeasured(borrowed.connection, parameters, measures)
            found = body(borrowed, profile, parameters) if wanted is None else None
        if wanted is not None:
            measured = self.advisor.measured(path, *wanted)
            tag = f"{tag}\0{'' if measured is None else identity(measured)}"
            known = responses.kept(request, tag, self._answers)
            if known is not None:
                return known
            with self.borrow(path, name, measured) as borrowed:
                found = body(borrowed, profile, parameters)
        answer = then(path, found)
        if isinstance(answer, responses.ForNow):
            return responses.success(request, answer.body)
        if path.parent == self._imports.cache.folder:
            self._imports.cache.touch(path)
        return responses.keep(request, answer, tag, self._answers)

    def download(self, request: Request) -> Response:
        """A download. Only its beginning counts as heavy: the rest goes at the pace of the browser."""
        parameters = Parameters(request)
        profile = self._catalog.find(parameters.profile())
        path = self.newest_path(profile)
        name = shown(Path(profile.name))
        with self.borrow(path, name) as borrowed:
            wanted = unmeasured(borrowed.connection, parameters, measuring.by_table)
        measured = wanted and self.advisor.measured(path, *wanted)
        with ExitStack() as resources:
            with self._heavy_place():
                borrowed = resources.enter_context(self._databases.borrow(path, name, export.SECONDS, measured))
                scope = asked_scope(borrowed.connection, parameters)
                label = name if profile.run == "." else f"{shown(Path(profile.run))} {name}"
                found = export.export(borrowed, scope, parameters, label, resources)
            return export.streamed(found, resources.pop_all())

    @contextmanager
    def _heavy_place(self) -> Iterator[None]:
        with self._heavy.turn() as has_place:
            if not has_place:
                raise responses.Busy("The server is busy with other requests.")
            # A long question holds up nobody for long: who waited enough goes without a turn.
            with self._turns.turn():
                yield


def _not_ready(profile: FoundProfile) -> ProfileError:
    if profile.kind == "metadata":
        return NotFound(
            "Only the metadata of this profile is here; its database and source are not below the log directory."
        )
    if profile.message:
        return error_of(profile.code, profile.message)
    return responses.NotReady("This profile is not imported yet.")
