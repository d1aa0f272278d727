"""Pages that several pages claim as a child: a small file that counts as more rows than anyone can read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted

PAGE_BYTES = 512


def table_of_pages(path: Path) -> tuple[int, list[int]]:
    """A database whose table has many leaf pages; its root page, and where the pointers to its children are."""
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"PRAGMA page_size={PAGE_BYTES}")
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        con.executemany("INSERT INTO t (text) VALUES (?)", [("x" * 100,)] * 200)
        con.commit()
        (root,) = con.execute("SELECT rootpage FROM sqlite_master").fetchone()
    begin = (root - 1) * PAGE_BYTES
    page = path.read_bytes()[begin : begin + PAGE_BYTES]
    assert page[0] == 0x05
    cells = int.from_bytes(page[3:5], "big")
    return root, [begin + int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell], "big") for cell in range(cells)]


def patch(path: Path, place: int, number: int) -> None:
    """Write a page number into a file."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(number.to_bytes(4, "big"))


def test_a_sound_file_is_opened(tmp_path: Path) -> None:
    """Each of its pages is met once."""
    table_of_pages(tmp_path / "t.sqlite")
    with closing(open_untrusted(tmp_path / "t.sqlite")) as con:
        assert con.execute("SELECT count(*) FROM t").fetchone() == (200,)


def test_pages_that_share_a_child_are_refused_before_any_row_is_read(tmp_path: Path) -> None:
    """All children are one page: SQLite itself would count its rows once for each."""
    path = tmp_path / "t.sqlite"
    _, places = table_of_pages(path)
    first = int.from_bytes(path.read_bytes()[places[0] : places[0] + 4], "big")
    for place in places:
        patch(path, place, first)
    with pytest.raises(BrokenSource, match="two of its pages lead to the same page"):
        open_untrusted(path)


def test_a_page_that_is_its_own_child_is_refused(tmp_path: Path) -> None:
    """A tree without an end."""
    path = tmp_path / "t.sqlite"
    root, places = table_of_pages(path)
    patch(path, places[1], root)
    with pytest.raises(BrokenSource, match="two of its pages lead to the same page"):
        open_untrusted(path)


def test_a_file_that_is_rewritten_is_walked_again(tmp_path: Path) -> None:
    """A file that was found sound, and then changed in place, is another file."""
    path = tmp_path / "t.sqlite"
    _, places = table_of_pages(path)
    open_untrusted(path).close()
    patch(path, places[0], 100_000)
    with pytest.raises(BrokenSource, match="a page that it does not have"):
        open_untrusted(path)
