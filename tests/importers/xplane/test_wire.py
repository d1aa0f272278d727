"""The wire format of protocol buffers, read many fields at once."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from scripts.samples.xplane_file import (
    message,
    number,
    text,
    varint,
)
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.xplane.lanes import varints, walk


@pytest.mark.parametrize("seed", range(4))
def test_walking_in_step_finds_what_walking_alone_does(seed: int) -> None:
    """Events of all lengths, with stats that look like events, and a field of another kind somewhere."""
    source = random.Random(seed)
    data, begins, stops = bytearray(), [], []
    for place in range(6_000):
        if place == 5_500:
            other = len(data)
            data += number(9, 5)
        stats = [message(4, number(1, source.randrange(1, 300)), number(3, source.randrange(1 << source.randrange(60))))
                 for _ in range(source.randrange(4))]  # fmt: skip
        event = message(4, number(1, source.randrange(1, 9_000)), number(2, source.randrange(1 << 50)), *stats)
        data += event
        stops.append(len(data))
        begins.append(len(data) - len(event))
    size = len(data)
    result, ends, at = walk(np.frombuffer(bytes(data) + bytes(32), np.uint8), 0x22, 0, size)
    assert at == other
    assert ends.tolist() == stops[:5_500]
    payload = [begin + 2 + (data[begin + 1] >= 128) for begin in begins[:5_500]]
    assert result.tolist() == payload


@pytest.mark.parametrize("key", [1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 1 << 40])
def test_kinds_of_events_have_numbers_of_any_length(tmp_path: Path, key: int) -> None:
    """Files with hundreds of thousands of names number them in three bytes."""
    line = message(4, number(1, key) + number(2, 5_000) + number(3, 7_000)) + text(2, "Stream #3")
    kind = message(4, number(1, key), message(2, number(1, key), text(2, "some kernel")))
    path = tmp_path / "long.xplane.pb"
    path.write_bytes(message(1, text(2, "/device:GPU:0"), message(3, line), kind))
    capture = find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)
    assert [capture.strings[each] for each in capture.work.name.tolist()] == ["some kernel"]


def test_varints_of_every_length() -> None:
    """One to ten bytes; eleven are too many."""
    values = [
        0,
        1,
        127,
        128,
        *(1 << shift for shift in range(8, 64)),
        (1 << 64) - 1,
        *((1 << 7 * k) - 1 for k in range(1, 10)),
    ]
    data = b"".join(map(varint, values))
    at = np.cumsum([0, *(len(varint(value)) for value in values)])[:-1]
    result, length = varints(np.frombuffer(data + bytes(32), np.uint8), at)
    assert result.tolist() == values
    assert length.tolist() == [len(varint(value)) for value in values]
    assert varints(np.full(40, 255, np.uint8), np.zeros(1, np.int64))[1][0] > 10
