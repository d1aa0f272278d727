"""Records are byte for byte those of TensorBoard's own writer."""

from __future__ import annotations

import io

import pytest
from tensorboard.summary.writer.record_writer import RecordWriter

from tensorboard_plugin_dlprof.run_metadata.event_file import record


@pytest.mark.parametrize("data", [b"", b"123456789", bytes(range(256)) * 40, b"\0" * 1_000])
def test_a_record_is_tensorboards(data: bytes) -> None:
    """Length, both checksums and the data."""
    expected = io.BytesIO()
    RecordWriter(expected).write(data)
    assert record(data) == expected.getvalue()
