from __future__ import annotations

import re

import pytest

from tensorboard_plugin_dlprof.database.sql_files import DLPROF_SCRIPTS, TABLE_SCRIPTS, layout_of, statements
from tests.database.conftest import Plain
from tests.shared_data import shared_data

COLUMN = re.compile(r"^    (?P<name>[a-z_]+) +(?P<type>INTEGER|REAL|TEXT)(?P<rest>[^-]*)(?:-- (?P<comment>.+))?$")
CLEAR_WITHOUT = {"id", "process_id", "thread_id"}


def test_the_tables_are_those_of_1_8(plain: Plain) -> None:
    """Names, and the columns in their order."""
    genuine = plain(shared_data() / "dlprof-golden" / "dlprof_dldb.sqlite")
    names = [row[0] for row in genuine.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    expected = {
        table: tuple(row[0] for row in genuine.execute("SELECT name FROM pragma_table_info(?)", (table,)))
        for table in names
        if table != "sqlite_sequence"
    }
    assert layout_of(*DLPROF_SCRIPTS) == expected


@pytest.mark.parametrize("script", TABLE_SCRIPTS)
def test_every_number_has_a_comment_with_its_unit_or_meaning(script: str) -> None:
    """A column of numbers is nothing without its unit."""
    lines = [line for statement in statements(script) for line in statement.splitlines()]
    columns = [match for line in lines if (match := COLUMN.match(line))]
    assert len(columns) > 1
    bare = [
        column["name"]
        for column in columns
        if column["type"] != "TEXT" and column["name"] not in CLEAR_WITHOUT and not column["comment"]
    ]
    assert bare == []


def test_our_own_tables_are_named_apart() -> None:
    """A reader of 1.8 meets no name that it knows with another content."""
    assert not set(layout_of("info", "extensions")) & set(layout_of("schema"))
    assert not any(table.startswith("ext_") for table in layout_of("schema"))
    assert not any("ext_" in statement for statement in statements("views"))
