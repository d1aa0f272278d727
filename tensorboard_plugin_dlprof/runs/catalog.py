"""The list of profiles: scanned in the background, answered from memory."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.naming import is_database_name, is_trace_name
from tensorboard_plugin_dlprof.runs.hints import HintReader
from tensorboard_plugin_dlprof.runs.profile import Facts, FoundProfile, assemble
from tensorboard_plugin_dlprof.runs.recognise import Recogniser, relative_message
from tensorboard_plugin_dlprof.runs.scan import File, Root, Scan, Seen, scan

_LOG = logging.getLogger(__name__)

RESCAN_SECONDS = 5.0
"""The list is never older than this when it is asked for, where a scan is quick."""

REST_FACTOR = 10
"""A slow scan (a network file system) is followed by a rest of this many times its duration."""

FIRST_ANSWER_SECONDS = 0.1
ANSWER_SECONDS = 0.5
PUBLISH_SECONDS = 0.5

Identity = tuple[int, int, int, int]


class Snapshot(msgspec.Struct, frozen=True):
    """The list at one moment. ``finished_at`` is in seconds since 1970, 0 before the end of the first scan."""

    profiles: tuple[FoundProfile, ...] = ()
    refused: tuple[Seen, ...] = ()
    reports: tuple[Seen, ...] = ()
    directories: int = 0
    truncated: bool = False
    finished_at: float = 0.0


class Catalog:
    """The profiles below the log directory.

    Args:
        roots: folders to search.
        allowed: further folders into which symbolic links may lead.
        read_hints: metadata of event files.
        cached_database: the database that the server has made from a source, if any.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        allowed: Sequence[Path] = (),
        read_hints: HintReader = list,
        cached_database: Callable[[File], Path | None] = lambda _file: None,
    ) -> None:
        self._roots, self._allowed = tuple(roots), tuple(allowed)
        self._read_hints, self._cached_database = read_hints, cached_database
        self._recogniser = Recogniser()
        self._facts: dict[Identity, Facts] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._next_scan = 0.0
        self._is_outdated = False
        self._snapshot = Snapshot()
        self._by_id: dict[str, FoundProfile] = {}
        self._is_known = threading.Event()
        self._is_listed = threading.Event()
        self._any_found = False

    def any_profiles(self) -> bool:
        """Whether there is any profile, as far as known. Never scans; the first call waits a moment for the scan."""
        is_first = not self._is_known.is_set()
        self._scan_if_due()
        if is_first:
            self._is_known.wait(FIRST_ANSWER_SECONDS)
        return self._any_found

    def snapshot(self) -> Snapshot:
        """The list; waits a moment for a scan that is due, so that small log directories are always up to date."""
        if self._scan_if_due():
            self._is_listed.wait(ANSWER_SECONDS)
        return self._snapshot

    def find(self, profile_id: str) -> FoundProfile:
        """The profile of this id.

        Raises:
            NotFound: there is none.
        """
        found = self._by_id.get(profile_id)
        if found is None and self._scan_if_due():
            # A link from a colleague may be the first request of all to this server.
            self._is_listed.wait(ANSWER_SECONDS)
            found = self._by_id.get(profile_id)
        if found is None:
            raise NotFound("There is no profile with this id; it may have been moved or deleted.")
        return found

    def rescan(self) -> None:
        """Makes a scan due: something changed. One that is under way may have passed the place already."""
        self._is_outdated = True
        self._next_scan = 0.0

    def _scan_if_due(self) -> bool:
        """Starts a scan where one is due; whether one is under way."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return not self._is_listed.is_set()
            if time.monotonic() < self._next_scan:
                return False
            self._is_listed.clear()
            self._is_outdated = False
            self._thread = threading.Thread(target=self._run, name="dlprof-scan", daemon=True)
            self._thread.start()
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
        found = scan(self._roots, self._allowed, self._note)
        recognised = []
        for file in found.files:
            recognition = self._recogniser.recognise(file)
            if recognition is not None:
                recognised.append((file, recognition))
        self._recogniser.forget_others(found.files)
        hints = self._read_hints()

        def publish() -> None:
            self._publish(found, assemble(recognised, hints, self._facts_of, self._cached_facts_of))

        publish()
        self._is_listed.set()
        self._rest(REST_FACTOR * (time.monotonic() - started))
        self._open_databases(publish)

    def _rest(self, seconds: float) -> None:
        """The next scan is due in so many seconds, never sooner than usual; at once where something changed since."""
        self._next_scan = max(self._next_scan, time.monotonic() + max(seconds, RESCAN_SECONDS))
        if self._is_outdated:
            self._next_scan = 0.0

    def _note(self, file: File) -> None:
        """A name can be enough to know that there is a profile, long before the end of a slow scan."""
        if not self._any_found and (is_database_name(file.name) or is_trace_name(file.name)):
            self._any_found = True
            self._is_known.set()

    def _publish(self, found: Scan, profiles: list[FoundProfile]) -> None:
        self._by_id = {profile.profile_id: profile for profile in profiles}
        self._snapshot = Snapshot(
            tuple(profiles),
            tuple(found.refused),
            tuple(found.reports),
            found.directories,
            found.truncated,
            time.time(),
        )
        self._any_found = bool(profiles)

    def _open_databases(self, publish: Callable[[], None]) -> None:
        """Reads the facts of the databases that were not opened yet; the list gets them as they come."""
        kept: dict[Identity, Facts] = {}
        last = time.monotonic()
        is_new = False
        for profile in self._snapshot.profiles:
            path = self._database_of(profile)
            identity = _identity(path) if path else None
            if path is None or identity is None:
                continue
            if identity not in self._facts:
                self._facts[identity] = _read_facts(path, profile)
                is_new = True
            kept[identity] = self._facts[identity]
            if is_new and time.monotonic() - last > PUBLISH_SECONDS:
                publish()
                is_new, last = False, time.monotonic()
        self._facts = kept
        if is_new:
            publish()

    def _database_of(self, profile: FoundProfile) -> Path | None:
        if profile.database is not None:
            return profile.database.path
        return self._cached_database(profile.source) if profile.source is not None else None

    def _facts_of(self, file: File) -> Facts | None:
        return self._facts.get(file.identity)

    def _cached_facts_of(self, source: File) -> Facts | None:
        path = self._cached_database(source)
        identity = _identity(path) if path else None
        return self._facts.get(identity) if identity else None


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _read_facts(path: Path, profile: FoundProfile) -> Facts:
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.errors import UnfitDatabase
    from tensorboard_plugin_dlprof.opening.sqlite_file import deadline, reading
    from tensorboard_plugin_dlprof.queries.headline import headline, source_facts

    file = profile.database or profile.source
    name = file.name if file else "The database"
    try:
        with reading(name, UnfitDatabase):
            connection = open_database(profile.database.place() if profile.database else path, follow_links=False)
            try:
                with deadline(connection, 5.0):
                    return Facts(source_facts(connection), headline(connection))
            finally:
                connection.close()
    except ProfileError as error:
        return Facts(None, None, relative_message(file, error) if file else str(error), error.code)
