"""Damage, by a seed: what disks, networks and hostile hands do to a file."""

from __future__ import annotations

import gzip
import pickle
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.memory.snapshot import _Unpickler

ODD_JSON = (
    *(b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"-Infinity", b"9" * 30, b"9" * 5_000, b"0.1e-400"),
    *(b'""', b'"x"', b'"12"', b'"\\ud800"', b'"\\u0000"', b"[]", b"{}", b"[[[[]]]]", b'{"a":{"a":{}}}', b"\xff\xfe"),
    *(b"-9223372036854775809", b"9223372036854775807", b"18446744073709551615", b'"<script>alert(1)</script>"'),
)
"""In place of a value."""

ODD_SQL: tuple[Any, ...] = (
    *(None, -1, 0, 2**31, 2**63 - 1, -(2**63), 1e308, 9e999, -9e999, 1e-320, 0.5),
    *("", "x", "12", "9" * 400, "NaN", "\0", "<script>alert(1)</script>", "=1+1", "x" * 100_000),
    *(b"", b"\0" * 8, b"\xff" * 100, b"\xff\xfe text"),
)
"""In place of a value; a text that is not UTF-8 comes in as a cast."""

_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')


def damage(path: Path, kind: str, seed: int) -> str:
    """Damages a file in place; says how."""
    chance = random.Random(f"{kind}:{seed}")
    ways = _WAYS[kind]
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        way = chance.choice(ways)
        try:
            way(path, chance)
        except (sqlite3.Error, UnicodeDecodeError):
            continue  # what the first damage left can no longer be changed by SQL
        done.append(way.__name__.strip("_"))
    return "+".join(done)


def _flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 20)) if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def _flip_at_the_start(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(3 if content else 0):
        content[chance.randrange(min(len(content), 4_096))] = chance.randrange(256)
    path.write_bytes(content)


def _cut(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])


