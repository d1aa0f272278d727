"""One place in the cloud, such as ``s3://bucket/logs``. Errors are one sentence each, without credentials."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.errors import NotFound, OutputNotWritable, ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.threads import start_thread
from tensorboard_plugin_dlprof.storage.listings import Object, objects_below, version_of
from tensorboard_plugin_dlprof.storage.opened import filesystem_of, refusal_of

CHUNK_BYTES = 4 << 20
HEAD_BYTES = (1 << 16) + 4096
"""As ``opening.byte_stream.read_head`` reads of a file."""
HEADS_AT_ONCE = 50
SPARE_BYTES = 256 << 20
"""Space of the disk that a fetched object leaves free."""
POLL_SECONDS = 0.05
_EXPIRED = "FileExpired"
"""Error of fsspec when an object was replaced while it is read."""

Progress = Callable[[str, float], None]


class Changed(ProfileError):
    """An object is not any more what it was when it was listed."""


class Listing(msgspec.Struct, frozen=True):
    """The objects below a place, by path; ``is_truncated`` if there are more than are listed."""

    objects: tuple[Object, ...] = ()
    is_truncated: bool = False


class Store:
    """A place in the cloud.

    Args:
        address: Such as ``s3://bucket/logs`` or ``gs://bucket``.
        refresh_seconds: A listing is used again for so long.
    """

    def __init__(self, address: str, refresh_seconds: float = 0.0) -> None:
        self.address = address.rstrip("/")
        self.shown = shown(self.address)
        self._refresh_seconds = refresh_seconds
        self._listing = Listing()
        self._listed_at = float("-inf")

    def listing(self) -> Listing:
        """All objects below the place, or the object itself if it names one.

        Raises:
            ProfileError: It cannot be listed; the next call tries again.
        """
        if time.monotonic() - self._listed_at > self._refresh_seconds:
            with self._refusing(self.shown):
                fs, path = filesystem_of(self.address)
                fs.invalidate_cache()
                objects, is_truncated = objects_below(fs, path)
            self._listing = Listing(tuple(objects), is_truncated)
            self._listed_at = time.monotonic()
        return self._listing

    @property
    def last(self) -> Listing:
        """The last listing that succeeded."""
        return self._listing

    def address_of(self, relative: str) -> str:
        """The address of an object by its path below the place."""
        return f"{self.address}/{relative}" if relative else self.address

    def heads(self, objects: Sequence[Object]) -> list[bytes | None]:
        """The first bytes of each object; None where it cannot be read."""
        contents: list[bytes | None] = []
        for first in range(0, len(objects), HEADS_AT_ONCE):
            some = objects[first : first + HEADS_AT_ONCE]
            try:
                fs, root = filesystem_of(self.address)
                paths = [_join(root, each.relative) for each in some]
                ends = [min(each.size_bytes, HEAD_BYTES) for each in some]
                read = fs.cat_ranges(paths, [0] * len(some), ends, on_error="return")
                contents += [bytes(each) if isinstance(each, (bytes, bytearray)) else None for each in read]
            except Exception:  # noqa: BLE001 - any error of any provider; the next search tries again
                contents += [None] * len(some)
        return contents

    def find(self, relative: str) -> Object | None:
        """An object as it is now; None if there is none.

        Raises:
            ProfileError: It cannot be asked for.
        """
        with self._refusing(shown(self.address_of(relative))):
            fs, root = filesystem_of(self.address)
            path = _join(root, relative)
            fs.invalidate_cache()
            try:
                info = fs.info(path)
            except FileNotFoundError:
                return None
            return Object(relative, int(info.get("size") or 0), version_of(info))

    def fetch(
        self,
        wanted: Object,
        target: Path,
        progress: Progress,
        most_bytes: int,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Copy an object into a new file. Returns early, without the whole object, when it is cancelled.

        Args:
            target: The file, in a folder of our own.
            most_bytes: Size from which on an object is refused.
            is_cancelled: Whether to give up.

        Raises:
            QueueFull: The system starts no more threads.
            UnsafeFile: It is larger than allowed.
            OutputNotWritable: There is not enough space.
            Changed: It was replaced or deleted since it was listed, or meanwhile.
            ProfileError: It cannot be read.
        """
        name = shown(self.address_of(wanted.relative))
        if wanted.size_bytes > most_bytes:
            raise UnsafeFile(
                f"{name} has {wanted.size_bytes / (1 << 30):,.3g} GB, more than the {most_bytes / (1 << 30):,.3g} GB "
                "that may be fetched; raise the limit of the cache (--dlprof_cache_limit), or record fewer iterations."
            )
        free = shutil.disk_usage(target.parent).free
        if wanted.size_bytes + SPARE_BYTES > free:
            raise OutputNotWritable(
                f"{name} has {wanted.size_bytes / 1e6:,.0f} MB, but only {free / 1e6:,.0f} MB are free where it would "
                "be fetched to; free some space, or choose another folder (--dlprof_cache_dir)."
            )
        copying = _Copying(self.address, wanted, target)
        thread = start_thread(copying.run, "dlprof-fetch")
        # A provider that does not answer must not keep anybody from giving up, so the thread that waits for it is left.
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if is_cancelled():
                copying.cancelled = True
                return
            progress("Fetching", copying.done_bytes / max(wanted.size_bytes, 1))
        with self._refusing(name):
            if copying.error is not None and type(copying.error).__name__ != _EXPIRED:
                raise copying.error
        now = self.find(wanted.relative)
        if now is None or now.version != wanted.version:
            self._listed_at = float("-inf")
        if now is None:
            raise Changed(f"{name} was deleted while it was fetched; reload the list of profiles.")
        if copying.done_bytes != wanted.size_bytes or now.version != wanted.version:
            raise Changed(f"{name} changed while it was fetched; reload the list of profiles, and open it again.")

    def put(self, local: Path, relative: str) -> None:
        """Write a file as one whole object, which takes the place of an earlier one at once.

        Raises:
            OutputNotWritable: It cannot be written.
        """
        name = shown(self.address_of(relative))
        try:
            fs, root = filesystem_of(self.address)
            fs.put_file(str(local), _join(root, relative))
        except ProfileError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of any provider
            raise OutputNotWritable(str(refusal_of(name, error, "written"))) from None

    @contextlib.contextmanager
    def _refusing(self, name: str) -> Iterator[None]:
        try:
            yield
        except ProfileError:
            raise
        except FileNotFoundError:
            raise NotFound(f"{name} does not exist; check the address.") from None
        except Exception as error:  # noqa: BLE001 - any error of any provider
            raise refusal_of(name, error, "read") from None


class _Copying:
    """Copies an object, chunk by chunk."""

    def __init__(self, address: str, wanted: Object, target: Path) -> None:
        self._address, self._wanted, self._target = address, wanted, target
        self.done_bytes = 0
        self.cancelled = False
        self.error: Exception | None = None

    def run(self) -> None:
        """Copy until the end, an error, or ``cancelled``."""
        try:
            fs, root = filesystem_of(self._address)
            options: dict[str, Any] = {"block_size": CHUNK_BYTES, "cache_type": "none"}
            with (
                fs.open(_join(root, self._wanted.relative), "rb", **options) as source,
                self._target.open("xb") as copy,
            ):
                while not self.cancelled and self.done_bytes <= self._wanted.size_bytes:
                    chunk = source.read(CHUNK_BYTES)
                    if not chunk:
                        break
                    copy.write(chunk)
                    self.done_bytes += len(chunk)
        except Exception as error:  # noqa: BLE001 - told by whoever waits
            self.error = error


def _join(root: str, relative: str) -> str:
    return f"{root.rstrip('/')}/{relative}" if relative else root
