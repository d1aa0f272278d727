"""Serves the built frontend."""

from __future__ import annotations

import gzip
import mimetypes
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard.backend.http_util import Respond
from werkzeug.security import safe_join

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.routes.responses import conditional

if TYPE_CHECKING:
    from werkzeug.wrappers import Request, Response

STATIC_FOLDER = Path(__file__).resolve().parent.parent / "static"

_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".json": "application/json",
    ".map": "application/json",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
"""Content types by suffix. Some systems have wrong ones, and browsers do not run a module of the wrong type."""

_HASHED = re.compile(r".+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+")
_LONGEST_NAME = 200
_YEAR_S = 31_536_000


@lru_cache(maxsize=128)
def _compressed(path: Path, _size_bytes: int, _mtime_ns: int) -> bytes:
    """The content of this version of a file. Browsers that take no gzip get it expanded."""
    return gzip.compress(path.read_bytes(), mtime=0)


def serve(request: Request, folder: Path = STATIC_FOLDER) -> Response:
    """Respond with a file of the built frontend.

    Raises:
        NotFound: There is no such file.
    """
    _, _, name = request.path.partition("/static/")
    joined = safe_join(str(folder), name)
    path = Path(joined) if joined is not None and len(name) <= _LONGEST_NAME else None
    if path is None or not path.is_file() or folder not in path.resolve().parents:
        hint = "" if (folder / "index.js").is_file() else " The frontend is not built: run make frontend."
        raise NotFound(f"There is no file {name[:80]!r}.{hint}")
    content_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    status = path.stat()
    hashed_name = path.parent != folder and _HASHED.fullmatch(path.name) is not None
    content = _compressed(path, status.st_size, status.st_mtime_ns)
    expires = _YEAR_S if hashed_name else 0
    response: Response = Respond(request, content, content_type, expires=expires, content_encoding="gzip")
    response.set_etag(f"{status.st_size:x}-{status.st_mtime_ns:x}", weak=True)
    response.headers["Vary"] = "Accept-Encoding"
    return conditional(request, response)
