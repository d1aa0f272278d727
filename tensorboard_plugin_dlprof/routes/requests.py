"""Query parameters and bodies -> checked values. A request names profiles by opaque id only."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.errors import BadRequest, ProfileError
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope

if TYPE_CHECKING:
    from sqlite3 import Connection

    from werkzeug.wrappers import Request

MAX_QUERY_BYTES = 16_384
MAX_VALUE_LETTERS = 2_000
MAX_FILTERS = 30
MAX_BODY_BYTES = 4_096
LARGEST_ITERATION = 10**17
"""Of the numbers of iterations that a request may name: SQLite can add to them."""

_PROFILE_ID = re.compile(r"[0-9a-f]{16}")
_INTEGER = re.compile(r"-?\d{1,18}")


class TooLarge(ProfileError):
    """The request is larger than any that our pages make."""

    code = "too_large"


class Forbidden(ProfileError):
    """The request may not change anything: switched off, or not from our own page."""

    code = "forbidden"


class Parameters:
    """The query parameters of one request."""

    def __init__(self, request: Request) -> None:
        if len(request.query_string) > MAX_QUERY_BYTES:
            raise TooLarge(f"The query is longer than {MAX_QUERY_BYTES:,} bytes; shorten the search or the filters.")
        self._values = request.args

    def text(self, name: str, default: str = "") -> str:
        """A text, cut nowhere: a longer one than any page sends is refused."""
        value = self._values.get(name, default)
        if len(value) > MAX_VALUE_LETTERS:
            raise BadRequest(f"{name} is longer than {MAX_VALUE_LETTERS:,} letters; shorten it.")
        if "\0" in value:
            raise BadRequest(f"{name} contains a NUL character; remove it.")
        return value

    def required(self, name: str) -> str:
        """A text that must be there."""
        value = self.text(name)
        if not value:
            raise BadRequest(f"The parameter {name} is missing; add it.")
        return value

    def profile(self) -> str:
        """The opaque id of a profile."""
        return checked_profile_id(self.required("profile"))

    def integer(self, name: str, default: int | None, low: int, high: int) -> int | None:
        """An integer from ``low`` to ``high``."""
        value = self.text(name)
        if not value:
            return default
        if not _INTEGER.fullmatch(value) or not low <= int(value) <= high:
            raise BadRequest(f"{name} must be an integer from {low:,} to {high:,}.")
        return int(value)

    def where(self) -> dict[str, str]:
        """Column -> filter, from ``where.COLUMN=filter``."""
        keys = [key for key in self._values if key.startswith("where.")]
        if len(keys) > MAX_FILTERS:
            raise BadRequest(f"More than {MAX_FILTERS} filters; remove some.")
        return {key.removeprefix("where."): self.text(key) for key in keys}

    def named(self, names: Collection[str]) -> dict[str, str]:
        """Those of the named parameters that are there."""
        return {name: self.text(name) for name in names if name in self._values}


def asked_scope(connection: Connection, parameters: Parameters) -> Scope:
    """The aggregation and the domain that a request names; the first ones by default.

    Raises:
        NotFound: there is no such aggregation or domain.
    """
    return find_scope(connection, parameters.integer("aggregation", None, 0, 2**31), parameters.text("domain") or None)


def checked_profile_id(value: object) -> str:
    """The id of a profile, as the list of profiles gave it.

    Raises:
        BadRequest: it is nothing that the list could have given.
    """
    if not isinstance(value, str) or not _PROFILE_ID.fullmatch(value):
        raise BadRequest("profile must be an id from the list of profiles; reload the list.")
    return value


def changing_body(request: Request) -> dict[str, object]:
    """The JSON body of a request that changes something, after the checks that keep other sites from sending one.

    A cross-site page can send neither this content type nor a header of ours without a preflight, which nobody answers.

    Raises:
        Forbidden: the request does not come from our own page.
        TooLarge: the body is larger than any of ours.
        BadRequest: the body is no JSON object.
    """
    from werkzeug.exceptions import RequestEntityTooLarge

    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("Requests from other sites may not change anything.")
    if request.headers.get("X-DLProf") != "1" or request.mimetype != "application/json":
        raise Forbidden("A request that changes something needs Content-Type: application/json and X-DLProf: 1.")
    request.max_content_length = MAX_BODY_BYTES
    try:
        body = json.loads(request.get_data())
    except RequestEntityTooLarge:
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES:,} bytes.") from None
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest('The body must be a JSON object such as {"profile": "ID"}.')
    return body
