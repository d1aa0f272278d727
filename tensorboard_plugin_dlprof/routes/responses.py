"""Builds all responses: one form of body for successes, and one for errors."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from tensorboard.backend.http_util import Respond
from werkzeug.wrappers import Request, Response

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError, QueueFull, UnsafeFile
from tensorboard_plugin_dlprof.routes.answers import Answer, Answers, compressed
from tensorboard_plugin_dlprof.routes.requests import Forbidden, TooLarge
from tensorboard_plugin_dlprof.units import finite

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment
    from werkzeug.datastructures import Headers

_LOG = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 8 << 20


class NotReady(ProfileError):
    """The source has no database yet."""

    code = "not_ready"


class Busy(ProfileError):
    """Too many heavy requests at once."""

    code = "busy"


class MethodNotAllowed(ProfileError):
    """The route does not take this method."""

    code = "method_not_allowed"


_FAILURES: tuple[tuple[type[ProfileError], HTTPStatus, str], ...] = (
    (BadRequest, HTTPStatus.BAD_REQUEST, "Correct the address or reload the page."),
    (Forbidden, HTTPStatus.FORBIDDEN, ""),
    (NotFound, HTTPStatus.NOT_FOUND, "Reload the list of profiles."),
    (MethodNotAllowed, HTTPStatus.METHOD_NOT_ALLOWED, ""),
    (NotReady, HTTPStatus.CONFLICT, "Import the profile first."),
    (TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, ""),
    (Busy, HTTPStatus.SERVICE_UNAVAILABLE, "Try again in a second."),
    (QueueFull, HTTPStatus.SERVICE_UNAVAILABLE, ""),
    (UnsafeFile, HTTPStatus.FORBIDDEN, "Check the file and its permissions."),
    (ProfileError, HTTPStatus.UNPROCESSABLE_ENTITY, "Other profiles are not affected."),
)
"""Status and hint of each kind of error. The first that matches applies."""


class ForNow(msgspec.Struct, frozen=True):
    """A body that must not be cached, because it may change although the database does not."""

    body: Any


def success(request: Request, body: Any) -> Response:
    """A JSON response."""
    response: Response = Respond(request, checked_json(body), "application/json")
    return response


def cached(request: Request, tag: str, answers: Answers) -> Response | None:
    """The cached response of this tag, or an empty one (304) if the browser has it already; None if not cached."""
    known = unchanged(request, tag)
    if known is not None:
        return known
    answer = answers.get(_key(request, tag))
    return None if answer is None else _sent(request, answer, tag)


def cache(request: Request, body: Any, tag: str, answers: Answers) -> Response:
    """A JSON response, which is cached under its ``tag``."""
    text = checked_json(body)
    answer = compressed(text) if _takes_gzip(request) else Answer(text)
    answers.put(_key(request, tag), answer)
    return _sent(request, answer, tag)


def _key(request: Request, tag: str) -> str:
    return f"{'gzip' if _takes_gzip(request) else 'plain'} {hashed(tag)}"


def _takes_gzip(request: Request) -> bool:
    return bool(request.accept_encodings["gzip"])


def _sent(request: Request, answer: Answer, tag: str) -> Response:
    return _tagged(Respond(request, answer.content, "application/json", content_encoding=answer.encoding or None), tag)


def checked_json(body: Any) -> bytes:
    """The JSON of a body.

    Raises:
        TooLarge: It is larger than any page needs.
    """
    text = to_json(body)
    if len(text) > MAX_ANSWER_BYTES:
        raise TooLarge(f"The answer is larger than {MAX_ANSWER_BYTES >> 20} MB; ask for fewer rows.")
    return text


def unchanged(request: Request, tag: str) -> Response | None:
    """An empty response (304) if the browser has the content of this tag already, else None."""
    if not request.if_none_match.contains_weak(hashed(tag)):
        return None
    return conditional(request, _tagged(Respond(request, "", "application/json"), tag))


def download(pieces: Iterator[bytes], resources: ExitStack, content_type: str, file_name: str) -> Response:
    """The response with a file. ``resources`` are closed after the last piece, or when the browser disconnects."""
    # Errors in the request occur with the first piece, before the status of the response is sent.
    first = next(pieces, b"")
    open_resources = resources.pop_all()
    response = Response(until_sent(chain([first], pieces), open_resources), content_type=content_type)
    response.headers["Content-Disposition"] = _disposition(file_name)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    # Also closes resources if the response is never read, such as that to HEAD.
    response.call_on_close(open_resources.close)
    return response


def until_sent(pieces: Iterator[bytes], resources: ExitStack) -> Iterator[bytes]:
    """The pieces of a file. An error breaks the connection, so that no browser takes what was sent for the whole."""
    try:
        with resources:
            yield from pieces
    except ProfileError as error:
        _LOG.warning("A file that was sent is not whole: %s", ascii(str(error)))
        raise ConnectionAbortedError from error


def _disposition(name: str) -> str:
    """The header ``Content-Disposition`` (RFC 6266): an ASCII name for all clients, and the full one in UTF-8."""
    safe = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', "_", name).strip(". ")[-150:]
    plain = re.sub(r"[^A-Za-z0-9._ -]+", "_", safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"


def failure(request: Request, error: ProfileError, allowed: str = "") -> Response:
    """The response for an error that the user can act on. ``allowed`` are methods for the header ``Allow``."""
    status, hint = next(each[1:] for each in _FAILURES if isinstance(error, each[0]))
    headers = [("Retry-After", "1")] if isinstance(error, (Busy, QueueFull)) else []
    if allowed:
        headers.append(("Allow", allowed))
    return _failure(request, status, error.code, str(error), hint, headers)


def internal_failure(request: Request) -> Response:
    """The response for a bug of ours; the log has the details."""
    return _failure(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal",
        "The request failed through an error of the plugin.",
        "The log of TensorBoard has the details; please report it.",
        [],
    )


def _failure(
    request: Request, status: HTTPStatus, code: str, message: str, hint: str, headers: list[tuple[str, str]]
) -> Response:
    body = {"error": {"code": code, "message": message, "hint": hint}}
    response: Response = Respond(request, to_json(body), "application/json", code=status.value, headers=headers)
    return response


def to_json(body: Any) -> bytes:
    """Standard JSON: numbers that are not finite, which foreign databases may contain, become null."""
    try:
        return msgspec.json.encode(body)
    except (UnicodeEncodeError, OverflowError):
        # msgspec refuses lone surrogates, and integers of more than 64 bits.
        return json.dumps(finite(msgspec.to_builtins(body)), separators=(",", ":")).encode()


def hashed(tag: str) -> str:
    """The tag as it is sent: hashed, because it contains paths, which users of the page must not see."""
    return hashlib.sha256(tag.encode(errors="surrogateescape")).hexdigest()[:32]


def _tagged(response: Response, tag: str) -> Response:
    # Compressed and plain content have the same tag, so it must be weak.
    response.set_etag(hashed(tag), weak=True)
    response.headers["Vary"] = "Accept-Encoding"
    return response


class _NotModified(Response):
    """A 304 that keeps its ``Content-Type``, which Werkzeug removes: TensorBoard warns of responses without one."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """Werkzeug's headers, with ``Content-Type``."""
        headers = super().get_wsgi_headers(environ)
        headers.setdefault("Content-Type", self.headers["Content-Type"])
        return headers


def conditional(request: Request, response: Response) -> Response:
    """The response, or an empty 304 if the request has its ETag in ``If-None-Match``."""
    response.make_conditional(request)
    return _NotModified(status=304, headers=response.headers) if response.status_code == 304 else response
