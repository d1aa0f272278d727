"""The profiles of the list, assembled from files, facts in databases and metadata in event files."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.runs.recognise import Recognition
from tensorboard_plugin_dlprof.runs.scan import File

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.queries.headline import Headline, SourceFacts
    from tensorboard_plugin_dlprof.runs.hints import Hint


class Facts(msgspec.Struct, frozen=True):
    """Facts that were read from a database."""

    source: SourceFacts | None
    headline: Headline | None
    message: str = ""
    """Why the database cannot be read; empty if it can."""
    code: str = ""
    """The code of that error."""
    is_superseded: bool = False
    """Whether its source is imported instead, where it is here: another version of this package made the database, of
    which only DLProf's tables are read."""


class ListedProfile(msgspec.Struct, frozen=True):
    """A profile below the log directory. It has a source, a database, or only metadata in an event file."""

    profile_id: str
    run: str
    name: str
    format: str
    source: File | None = None
    database: File | None = None
    rank: int | None = None
    world_size: int | None = None
    captured_at: float | None = None
    headline: Headline | None = None
    message: str = ""
    """Why the profile cannot be read; empty if no error is known."""
    code: str = ""
    """The code of that error; empty without a message."""

    @property
    def kind(self) -> Literal["source", "database", "metadata"]:
        """``source``, ``database`` or ``metadata``."""
        return "source" if self.source else "database" if self.database else "metadata"

    @property
    def file(self) -> File | None:
        """The file after which the profile is named; None if there is only metadata."""
        return self.source or self.database


def profile_id(run: str, name: str) -> str:
    """The id of a profile: stable, and opaque, so that it does not reveal where the file is."""
    return hashlib.sha256(f"{run}\0{name}".encode(errors="surrogateescape")).hexdigest()[:16]


def assemble(
    recognised: Iterable[tuple[File, Recognition]],
    hints: Sequence[Hint],
    facts_of: Callable[[File], Facts | None],
    cached_facts_of: Callable[[File], Facts | None],
) -> list[ListedProfile]:
    """Assemble the profiles of the list, ordered by run, rank, time of the capture and name.

    A source and the database that was made from it are one profile, named after the source.

    Args:
        recognised: The files that are profiles, and their kinds.
        hints: Metadata in event files.
        facts_of: Returns the facts in a database below the log directory, None if not read yet.
        cached_facts_of: Returns the facts in the cached database of a source, None if there is none.
    """
    by_run: dict[str, list[tuple[File, Recognition]]] = defaultdict(list)
    for file, recognition in recognised:
        by_run[file.run].append((file, recognition))
    hints_by_run: dict[str, list[Hint]] = defaultdict(list)
    for hint in hints:
        hints_by_run[hint.run].append(hint)
    profiles: list[ListedProfile] = []
    for run in by_run.keys() | hints_by_run.keys():
        of_run = _of_folder(by_run[run], facts_of, cached_facts_of)
        profiles.extend(_with_hints(run, of_run, hints_by_run[run]))
    # TensorBoard's order treats some different names as equal; these are ordered as plain text.
    runs = sorted(sorted({profile.run for profile in profiles}), key=run_order)
    order = {run: position for position, run in enumerate(runs)}
    return sorted(profiles, key=lambda profile: (order[profile.run], *_order_in_run(profile)))


def _order_in_run(profile: ListedProfile) -> tuple[float, float, str]:
    rank = float("inf") if profile.rank is None else profile.rank
    return (rank, profile.captured_at or 0.0, profile.name)


def _of_folder(
    files: list[tuple[File, Recognition]],
    facts_of: Callable[[File], Facts | None],
    cached_facts_of: Callable[[File], Facts | None],
) -> list[ListedProfile]:
    databases = {file.name: file for file, recognition in files if recognition.kind == "database"}
    profiles = []
    for file, recognition in files:
        if recognition.kind == "database":
            continue
        database = databases.get(database_name(file.name))
        facts = facts_of(database) if database else None
        if database is not None and _made_from(file, facts):
            del databases[database.name]
            if facts is not None and facts.is_superseded:
                # The source tells all that is not read of it.
                database, facts = None, cached_facts_of(file) or facts
        else:
            database, facts = None, cached_facts_of(file)
        profile = ListedProfile(
            profile_id(file.run, file.name),
            file.run,
            file.name,
            recognition.format,
            source=file,
            database=database,
            message=recognition.message,
            code=recognition.code,
        )
        profiles.append(_with_facts(profile, facts))
    for file in databases.values():
        profile = ListedProfile(profile_id(file.run, file.name), file.run, file.name, "dlprof", database=file)
        profiles.append(_with_facts(profile, facts_of(file)))
    return profiles


