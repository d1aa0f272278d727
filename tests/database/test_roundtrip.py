"""What is written is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.test_oracle import profiles

TEXT_COLUMNS = {
    "name", "long_name", "input_names", "input_shapes", "output_names", "output_shapes", "parameters", "shapes",
    "dtypes", "function", "innermost",
}  # fmt: skip


def test_a_profile_survives_its_database(tmp_path: Path) -> None:
    """Every row and column of the raw tables, those of 1.8 and ours, for generated profiles."""

    @settings(max_examples=25)
    @given(profiles())
    def survives(profile: Profile) -> None:
        path = tmp_path / "profile.dlprof_dldb.sqlite"
        source = tmp_path / "source.json"
        source.write_text("{}")
        write_database(path, source, profile, lambda: aggregate(profile))
        con = open_database(path)
        try:
            assert has_extensions(con)
            assert _plain(read_profile(con)) == _plain(profile)
        finally:
            con.close()

    survives()


def _plain(profile: Profile) -> dict[str, Any]:
    """A profile with texts in the place of ids, comparable with ``==``."""
    plain = {}
    for name in profile.__struct_fields__:
        value = getattr(profile, name)
        if name == "strings":
            continue
        if name == "kernel_classes":
            used = set(profile.kernels.long_name.tolist())
            value = {profile.strings[text]: kind for text, kind in value.items() if text in used}
        elif name == "iterations":
            value = [_table(candidate, profile.strings) for candidate in value]
        elif isinstance(value, msgspec.Struct):
            value = _table(value, profile.strings)
        plain[name] = value
    return plain


def _table(table: Any, strings: Strings) -> dict[str, Any]:
    plain = {}
    for name in table.__struct_fields__:
        column = getattr(table, name)
        if name == "pageable" and column is None:  # nothing of it recorded
            column = np.full(len(table.op), -1)
        if isinstance(column, np.ndarray):
            column = column.tolist()
            if name in TEXT_COLUMNS:
                column = [strings[text] for text in column]
        plain[name] = column
    return plain
