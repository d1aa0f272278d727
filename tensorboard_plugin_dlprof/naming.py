"""What the names of files tell, and how the files that the package writes are called."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatch

from tensorboard_plugin_dlprof.metadata import DATABASE_GLOB, DATABASE_SUFFIX, EVENT_FILE_NAME

SOURCE_SUFFIXES = (".gz", ".json", ".trace", ".pt", ".sqlite", ".sqlite3", ".db", ".nsys-rep")
"""Endings that say what a source is, not which: removed one after the other from the end of its name."""

REPORT_SUFFIXES = (".nsys-rep", ".qdrep", ".xplane.pb", ".ncu-rep", ".rpd")
"""Of Nsight Systems before the export, TensorFlow and JAX, Nsight Compute, ROCm."""

CANDIDATE_SUFFIXES = (".json", ".gz", ".sqlite", ".sqlite3", ".db")
"""Of the files in a folder only these are opened; a file that is named itself may be called anything."""

_TRACE_PART = ".pt.trace."
_NEVER = ("tfevents", ".tmp-")

MAX_STEM_BYTES = 160
"""File systems allow 255 bytes; this leaves room for our endings and those of temporary files."""


def is_database_name(name: str) -> bool:
    """Whether a file of this name is a DLProf database."""
    return fnmatch(name, DATABASE_GLOB)


def is_trace_name(name: str) -> bool:
    """Whether a file of this name must be a profiler's trace: if it cannot be read, the user wants to know why."""
    return _TRACE_PART in name


def is_report_name(name: str) -> bool:
    """Whether a file of this name is a report of another tool, which is not read as it is."""
    return name.lower().endswith(REPORT_SUFFIXES)


def is_candidate_name(name: str) -> bool:
    """Whether a file of this name, found in a folder, may be a profile, by its content."""
    if name.startswith(".") or any(part in name for part in _NEVER):
        return False
    return name.lower().endswith(CANDIDATE_SUFFIXES) or is_trace_name(name)


def source_stem(source_name: str) -> str:
    """The part of a source's file name that tells it from others.

    ``worker0.1623143089861.pt.trace.json.gz`` -> ``worker0.1623143089861``. Unknown endings stay, because they may be
    all that differs (``trace.rank.0``, ``trace.rank.1``). A name that is too long is cut and ends in a digest of the
    whole.
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


def database_name(source_name: str) -> str:
    """Name of the database made from the source of this file name."""
    return source_stem(source_name) + DATABASE_SUFFIX


def event_file_name(database: str) -> str:
    """Name of the event file that carries the metadata of the database of this file name, one per database.

    Starts with ``EVENT_FILE_NAME``, so it sorts before the event files of a training job in the same folder.
    """
    stem = database.removesuffix(DATABASE_SUFFIX).removesuffix(".sqlite")
    return f"{EVENT_FILE_NAME}.{stem}"
