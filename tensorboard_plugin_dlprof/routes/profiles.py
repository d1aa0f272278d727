"""The list of profiles, and the state of each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict, cast

import msgspec

from tensorboard_plugin_dlprof.imports.manager import ImportManager, Source
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.headline import Headline, SourceFacts
from tensorboard_plugin_dlprof.routes.responses import MAX_ANSWER_BYTES, to_json
from tensorboard_plugin_dlprof.runs.catalog import Snapshot
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.recognise import refusal_of
from tensorboard_plugin_dlprof.runs.scan import Seen
from tensorboard_plugin_dlprof.units import NS_PER_S

_MOST_LIST_BYTES = MAX_ANSWER_BYTES - (1 << 20)
_MOST_LETTERS = 2_000
_MOST_OTHERS = 100


ProfileState: TypeAlias = Literal["ready", "not_imported", "queued", "importing", "failed", "metadata_only"]


class ImportProgress(TypedDict):
    """How far an import is."""

    stage: str
    fraction: float | None
    elapsed_s: float


class ProfileEntry(TypedDict):
    """A profile below the log directory; ``captured_at``, and when its file was written, in seconds since 1970."""

    id: str
    run: str
    name: str
    kind: Literal["database", "source", "metadata"]
    format: str
    rank: int | None
    world_size: int | None
    captured_at: float | None
    modified_at: float | None
    size_bytes: int | None
    state: ProfileState
    code: str
    """The error code of ``failed``, else empty."""
    message: str
    progress: ImportProgress | None
    headline: Headline | None


class NamedFile(TypedDict):
    """A file, or a profile, by its run and its name."""

    run: str
    name: str


class OtherFile(NamedFile):
    """A file that is no profile."""

    reason: str
    """What it is, as the rest of a sentence that begins with its name."""


class Scan(TypedDict):
    """The search for profiles."""

    state: Literal["scanning", "done"]
    directories: int
    finished_at: float | None
    truncated: bool
    refused: list[NamedFile]
    """Links out of the log directory that were not followed."""
    reports: list[NamedFile]
    """Reports of other tools, which are not read as they are."""
    jobs: list[NamedFile]
    """Databases of jobs of many ranks, whose profiles are in the run and in those below it."""
    others: list[OtherFile]
    """Files that could be profiles by the ends of their names and are none: the first of them."""
    others_count: int
    """How many there are of them."""
    remote: list[str]
    """Why log directories in the cloud cannot be searched, or not anew: a sentence for each."""


class OpenedFile(TypedDict):
    """What ``dlprofviewer`` was started on, and why it cannot be opened."""

    name: str
    profile: str | None
    code: str
    message: str


class ListedProfiles(TypedDict):
    """The profiles below the log directory."""

    profiles: list[ProfileEntry]
    scan: Scan
    import_mode: Literal["auto", "off"]
    version: str


class ProfilesAndModes(ListedProfiles):
    """With how the server was started."""

    reaggregate_mode: Literal["on", "off"]
    perfetto: str | None
    """Where windows of the timeline can be handed over to; None offers nothing."""
    opened: OpenedFile | None
    """None in TensorBoard."""


class About(TypedDict):
    """A profile on its own pages."""

    id: str
    run: str
    name: str
    format: str
    rank: int | None
    world_size: int | None
    captured_at: float | None


def profile_list(snapshot: Snapshot, imports: ImportManager, import_mode: str) -> ListedProfiles:
    """The body of ``./profiles``. What is beyond the size of an answer is left out of it, and told as truncated."""
    entries, left_out = _within(_MOST_LIST_BYTES, (entry(profile, imports) for profile in snapshot.profiles))
    return {
        "profiles": entries,
        "scan": {
            "state": "done" if snapshot.finished_at else "scanning",
            "directories": snapshot.directories,
            "finished_at": snapshot.finished_at or None,
            "truncated": snapshot.truncated or left_out,
            "refused": _named(snapshot.refused),
            "reports": _named(snapshot.reports),
            "jobs": _named(snapshot.jobs),
            "others": [
                {"run": shown(each.run), "name": shown(each.name), "reason": each.reason[:_MOST_LETTERS]}
                for each in snapshot.others[:_MOST_OTHERS]
            ],
            "others_count": len(snapshot.others),
            "remote": list(snapshot.errors),
        },
        "import_mode": "off" if import_mode == "off" else "auto",
        "version": VERSION,
    }


def _named(files: Iterable[Seen]) -> list[NamedFile]:
    return [{"run": shown(file.run), "name": shown(file.name)} for file in files]


def _within(most_bytes: int, entries: Iterable[ProfileEntry]) -> tuple[list[ProfileEntry], bool]:
    """The first entries that fit, and whether there were more. No profile can keep the others from being listed."""
    fitting: list[ProfileEntry] = []
    size = 0
    for each in entries:
        size += len(to_json(each)) + 1
        if size > most_bytes:
            return fitting, True
        fitting.append(each)
    return fitting, False


def entry(profile: ListedProfile, imports: ImportManager) -> ProfileEntry:
    """One entry of ``profiles`` in the body of ``./profiles``."""
    state, message, progress = _state(profile, imports)
    return {
        "id": profile.profile_id,
        "run": shown(profile.run),
        "name": shown(profile.name),
        "kind": profile.kind,
        "format": profile.format,
        "rank": profile.rank,
        "world_size": profile.world_size,
        "captured_at": profile.captured_at,
        "modified_at": profile.file.mtime_ns / NS_PER_S if profile.file and profile.file.remote is None else None,
        "size_bytes": profile.file.size_bytes if profile.file else None,
        "state": state,
        "code": _code(profile, imports) if state == "failed" else "",
        "message": message[:_MOST_LETTERS],
        "progress": progress,
        "headline": profile.headline,
    }


def _code(profile: ListedProfile, imports: ImportManager) -> str:
    """The code of a failure: of the error in the file, or that the server could not import it."""
    status = None if profile.message else imports.status(profile.profile_id)
    return profile.code or ("import_failed" if status is not None and not status.of_source else "unreadable")


def about(profile: ListedProfile, facts: SourceFacts) -> About:
    """The description of a profile on its own pages, with facts of its database that the list may not know yet."""
    return {
        "id": profile.profile_id,
        "run": shown(profile.run),
        "name": shown(profile.name),
        "format": profile.format if profile.source else facts["format"],
        "rank": profile.rank if facts["rank"] is None else facts["rank"],
        "world_size": profile.world_size if facts["world_size"] is None else facts["world_size"],
        "captured_at": facts["captured_at"] or profile.captured_at,
    }


def database_path(profile: ListedProfile, imports: ImportManager) -> Path | None:
    """The finished database of a profile: next to its source, or in the cache; None if there is none yet.

    Raises:
        NotFound: A link was put in the place of the file since it was found.
    """
    if profile.database is not None and profile.database.remote is None:
        return profile.database.place()
    return _cached(profile, imports)


def _cached(profile: ListedProfile, imports: ImportManager) -> Path | None:
    """What was imported from the source, or fetched from the cloud."""
    file = profile.database or profile.source
    return imports.cache.find(file.real, file.size_bytes, file.mtime_ns) if file is not None else None


def importable(profile: ListedProfile) -> Source | None:
    """What to import for a profile: its source, or its database in the cloud; None if it is here, or cannot be read."""
    file = profile.source
    if profile.database is not None and profile.database.remote is not None:
        file = profile.database
    if file is None or not profile.format:
        return None
    return Source(
        profile.profile_id,
        file.real,
        file.size_bytes,
        file.mtime_ns,
        shown(profile.name),
        file.remote.store if file.remote else None,
        file.remote.object if file.remote else None,
        is_database=file is profile.database,
    )


def _state(profile: ListedProfile, imports: ImportManager) -> tuple[ProfileState, str, ImportProgress | None]:
    if profile.kind == "metadata":
        return "metadata_only", "", None
    if profile.message:
        return "failed", profile.message, None
    is_here = profile.database is not None and profile.database.remote is None
    if is_here or _cached(profile, imports) is not None:
        return "ready", "", None
    status = imports.status(profile.profile_id)
    if status is None:
        return "not_imported", "", None
    if status.state == "cancelled":
        return "not_imported", status.message, None
    if status.state == "running":
        progress = ImportProgress(stage=status.stage, fraction=status.fraction, elapsed_s=round(status.elapsed_s, 1))
        return "importing", "", progress
    return cast("ProfileState", status.state), status.message, None


class Opened(msgspec.Struct, frozen=True):
    """The path of that file or folder."""

    path: Path

    def shown(self, snapshot: Snapshot) -> OpenedFile:
        """The field ``opened`` of ``./profiles``: the profile of the file, or the reason why it cannot be read."""
        name = shown(Path(self.path.name or str(self.path)))
        answer: OpenedFile = {"name": name, "profile": None, "code": "", "message": ""}
        for profile in snapshot.profiles:
            if not self.path.is_dir() and profile.file is not None and profile.file.name == self.path.name:
                return {**answer, "profile": profile.profile_id}
        if not self.path.exists():
            message = f"{name} is gone; it was moved or deleted since dlprofviewer was started."
            return {**answer, "code": "not_found", "message": message}
        if self.path.is_dir() or not snapshot.finished_at:
            return answer
        refusal = refusal_of(self.path)
        if refusal is not None:
            return {**answer, "code": refusal.code, "message": str(refusal).replace(shown(self.path), name)}
        message = (
            f"{name} is neither a DLProf database nor a PyTorch trace, an Nsight Systems export or an XPlane profile; "
            "name the file that the profiler wrote."
        )
        return {**answer, "code": "not_a_database", "message": message}
