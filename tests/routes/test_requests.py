"""Queries and bodies are decoded to what is declared, with one sentence for what is wrong."""

from __future__ import annotations

import pytest
from werkzeug.test import create_environ
from werkzeug.wrappers import Request

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.routes.parameters import CHANGES, READS, TableRequest
from tensorboard_plugin_dlprof.routes.requests import asked_in_body, asked_in_query, fields_of

PROFILE = "0123456789abcdef"


def in_query(query: str) -> Request:
    """A request that reads."""
    return Request(create_environ(query_string=query))


def test_a_query_becomes_the_request_that_sql_is_made_of() -> None:
    """Numbers are numbers, texts that look like something else are texts, and unknown parameters are ignored."""
    query = f"profile={PROFILE}&table=ops&limit=7&offset=&where.op_type==null&op=null&from=-5&search=12&utm=x&row="
    asked = asked_in_query(in_query(query), TableRequest)
    assert isinstance(asked, PageRequest)
    assert (asked.limit, asked.offset, asked.search, asked.where) == (7, 0, "12", {"op_type": "=null"})
    assert asked.links == {"op": "null", "row": "", "from": -5}


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        ("/table", "table=ops", "The parameter profile is missing; add it."),
        ("/table", f"profile={PROFILE}&table=", "The parameter table is missing; add it."),
        ("/table", "profile=../a&table=ops", "profile must be an id from the list of profiles; reload the list."),
        ("/table", f"profile={PROFILE}&table=ops&limit=1001", "limit must be an integer from 0 to 1,000."),
        ("/table", f"profile={PROFILE}&table=ops&limit=٣", "limit must be an integer from 0 to 1,000."),
        ("/groups", f"profile={PROFILE}&limit=0", "limit must be an integer from 1 to 20,000."),
        ("/iterations", f"profile={PROFILE}&from=x", f"from must be an integer from {-(10**17):,} to {10**17:,}."),
        ("/timeline", f"profile={PROFILE}&tracks=1,x", f"tracks must be at most 64 integers from 0 to {10**17:,}."),
        ("/timeline_item", f"profile={PROFILE}&step=up", "step must be next or previous."),
        (
            "/compare_series",
            "profiles=a,b",
            "profiles must be at most 20 ids from the list of profiles; reload the list.",
        ),
        ("/export", f"profile={PROFILE}&table=ops&format=xml", "format must be csv, json, pdf or xlsx."),
        ("/groups", f"profile={PROFILE}&group=%00", "group contains a NUL character; remove it."),
    ],
)
def test_what_is_wrong_with_a_query(path: str, query: str, sentence: str) -> None:
    """Its parameter, and what it may be."""
    with pytest.raises(BadRequest) as refused:
        asked_in_query(in_query(query), READS[path])
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "The parameter profile is missing; add it."),
        ({"profile": PROFILE, "iter_start": "5"}, f"iter_start must be an integer from {-(10**17):,} to {10**17:,}."),
        ({"profile": PROFILE, "iter_stop": True}, f"iter_stop must be an integer from {-(10**17):,} to {10**17:,}."),
        ({"profile": PROFILE, "key_op": "x" * 3_000}, "key_op must be a text of at most 2,000 letters."),
    ],
)
def test_what_is_wrong_with_a_body(body: dict[str, object], sentence: str) -> None:
    """Likewise."""
    with pytest.raises(BadRequest) as refused:
        asked_in_body(
            Request(create_environ(method="POST", json=body, headers={"X-DLProf": "1"})), CHANGES["/aggregate"]
        )
    assert str(refused.value) == sentence


def test_every_integer_has_limits() -> None:
    """So that SQLite's arithmetic does not overflow."""
    kinds = [kind for declared in (*READS.values(), *CHANGES.values()) for kind in fields_of(declared).values()]
    assert all(-(10**18) <= kind.ge <= kind.le <= 10**18 for kind in kinds if hasattr(kind, "ge"))
