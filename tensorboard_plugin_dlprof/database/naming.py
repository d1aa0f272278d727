"""Recognises files by name, and names the files that the package writes."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatch
from pathlib import Path

from tensorboard_plugin_dlprof.metadata import DATABASE_GLOB, DATABASE_SUFFIX, EVENT_FILE_NAME, JOB_SUFFIX, RANK_SUFFIX

SOURCE_SUFFIXES = (".gz", ".json", ".trace", ".pt", ".sqlite", ".sqlite3", ".db", ".nsys-rep", ".xplane.pb", ".pickle")
"""Endings that only state the type of a source; they are removed one after the other from the end of its name."""

REPORT_SUFFIXES = (".nsys-rep", ".qdrep", ".ncu-rep", ".rpd")
"""Files that cannot be read: of Nsight Systems before the export, Nsight Compute, ROCm."""

CANDIDATE_SUFFIXES = (".json", ".gz", ".sqlite", ".sqlite3", ".db", ".xplane.pb", ".pickle")
"""Only files with these endings are opened in folders. A file that the user names directly may have any name."""

_TRACE_PART = ".pt.trace."
_XPLANE_SUFFIX = ".xplane.pb"
_XPLANE_FOLDERS = ("plugins", "profile")
_NEVER = ("tfevents", ".tmp-", JOB_SUFFIX, RANK_SUFFIX)

MAX_STEM_BYTES = 160
"""Limit of a stem. File systems allow 255 bytes; the rest is for our suffixes and those of temporary files."""


def is_database_name(name: str) -> bool:
    """Whether a file of this name is a DLProf database."""
    return fnmatch(name, DATABASE_GLOB)


def is_trace_name(name: str) -> bool:
    """Whether a file of this name is certainly a profiler's trace. If it cannot be read, the user is told why."""
    return _TRACE_PART in name or name.endswith(_XPLANE_SUFFIX)


def is_report_name(name: str) -> bool:
    """Whether a file of this name is a report of another tool, which cannot be read directly."""
    return name.lower().endswith(REPORT_SUFFIXES)


def is_candidate_name(name: str) -> bool:
    """Whether a file of this name in a folder may be a profile, so that its content should be examined."""
    if name.startswith(".") or any(part in name for part in _NEVER):
        return False
    return name.lower().endswith(CANDIDATE_SUFFIXES) or is_trace_name(name)


def source_stem(source_name: str) -> str:
    """The part of a source's file name that distinguishes it from other sources.

    ``worker0.1623143089861.pt.trace.json.gz`` -> ``worker0.1623143089861``. Unknown endings are kept, because they may
    be the only difference (``trace.rank.0``, ``trace.rank.1``). A stem that is too long is cut and ends in a digest of
    the whole stem.
    """
    stem = source_name
    while True:
        ending = next((suffix for suffix in SOURCE_SUFFIXES if stem.lower().endswith(suffix)), "")
        if not ending or len(ending) == len(stem):
            break
        stem = stem[: -len(ending)]
    encoded = stem.encode(errors="surrogateescape")
    if len(encoded) > MAX_STEM_BYTES:
        digest = hashlib.sha256(encoded).hexdigest()[:12]
        stem = encoded[: MAX_STEM_BYTES - 13].decode(errors="ignore") + "-" + digest
    return stem


def run_and_prefix(folder: str, name: str) -> tuple[str, str]:
    """The run that a file in a folder belongs to, and what precedes its name in it.

    JAX and TensorFlow write ``<run>/plugins/profile/<time>/<host>.xplane.pb``: the run is the folder above ``plugins``,
    which may be ``.``, and the name of the profile is ``<time>/<host>.xplane.pb``.
    """
    parts = folder.split("/")
    if _XPLANE_SUFFIX in name and len(parts) >= 3 and tuple(parts[-3:-1]) == _XPLANE_FOLDERS:
        return "/".join(parts[:-3]) or ("/" if folder.startswith("/") else "."), f"{parts[-1]}/"
    return folder, ""


def database_name(source_name: str) -> str:
    """Name of the database made from the source of this name, which may begin with a folder."""
    return source_stem(source_name.replace("/", "_")) + DATABASE_SUFFIX


def database_of(source: Path) -> Path:
    """Where the database of a source goes: into the folder of its run, which xprof's own folders are not."""
    run, prefix = run_and_prefix(source.parent.as_posix(), source.name)
    return Path(run) / database_name(prefix + source.name)


def event_file_name(database: str) -> str:
    """Name of the event file with the metadata of the database of this file name; there is one per database.

    It starts with ``EVENT_FILE_NAME``, so it sorts before the event files of a training job in the same folder.
    """
    stem = database.removesuffix(DATABASE_SUFFIX).removesuffix(".sqlite")
    return f"{EVENT_FILE_NAME}.{stem}"
