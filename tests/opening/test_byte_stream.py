"""Plain and gzip files are read alike, within limits, and damage is told in a sentence."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.opening import byte_stream
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream, read_head

TEXT = os.urandom(100_000) + b"end"


def read_all(path: Path, chunk: int = 4096, **options: int) -> bytes:
    """The file's bytes, read in small chunks."""
    with ByteStream(path, **options) as stream:
        parts = []
        while part := stream.read(chunk):
            parts.append(part)
        return b"".join(parts)


def written(folder: Path, content: bytes, name: str = "trace.json") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TEXT, id="plain"),
        pytest.param(gzip.compress(TEXT), id="gzip"),
        pytest.param(gzip.compress(TEXT[:7]) + gzip.compress(TEXT[7:]), id="several members"),
        pytest.param(gzip.compress(TEXT) + bytes(512), id="zero padding"),
    ],
)
@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_content_decides_whether_a_file_is_expanded(tmp_path: Path, content: bytes, name: str) -> None:
    """A plain file called .gz and a gzip file called .json give the same bytes."""
    assert read_all(written(tmp_path, content, name)) == TEXT


def test_an_empty_file_gives_no_bytes(tmp_path: Path) -> None:
    """An empty file is no error here; whoever reads it says what is missing."""
    assert read_all(written(tmp_path, b"")) == b""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(gzip.compress(TEXT)[:-3000], "cut short", id="truncated"),
        pytest.param(gzip.compress(TEXT)[:-4], "cut short", id="trailer cut"),
        pytest.param(gzip.compress(TEXT) + b"garbage", "damaged", id="garbage after the end"),
        pytest.param(gzip.compress(TEXT)[:-8] + b"\0\0\0\0" + gzip.compress(TEXT)[-4:], "damaged", id="wrong CRC"),
        pytest.param(b"\x1f\x8b\x08\0" + b"\xff" * 100, "damaged", id="garbage behind the magic"),
        pytest.param(b"\x1f\x8b", "cut short", id="magic only"),
    ],
)
def test_damaged_gzip_is_told_in_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    """The file is named and what to do is said, whatever zlib raised."""
    path = written(tmp_path, content)
    with pytest.raises(BrokenSource, match=sentence) as caught:
        read_all(path)
    assert "trace.json" in str(caught.value)
    assert str(caught.value).endswith("again.")


def test_a_bomb_is_refused_before_it_fills_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expansion beyond 200 fold is refused once it is worth checking."""
    monkeypatch.setattr(byte_stream, "EXPANSION_CHECKED_FROM_BYTES", 1 << 20)
    path = written(tmp_path, gzip.compress(bytes(64 << 20)))
    with pytest.raises(UnsafeFile, match="more than 200 times"):
        read_all(path)


def test_a_large_file_that_expands_as_profiles_do_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the size from which expansion is checked."""
    monkeypatch.setattr(byte_stream, "EXPANSION_CHECKED_FROM_BYTES", 1 << 16)
    text = TEXT.hex().encode()
    assert read_all(written(tmp_path, gzip.compress(text))) == text


def test_the_limit_of_expansion_is_kept(tmp_path: Path) -> None:
    """A file that honestly expands beyond the limit is refused with the limit."""
    path = written(tmp_path, gzip.compress(TEXT))
    with pytest.raises(UnsafeFile, match="50,000 bytes"):
        read_all(path, max_expanded_bytes=50_000)
    assert read_all(written(tmp_path, TEXT), max_expanded_bytes=50_000) == TEXT, "plain files do not expand"


def test_progress_is_the_share_of_the_file_read(tmp_path: Path) -> None:
    """The fraction starts near 0, grows, and ends at 1."""
    with ByteStream(written(tmp_path, TEXT)) as stream:
        seen = [stream.fraction]
        while stream.read(10_000):
            seen.append(stream.fraction)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """Folders, FIFOs and absent files end in a sentence and never hang."""
    with pytest.raises(UnsafeFile):
        ByteStream(tmp_path)
    with pytest.raises(NotFound):
        ByteStream(tmp_path / "absent")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(ProfileError):
            read_head(tmp_path / "fifo")


@pytest.mark.parametrize(
    ("content", "head"),
    [
        pytest.param(TEXT, TEXT[:100], id="plain"),
        pytest.param(gzip.compress(TEXT), TEXT[:100], id="gzip"),
        pytest.param(gzip.compress(TEXT[:60]) + gzip.compress(TEXT[60:]), TEXT[:100], id="second member"),
        pytest.param(gzip.compress(TEXT)[:50_000], TEXT[:100], id="cut short"),
        pytest.param(gzip.compress(b"abc")[:-8], b"abc", id="trailer missing"),
        pytest.param(gzip.compress(b"abc") + b"garbage", b"abc", id="garbage after the end"),
        pytest.param(b"\x1f\x8bgarbage", b"", id="no gzip after all"),
        pytest.param(b"", b"", id="empty"),
    ],
)
def test_the_head_is_what_can_be_had(tmp_path: Path, content: bytes, head: bytes) -> None:
    """Broken gzip gives the bytes before the damage."""
    assert read_head(written(tmp_path, content), 100) == head


def test_the_head_of_a_bomb_is_small(tmp_path: Path) -> None:
    """The head never exceeds the size asked for."""
    path = written(tmp_path, gzip.compress(b"") * 10 + gzip.compress(bytes(10 << 20)))
    assert read_head(path, 1000) == bytes(1000)


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT)])
def test_reading_goes_on_at_any_later_place(tmp_path: Path, content: bytes) -> None:
    """Of a plain and of a compressed file, whose expanded size is known; beyond the end there is nothing."""
    with ByteStream(written(tmp_path, content)) as stream:
        assert stream.expanded_bytes == len(TEXT)
        assert stream.read(100) == TEXT[:100]
        stream.skip_to(50_000)
        assert stream.position_bytes == 50_000
        assert stream.read(10) == TEXT[50_000:50_010]
        stream.skip_to(len(TEXT) + 5)
        assert stream.read(10) == b""
