"""Host time of the data loader and of input and output, for the resource breakdown."""

from __future__ import annotations

import re

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import TimeSpans

DATA_LOADER = Expression(
    r"enumerate\(DataLoader\)#|DataLoader\b|tf\.data\b|tf_data\b|IteratorGetNext|Iterator::|DALI\b|"
    r"(?:dali|nvidia\.dali)[.:_]|\[DALI\]|TensorDataset|data_?load",
    re.IGNORECASE,
    ("data", "iterator", "dali"),
)
"""Names of ranges in which a batch is fetched: PyTorch's, DLProf's markers, ``tf.data``, DALI."""

_ANNOTATED = Expression(
    r"(?!.*(?:::|\(|compil))(?:.*[^A-Za-z])?(?:data(?:set|loader|loading)?|load(?:er|ing)?|next_batch|fetch_batch)(?:[^A-Za-z]|\Z)",
    re.IGNORECASE,
)
"""What users of JAX call such a range; it has no loader of its own. No name of XLA's runtime, and not
``backend_compile_and_load``, JAX's own."""


def loader_texts(capture: Capture) -> Int64s:
    """Ids of the names of ranges in which a batch is fetched."""
    texts = distinct_values(capture.ranges.name)
    expressions = [DATA_LOADER, _ANNOTATED] if capture.info.source_format == "xplane" else [DATA_LOADER]
    matching = [any(each.match(name) for each in expressions) for name in capture.strings.some(texts)]
    return texts[np.array(matching, np.bool_)]


def data_loader_spans(capture: Capture) -> TimeSpans:
    """Ranges of any thread in which the program waits for or prepares a batch, by start."""
    ranges = capture.ranges
    texts = loader_texts(capture).tolist()
    if not texts:
        return _spans(np.zeros(0, np.int64), np.zeros(0, np.int64))
    kinds = (RangeKind.ANNOTATION, RangeKind.OP, RangeKind.SPAN, RangeKind.DLPROF_OP)
    rows = np.flatnonzero(are_among(ranges.name, texts))
    rows = rows[are_among(ranges.kind[rows], kinds)]
    return _spans(ranges.start_ns[rows], ranges.end_ns[rows])


def io_spans(capture: Capture) -> TimeSpans:
    """File and network calls, by start, on the threads that launch device work or load data.

    Other threads are left out: a background thread that writes a log or serves a socket delays no device work.
    """
    calls = capture.os_calls
    if not len(calls.start_ns):
        return _spans(np.zeros(0, np.int64), np.zeros(0, np.int64))
    ranges = capture.ranges
    texts = loader_texts(capture).tolist()
    loading = ranges.thread[are_among(ranges.name, texts)]
    threads = distinct_values(np.concatenate((capture.calls.thread, loading)))
    rows = np.flatnonzero(are_among(calls.thread, threads))
    return _spans(calls.start_ns[rows], calls.end_ns[rows])


def _spans(start: Int64s, stop: Int64s) -> TimeSpans:
    order = np.argsort(start, kind="stable")
    return TimeSpans(start[order].astype(np.int64), stop[order].astype(np.int64))
