"""Checksums of captures and profiles, so that a reader can be replaced and every changed value is noticed.

A digest is text: a line for each table with its rows, and a checksum for each column. Texts are compared by content,
so numbering them otherwise changes nothing. ``python -m tests.digests.digest`` writes those of all real profiles anew.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.errors import UnknownFormat
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.strings import Strings
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import Importer, ReadOptions
from tests.shared_data import shared_data

FOLDERS = ("torch", "nsight", "compare", "dlprof-golden")
DIGESTS = Path(__file__).parent

_LONG = 400
"""Characters of a value that is written as a checksum."""

TEXT_IDS = {
    *("name", "short_name", "long_name", "domain", "shapes", "dtypes", "parameters", "stack", "group", "function"),
    *("innermost", "input_names", "input_shapes", "output_names", "output_shapes", "call", "call_name"),
}
"""Columns of ids of texts."""


def profiles() -> Iterator[tuple[str, Path]]:
    """Every profile that we read: a name for its digest, and the file."""
    folder = shared_data()
    for path in sorted(path for name in FOLDERS for path in (folder / name).rglob("*") if path.is_file()):
        if path.name.endswith((".json", ".json.gz", ".sqlite")):
            yield path.relative_to(folder).as_posix(), path


def digest_of_file(path: Path) -> str:
    """The digest of what is read from a file and of the profile made of it."""
    importer = _importer(path)
    if importer is None:
        with closing(open_database(path)) as con:
            profile = read_profile(con)
        return "\n".join(_lines("profile", profile, profile.strings))
    capture = importer.read(path, ReadOptions(), lambda _stage, _fraction: None)
    lines = [*_lines("capture", capture, capture.strings)]
    profile = build_profile(capture)
    return "\n".join([*lines, *_lines("profile", profile, profile.strings)])


def _importer(path: Path) -> Importer | None:
    try:
        return find_importer(path)
    except UnknownFormat:
        return None


def _lines(of: str, struct: Any, strings: Strings) -> Iterator[str]:
    """A line for each field of a capture or profile."""
    sums = np.array([zlib.crc32(text.encode()) for text in strings.texts()], np.int64)
    yield f"{of} strings {len(sums)}: {int(sums.sum()):x}"
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, msgspec.Struct):
            yield f"{of} {name} {_table(value, sums)}"
        elif isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
            fields = [
                f"{field}={_checksum([_plain(getattr(row, field), sums) for row in value])}"
                for field in value[0].__struct_fields__
            ]
            yield f"{of} {name} {len(value)}: {' '.join(fields)}"
        elif name == "kernel_classes":
            classes = sorted((int(sums[text]), repr(each)) for text, each in value.items())
            yield f"{of} {name} {len(value)}: {_checksum(classes)}"
        elif name not in ("strings", "spill", "store"):
            yield f"{of} {name} {_short(value)}"


def _table(table: msgspec.Struct, sums: np.ndarray[Any, Any]) -> str:
    columns = {name: getattr(table, name) for name in table.__struct_fields__}
    arrays = {name: value for name, value in columns.items() if isinstance(value, np.ndarray)}
    if not arrays:
        usual = {field.name: field.default for field in msgspec.structs.fields(table)}
        described = {name: _plain(value, sums) for name, value in columns.items() if value and value != usual[name]}
        return " ".join(f"{name}={_short(value)}" for name, value in described.items())
    rows = len(next(iter(arrays.values())))
    if not rows:
        return "0"
    fields = (
        f"{name}={_checksum(_plain(sums[value] if name in TEXT_IDS else value, sums))}"
        for name, value in columns.items()
        if value is not None
    )
    return f"{rows}: {' '.join(fields)}"


def _plain(value: Any, sums: np.ndarray[Any, Any]) -> Any:
    """A value that looks the same however sets are ordered and whatever the type of a column is."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float64 if value.dtype.kind == "f" else np.int64).tobytes()
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def _short(value: Any) -> str:
    """A value as text, or the checksum of a long one."""
    text = repr(value)
    return text if len(text) <= _LONG else f"{len(value)}:{_checksum(value)}"


def _checksum(value: Any) -> str:
    return f"{zlib.crc32(value if isinstance(value, bytes) else repr(value).encode()):08x}"


def digest_path(name: str) -> Path:
    """Where the digest of a profile is committed."""
    return DIGESTS / f"{name.replace('/', '__')}.txt"


def main() -> None:
    """Writes the digests of all real profiles anew."""
    for name, path in profiles():
        digest_path(name).write_text(digest_of_file(path) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
