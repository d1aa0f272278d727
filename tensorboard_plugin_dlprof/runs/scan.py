"""Searches the log directory for files that may be profiles, within limits and without leaving it."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.naming import (
    is_candidate_name,
    is_database_name,
    is_report_name,
    is_trace_name,
    run_and_prefix,
)
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.metadata import JOB_SUFFIX
from tensorboard_plugin_dlprof.opening.regular_file import Identity, remote_refusal, shown, unmoved
from tensorboard_plugin_dlprof.storage.listings import Object
from tensorboard_plugin_dlprof.storage.store import Store

MAX_NAMED = 10_000
"""Most files whose names show that they are profiles."""

MAX_UNNAMED = 10_000
"""Most files that only their content can show to be profiles. They have a limit of their own, because many runs have
JSON files of settings next to their profile."""

MAX_DIRECTORIES = 100_000
MAX_DEPTH = 12
MAX_SEEN = 100
"""Most links, most reports, and most jobs, that are listed."""


class Root(msgspec.Struct, frozen=True):
    """A folder to search. ``name`` is its name in ``--logdir_spec``, empty for ``--logdir``.

    If ``only`` is given, only the file of this name is found, and folders below are not searched.
    """

    path: Path
    name: str = ""
    only: str = ""
    store: Store | None = None
    """The place in the cloud that ``path`` names; None for a folder."""

    def takes(self, name: str) -> bool:
        """Whether a file of this name may be one of its profiles."""
        return name == self.only if self.only else is_candidate_name(name)

    def run(self, relative: str) -> str:
        """TensorBoard's name of the run in a folder with this relative path; ``.`` is the root itself."""
        return f"{self.name}/{relative}" if self.name else relative


class Remote(msgspec.Struct, frozen=True):
    """Where a file in the cloud is."""

    store: Store
    object: Object


class File(msgspec.Struct, frozen=True):
    """A file that was found. ``path`` may contain symbolic links, ``real`` is resolved."""

    run: str
    path: Path
    real: Path
    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    """Time of the last change; in the cloud a number that stands for the version of the object."""
    prefix: str = ""
    """The folder between the run and the file, as ``run_and_prefix`` gives it."""
    remote: Remote | None = None
    """Set if the file is in the cloud, where it has to be fetched before it can be opened."""

    @property
    def name(self) -> str:
        """Name of the profile in its run: that of the file, behind ``prefix``."""
        return self.prefix + self.path.name

    @property
    def shown_name(self) -> str:
        """File name as it is stored in databases and event files."""
        return shown(Path(self.path.name))

    @property
    def identity(self) -> Identity:
        """As ``identity_of`` the file."""
        return (self.device, self.inode, self.size_bytes, self.mtime_ns)

    def place(self) -> Path:
        """The path by which to open the file, which was checked to be inside the log directory.

        Raises:
            NotFound: A link was put in its place since then, or it is in the cloud.
        """
        if self.remote is not None:
            raise NotFound(remote_refusal(os.fspath(self.path)))
        return unmoved(self.path, self.real)


class Seen(msgspec.Struct, frozen=True):
    """A file that is not a profile: a symbolic link that was not followed, or the report of another tool."""

    run: str
    name: str


class Scan(msgspec.Struct):
    """The result of one search."""

    files: list[File] = msgspec.field(default_factory=list)
    refused: list[Seen] = msgspec.field(default_factory=list)
    """Symbolic links that were not followed."""
    reports: list[Seen] = msgspec.field(default_factory=list)
    """Reports of other tools, which have to be converted."""
    jobs: list[Seen] = msgspec.field(default_factory=list)
    """Databases of jobs of many ranks."""
    directories: int = 0
    """Number of folders that were searched."""
    truncated: bool = False
    """Whether a limit was reached."""
    errors: list[str] = msgspec.field(default_factory=list)
    """Why places in the cloud cannot be searched, or not anew."""


class _Folder(msgspec.Struct, frozen=True):
    root: Root
    relative: str
    path: str
    real: str
    depth: int


def scan(
    roots: Sequence[Root], allowed: Sequence[Path] = (), on_file: Callable[[File], None] = lambda _file: None
) -> Scan:
    """Search the roots for files that may be profiles, ordered by folder and name.

    Symbolic links to folders are followed last, so that a folder is found under its own name rather than that of a
    link. Each folder is visited once, so loops of links do no harm.

    Args:
        roots: Folders to search; those that do not exist are skipped.
        allowed: Further folders into which symbolic links may lead.
        on_file: Called with each file as soon as it is found.
    """
    local = [root.path for root in roots if root.store is None]
    walk = _Walk([os.path.realpath(path) for path in (*local, *allowed)], on_file)
    for root in roots:
        if root.store is not None:
            walk.list_remote(root, root.store)
            continue
        walk.plain.append(_Folder(root, ".", str(root.path), os.path.realpath(root.path), 0))
    walk.run()
    return walk.result


