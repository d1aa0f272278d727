"""Which parts of the wall time a recording could not contain."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.resources import unrecorded_resources
from tests.importers.nsight.exports import write_export
from tests.importers.nsight.rows import kernel, kernels, marker, ranges
from tests.queries.profiles import ignore


@pytest.mark.parametrize(
    ("text", "unrecorded"),
    [
        ("my solver", {"data_loader", "io"}),
        ("aten::mm, seq = 3", {"io"}),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", {"io"}),
    ],
)
def test_the_data_loader_is_known_if_a_framework_or_the_user_marks_it(
    tmp_path: Path, text: str, unrecorded: set[str]
) -> None:
    """A user's own ranges do not say whether there is one, so its time is unknown, not 0."""
    tables = {**kernels(kernel(1_100, 1_200)), **ranges(marker(1_000, 1_500, text))}
    database = tmp_path / "a.dlprof_dldb.sqlite"
    import_source(write_export(tmp_path / "a.sqlite", tables), database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        assert unrecorded_resources(connection) == unrecorded
