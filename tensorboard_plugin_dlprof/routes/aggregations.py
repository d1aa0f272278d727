"""Checks requests for aggregations, and converts their jobs to JSON."""

from __future__ import annotations

from typing import Literal, TypedDict, cast

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest, NotFound
from tensorboard_plugin_dlprof.imports.reaggregation import ReaggregationJob, Request
from tensorboard_plugin_dlprof.queries.scope import Aggregation
from tensorboard_plugin_dlprof.routes.parameters import AggregateRequest
from tensorboard_plugin_dlprof.routes.profiles import ImportProgress


def aggregate_request(asked: AggregateRequest) -> Request:
    """The aggregation that the body of ``./aggregate`` asks for.

    Raises:
        BadRequest: The range ends before it starts, or both a key op and a candidate are given.
    """
    start, stop = asked.iter_start, asked.iter_stop
    if start is not None and stop is not None and start > stop:
        raise BadRequest(f"iter_start {start} is after iter_stop {stop}; give them in order.")
    if asked.key_op and asked.candidate:
        raise BadRequest("Give key_op or candidate, not both.")
    for name, text in (("key_op", asked.key_op), ("candidate", asked.candidate)):
        if text and "\0" in text:
            raise BadRequest(f"{name} contains a NUL character; remove it.")
    return Request("aggregate", start, stop, asked.key_op or None, asked.candidate or None)


def delete_request(number: int, known: list[Aggregation]) -> Request:
    """The aggregation that the body of ``./delete_aggregation`` names.

    Args:
        known: The aggregations of the profile, the first one first.

    Raises:
        BadRequest: It is the first aggregation.
        NotFound: There is no such aggregation.
    """
    ids = [aggregation["id"] for aggregation in known]
    if number not in ids:
        raise NotFound(f"The profile has no aggregation {number}; it may have been deleted already.")
    if number == ids[0]:
        raise BadRequest(f"Aggregation {number} is the original one and cannot be deleted.")
    return Request("delete", aggregation=number)


class AggregationWish(TypedDict):
    """What is aggregated anew: a range, and the op or the markers, by their label or kind, that separate iterations;
    or the aggregation that is deleted."""

    iter_start: int | None
    iter_stop: int | None
    key_op: str | None
    candidate: str | None
    aggregation: int | None


class AggregationJob(TypedDict):
    """A job of aggregating; times are in seconds since 1970."""

    id: str
    kind: Literal["aggregate", "delete"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    message: str
    progress: ImportProgress | None
    request: AggregationWish
    aggregation: int | None
    """The new aggregation once ``done``."""
    started_at: float | None
    finished_at: float | None


def shown(job: ReaggregationJob) -> AggregationJob:
    """A job as sent to the browser."""
    request = msgspec.structs.asdict(job.request)
    del request["kind"]
    progress = ImportProgress(stage=job.stage, fraction=job.fraction, elapsed_s=round(job.elapsed_s, 1))
    return {
        "id": job.job_id,
        "kind": job.request.kind,
        "state": job.state,
        "message": job.message,
        "progress": progress if job.state == "running" else None,
        "request": cast("AggregationWish", request),
        "aggregation": job.aggregation,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
    }
