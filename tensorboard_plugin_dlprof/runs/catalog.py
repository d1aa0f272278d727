"""The list of profiles: updated by scans in the background, returned from memory."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.naming import is_database_name, is_trace_name
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError, QueueFull, UnfitDatabase
from tensorboard_plugin_dlprof.opening.regular_file import Identity, identity_of
from tensorboard_plugin_dlprof.opening.sqlite_file import deadline, reading
from tensorboard_plugin_dlprof.opening.threads import start_thread
from tensorboard_plugin_dlprof.queries.extension import is_of_another_version
from tensorboard_plugin_dlprof.queries.headline import headline, source_facts
from tensorboard_plugin_dlprof.runs.hints import HintReader
from tensorboard_plugin_dlprof.runs.profile import Facts, ListedProfile, assemble
from tensorboard_plugin_dlprof.runs.recognise import Recogniser, relative_message
from tensorboard_plugin_dlprof.runs.scan import File, Root, Scan, Seen, scan

_LOG = logging.getLogger(__name__)

RESCAN_SECONDS = 5.0
"""If the list is requested and is older than this, a scan starts, unless the last one was slow."""

REST_FACTOR = 10
"""A slow scan (of a network file system) is followed by a pause of this many times its duration."""

FIRST_ANSWER_SECONDS = 0.1
"""How long the first ``any_profiles`` waits for the scan."""
ANSWER_SECONDS = 0.5
"""How long requests for the list wait for a scan."""

QUICK_SECONDS = 0.1
"""After a scan that took longer, requests do not wait for the next: all clients would, again and again."""
PUBLISH_SECONDS = 0.5
"""Least time between updates of the list while databases are opened."""


class Other(msgspec.Struct, frozen=True):
    """A file that is no profile."""

    run: str
    name: str
    reason: str
    """What it is, as the rest of a sentence that begins with its name: ``is empty; record or copy it again.``"""


class Snapshot(msgspec.Struct, frozen=True):
    """The list at one moment. ``finished_at`` is in seconds since 1970, 0 before the end of the first scan."""

    profiles: tuple[ListedProfile, ...] = ()
    refused: tuple[Seen, ...] = ()
    reports: tuple[Seen, ...] = ()
    jobs: tuple[Seen, ...] = ()
    others: tuple[Other, ...] = ()
    """Files that could be profiles by the ends of their names."""
    directories: int = 0
    truncated: bool = False
    errors: tuple[str, ...] = ()
    """Why places in the cloud cannot be searched."""
    finished_at: float = 0.0


class Catalog:
    """The profiles below the log directory.

    Args:
        roots: Folders to search.
        allowed: Further folders into which symbolic links may lead.
        read_hints: Returns the metadata of event files.
        cached_database: Returns the database that the server has made from a source, or None.
        imports: Whether sources are imported; then they are listed in place of databases that another version of this
            package made of them.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        allowed: Sequence[Path] = (),
        read_hints: HintReader = list,
        cached_database: Callable[[File], Path | None] = lambda _file: None,
        imports: bool = True,
    ) -> None:
        self._roots, self._allowed = tuple(roots), tuple(allowed)
        self._read_hints, self._cached_database, self._imports = read_hints, cached_database, imports
        self._recogniser = Recogniser()
        self._facts: dict[Identity, Facts] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._next_scan = 0.0
        self._is_outdated = False
        self._answer_seconds = ANSWER_SECONDS
        self._snapshot = Snapshot()
        self._by_id: dict[str, ListedProfile] = {}
        self._is_known = threading.Event()
        self._is_listed = threading.Event()
        self._has_files = False

    def any_profiles(self) -> bool:
        """Whether any profile is known. Never scans in this thread; the first call waits a moment for the scan."""
        is_first = not self._is_known.is_set()
        self._scan_if_due()
        if is_first:
            self._is_known.wait(FIRST_ANSWER_SECONDS)
        return self._has_files

    def snapshot(self) -> Snapshot:
        """The list. Waits a moment for a scan that is due, so that the list of a small log directory is up to date."""
        if self._scan_if_due():
            self._is_listed.wait(self._answer_seconds)
        return self._snapshot

    def find(self, profile_id: str) -> ListedProfile:
        """The profile of this id.

        Raises:
            NotFound: There is none.
        """
        profile = self._by_id.get(profile_id)
        if profile is None and self._scan_if_due():
            # The first request to a server may be a link to a profile, before there is any list.
            self._is_listed.wait(ANSWER_SECONDS)
            profile = self._by_id.get(profile_id)
        if profile is None:
            raise NotFound("There is no profile with this id; it may have been moved or deleted.")
        return self._with_known_database(profile)

    def _with_known_database(self, profile: ListedProfile) -> ListedProfile:
        """The profile without a database that gives way to its source, which the list tells only once it was opened."""
        database = profile.database
        if profile.source is None or database is None or database.remote is not None:
            return profile
        facts = self._facts.get(database.identity)
        if facts is None:
            facts = self._facts[database.identity] = _read_facts(database.path, profile, self._imports)
        return msgspec.structs.replace(profile, database=None) if facts.is_superseded else profile

    def rescan(self) -> None:
        """Make a scan due, because files have changed; also if a scan is running, which may miss the change."""
        self._is_outdated = True
        self._answer_seconds = ANSWER_SECONDS
        self._next_scan = 0.0

    def is_scanning(self) -> bool:
        """Whether a scan is running, or databases that it found are being opened."""
        with self._lock:
            return self._thread is not None and self._thread.is_alive()

    def _scan_if_due(self) -> bool:
        """Start a scan if one is due. Returns whether a scan is running whose list is not complete yet."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return not self._is_listed.is_set()
            if time.monotonic() < self._next_scan:
                return False
            self._is_listed.clear()
            self._is_outdated = False
            try:
                self._thread = start_thread(self._run, "dlprof-scan")
            except QueueFull as error:
                _LOG.warning("The log directory is not scanned for GPU profiles now: %s", error)
                self._next_scan = time.monotonic() + RESCAN_SECONDS
                return False
            return True

    def _run(self) -> None:
        try:
            self._scan()
        except Exception:  # noqa: BLE001 - logged; the next scan may succeed
            _LOG.exception("The log directory could not be scanned for GPU profiles.")
        finally:
            self._rest(RESCAN_SECONDS)
            self._is_known.set()
            self._is_listed.set()

    def _scan(self) -> None:
        started = time.monotonic()
        scanned = scan(self._roots, self._allowed, self._note)
        self._recogniser.read_heads(scanned.files)
        recognised, others = [], []
        for file in scanned.files:
            recognition = self._recogniser.recognise(file)
            if recognition is not None and recognition.kind == "none":
                others.append(Other(file.run, file.name, recognition.message))
            elif recognition is not None:
                recognised.append((file, recognition))
        self._recogniser.forget_others(scanned.files)
        hints = self._read_hints()

        def publish() -> None:
            self._publish(scanned, others, assemble(recognised, hints, self._facts_of, self._cached_facts_of))

        publish()
        self._is_listed.set()
        took = time.monotonic() - started
        self._answer_seconds = 0.0 if took > QUICK_SECONDS and not self._is_outdated else ANSWER_SECONDS
        self._rest(REST_FACTOR * took)
        self._open_databases(publish)

    def _rest(self, seconds: float) -> None:
        """Make a scan due after some seconds, at least ``RESCAN_SECONDS``; at once if ``rescan`` was called."""
        self._next_scan = max(self._next_scan, time.monotonic() + max(seconds, RESCAN_SECONDS))
        if self._is_outdated:
            self._next_scan = 0.0

    def _note(self, file: File) -> None:
        """Set ``any_profiles`` by the name of a file, long before the end of a slow scan."""
        if not self._has_files and (is_database_name(file.name) or is_trace_name(file.name)):
            self._has_files = True
            self._is_known.set()

    def _publish(self, scanned: Scan, others: list[Other], profiles: list[ListedProfile]) -> None:
        self._by_id = {profile.profile_id: profile for profile in profiles}
        listed, known = tuple(profiles), self._snapshot.profiles
        self._snapshot = Snapshot(
            # The same object while nothing changes: who derives something from it then need not do so again.
            known if listed == known else listed,
            tuple(scanned.refused),
            tuple(scanned.reports),
            tuple(scanned.jobs),
            tuple(others),
            scanned.directories,
            scanned.truncated,
            tuple(scanned.errors),
            time.time(),
        )
        self._has_files = bool(profiles)

    def _open_databases(self, publish: Callable[[], None]) -> None:
        """Read the facts of databases that were not opened yet, and update the list meanwhile."""
        # No profile of the list has those whose source is here.
        facts = {identity: known for identity, known in dict(self._facts).items() if known.is_superseded}
        last = time.monotonic()
        is_new = False
        for profile in self._snapshot.profiles:
            path = self._database_of(profile)
            identity = _identity(path) if path else None
            if path is None or identity is None:
                continue
            if identity not in self._facts:
                self._facts[identity] = _read_facts(path, profile, self._imports)
                is_new = True
            facts[identity] = self._facts[identity]
            if is_new and time.monotonic() - last > PUBLISH_SECONDS:
                publish()
                is_new, last = False, time.monotonic()
        self._facts = facts
        if is_new:
            publish()

    def _database_of(self, profile: ListedProfile) -> Path | None:
        if profile.database is not None:
            return profile.database.path if profile.database.remote is None else self._cached_database(profile.database)
        return self._cached_database(profile.source) if profile.source is not None else None

    def _facts_of(self, file: File) -> Facts | None:
        return self._facts.get(file.identity) if file.remote is None else self._cached_facts_of(file)

    def _cached_facts_of(self, source: File) -> Facts | None:
        path = self._cached_database(source)
        identity = _identity(path) if path else None
        return self._facts.get(identity) if identity else None


def _identity(path: Path) -> Identity | None:
    try:
        return identity_of(path.stat())
    except OSError:
        return None


def _read_facts(path: Path, profile: ListedProfile, imports: bool) -> Facts:
    file = profile.database or profile.source
    name = file.name if file else "The database"
    try:
        with reading(name, UnfitDatabase):
            in_place = profile.database is not None and profile.database.path == path
            connection = open_database(
                profile.database.place() if profile.database and in_place else path, follow_links=False
            )
            try:
                with deadline(connection, 5.0):
                    is_superseded = imports and is_of_another_version(connection)
                    return Facts(source_facts(connection), headline(connection), is_superseded=is_superseded)
            finally:
                connection.close()
    except ProfileError as error:
        return Facts(None, None, relative_message(file, error) if file else str(error), error.code)