def _remove(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    start = chance.randrange(len(content) + 1)
    path.write_bytes(content[:start] + content[start + chance.choice((1, 10, 1_000)) :])


def _repeat(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    start = chance.randrange(len(content) + 1)
    block = content[start : start + chance.choice((1, 100, 5_000))]
    path.write_bytes(content[:start] + block * chance.choice((2, 20)) + content[start:])


def _overwrite(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    start = chance.randrange(len(content) + 1)
    end = min(len(content), start + chance.choice((4, 512, 4_096)))
    filler = chance.choice((b"\0", b"\xff", b"["))
    content[start:end] = filler * (end - start)
    path.write_bytes(content)


def _put_pages_elsewhere(path: Path, chance: random.Random) -> None:
    """Pages of 4 kB change places: valid pieces where they do not belong."""
    content = bytearray(path.read_bytes())
    pages = len(content) // 4_096
    if pages > 2:
        first, second = (4_096 * chance.randrange(1, pages) for _ in range(2))
        content[first : first + 4_096], content[second : second + 4_096] = (
            content[second : second + 4_096],
            content[first : first + 4_096],
        )
    path.write_bytes(content)


def _odd_values(path: Path, chance: random.Random) -> None:
    """JSON values become others: numbers texts, texts numbers."""
    content = path.read_bytes()
    items = list(_VALUE.finditer(content))
    for match in sorted(chance.sample(items, min(len(items), chance.choice((1, 5, 50)))), key=lambda m: -m.start()):
        content = content[: match.start()] + chance.choice(ODD_JSON) + content[match.end() :]
    path.write_bytes(content)


def _same_key_odd(path: Path, chance: random.Random) -> None:
    """One key has an odd value in every event."""
    key = chance.choice(
        (b"ts", b"dur", b"pid", b"tid", b"args", b"name", b"cat", b"ph", b"correlation", b"device", b"stream")
    )
    value = chance.choice(ODD_JSON)
    pattern = rb'("' + key + rb'"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|-?[\d.eE+-]+)'
    path.write_bytes(re.sub(pattern, lambda match: match[1] + value, path.read_bytes()))


def _inside_gzip(way: Callable[[Path, random.Random], None]) -> Callable[[Path, random.Random], None]:
    def packed(path: Path, chance: random.Random) -> None:
        try:
            path.write_bytes(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, ValueError, gzip.zlib.error):  # type: ignore[attr-defined]
            return
        way(path, chance)
        path.write_bytes(gzip.compress(path.read_bytes(), 1, mtime=0))

    packed.__name__ = f"{way.__name__}_inside"
    return packed


def _tables(con: sqlite3.Connection) -> list[str]:
    return [row[0] for row in con.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def _sql(path: Path, change: Callable[[sqlite3.Connection, str], None], chance: random.Random) -> None:
    with closing(sqlite3.connect(path)) as con:
        con.text_factory = bytes
        con.execute("PRAGMA foreign_keys=OFF")
        tables = [name.decode("utf-8", "replace") for name in _tables(con)]  # type: ignore[attr-defined]
        filled = [name for name in tables if con.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()]
        change(con, chance.choice(filled or tables or ["none"]))
        con.commit()


def _columns(con: sqlite3.Connection, table: str) -> list[str]:
    return [row[1].decode() for row in con.execute(f'PRAGMA table_info("{table}")')]


def _odd_cells(path: Path, chance: random.Random) -> None:
    """Some cells of one column, or all of them, hold something odd."""

    def change(con: sqlite3.Connection, table: str) -> None:
        column, value = chance.choice(_columns(con, table)), chance.choice(ODD_SQL)
        where = chance.choice(("", " WHERE rowid % 3 = 0", f" WHERE rowid = {chance.randrange(1, 30)}"))
        cast = chance.choice(("?", "?", "CAST(? AS TEXT)"))
        con.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = {cast}{where}', (value,))

    _sql(path, change, chance)


def _swap_columns(path: Path, chance: random.Random) -> None:
    """Starts become ends, ids become counts."""

    def change(con: sqlite3.Connection, table: str) -> None:
        first, second = (chance.choice(_columns(con, table)) for _ in range(2))
        con.execute(f'UPDATE OR IGNORE "{table}" SET "{first}" = "{second}", "{second}" = "{first}"')

    _sql(path, change, chance)


def _delete_rows(path: Path, chance: random.Random) -> None:
    _sql(
        path,
        lambda con, table: con.execute(f'DELETE FROM "{table}" WHERE {chance.choice(("1", "rowid % 2"))}') and None,
        chance,
    )


def _drop_table(path: Path, chance: random.Random) -> None:
    _sql(path, lambda con, table: con.execute(f'DROP TABLE "{table}"') and None, chance)


def _drop_column(path: Path, chance: random.Random) -> None:
    def change(con: sqlite3.Connection, table: str) -> None:
        con.execute(f'ALTER TABLE "{table}" DROP COLUMN "{chance.choice(_columns(con, table))}"')

    _sql(path, change, chance)


def _become_a_view(path: Path, chance: random.Random) -> None:
    """A table becomes a view of itself."""

    def change(con: sqlite3.Connection, table: str) -> None:
        con.execute("PRAGMA legacy_alter_table=ON")
        con.execute(f'ALTER TABLE "{table}" RENAME TO "moved_{table}"')
        con.execute(f'CREATE VIEW "{table}" AS SELECT * FROM "moved_{table}"')

    _sql(path, change, chance)


def _odd_numbers(path: Path, chance: random.Random) -> None:
    """Numbers and lengths in a file of protocol buffers become the largest of as many bytes, or 0."""
    content = bytearray(path.read_bytes())
    places = list(_varints(content, 0, len(content)))
    for begin, end in chance.sample(places, min(len(places), chance.choice((1, 3, 30)))):
        filler, last = chance.choice(((0xFF, 0x7F), (0x80, 0x00), (0x81, 0x01)))
        content[begin:end] = bytes([filler] * (end - begin - 1) + [last])
    path.write_bytes(content)


def _varints(content: bytearray, begin: int, end: int, depth: int = 0) -> Iterator[tuple[int, int]]:
    """Where the values and lengths of fields are; what is no message, a text for example, ends the search in it."""

    def varint(place: int) -> tuple[int, int]:
        value = shift = 0
        while place < end:
            value |= (content[place] & 0x7F) << shift
            place, shift = place + 1, shift + 7
            if content[place - 1] < 0x80:
                break
        return value, place

    while begin < end and depth < 6:
        key, begin = varint(begin)
        value, after = varint(begin)
        if key & 7 == 0:
            yield begin, after
            begin = after
        elif key & 7 == 2 and after + value <= end:
            yield begin, after
            yield from _varints(content, after, after + value, depth + 1)
            begin = after + value
        else:
            return


def _odd_pickled(path: Path, chance: random.Random) -> None:
    """Values in a pickle become others, also lists and dictionaries, and some become part of themselves."""
    try:
        with path.open("rb") as file:
            whole = _Unpickler(file).load()
    except Exception:  # noqa: BLE001  what other damage left
        return
    places = list(_places(whole)) if isinstance(whole, dict | list) else []
    for holder, key in chance.sample(places, min(len(places), chance.choice((1, 5, 50)))):
        holder[key] = chance.choice((*ODD_SQL, [], {}, [[]], {"a": 1}, 2**80, -(2**80), True, holder, whole))
    path.write_bytes(pickle.dumps(whole, 2))


def _places(whole: Any) -> Iterator[tuple[Any, Any]]:
    """Where the values of lists and dictionaries are, each of which is looked into once."""
    waiting, met = [whole], {id(whole)}
    while waiting:
        holder = waiting.pop()
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            yield holder, key
            if isinstance(value, dict | list) and id(value) not in met:
                met.add(id(value))
                waiting.append(value)


_BYTES = (_flip, _flip_at_the_start, _cut, _remove, _repeat, _overwrite)
_JSON = (*_BYTES, _odd_values, _odd_values, _same_key_odd, _same_key_odd)
_SQLITE = (
    *(_flip, _flip_at_the_start, _cut, _overwrite, _put_pages_elsewhere),
    *(_odd_cells, _odd_cells, _odd_cells, _odd_cells, _swap_columns, _delete_rows),
    *(_drop_table, _drop_column, _become_a_view),
)
_WAYS: dict[str, tuple[Callable[[Path, random.Random], None], ...]] = {
    "trace": _JSON,
    "gzip_trace": (*_BYTES, *(_inside_gzip(way) for way in _JSON)),
    "xplane": (*_BYTES, _odd_numbers, _odd_numbers),
    "snapshot": (*_BYTES, _odd_pickled, _odd_pickled, _odd_pickled),
    "nsight": _SQLITE,
    "dlprof": _SQLITE,
    "job": _SQLITE,
}