def _made_from(source: File, facts: Facts | None) -> bool:
    """Whether a database of matching name was made from this version of the source; assumed until it is opened."""
    if facts is None or facts.source is None:
        return facts is None or not facts.message
    name, size_bytes = facts.source["source_name"], facts.source["source_size_bytes"]
    return name in ("", source.shown_name) and size_bytes in (None, source.size_bytes)


def _with_facts(profile: ListedProfile, facts: Facts | None) -> ListedProfile:
    source = facts.source if facts else None
    named_rank = rank_from_name(Path(profile.name))
    known = msgspec.structs.replace(
        profile,
        rank=named_rank if named_rank >= 0 else None,
        captured_at=captured_from_name(profile.name),
        headline=facts.headline if facts else None,
        message=profile.message or (facts.message if facts else ""),
        code=profile.code or (facts.code if facts else ""),
    )
    if source is None:
        return known
    return msgspec.structs.replace(
        known,
        format=source["format"] if profile.source is None else profile.format,
        rank=source["rank"] if source["rank"] is not None else known.rank,
        world_size=source["world_size"],
        captured_at=source["captured_at"] or known.captured_at,
    )


def _with_hints(run: str, of_run: list[ListedProfile], hints: list[Hint]) -> list[ListedProfile]:
    """Add what hints know to the profiles of a run. Hints without files become profiles whose files are elsewhere."""
    profiles = list(of_run)
    # Looked up by name, because a folder may contain the profiles of thousands of ranks, each with a hint.
    by_name: dict[str, int] = {}
    by_database: dict[str, int] = {}
    for position, profile in enumerate(profiles):
        by_name.setdefault(profile.file.shown_name if profile.file else profile.name, position)
        if profile.database:
            by_database.setdefault(profile.database.shown_name, position)
    for hint in hints:
        places = (by_name.get(hint.database_name), by_database.get(hint.database_name), by_name.get(hint.source_name))
        known = [place for place in places if place is not None]
        if known:
            position = min(known)
            profiles[position] = _with_hint(profiles[position], hint)
        else:
            name = hint.source_name or hint.database_name
            by_name[name] = len(profiles)
            profiles.append(
                ListedProfile(
                    profile_id(run, name),
                    run,
                    name,
                    hint.format,
                    rank=hint.rank,
                    world_size=hint.world_size,
                    captured_at=hint.captured_at,
                    headline=hint.headline,
                )
            )
    return profiles


def _with_hint(profile: ListedProfile, hint: Hint) -> ListedProfile:
    return msgspec.structs.replace(
        profile,
        rank=profile.rank if profile.rank is not None else hint.rank,
        world_size=profile.world_size if profile.world_size is not None else hint.world_size,
        captured_at=profile.captured_at or hint.captured_at,
        headline=profile.headline or (hint.headline if profile.database else None),
    )


_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE](?:[+-]?\d*))?", re.ASCII)
_LEADING_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)

_STAMP = re.compile(r"\.(\d{13}|\d{16}|\d{19})\.")
_UNITS_PER_S = {13: 1e3, 16: 1e6, 19: 1e9}


def captured_from_name(name: str) -> float | None:
    """The time that PyTorch writes into the names of its traces (in ms, µs or ns), in seconds since 1970; else None."""
    match = _STAMP.search(name)
    return int(match.group(1)) / _UNITS_PER_S[len(match.group(1))] if match else None


def _compare(left: str, right: str) -> int:
    """TensorBoard's ``compareTagNames``: digits are compared as numbers; ``/`` and ``_`` sort before letters."""
    at_left = at_right = 0
    while True:
        if at_left == len(left):
            return 0 if at_right == len(right) else -1
        if at_right == len(right):
            return 1
        left_number, right_number = _NUMBER.match(left, at_left), _NUMBER.match(right, at_right)
        if left_number and right_number:
            at_left, at_right = left_number.end(), right_number.end()
            difference = _value(left_number.group()) - _value(right_number.group())
            if difference:
                return -1 if difference < 0 else 1
            continue
        left_break, right_break = _is_break(left[at_left]), _is_break(right[at_right])
        if left_break != right_break:
            return -1 if left_break else 1
        if not left_break and left[at_left] != right[at_right]:
            return -1 if left[at_left] < right[at_right] else 1
        at_left, at_right = at_left + 1, at_right + 1


def _value(text: str) -> float:
    match = _LEADING_NUMBER.match(text)
    return float(match.group()) if match else 0.0


def _is_break(letter: str) -> bool:
    return letter in "/_" or (letter.isascii() and letter.isdigit())


run_order: Callable[[str], Any] = functools.cmp_to_key(_compare)
"""Key that sorts the names of runs as TensorBoard does."""
