"""What each route may be asked: its parameters, each with its type, limits, default and meaning.

Requests name profiles only by opaque ids. ``http_api.md`` lists these declarations (``python -m scripts.http_api``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from tensorboard_plugin_dlprof.comparing.series import MOST_RUNS
from tensorboard_plugin_dlprof.queries import group_tree, iteration_bars, job, timeline
from tensorboard_plugin_dlprof.queries import memory as memory_queries
from tensorboard_plugin_dlprof.queries.page_request import FARTHEST, Farthest, Id, PageRequest
from tensorboard_plugin_dlprof.queries.throughput import MOST_PER_ITERATION

ProfileId: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
_Count: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_PER_ITERATION)]
_Nanoseconds: TypeAlias = Annotated[int, Meta(ge=0, le=FARTHEST)]


class NothingRequest(msgspec.Struct, frozen=True):
    """No parameters."""


class ProfileRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a profile."""

    profile: ProfileId
    """Id of the profile."""


class ScopeRequest(ProfileRequest, frozen=True, kw_only=True):
    """Something about an aggregation."""

    aggregation: Id | None = None
    """By default the first."""
    domain: str = ""
    """NVTX domain; by default the first."""


class TableRequest(PageRequest, frozen=True, kw_only=True):
    """A page of a table."""

    profile: ProfileId
    """Id of the profile."""
    table: Annotated[str, Meta(min_length=1)]
    """Name of the table."""
    base: ProfileId | None = None
    """Baseline, whose times are shown besides; tables of comparisons need it."""
    base_aggregation: Id | None = None
    """Aggregation of the baseline; by default the first."""


class ExportRequest(TableRequest, frozen=True, kw_only=True):
    """A whole table as a file."""

    format: Literal["csv", "json", "pdf", "xlsx"] = "csv"
    """Kind of file."""
    columns: list[str] = msgspec.field(default_factory=list)
    """Keys of the columns, separated by commas; by default those that are not hidden."""
    heading: Literal["yes", "no"] | None = None
    """Whether a heading stands above the heads of the columns; by default not in CSV."""


class GroupsRequest(ScopeRequest, frozen=True, kw_only=True):
    """A tree of groups."""

    group: str = ""
    """Path of the group at its root; by default the whole model."""
    limit: Annotated[int, Meta(ge=1, le=group_tree.MAX_LIMIT)] = group_tree.DEFAULT_LIMIT
    """Most nodes."""


class IterationsRequest(ScopeRequest, frozen=True, kw_only=True):
    """Bars of iterations."""

    start: Farthest | None = msgspec.field(default=None, name="from")
    """Number of the first iteration; by default the first of all."""
    stop: Farthest | None = msgspec.field(default=None, name="to")
    """Number of the last iteration; by default the last of all."""
    bins: Annotated[int, Meta(ge=1, le=iteration_bars.MAX_BINS)] = iteration_bars.DEFAULT_BINS
    """Wanted number of bars."""


class ThroughputRequest(ScopeRequest, frozen=True, kw_only=True):
    """Rates."""

    samples: _Count | None = None
    """Samples of an iteration; by default what was given at the import, or follows from shapes."""
    tokens: _Count | None = None
    """Tokens of an iteration, likewise."""


class MemoryRequest(ScopeRequest, frozen=True, kw_only=True):
    """Memory of a GPU."""

    device: Id = 0
    """GPU."""


class MemoryCurveRequest(MemoryRequest, frozen=True, kw_only=True):
    """Memory over time."""

    start: Farthest | None = msgspec.field(default=None, name="from")
    """First nanosecond, or event where no times were recorded; by default of the recording."""
    stop: Farthest | None = msgspec.field(default=None, name="to")
    """Last nanosecond or event."""
    bins: Annotated[int, Meta(ge=1, le=memory_queries.MOST_BINS)] = 800
    """Bins of equal length."""


