"""A database knows whether it is as it was written."""

from __future__ import annotations

import shutil
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.digest import DIGEST_LETTERS, NO_DIGEST, is_intact, write_digest
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.extension import info
from tests.imports.traces import write_trace


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of ours, of more than one chunk."""
    folder = tmp_path_factory.mktemp("digest")
    source = write_trace(folder / "a.json", steps=60, adds_per_step=100)
    target = folder / "a.dlprof_dldb.sqlite"
    import_source(source, target, ImportOptions(), lambda _stage, _fraction: None)
    assert target.stat().st_size > 1 << 20
    return target


def stored(database: Path) -> str:
    """The digest in the database."""
    with closing(open_database(database)) as connection:
        return info(connection)["file_sha256"]


def test_a_database_is_intact_wherever_it_is_copied(database: Path, tmp_path: Path) -> None:
    """The digest needs no second file."""
    assert stored(database) != NO_DIGEST
    shutil.copy(database, tmp_path / "elsewhere")
    assert is_intact(tmp_path / "elsewhere", stored(database))


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.999999])
def test_one_changed_bit_is_seen(database: Path, tmp_path: Path, place: float) -> None:
    """Also where SQLite reads the file without an error."""
    content = bytearray(database.read_bytes())
    content[int(place * len(content))] ^= 1
    (tmp_path / "changed").write_bytes(content)
    assert not is_intact(tmp_path / "changed", stored(database))


def test_a_digest_that_is_none_or_stands_twice_proves_nothing(database: Path, tmp_path: Path) -> None:
    """A file cannot choose what is left out of its own digest."""
    digest = stored(database)
    assert not is_intact(database, "")
    assert not is_intact(database, "x" * 64)
    assert not is_intact(database, NO_DIGEST)
    (tmp_path / "twice").write_bytes(database.read_bytes() + digest.encode())
    assert not is_intact(tmp_path / "twice", digest)


@pytest.mark.parametrize("before", [0, (1 << 20) - DIGEST_LETTERS, (1 << 20) - 1, (2 << 20) - 70, 3 << 20])
@pytest.mark.parametrize("behind", [0, 1, 1 << 20])
def test_the_digest_may_stand_anywhere(tmp_path: Path, before: int, behind: int) -> None:
    """Files are read in chunks of a mebibyte, and a digest may lie across two of them."""
    file, mark = tmp_path / "file", "m" * DIGEST_LETTERS
    content = (b"x" * before, b"y" * behind)
    file.write_bytes(mark.encode().join(content))
    write_digest(file, mark)
    expected = sha256(NO_DIGEST.encode().join(content)).hexdigest()
    assert file.read_bytes() == expected.encode().join(content)
    assert is_intact(file, expected)
