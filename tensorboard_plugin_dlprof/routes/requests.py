"""Decodes the query or body of a request to what is declared in ``parameters``, with one sentence for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import inspect
from werkzeug.exceptions import RequestEntityTooLarge

from tensorboard_plugin_dlprof.errors import BadRequest, ProfileError

if TYPE_CHECKING:
    from werkzeug.wrappers import Request

MAX_QUERY_BYTES = 16_384
MAX_VALUE_LETTERS = 2_000
MAX_FILTERS = 30
MAX_BODY_BYTES = 4_096

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_FIELD = re.compile(r"field `(\w+)`|`\$\.(\w+)")

_Declared = TypeVar("_Declared", bound=msgspec.Struct)


class TooLarge(ProfileError):
    """The request or its response is larger than any of our pages needs."""

    code = "too_large"


class Forbidden(ProfileError):
    """The request is not allowed: the function is switched off, or the request is not from our own page."""

    code = "forbidden"


def asked_in_query(request: Request, declared: type[_Declared]) -> _Declared:
    """What the query of a request asks for. Parameters that are not declared are ignored.

    Raises:
        TooLarge: The query is too long.
        BadRequest: A parameter is missing or wrong.
    """
    if len(request.query_string) > MAX_QUERY_BYTES:
        raise TooLarge(f"The query is longer than {MAX_QUERY_BYTES:,} bytes; shorten the search or the filters.")
    kinds = fields_of(declared)
    values: dict[str, Any] = {}
    filters: dict[str, str] = {}
    for name, text in request.args.items():
        if len(text) > MAX_VALUE_LETTERS:
            raise BadRequest(f"{name} is longer than {MAX_VALUE_LETTERS:,} letters; shorten it.")
        if "\0" in text:
            raise BadRequest(f"{name} contains a NUL character; remove it.")
        if name.startswith("where."):
            filters[name.removeprefix("where.")] = text
        elif name in kinds and name != "where" and (text or isinstance(kinds[name], inspect.StrType)):
            values[name] = _value(kinds[name], text)
    if len(filters) > MAX_FILTERS:
        raise BadRequest(f"More than {MAX_FILTERS} filters; remove some.")
    return _checked({**values, "where": filters}, declared)


def asked_in_body(request: Request, declared: type[_Declared]) -> _Declared:
    """What the JSON body of a request asks to change, after checks that prevent other sites from sending one.

    A page of another site can send neither this content type nor our header without a CORS preflight, which the server
    never approves.

    Raises:
        Forbidden: The request does not come from our own page.
        TooLarge: The body is larger than any of ours.
        BadRequest: The body is not a JSON object, or a value is missing or wrong.
    """
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
    return _checked(body, declared)


@cache
def fields_of(declared: type[msgspec.Struct]) -> dict[str, inspect.Type]:
    """The type of each parameter, without ``None`` and annotations that are not checked."""
    described = inspect.type_info(declared)
    assert isinstance(described, inspect.StructType)
    return {field.encode_name: _checked_type(field.type) for field in described.fields}


def _checked_type(kind: inspect.Type) -> inspect.Type:
    if isinstance(kind, inspect.UnionType):
        (kind,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _value(kind: inspect.Type, text: str) -> Any:
    """The text of a parameter as a value of its type, if it looks like one."""
    if isinstance(kind, inspect.IntType) and _INTEGER.fullmatch(text):
        return int(text)
    if isinstance(kind, inspect.ListType):
        return [_value(_checked_type(kind.item_type), word) for word in text.split(",")]
    return text


def _checked(values: Mapping[str, Any], declared: type[_Declared]) -> _Declared:
    try:
        return msgspec.convert(values, declared)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        match = _FIELD.search(str(error))
        name = (match[1] or match[2]) if match else ""
        if values.get(name) in (None, ""):
            raise BadRequest(f"The parameter {name} is missing; add it.") from None
        raise BadRequest(f"{name} must be {meaning(fields_of(declared)[name])}.") from None


def meaning(kind: inspect.Type) -> str:
    """The values of a parameter, in words."""
    if isinstance(kind, inspect.ListType):
        each = meaning(_checked_type(kind.item_type)).split(" ", 1)[1]
        return f"at most {kind.max_length} {each.replace('integer', 'integers', 1).replace('id', 'ids', 1)}"
    if isinstance(kind, inspect.IntType):
        return f"an integer from {kind.ge:,} to {kind.le:,}"
    if isinstance(kind, inspect.LiteralType):
        *others, last = map(str, kind.values)
        return f"{', '.join(others)} or {last}"
    if isinstance(kind, inspect.StrType) and kind.pattern:
        return "an id from the list of profiles; reload the list"
    return f"a text of at most {MAX_VALUE_LETTERS:,} letters"