class _Walk:
    def __init__(self, allowed: list[str], on_file: Callable[[File], None]) -> None:
        self.plain: deque[_Folder] = deque()
        self.linked: deque[_Folder] = deque()
        self.result = Scan()
        self._allowed = allowed
        self._on_file = on_file
        self._seen: set[str] = set()
        self._named = self._unnamed = 0

    def run(self) -> None:
        while self.plain or self.linked:
            folder = self.plain.popleft() if self.plain else self.linked.popleft()
            if folder.real in self._seen:
                continue
            self._seen.add(folder.real)
            if self.result.directories >= MAX_DIRECTORIES or self._named >= MAX_NAMED:
                self.result.truncated = True
                return
            self._visit(folder)

    def list_remote(self, root: Root, store: Store) -> None:
        """Take what lies below a place in the cloud; what is known of it from before if it cannot be listed now."""
        try:
            listing = store.listing()
        except ProfileError as error:
            self.result.errors.append(str(error))
            listing = store.last
        folders = set()
        for each in listing.objects:
            folder, _, name = (each.relative or root.path.name).rpartition("/")
            folders.add(folder)
            if root.takes(name):
                run, prefix = run_and_prefix(folder or ".", name)
                path = Path(store.address_of(each.relative))
                place = int.from_bytes(hashlib.sha256(os.fsencode(path)).digest()[:6], "big")
                remote = Remote(store, each)
                self._keep(File(root.run(run), path, path, -1, place, each.size_bytes, each.number, prefix, remote))
            elif is_report_name(name) and len(self.result.reports) < MAX_SEEN:
                self.result.reports.append(Seen(root.run(folder or "."), name))
        self.result.directories += len(folders)
        self.result.truncated |= listing.is_truncated

    def _visit(self, folder: _Folder) -> None:
        self.result.directories += 1
        try:
            with os.scandir(folder.path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in listed:
            if folder.root.only:
                if entry.name != folder.root.only or entry.is_dir():
                    continue
            elif entry.name.startswith("."):
                continue
            try:
                self._consider(folder, entry)
            except (OSError, ValueError):
                continue

    def _consider(self, folder: _Folder, entry: os.DirEntry[str]) -> None:
        if entry.is_dir(follow_symlinks=False):
            self._enqueue(folder, entry, os.path.join(folder.real, entry.name), self.plain)  # noqa: PTH118
        elif entry.is_symlink():
            self._consider_link(folder, entry)
        elif folder.root.takes(entry.name):
            self._add(folder, entry, os.path.join(folder.real, entry.name))  # noqa: PTH118
        elif is_report_name(entry.name):
            self._note(self.result.reports, folder, entry)
        elif entry.name.endswith(JOB_SUFFIX):
            self._note(self.result.jobs, folder, entry)

    def _note(self, seen: list[Seen], folder: _Folder, entry: os.DirEntry[str]) -> None:
        if len(seen) < MAX_SEEN:
            seen.append(Seen(folder.root.run(folder.relative), entry.name))

    def _consider_link(self, folder: _Folder, entry: os.DirEntry[str]) -> None:
        is_folder = entry.is_dir()
        if not is_folder and not folder.root.takes(entry.name):
            return
        real = os.path.realpath(entry.path)
        if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._allowed):
            self._note(self.result.refused, folder, entry)
        elif is_folder:
            self._enqueue(folder, entry, real, self.linked)
        else:
            self._add(folder, entry, real)

    def _enqueue(self, folder: _Folder, entry: os.DirEntry[str], real: str, queue: deque[_Folder]) -> None:
        if folder.depth >= MAX_DEPTH:
            self.result.truncated = True
            return
        relative = entry.name if folder.relative == "." else f"{folder.relative}/{entry.name}"
        queue.append(_Folder(folder.root, relative, entry.path, real, folder.depth + 1))

    def _add(self, folder: _Folder, entry: os.DirEntry[str], real: str) -> None:
        status = entry.stat()
        run, prefix = run_and_prefix(folder.relative, entry.name)
        file = File(
            folder.root.run(run),
            Path(entry.path),
            Path(real),
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            prefix,
        )
        self._keep(file)

    def _keep(self, file: File) -> None:
        is_named = is_database_name(file.path.name) or is_trace_name(file.path.name)
        if self._named >= MAX_NAMED if is_named else self._unnamed >= MAX_UNNAMED:
            self.result.truncated = True
            return
        self.result.files.append(file)
        self._named += is_named
        self._unnamed += not is_named
        self._on_file(file)
