"""Every value that is read from a real profile, and every value of the profile made of it, is what it was.

A change that is meant is written down by ``python -m tests.digests.digest``, and its reason belongs into the commit.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.digests.digest import DIGESTS, digest_of_file, digest_path, profiles
from tests.shared_data import shared_data_or_none

NAMES = [name for name, _ in profiles()] if shared_data_or_none() else []


def columns(digest: str) -> Iterator[tuple[str, str]]:
    """What each line is about, or each column of a table, and its value."""
    for line in digest.splitlines():
        of, name, rest = line.split(" ", 2)
        rows, _, sums = rest.partition(": ")
        if "=" not in sums:
            yield f"{of} {name}", rest
            continue
        yield f"{of} {name} rows", rows
        for column in sums.split(" "):
            field, _, checksum = column.partition("=")
            yield f"{of} {name} {field}", checksum


@pytest.mark.skipif(not NAMES, reason="real profiles are not part of the repository")
@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_what_it_was(name: str) -> None:
    """Columns that were added since are not compared."""
    path = dict(profiles())[name]
    values = dict(columns(digest_of_file(path)))
    expected = dict(columns(digest_path(name).read_text(encoding="utf-8")))
    assert {column: values.get(column) for column in expected} == expected


@pytest.mark.skipif(not NAMES, reason="real profiles are not part of the repository")
def test_every_digest_is_of_a_profile() -> None:
    """A profile that is gone leaves none behind."""
    assert {path.name for path in DIGESTS.glob("*.txt")} == {digest_path(name).name for name in NAMES}
