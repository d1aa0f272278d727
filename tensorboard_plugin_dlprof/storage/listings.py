"""Lists what lies below a place in the cloud, within limits: flat, page by page, where the storage can."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

MAX_OBJECTS = 100_000
"""Most objects that are looked at, of any name."""
MAX_SECONDS = 120.0
MAX_DEPTH = 12
_PAGE = 1_000
_MOST_NAME_BYTES = 255

_VERSIONS = (
    "generation",
    "ETag",
    "etag",
    "md5Hash",
    "LastModified",
    "last_modified",
    "mtime",
    "updated",
    "modified",
    "created",
)
"""What tells one version of an object from the next, the most certain first."""


class Object(msgspec.Struct, frozen=True):
    """An object in the cloud."""

    relative: str
    """Its path below the place that was listed, with slashes; empty if it is the place itself."""
    size_bytes: int
    version: str
    """Another for each content: etag, generation, or the time of the last change."""

    @property
    def number(self) -> int:
        """The version as a number, in the place of the time of change that a file has."""
        return int.from_bytes(hashlib.sha256(self.version.encode()).digest()[:6], "big")


def version_of(info: Mapping[str, Any]) -> str:
    """The version in what a storage says about an object; empty if it says none."""
    value = next((info[key] for key in _VERSIONS if info.get(key)), "")
    # Some tell times as numbers in lists, and as objects when they are asked about one.
    return str(value.timestamp() if isinstance(value, datetime) else value).strip('"')


def objects_below(fs: Any, path: str) -> tuple[list[Object], bool]:
    """The objects below a path, or the object at it, ordered by path, and whether there are more.

    Raises:
        FileNotFoundError: There is nothing at the path.
        Exception: Any of the storage.
    """
    objects: list[Object] = []
    end = time.monotonic() + MAX_SECONDS
    is_truncated = False
    for looked_at, (relative, info) in enumerate(_entries(fs, path.rstrip("/"))):
        if looked_at >= MAX_OBJECTS or time.monotonic() > end:
            is_truncated = True
            break
        if _is_plain(relative):
            objects.append(Object(relative, int(info.get("size") or info.get("Size") or 0), version_of(info)))
    if not objects and not is_truncated and not fs.exists(path):
        raise FileNotFoundError(path)
    return sorted(objects, key=lambda each: each.relative), is_truncated


def _entries(fs: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Path below ``path`` and information of each object."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    if "s3" in protocols:
        return _of_s3(fs, path)
    if "gs" in protocols:
        return _of_gcs(fs, path)
    return _of_any(fs, path)


def _of_s3(fs: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    bucket, key, _ = fs.split_path(path)
    page: Mapping[str, Any] = {}
    while True:
        token = {"ContinuationToken": page["NextContinuationToken"]} if page else {}
        page = fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=_PAGE, **token)
        yield from _below(key, ((each["Key"], each) for each in page.get("Contents", ())))
        if not page.get("NextContinuationToken"):
            return


def _of_gcs(fs: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    bucket, key, _ = fs.split_path(path)
    page: Mapping[str, Any] = {}
    while True:
        token = {"pageToken": page["nextPageToken"]} if page else {}
        page = fs.call("GET", "b/{}/o", bucket, prefix=key, maxResults=_PAGE, json_out=True, **token)
        yield from _below(key, ((each["name"], each) for each in page.get("items", ())))
        if not page.get("nextPageToken"):
            return


def _of_any(fs: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if fs.isfile(path):
        yield "", fs.info(path)
        return
    for folder, _, files in fs.walk(path, maxdepth=MAX_DEPTH, detail=True):
        yield from _below(path, ((f"{folder}/{name}", info) for name, info in files.items()))


def _below(key: str, named: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those at or below a key: a prefix also fits neighbours, such as ``run10`` for ``run1``."""
    for name, info in named:
        if not key or name == key:
            yield ("" if name == key else name), info
        elif name.startswith(f"{key}/"):
            yield name[len(key) + 1 :], info


def _is_plain(relative: str) -> bool:
    """Whether a path could be that of a file: objects may have any name, such as ``../../x`` or ``x/``."""
    parts = relative.split("/") if relative else []
    return len(parts) <= MAX_DEPTH and all(map(_is_name, parts))


def _is_name(part: str) -> bool:
    hidden = not part or part.startswith(".")
    return not hidden and "\0" not in part and len(part.encode("utf-8", "replace")) <= _MOST_NAME_BYTES
