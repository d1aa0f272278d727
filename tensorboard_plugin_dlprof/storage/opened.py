"""Opens the filesystem of an address, and says in one sentence why it cannot be used."""

from __future__ import annotations

import errno
import os
import re
from typing import Any

from tensorboard_plugin_dlprof.errors import (
    BadRequest,
    BrokenSource,
    NotFound,
    OutputNotWritable,
    ProfileError,
    UnsafeFile,
)
from tensorboard_plugin_dlprof.opening.regular_file import shown

SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.+-]*)://")

_EXTRAS = {"s3": ("s3fs", "s3"), "s3a": ("s3fs", "s3"), "gs": ("gcsfs", "gcs"), "gcs": ("gcsfs", "gcs")}
"""Package for addresses of a scheme, and the extra of ours that installs it."""

_NO_CREDENTIALS = re.compile("credential|token|login|auth", re.IGNORECASE)
_UNREACHABLE = re.compile("connect|timeout|resolve|dns|httpclient", re.IGNORECASE)
"""In names of the classes of errors: their messages may hold addresses with keys, so that they are never quoted."""


def filesystem_of(address: str) -> tuple[Any, str]:
    """The filesystem of an address, and the path in it.

    Raises:
        BadRequest: A package is missing.
    """
    scheme = _scheme(address)
    try:
        import fsspec

        return fsspec.core.url_to_fs(address, **_options(scheme))  # type: ignore[no-any-return]
    except (ImportError, ValueError):
        package, extra = _EXTRAS.get(scheme, ("", ""))
        advice = (
            f"the package {package}; install it with pip install 'tensorboard_plugin_dlprof[{extra}]'"
            if package
            else f"a package by which fsspec reads {scheme}://; install that, or copy the files to this machine"
        )
        raise BadRequest(f"{shown(address)} needs {advice}.") from None


def _scheme(address: str) -> str:
    match = SCHEME.match(address)
    return match[1].lower() if match else ""


def _options(scheme: str) -> dict[str, Any]:
    """How to open a filesystem: what changes must be seen at once, and nothing may wait for ever."""
    if scheme in ("s3", "s3a"):
        # TensorBoard's own reader of S3 takes the address of a server from this variable.
        endpoint = os.environ.get("S3_ENDPOINT")
        timeouts = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}}
        return {
            "use_listings_cache": False,
            "config_kwargs": timeouts,
            **({"endpoint_url": endpoint} if endpoint else {}),
        }
    return {"use_listings_cache": False} if scheme in ("gs", "gcs") else {}


def refusal_of(name: str, error: Exception, done: str) -> ProfileError:
    """The error to raise for one of a provider.

    Args:
        name: The address, as it is shown.
        error: Of any class of any library.
        done: What could not be done: ``read`` or ``written``.
    """
    kind = type(error).__name__
    if isinstance(error, PermissionError):
        return UnsafeFile(f"{name} may not be {done}: the storage denied it; check the credentials and permissions.")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return OutputNotWritable(f"{name} cannot be fetched: the disk is full; free some space.")
    if isinstance(error, FileNotFoundError):
        return NotFound(f"{name} does not exist; check the address.")
    if isinstance(error, TimeoutError) or _UNREACHABLE.search(kind):
        return BrokenSource(f"{name} cannot be {done}: the storage does not answer; check its address and the network.")
    if _NO_CREDENTIALS.search(kind):
        return UnsafeFile(
            f"{name} cannot be {done}: no credentials were found; set them as the storage's own programs want them."
        )
    return BrokenSource(f"{name} cannot be {done}: the storage failed ({kind}); try again.")