class MemoryBlockRequest(MemoryRequest, frozen=True, kw_only=True):
    """A block of the allocator."""

    segment: Id = 0
    """Number of its segment, as ``./memory_segments`` has it."""
    block: Id = 0
    """Its place in the segment."""


class MemoryAtRequest(MemoryRequest, frozen=True, kw_only=True):
    """Memory at a moment, or at the peak of a window."""

    time: Farthest | None = None
    """Nanosecond or event; by default of the window's first peak."""
    start: Farthest | None = msgspec.field(default=None, name="from")
    """First nanosecond or event of the window; by default of the recording."""
    stop: Farthest | None = msgspec.field(default=None, name="to")
    """Last nanosecond or event of the window."""


class WindowRequest(ProfileRequest, frozen=True, kw_only=True):
    """A window of the timeline."""

    start_ns: Farthest = msgspec.field(name="from")
    """Start, since the start of the capture."""
    stop_ns: Farthest = msgspec.field(name="to")
    """End."""


class LaunchesRequest(WindowRequest, frozen=True, kw_only=True):
    """Launches or work of a window."""

    device: Id = 0
    """GPU."""


class HitsRequest(WindowRequest, frozen=True, kw_only=True):
    """Where a text is found."""

    search: Annotated[str, Meta(min_length=1, max_length=2_000)]
    """Text in the names of kernels, ops and ranges."""
    width: Annotated[int, Meta(ge=1, le=timeline.MAX_WIDTH)] = 1_200
    """Pixels to draw on."""
    tracks: Annotated[list[_Nanoseconds], Meta(max_length=timeline.MAX_TRACKS)] | None = None
    """Ids of tracks, separated by commas; by default all."""


class TimelineRequest(ProfileRequest, frozen=True, kw_only=True):
    """What there is, or tracks in a window."""

    start_ns: Farthest | None = msgspec.field(default=None, name="from")
    """Start of the window; with neither end, the answer says what there is."""
    stop_ns: Farthest | None = msgspec.field(default=None, name="to")
    """End of the window."""
    width: Annotated[int, Meta(ge=1, le=timeline.MAX_WIDTH)] = 1_200
    """Pixels to draw on."""
    tracks: Annotated[list[_Nanoseconds], Meta(max_length=timeline.MAX_TRACKS)] | None = None
    """Ids of tracks, separated by commas; by default the first."""


class TimelineItemRequest(ProfileRequest, frozen=True, kw_only=True):
    """An item by its number; or one around a moment, by its track, its name, or the GPU that was idle or worked."""

    id: _Nanoseconds | None = None
    """Item."""
    device: Id = 0
    """GPU."""
    at: Farthest | None = None
    """Moment in ns."""
    track: _Nanoseconds | None = None
    """Track, whose item around the moment is wanted."""
    search: str = ""
    """Text in the name of the next item after the moment."""
    step: Literal["next", "previous"] | None = None
    """Instead of the gap around the moment, the one after or before it."""
    longest: _Nanoseconds = 0
    """With ``step``: least length of the gap in ns."""
    slack: _Nanoseconds = 0
    """With ``track``: how far from the moment the item may be, in ns."""
    span: _Nanoseconds = 0
    """With ``track``: ns around the moment, of which the class that takes most is wanted."""


class CompareRequest(ScopeRequest, frozen=True, kw_only=True):
    """A comparison; ``profile`` is the candidate."""

    base: ProfileId
    """Id of the baseline."""
    base_aggregation: Id | None = None
    """Aggregation of the baseline; by default the first."""


class CompareRowRequest(CompareRequest, frozen=True, kw_only=True):
    """A row of a comparison."""

    row: Id = 0
    """Its number."""


class SeriesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of a series."""

    profiles: Annotated[list[ProfileId], Meta(max_length=MOST_RUNS)]
    """Ids of profiles."""


class JobCellsRequest(ProfileRequest, frozen=True, kw_only=True):
    """A measure of all ranks."""

    measure: str = "own_delay"
    """Its name."""
    start: Farthest | None = msgspec.field(default=None, name="from")
    """The first iteration."""
    stop: Farthest | None = msgspec.field(default=None, name="to")
    """The last iteration."""


class JobCollectivesRequest(ProfileRequest, frozen=True, kw_only=True):
    """Operations of a job."""

    limit: Annotated[int, Meta(ge=0, le=job.MOST_COLLECTIVES)] = 50
    """Most operations."""
    iteration: _Nanoseconds | None = None
    """Only those of an iteration."""
    stats: Id | None = None
    """Only those that a row of the job's ``collectives`` sums up."""
    rank: Id | None = None
    """Only those at which this rank arrived last."""


class JobCollectiveRequest(ProfileRequest, frozen=True, kw_only=True):
    """An operation of a job."""

    id: Id
    """Its id."""


class AggregateRequest(ProfileRequest, frozen=True, kw_only=True):
    """A new aggregation; without key op and candidate, iterations are found as by default."""

    iter_start: Farthest | None = None
    """First iteration; by default the first of all."""
    iter_stop: Farthest | None = None
    """Last iteration; by default the last of all."""
    key_op: Annotated[str, Meta(max_length=2_000)] | None = None
    """Id or name of the op that ends each iteration."""
    candidate: Annotated[str, Meta(max_length=2_000)] | None = None
    """Label or kind of one of the ways to find iterations."""


class DeleteAggregationRequest(ProfileRequest, frozen=True, kw_only=True):
    """The end of an aggregation."""

    aggregation: Id
    """Its id; the first cannot be deleted."""


class CancelAggregationRequest(ProfileRequest, frozen=True, kw_only=True):
    """The end of a job of aggregating."""

    job: Annotated[str, Meta(min_length=1, max_length=2_000)]
    """Its id."""


READS: Mapping[str, type[msgspec.Struct]] = {
    "/profiles": NothingRequest,
    "/dashboard": ScopeRequest,
    "/compare": CompareRequest,
    "/compare_baselines": ProfileRequest,
    "/compare_series": SeriesRequest,
    "/compare_row": CompareRowRequest,
    "/table": TableRequest,
    "/groups": GroupsRequest,
    "/iterations": IterationsRequest,
    "/diagnosis": ScopeRequest,
    "/findings": ScopeRequest,
    "/efficiency": ScopeRequest,
    "/memory": ScopeRequest,
    "/memory_curve": MemoryCurveRequest,
    "/memory_segments": MemoryRequest,
    "/memory_block": MemoryBlockRequest,
    "/memory_at": MemoryAtRequest,
    "/throughput": ThroughputRequest,
    "/timeline": TimelineRequest,
    "/timeline_item": TimelineItemRequest,
    "/timeline_hits": HitsRequest,
    "/timeline_work": LaunchesRequest,
    "/launches": LaunchesRequest,
    "/trace": WindowRequest,
    "/job": ProfileRequest,
    "/job_rank": ProfileRequest,
    "/job_cells": JobCellsRequest,
    "/job_collectives": JobCollectivesRequest,
    "/job_collective": JobCollectiveRequest,
    "/export": ExportRequest,
    "/aggregation_jobs": ProfileRequest,
    "/static/*": NothingRequest,
}
"""Routes that read, with what their queries may ask."""

CHANGES: Mapping[str, type[msgspec.Struct]] = {
    "/import": ProfileRequest,
    "/cancel": ProfileRequest,
    "/compare_ranks": ProfileRequest,
    "/cancel_compare_ranks": ProfileRequest,
    "/aggregate": AggregateRequest,
    "/delete_aggregation": DeleteAggregationRequest,
    "/cancel_aggregation": CancelAggregationRequest,
}
"""Routes that change something, with what their bodies may ask."""
