"""What is written is read back."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.test_oracle import profiles

TEXT_COLUMNS = {
    "name", "long_name", "input_names", "input_shapes", "output_names", "output_shapes", "parameters", "shapes",
    "dtypes",
}  # fmt: skip


def test_a_profile_survives_its_database(tmp_path: Path) -> None:
    """Every row and column of the raw tables, those of 1.8 and ours, for generated profiles."""

    @settings(max_examples=25)
    @given(profiles())
    def survives(profile: Profile) -> None:
        path = tmp_path / "profile.dlprof_dldb.sqlite"
        source = tmp_path / "source.json"
        source.write_text("{}")
        write_database(path, source, profile, lambda: Results([aggregate(profile)]))
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
    for field in dataclasses.fields(profile):
        value = getattr(profile, field.name)
        if field.name == "strings":
            continue
        if field.name == "kernel_classes":
            used = set(profile.kernels.long_name.tolist())
            value = {profile.strings[name]: kind for name, kind in value.items() if name in used}
        elif field.name == "iterations":
            value = [_table(candidate, profile.strings) for candidate in value]
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = _table(value, profile.strings)
        plain[field.name] = value
    return plain


def _table(table: Any, strings: Strings) -> dict[str, Any]:
    plain = {}
    for field in dataclasses.fields(table):
        column = getattr(table, field.name)
        if field.name == "pageable" and column is None:  # nothing of it recorded
            column = np.full(len(table.op), -1)
        if isinstance(column, np.ndarray):
            column = column.tolist()
            if field.name in TEXT_COLUMNS:
                column = [strings[text] for text in column]
        plain[field.name] = column
    return plain
